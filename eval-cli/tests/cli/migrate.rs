//! Migration, compared with the results of google-adk 2.13.0 in `tests/migrate`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use eval_format::EvalSet;
use eval_format::reader::{SetFormat, check_set};

use crate::folder::{Folder, set};

/// An old file, its session file, and google-adk's result.
const FIXTURES: &[(&str, Option<&str>, &str)] = &[
    ("plain.test.json", None, "plain.adk.json"),
    ("trip.test.json", Some("trip.session.json"), "trip.adk.json"),
    ("cases.evalset.json", None, "cases.adk.json"),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/migrate")
}

/// A folder with a copy of the fixtures.
fn copy(test: &str) -> Folder {
    let folder = Folder::new(test);
    for (old, session, _) in FIXTURES {
        for name in [Some(*old), *session].into_iter().flatten() {
            folder.write(name, fs::read(fixtures().join(name)).expect("a fixture"));
        }
    }
    folder
}

/// A set without what google-adk draws at random, takes from the clock, or takes from its caller.
fn without_drawn(mut set: EvalSet, form: SetFormat) -> EvalSet {
    (set.eval_set_id, set.name, set.creation_timestamp) = (String::new(), None, 0.0);
    for case in &mut set.eval_cases {
        case.creation_timestamp = 0.0;
        if form == SetFormat::TestFile {
            case.eval_id.clear();
        }
        for turn in &mut case.conversation {
            (turn.invocation_id, turn.creation_timestamp) = (String::new(), 0.0);
        }
    }
    set
}

fn assert_same(ours: &Path, adks: &Path, form: SetFormat) {
    let read = |path: &Path| without_drawn(EvalSet::read(path).expect("an eval set"), form);
    assert_eq!(read(ours), read(adks), "{} and {}", ours.display(), adks.display());
}

fn form_of(old: &Path) -> Option<SetFormat> {
    let checked = check_set("", &fs::read(old).ok()?, None);
    checked.set.map(|_| checked.form)
}

#[test]
fn the_result_is_that_of_adk() {
    let folder = copy("migrate-adk");
    for (old, session, adks) in FIXTURES {
        let mut args = vec!["migrate", old, "new.json", "--force"];
        args.extend(session.iter().flat_map(|session| ["--session", session]));
        let ran = folder.run(&args);
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
        let form = form_of(&folder.path(old)).expect("an old file");
        assert_same(&folder.path("new.json"), &fixtures().join(adks), form);
    }
}

#[test]
fn what_is_left_behind_is_told() {
    let folder = copy("migrate-lost");
    let args = ["migrate", "trip.test.json", "new.evalset.json", "--session", "trip.session.json"];
    insta::assert_snapshot!("migrate_trip", folder.run(&args).shown());
    insta::assert_snapshot!("migrate_written", folder.read("new.evalset.json"));
    let forgotten = folder.run(&["migrate", "plain.test.json", "plain.json"]);
    assert!(forgotten.out.contains("note: `trip.session.json` was not read"), "{}", forgotten.out);
    let json = folder.run(&["migrate", "cases.evalset.json", "cases.json", "--format", "json"]);
    insta::assert_snapshot!("migrate_json", json.shown());
}

#[test]
fn migrating_twice_gives_the_same_text() {
    let folder = copy("migrate-twice");
    folder.run(&["migrate", "trip.test.json", "new.json"]);
    let once = folder.read("new.json");
    folder.run(&["migrate", "trip.test.json", "new.json", "--force"]);
    assert_eq!(folder.read("new.json"), once);
    assert_eq!(folder.run(&["fmt", "--check", "new.json"]).code, Some(0), "it is in ADK's saved form");
}

#[test]
fn nothing_is_written_over_without_force() {
    let folder = copy("migrate-force");
    folder.write("there.json", "mine").write("sub/x", "").write("new.evalset.json", set(""));
    for (args, expected) in [
        (&["plain.test.json", "there.json"][..], "`there.json` exists already"),
        (&["plain.test.json", "sub", "--force"], "`sub` is a folder"),
        (&["plain.test.json", "no/where.json"], "cannot write `no/where.json`: "),
        (&["none.json", "new.json"], "cannot read `none.json`: "),
        (&["plain.test.json", "new.json", "--session", "none.json"], "cannot read `none.json`: "),
        (&["new.evalset.json", "newer.json"], "`new.evalset.json` is an eval set already"),
    ] {
        let ran = folder.run(&[&["migrate"], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.shown());
        assert!(ran.err.starts_with(&format!("error: {expected}")), "{args:?}: {}", ran.shown());
    }
    assert_eq!(folder.read("there.json"), "mine");
    assert!(!folder.path("new.json").exists() && !folder.path("newer.json").exists());
    assert_eq!(folder.run(&["migrate", "plain.test.json", "there.json", "--force"]).code, Some(0));
}

#[cfg(unix)]
#[test]
fn a_new_file_has_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;

    let folder = copy("migrate-permissions");
    folder.write("other", "");
    folder.run(&["migrate", "plain.test.json", "new.json"]);
    let mode = |name: &str| fs::metadata(folder.path(name)).expect("a file").permissions().mode();
    assert_eq!(mode("new.json"), mode("other"));
}

#[test]
fn a_session_of_the_wrong_shape_is_an_error() {
    let folder = copy("migrate-session");
    folder.write("bad.session.json", r#"{"state": []}"#);
    for old in ["plain.test.json", "cases.evalset.json"] {
        let ran = folder.run(&["migrate", old, "new.json", "--session", "bad.session.json"]);
        assert_eq!(ran.code, Some(1), "{}", ran.shown());
        assert!(ran.out.contains("--> bad.session.json:1:"), "{}", ran.out);
        assert!(ran.out.ends_with("`new.json` was not written\n"), "{}", ran.out);
    }
}

/// Compares the results for the fixtures and for the old files in the folder `EVALSET_CORPUS` with google-adk's results, which
/// the Python `EVALSET_ADK_PYTHON` makes.
#[test]
fn google_adk_says_the_same_today() {
    let Some(python) = env::var_os("EVALSET_ADK_PYTHON") else { return };
    let folder = copy("migrate-live");
    let mut olds: Vec<_> = FIXTURES.iter().map(|(old, session, _)| (folder.path(old), *session)).collect();
    let corpus = env::var_os("EVALSET_CORPUS").map(|corpus| json_files(Path::new(&corpus)));
    olds.extend(corpus.unwrap_or_default().into_iter().map(|old| (old, None)));
    let mut compared = 0;
    for (old, session) in olds {
        let Some(form @ (SetFormat::TestFile | SetFormat::OldEvalSet)) = form_of(&old) else { continue };
        let (ours, adks) = (folder.path("ours.json"), folder.path("adks.json"));
        let old_name = old.to_str().expect("a plain path");
        let mut args = vec!["migrate", old_name, "ours.json", "--force"];
        args.extend(session.iter().flat_map(|session| ["--session", session]));
        assert_eq!(folder.run(&args).code, Some(0), "{old_name}");
        let mode = if form == SetFormat::TestFile { "test-file" } else { "eval-set" };
        let mut adk = Command::new(&python);
        adk.arg(fixtures().join("adk.py")).args([mode, old_name, "adks.json"]).args(session);
        let output = adk.current_dir(folder.path("")).output().expect("the Python runs");
        assert!(output.status.success(), "{old_name}: {}", String::from_utf8_lossy(&output.stderr));
        assert_same(&ours, &adks, form);
        compared += 1;
    }
    assert!(compared >= FIXTURES.len());
    eprintln!("{compared} old files end as in google-adk");
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(json_files(&path));
        } else if path.extension().is_some_and(|it| it == "json") {
            files.push(path);
        }
    }
    files.sort_unstable();
    files
}
