use serde_json::json;

use crate::folder::Folder;
use crate::journal::{Journal, error, failed, passed};

fn run(test: &str) -> Folder {
    let folder = Folder::new(test);
    let mut journal = Journal::new(&folder, "r1");
    for (name, verdict) in [
        ("weather::sunny", passed()),
        ("weather::oslo", failed()),
        ("weather::r#match", failed()),
        ("weather::broken", error("agent", "503")),
    ] {
        let test = journal.started(name, 1);
        journal.ran(test, 1, 1.0);
        journal.decided(test, &verdict, Some(1.0), "");
    }
    journal.started("weather::killed", 1);
    journal.write_torn();
    folder
}

#[test]
fn each_flag_names_its_tests_exactly() {
    let folder = run("rerun-flags");
    for (flag, names) in [
        ("--failed", "weather::oslo 'weather::r#match'"),
        ("--errors", "weather::broken"),
        ("--unfinished", "weather::killed"),
    ] {
        let ran = folder.run(&["rerun", flag, "--dry-run"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(
            ran.out,
            format!("cargo test --no-fail-fast -p app -- --include-ignored --exact {names}\n")
        );
    }
    let all = folder.run(&["rerun", "--dry-run"]).out;
    assert!(all.ends_with("weather::broken weather::killed weather::oslo 'weather::r#match'\n"), "{all}");
    let nextest = folder.run(&["rerun", "--errors", "--nextest", "--dry-run", "--", "--release"]).out;
    let expected = "cargo nextest run --no-fail-fast --run-ignored all --release -E 'package(=app) & test(=weather::broken)'\n";
    assert_eq!(nextest, expected);
}

#[test]
fn nothing_to_run_again_is_fine_and_says_so() {
    let folder = Folder::new("rerun-nothing");
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("a::x", 1);
    journal.ran(test, 1, 1.0);
    journal.decided(test, &passed(), Some(1.0), "");
    journal.write();
    for (args, says) in [
        (&["rerun"][..], "nothing to run again: every test passed\n"),
        (&["rerun", "--failed"], "nothing to run again: no test failed\n"),
        (&["rerun", "--unfinished"], "nothing to run again: every test that was to run has a verdict\n"),
    ] {
        let ran = folder.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), says), "{}", ran.err);
    }
}

/// A run in which a test failed. `later` is the time when its next process began; `env` has the variables of the
/// processes.
fn failing(folder: &Folder, later: Option<&str>, env: &serde_json::Value) {
    drop(std::fs::remove_dir_all(folder.path(".evalset")));
    for (binary, name, verdict, began) in
        [("evals", "weather::oslo", failed(), None), ("smoke", "weather::rome", passed(), later)]
    {
        if binary == "smoke" && later.is_none() {
            continue;
        }
        let mut journal = Journal::at(folder, ".evalset/r1", "r1", binary);
        journal.head(began, env);
        let test = journal.started(name, 1);
        journal.ran(test, 1, 1.0);
        journal.decided(test, &verdict, Some(1.0), "");
        journal.write();
    }
}

#[test]
fn a_run_that_looks_cut_short_may_lack_what_never_began() {
    let folder = Folder::new("rerun-cut-short");
    let cargo = "note: binaries that were never started are not in the journal; `cargo test --no-fail-fast` runs them all";
    let nextest = "note: tests that were never started are not in the journal; `cargo nextest run --no-fail-fast` runs them all";
    let (by_cargo, by_nextest) = (json!({}), json!({ "NEXTEST_RUN_ID": "r1" }));
    // The test failed at 02:31:38.
    for (later, env, expected) in [
        (None, &by_cargo, Some(cargo)),
        (Some("2026-11-22T02:31:20.000Z"), &by_nextest, Some(nextest)),
        (Some("2026-11-22T02:31:50.000Z"), &by_cargo, None),
        (Some("2026-11-22T02:31:50.000Z"), &by_nextest, None),
    ] {
        failing(&folder, later, env);
        let nothing = folder.run(&["rerun", "--unfinished", "--dry-run"]);
        let mut notes = nothing.out.lines().skip(1);
        let left_over = "note: left over: weather::oslo (failed)";
        assert_eq!(notes.find(|note| *note != left_over), expected, "{later:?} {env}: {}", nothing.out);
        assert!(nothing.out.contains(left_over) && nothing.code == Some(2), "{}", nothing.out);
        let all = folder.run(&["rerun", "--dry-run"]);
        assert_eq!(all.err.lines().next(), expected, "{later:?} {env}");
        assert_eq!(folder.run(&["rerun", "--failed", "--dry-run"]).err, "", "only what failed is asked for");
    }
}

#[test]
fn cases_that_cargo_did_not_run_are_named() {
    let folder = Folder::new("rerun-program");
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("weather/$(rm -rf ~)", 1);
    journal.decided(test, &failed(), None, "");
    journal.write();
    let ran = folder.run(&["rerun", "--failed"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("cargo did not run it: `weather/$(rm -rf ~)`"), "{}", ran.err);
}

#[test]
fn the_exit_code_of_cargo_is_handed_on() {
    let folder = run("rerun-code");
    // Cargo itself reports that there is no package here.
    let ran = folder.run(&["rerun", "--failed"]);
    assert_eq!(ran.code, Some(101), "{}{}", ran.out, ran.err);
    assert!(
        ran.err
            .contains("running cargo test --no-fail-fast -p app -- --include-ignored --exact weather::oslo"),
        "{}",
        ran.err
    );
}

#[cfg(unix)]
#[test]
fn a_rerun_that_passes_is_no_pass_where_the_record_has_gaps() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new("rerun-gaps");
    // A cargo that lists one test, runs it and always succeeds.
    folder.write("cargo", "#!/bin/sh\necho 'weather::oslo: test'\necho 'running 1 test'\n");
    std::fs::set_permissions(folder.path("cargo"), std::fs::Permissions::from_mode(0o755)).unwrap();
    for (has_gap, code) in [(false, 0), (true, 2)] {
        failing(&folder, None, &json!({}));
        if has_gap {
            Journal::at(&folder, ".evalset/r1", "r1", "smoke").write_torn_at("{\"record\":\"started\",\"te");
        }
        let ran = folder.command(&["rerun", "--failed"]).env("CARGO", folder.path("cargo")).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(code), "{said}");
        assert_eq!(said.contains("note: "), has_gap, "{said}");
    }
}

#[cfg(unix)]
#[test]
fn a_rerun_that_runs_no_test_is_no_pass() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new("rerun-none");
    failing(&folder, None, &json!({}));
    for (says, code) in [("running 0 tests", 2), ("", 2), ("running 0 tests\n\nrunning 1 test", 0)] {
        folder.write("cargo", format!("#!/bin/sh\nprintf 'weather::oslo: test\n{says}\n'\n"));
        std::fs::set_permissions(folder.path("cargo"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let ran = folder.command(&["rerun", "--failed"]).env("CARGO", folder.path("cargo")).output().unwrap();
        let (out, said) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert_eq!(ran.status.code(), Some(code), "{said}");
        assert_eq!(said.contains("no test ran"), code == 2, "{said}");
        assert!(out.contains(says), "what tests print is shown: {out}");
    }
}
