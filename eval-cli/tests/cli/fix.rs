use std::fs;

use eval_format::EvalSet;

use crate::folder::{Folder, set};

const CAMEL: &str = r#"{ "evalSetId": "s",   "_note": "kept", "evalCases": [
    {"evalId": "c", "conversation": [{"userContent": {"parts": [{"text": "Hi"}]},
      "finalResponse": {"parts": [{"text": "Hello"}]}}]} ],
  "creationTimestamp": 1.50 }
"#;

const OLD: &str = r#"[{"query": "Hi", "expected_tool_use": [], "reference": "Hello"}]
"#;

fn fixable(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder
        .write("camel.evalset.json", CAMEL)
        .write("old.test.json", OLD)
        .write("cases.evalset.json", r#"[{"name": "c", "data": [{"query": "Hi", "reference": "Hello"}]}]"#)
        .write("lossy.test.json", r#"[{"query": "Hi", "mock": 1, "mocks": [2], "reference": "Hello"}]"#)
        .write(
            "late.evalset.json",
            set("").replace("\"eval_cases\"", "\"creationTimestamp\": [], \"eval_cases\""),
        )
        .write("typo.evalset.json", CAMEL.replace("conversation", "conversaton"))
        .write("plain.evalset.json", set(""))
        .write("trip/trip.test.json", OLD)
        .write("trip/initial.session.json", "{}");
    folder
}

#[test]
fn what_is_safe_is_rewritten_and_told() {
    let folder = fixable("fix-safe");
    let ran = folder.run(&["check", ".", "--fix"]);
    assert_eq!(ran.code, Some(1), "one file has errors");
    insta::assert_snapshot!(ran.shown());
    // Only the three keys have changed.
    let expected = CAMEL
        .replace("\"evalSetId\"", "\"eval_set_id\"")
        .replace("\"evalCases\"", "\"eval_cases\"")
        .replace("\"creationTimestamp\"", "\"creation_timestamp\"");
    assert_eq!(folder.read("camel.evalset.json"), expected);
    insta::assert_snapshot!("old_test_file", folder.read("old.test.json"));
    assert!(!folder.read("cases.evalset.json").ends_with('\n'), "it had no line break at its end");
}

#[test]
fn what_is_not_safe_is_left_as_it_is() {
    let folder = fixable("fix-unsafe");
    let names = [
        "lossy.test.json",
        "late.evalset.json",
        "typo.evalset.json",
        "plain.evalset.json",
        "trip/trip.test.json",
    ];
    let before = names.map(|name| folder.read(name));
    folder.run(&["check", ".", "--fix"]);
    assert_eq!(names.map(|name| folder.read(name)), before);
}

#[test]
fn fixing_twice_changes_nothing_more() {
    let folder = fixable("fix-twice");
    folder.run(&["check", ".", "--fix"]);
    let names = ["camel.evalset.json", "old.test.json", "cases.evalset.json"];
    let once = names.map(|name| folder.read(name));
    let again = folder.run(&["check", ".", "--fix"]);
    assert!(!again.out.contains("fixed"), "{}", again.out);
    assert_eq!(names.map(|name| folder.read(name)), once);
}

#[test]
fn a_fixed_set_says_what_it_said() {
    let folder = fixable("fix-same");
    let before = EvalSet::read(folder.path("old.test.json")).expect("an old test file");
    folder.run(&["check", ".", "--fix"]);
    let after = EvalSet::read(folder.path("old.test.json")).expect("an eval set");
    assert_eq!(after.eval_set_id, "old");
    assert_eq!(after.eval_cases, before.eval_cases);
}

#[test]
fn without_fix_nothing_is_written() {
    let folder = fixable("fix-without");
    let ran = folder.run(&["check", "."]);
    assert_eq!(folder.read("camel.evalset.json"), CAMEL);
    assert!(ran.out.contains("note: `--fix` would rewrite `camel.evalset.json`"), "{}", ran.out);
    assert!(!ran.out.contains("kept"), "{}", ran.out);
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Folder::new("fix-link");
    folder.write("real/camel.evalset.json", CAMEL);
    fs::set_permissions(folder.path("real/camel.evalset.json"), fs::Permissions::from_mode(0o640))
        .expect("a mode");
    symlink("real/camel.evalset.json", folder.path("link.evalset.json")).expect("a link");
    let ran = folder.run(&["check", "link.evalset.json", "--fix"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert!(folder.path("link.evalset.json").is_symlink());
    assert!(folder.read("real/camel.evalset.json").contains("eval_set_id"));
    let mode = fs::metadata(folder.path("real/camel.evalset.json")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(folder.names(), ["link.evalset.json", "real"], "nothing is left over");
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let folder = Folder::new("fix-read-only");
    let before = CAMEL.replace(r#""_note": "kept","#, "");
    folder.write("camel.evalset.json", &before);
    let path = folder.path("camel.evalset.json");
    let mut permissions = fs::metadata(&path).expect("a file").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).expect("permissions");
    for command in [&["check", ".", "--fix"][..], &["fmt", "camel.evalset.json"]] {
        let ran = folder.run(command);
        assert_eq!(ran.code, Some(2), "{command:?}: {}", ran.shown());
        assert!(ran.out.contains("cannot write `camel.evalset.json`: the file is read-only"), "{}", ran.out);
    }
    assert_eq!(folder.read("camel.evalset.json"), before);
}

/// The limit on the size of files kills the program during its first write.
#[cfg(unix)]
#[test]
fn a_fix_that_is_killed_leaves_the_file_whole() {
    use crate::folder::plain;

    let folder = Folder::new("fix-killed");
    folder.write("camel.evalset.json", CAMEL);
    let program = env!("CARGO_BIN_EXE_cargo-evalset");
    let script = format!("ulimit -c 0; ulimit -f 0; exec '{program}' check . --fix");
    let status =
        plain("sh".as_ref()).args(["-c", &script]).current_dir(folder.path("")).status().expect("a shell");
    assert!(!status.success());
    assert_eq!(folder.read("camel.evalset.json"), CAMEL);
    let again = folder.run(&["check", ".", "--fix"]);
    assert_eq!(again.code, Some(0), "{}", again.shown());
    assert!(
        again.out.ends_with("1 file, 1 case: no problems\n"),
        "what was left over is no set: {}",
        again.out
    );
    assert!(folder.read("camel.evalset.json").contains("eval_set_id"));
}
