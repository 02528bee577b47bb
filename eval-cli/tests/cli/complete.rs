//! An incomplete run, or a run other than the one meant, is no pass.

use std::fs::File;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::folder::{Folder, Ran};
use crate::journal::{Journal, passed};

const TESTS: [&str; 3] = ["weather::sunny", "weather::oslo", "travel::lisbon"];

/// A run of these tests, which all passed, by a process with these arguments and variables. The test binary holds [`TESTS`] and an
/// ignored test.
fn run_of(folder: &Folder, id: &str, tests: &[&str], head: &Value) {
    let mut journal = Journal::new(folder, id);
    journal.set_head(head);
    journal.lists(&TESTS, false);
    journal.lists(&["live::paid"], true);
    for test in tests {
        let number = journal.started(test, 1);
        journal.ran(number, 1, 1.0);
        journal.decided(number, &passed(), Some(1.0), "");
    }
    journal.write();
}

/// A test binary, and when it was built.
fn binary(folder: &Folder) -> Value {
    folder.write("target/debug/deps/evals-0123456789abcdef", "");
    let path = folder.path("target/debug/deps/evals-0123456789abcdef");
    touch(&path, Duration::from_millis(1_795_314_660_500));
    json!({ "program": path, "built": "2026-11-22T02:31:00.500Z" })
}

fn touch(path: &std::path::Path, since_1970: Duration) {
    let file = File::options().append(true).open(path).expect("the file is there");
    file.set_modified(SystemTime::UNIX_EPOCH + since_1970).expect("times can be set");
}

fn with(head: &Value, more: &Value) -> Value {
    let mut head = head.clone();
    for (name, value) in more.as_object().expect("fields") {
        head[name] = value.clone();
    }
    head
}

#[test]
fn tests_that_never_began_are_counted_by_what_the_journal_lists_and_what_was_asked() {
    let folder = Folder::new("complete-binary");
    let binary = binary(&folder);
    let nextest = json!({ "NEXTEST_RUN_ID": "r1" });
    for (began, head, code, reason) in [
        (&TESTS[..], json!({}), 0, "all 3 cases passed ("),
        (&TESTS[..2], json!({}), 2, "all 2 cases passed; 1 more test never began ("),
        (&TESTS[..1], json!({ "args": ["--test-threads", "1"] }), 2, "; 2 more tests never began ("),
        (&TESTS[..2], json!({ "args": ["weather"] }), 0, "; 1 more test was left out on purpose ("),
        (
            &TESTS[..1],
            json!({ "args": ["weather"] }),
            2,
            "; 1 more test never began; 1 more test was left out on purpose (",
        ),
        (
            &TESTS[..1],
            json!({ "args": ["--exact", "weather::sunny"] }),
            0,
            "; 2 more tests were left out on purpose (",
        ),
        (&TESTS[..], json!({ "args": ["--include-ignored"] }), 2, "; 1 more test never began ("),
        (&TESTS[..], json!({ "env": nextest }), 0, "all 3 cases passed ("),
        (
            &TESTS[..2],
            json!({ "env": nextest, "args": ["--exact", "weather::sunny", "--nocapture"] }),
            2,
            "; 1 more test never began (",
        ),
    ] {
        run_of(&folder, "r1", began, &with(&binary, &head));
        let Ran { out, code: ended, .. } = folder.run(&["report", "--json", "r.json"]);
        assert_eq!(ended, Some(code), "{head}: {out}");
        assert!(out.contains(reason), "{head}: {out}");
        assert!(
            out.contains("began 2026-11-22 02:31:07 UTC · tests built 2026-11-22 02:31:00 UTC\n"),
            "{out}"
        );
        if code == 2 {
            let Ran { out, code, .. } = folder.run(&["report", "--partial"]);
            assert!(code == Some(0) && out.contains("left out on purpose"), "{out}");
            let Ran { out, .. } = folder.run(&["report", "--github"]);
            assert!(
                out.lines()
                    .last()
                    .is_some_and(|line| line.starts_with("::error title=evals are not measurable::")),
                "{out}"
            );
        }
    }
}

#[test]
fn each_test_that_never_began_is_an_error_in_every_format() {
    let folder = Folder::new("complete-formats");
    let names = ["weather::oslo", "travel::lisbon"];
    run_of(&folder, "r1", &TESTS[..1], &binary(&folder));
    let args = ["--junit", "j.xml", "--json", "r.json", "--markdown", "m.md", "--html", "p.html", "--github"];
    let Ran { out, code, .. } = folder.run(&[&["report"], &args[..]].concat());
    assert_eq!(code, Some(2), "{out}");
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).expect("it is written");
    let junit = read("j.xml");
    assert!(junit.contains(&format!("failures=\"0\" errors=\"{}\"", names.len())), "{junit}");
    let problems = serde_json::from_str::<Value>(&read("r.json")).expect("JSON")["problems"].clone();
    assert_eq!(problems.as_array().map(Vec::len), Some(names.len()), "{problems}");
    for name in names {
        assert!(junit.contains(&format!("<testcase name=\"{name}\"")), "{junit}");
        assert!(out.contains(&format!("::error title={}", name.replace("::", "%3A%3A"))), "{out}");
        assert!(read("m.md").contains("| ERROR | "), "{}", read("m.md"));
        assert!(read("p.html").contains(&format!("error: {name}: ")), "{name}");
        assert!(problems.to_string().contains(name), "{problems}");
    }
    let Ran { err, .. } = folder.run(&["report", "--csv", "r.csv", "--json", "again.json"]);
    assert!(err.contains("cannot be written in the format of ADK"), "{err}");
    assert!(folder.path("again.json").exists(), "the other outputs are written");
    std::fs::remove_file(folder.path("again.json")).expect("it is there");
    let Ran { code, .. } = folder.run(&["report", "--partial", "--junit", "j.xml"]);
    assert!(code == Some(0) && read("j.xml").contains("errors=\"0\""), "{}", read("j.xml"));
}

#[test]
fn a_run_that_does_not_say_what_was_to_run_is_no_pass_even_if_it_is_named() {
    let folder = Folder::new("complete-untold");
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("weather::sunny", 1);
    journal.ran(test, 1, 1.0);
    journal.decided(test, &passed(), Some(1.0), "");
    journal.lists_nothing();
    journal.write();
    for args in [&["report"][..], &["report", "r1"], &["report", "--partial"]] {
        let Ran { out, code, .. } = folder.run(args);
        assert_eq!(code, Some(2), "{out}");
        assert!(
            out.contains("the one case passed; what a test binary was to run is not recorded (exit code 2)"),
            "{out}"
        );
        let note = "note: what the test binary `evals` of package `app` was to run is not recorded";
        assert!(out.contains(note), "{out}");
    }
}

#[test]
fn what_never_began_is_run_again_by_name() {
    let folder = Folder::new("complete-rerun");
    run_of(&folder, "r1", &TESTS[..1], &binary(&folder));
    for args in [&["rerun", "--dry-run"][..], &["rerun", "--unfinished", "--dry-run"]] {
        let Ran { out, .. } = folder.run(args);
        assert_eq!(
            out,
            "cargo test --no-fail-fast -p app -- --include-ignored --exact travel::lisbon weather::oslo\n"
        );
    }
    let Ran { out, .. } = folder.run(&["rerun", "--failed"]);
    assert!(out.starts_with("nothing to run again: no test failed"), "{out}");
}

#[test]
fn a_run_of_another_job_is_no_pass_unless_it_is_named() {
    let folder = Folder::new("complete-job");
    run_of(&folder, "r1", &TESTS, &json!({ "env": { "GITHUB_RUN_ID": "1", "CI_JOB_ID": "5" } }));
    let report = |args: &[&str], name: &str, value: &str| {
        Ran::from(folder.command(args).env(name, value).output().expect("the program runs"))
    };
    for (name, value, code) in [
        ("GITHUB_RUN_ID", "1", 0),
        ("GITHUB_RUN_ID", "2", 2),
        ("CI_JOB_ID", "6", 2),
        ("BUILDKITE_JOB_ID", "x", 2),
    ] {
        let Ran { out, code: ended, .. } = report(&["report"], name, value);
        assert_eq!(ended, Some(code), "{name}={value}: {out}");
        let said = format!("note: another CI job recorded the run: `{name}` is `{value}`, and was ");
        assert_eq!(out.contains(&said), code == 2, "{out}");
        assert_eq!(
            out.contains("name the run if it is the one you mean: `cargo evalset report r1`"),
            code == 2,
            "{out}"
        );
        let Ran { out, code, .. } = report(&["report", "r1"], name, value);
        assert_eq!(code, Some(0), "{out}");
    }
}

#[test]
fn a_run_that_is_older_than_its_tests_is_no_pass_unless_it_is_named() {
    let folder = Folder::new("complete-older");
    let binary = binary(&folder);
    run_of(&folder, "r1", &TESTS, &binary);
    assert_eq!(folder.run(&["report"]).code, Some(0));
    let set = folder.path("evals/weather.evalset.json");
    folder.write("evals/weather.evalset.json", "{}");
    // Its time is no proof: `mv` and `cp -p` keep it.
    for time in [1_795_314_601, 1_795_315_000] {
        touch(&set, Duration::from_secs(time));
        let Ran { out, code, .. } = folder.run(&["report"]);
        assert!(
            code == Some(2) && out.contains("note: `evals/weather.evalset.json` was written after the run"),
            "{out}"
        );
    }
    std::fs::remove_file(&set).expect("it is ours");
    let Ran { out, code, .. } = folder.run(&["report"]);
    let said = "note: `evals/weather.evalset.json` was deleted after the run";
    assert!(code == Some(2) && out.contains(said), "{out}");
    // Without the folder of the sets, nothing tells that they were ever here.
    std::fs::remove_dir(folder.path("evals")).expect("it is empty");

    let program = folder.path("target/debug/deps/evals-0123456789abcdef");
    touch(&program, Duration::from_secs(1_795_315_000));
    let said = "note: the test binary `evals-0123456789abcdef` was built again after the run";
    let Ran { out, code, .. } = folder.run(&["report"]);
    assert!(code == Some(2) && out.contains(said), "{out}");
    std::fs::remove_file(program).expect("it is ours");
    assert_eq!(folder.run(&["report"]).code, Some(0), "a machine without the binary");
    folder.write("target/debug/deps/evals-fedcba9876543210", "built anew");
    let Ran { out, code, .. } = folder.run(&["report"]);
    assert!(code == Some(2) && out.contains(said), "{out}");
    assert_eq!(folder.run(&["report", "r1"]).code, Some(0), "it is named");
}

#[test]
fn the_run_of_the_job_is_the_one_that_its_variable_names() {
    let folder = Folder::new("complete-run-id");
    run_of(&folder, "old", &TESTS, &json!({}));
    let report = |id: &str| {
        Ran::from(folder.command(&["report"]).env("EVALSET_RUN_ID", id).output().expect("it runs"))
    };
    assert_eq!(report("old").code, Some(0));
    for id in ["new", "../old", "../../target"] {
        let Ran { err, code, .. } = report(id);
        assert_eq!(code, Some(2), "{id}");
        assert!(err.contains(&format!("`EVALSET_RUN_ID` is `{id}`, and there is no such run")), "{err}");
        assert!(err.contains("they did not build, did not start, or ran without the variable"), "{err}");
    }
}
