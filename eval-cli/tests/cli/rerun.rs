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
        assert_eq!(ran.code, Some(2), "as `report` of the run ends: {}", ran.err);
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
        (&["rerun"][..], "every test passed or was skipped"),
        (&["rerun", "--failed"], "no test failed"),
        (&["rerun", "--unfinished"], "every test that was to run has a verdict"),
    ] {
        let ran = folder.run(args);
        let says =
            format!("nothing to run again: {says}\nResult PASSED  r1: the one case passed (exit code 0)\n");
        assert_eq!((ran.code, ran.out), (Some(0), says), "{}", ran.err);
    }
}

/// A run in which a test failed. `later` is the time when its next process began; `env` has the variables of the
/// processes, and `runner` the command line that started them.
fn failing(folder: &Folder, later: Option<&str>, env: &serde_json::Value, runner: &[&str]) {
    drop(std::fs::remove_dir_all(folder.path(".evalset")));
    for (binary, name, verdict, began) in
        [("evals", "weather::oslo", failed(), None), ("smoke", "weather::rome", passed(), later)]
    {
        if binary == "smoke" && later.is_none() {
            continue;
        }
        let mut journal = Journal::at(folder, ".evalset/r1", "r1", binary);
        journal.head(began, env);
        journal.set_head(&json!({ "runner": runner }));
        let test = journal.started(name, 1);
        journal.ran(test, 1, 1.0);
        journal.decided(test, &verdict, Some(1.0), "");
        journal.write();
    }
}

/// A cargo that knows these targets of the package `app`, and does this instead of running tests.
#[cfg(unix)]
fn cargo(folder: &Folder, targets: &[&str], does: &str) {
    use std::os::unix::fs::PermissionsExt;

    let targets: Vec<_> = targets.iter().map(|name| json!({ "name": name, "kind": ["test"] })).collect();
    let manifest = folder.path("Cargo.toml");
    let package = json!({ "name": "app", "manifest_path": manifest, "targets": targets });
    let metadata = json!({ "packages": [package], "target_directory": folder.path("target") });
    folder.write("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.0.0\"\n");
    folder.write("metadata.json", metadata.to_string());
    let script = format!("#!/bin/sh\nif [ \"$1\" = metadata ]; then cat metadata.json; exit; fi\n{does}\n");
    folder.write("cargo", script);
    std::fs::set_permissions(folder.path("cargo"), std::fs::Permissions::from_mode(0o755))
        .expect("it is ours");
}

/// `rerun` with that cargo, over the runs in `.evalset`.
#[cfg(unix)]
fn rerun(folder: &Folder, args: &[&str]) -> crate::folder::Ran {
    let mut command = folder.command(&[&["rerun"], args].concat());
    command.env("CARGO", folder.path("cargo")).env("EVALSET_DIR", folder.path(".evalset"));
    command.output().expect("the program runs").into()
}

#[cfg(unix)]
#[test]
fn a_run_that_looks_cut_short_may_lack_what_never_began() {
    let folder = Folder::new("rerun-cut-short");
    let note = "test binaries that cargo did not start leave no record: `app::later`; `--no-fail-fast` starts them all";
    let (by_cargo, by_nextest) = (json!({}), json!({ "NEXTEST_RUN_ID": "r1" }));
    // The test failed at 02:31:38.
    for (later, env, targets, is_cut_short) in [
        (None, &by_cargo, &["evals", "later"][..], true),
        (None, &by_cargo, &["evals"], false),
        (Some("2026-11-22T02:31:20.000Z"), &by_nextest, &["evals", "smoke", "later"], true),
        (Some("2026-11-22T02:31:50.000Z"), &by_cargo, &["evals", "smoke", "later"], false),
        (Some("2026-11-22T02:31:50.000Z"), &by_nextest, &["evals", "smoke", "later"], false),
    ] {
        cargo(&folder, targets, "cp next.jsonl $EVALSET_DIR/$EVALSET_RUN_ID/app-evals-9-1.jsonl");
        next(&folder, &passed());
        for (args, code) in [(&[][..], if is_cut_short { 2 } else { 0 }), (&["--partial"], 0)] {
            failing(&folder, later, env, &[]);
            let ran = rerun(&folder, args);
            assert_eq!(ran.code, Some(code), "{later:?} {targets:?} {args:?}: {}{}", ran.out, ran.err);
            assert_eq!(ran.out.contains(note), code == 2, "{later:?} {targets:?} {args:?}: {}", ran.out);
            let mut report = folder.command(&[&["report", "--github"], args].concat());
            report.env("CARGO", folder.path("cargo")).env("EVALSET_DIR", folder.path(".evalset"));
            let report: crate::folder::Ran = report.output().expect("the program runs").into();
            assert_eq!(report.code, Some(code), "{later:?} {targets:?} {args:?}: {}", report.out);
            assert_eq!(report.out.contains("app::later"), code == 2, "{}", report.out);
        }
    }
}

/// Where the command line says that all that was to run has been started, a run that ended at a failure lacks nothing.
#[cfg(unix)]
#[test]
fn the_runner_tells_which_binaries_were_to_run() {
    let folder = Folder::new("rerun-runner");
    cargo(&folder, &["evals", "later"], "cp next.jsonl $EVALSET_DIR/$EVALSET_RUN_ID/app-evals-9-1.jsonl");
    next(&folder, &passed());
    for (runner, is_cut_short) in [
        ("cargo test", true),
        ("cargo test --workspace --tests", true),
        ("cargo test -p app", true),
        ("cargo test -p other", false),
        ("cargo test --no-fail-fast", false),
        ("cargo test --test evals", false),
        ("cargo test --test evals --test later", true),
    ] {
        let words: Vec<&str> = runner.split(' ').collect();
        failing(&folder, None, &json!({}), &words);
        let ran = rerun(&folder, &[]);
        assert_eq!(ran.code, Some(if is_cut_short { 2 } else { 0 }), "{runner}: {}{}", ran.out, ran.err);
        assert_eq!(ran.out.contains("`app::later`"), is_cut_short, "{runner}: {}", ran.out);
    }
}

/// The journal of a further attempt at `weather::oslo`, in `next.jsonl`.
#[cfg(unix)]
fn next(folder: &Folder, verdict: &serde_json::Value) {
    let mut journal = Journal::at(folder, "next", "r1", "evals");
    journal.head(Some("2026-11-22T02:41:07.250Z"), &json!({ "EVALSET_ATTEMPT": "2" }));
    let test = journal.attempted("weather::oslo", 1, 2);
    journal.ran(test, 1, 1.0);
    if !verdict.is_null() {
        journal.decided(test, verdict, Some(1.0), "");
    }
    journal.write();
    std::fs::rename(folder.path("next/app-evals-4711-0.jsonl"), folder.path("next.jsonl"))
        .expect("it is ours");
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
    // A program that recorded how it was called is named with its arguments.
    let set = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [
        {"user_content": {"parts": [{"text": "Hi"}]}, "final_response": {"parts": [{"text": "Hello!"}]}}]}]}"#;
    folder.write("s.evalset.json", set);
    assert_eq!(folder.run(&["run", "s.evalset.json", "--agent-cmd", "no-such-program"]).code, Some(2));
    let ran = folder.run(&["rerun"]);
    assert_eq!(ran.code, Some(2));
    let again = "run them as they ran: `cargo evalset run s.evalset.json:a --agent-cmd no-such-program`";
    assert!(ran.err.contains(again), "{}", ran.err);
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
fn a_rerun_passes_only_if_its_records_say_so() {
    let folder = Folder::new("rerun-records");
    let records = "cp next.jsonl $EVALSET_DIR/$EVALSET_RUN_ID/app-evals-9-1.jsonl";
    let skipped = json!({ "is": "skipped", "reason": "nobody to ask" });
    // Cargo ends with 0 each time.
    for (what, verdict, does, code, said) in [
        ("a pass", passed(), records, 0, "Result PASSED  r1: the one case passed (exit code 0)"),
        ("a failure", failed(), records, 1, "left over     weather::oslo (failed, again)"),
        ("an error", error("agent", "503"), records, 2, "left over     weather::oslo (error, again)"),
        (
            "the end of the process",
            json!(null),
            records,
            2,
            "left over     weather::oslo (unfinished, again)",
        ),
        ("a skipped judge", skipped, records, 1, "left over     weather::oslo (failed, again)"),
        ("no journal", passed(), "echo running 1 test", 1, "left over     weather::oslo (failed)\n"),
        ("no test", passed(), "echo running 0 tests", 1, "left over     weather::oslo (failed)\n"),
        (
            "the wrong run",
            passed(),
            "cp next.jsonl $EVALSET_DIR",
            1,
            "left over     weather::oslo (failed)\n",
        ),
    ] {
        cargo(&folder, &["evals"], does);
        failing(&folder, None, &json!({}), &[]);
        next(&folder, &verdict);
        let ran = rerun(&folder, &["--failed"]);
        assert_eq!(ran.code, Some(code), "{what}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(said), "{what}: {}", ran.out);
        let shown = "1 command ended; `cargo evalset report` shows the run with the new attempts";
        assert!(ran.out.contains(shown), "{what}: {}", ran.out);
        let mut report = folder.command(&["report"]);
        report.env("CARGO", folder.path("cargo")).env("EVALSET_DIR", folder.path(".evalset"));
        let report: crate::folder::Ran = report.output().expect("it runs").into();
        assert_eq!(report.code, Some(code), "{what}: {}", report.out);
    }
}

#[cfg(unix)]
#[test]
fn a_rerun_is_recorded_in_the_run_as_its_next_attempt() {
    let folder = Folder::new("rerun-variables");
    cargo(&folder, &["evals"], "echo \"$EVALSET_RUN_ID $EVALSET_ATTEMPT $EVALSET_DIR\"; exit 7");
    failing(&folder, None, &json!({}), &[]);
    let ran = rerun(&folder, &[]);
    let runs = folder.path(".evalset").canonicalize().expect("the folder is there");
    assert_eq!(ran.out.lines().next(), Some(&*format!("r1 2 {}", runs.display())), "{}", ran.err);
    assert_eq!(ran.code, Some(7), "the exit code of cargo counts too");
    std::fs::rename(folder.path(".evalset/r1"), folder.path("a run")).expect("it is ours");
    let ran = rerun(&folder, &["a run"]);
    assert!(ran.code == Some(2) && ran.err.contains("whose name is no name of a run"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn a_rerun_that_passes_is_no_pass_where_the_record_has_gaps() {
    let folder = Folder::new("rerun-gaps");
    cargo(&folder, &["evals", "smoke"], "cp next.jsonl $EVALSET_DIR/$EVALSET_RUN_ID/app-evals-9-1.jsonl");
    for (has_gap, code) in [(false, 0), (true, 2)] {
        failing(&folder, Some("2026-11-22T02:31:50.000Z"), &json!({}), &[]);
        next(&folder, &passed());
        if has_gap {
            Journal::at(&folder, ".evalset/r1", "r1", "smoke").write_torn_at("{\"record\":\"started\",\"te");
        }
        let ran = rerun(&folder, &["--failed"]);
        assert_eq!(ran.code, Some(code), "{}{}", ran.out, ran.err);
        assert_eq!(ran.out.contains("the record is incomplete"), has_gap, "{}", ran.out);
    }
}
