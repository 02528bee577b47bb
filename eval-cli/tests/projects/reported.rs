//! The command line over what real test processes recorded, and a program's own command.
//!
//! Where the mistakes that other frameworks make are held not to be made here:
//!
//! | mistake | test |
//! | --- | --- |
//! | a judge that fails costs the other metrics their scores, or another run of the agent | `eval-core`: `runner::tests::bookkeeping` |
//! | an answer of a judge without its verdict passes | `eval-core`: `metric::final_response_match_v2::tests`, `metric::rubrics::verdicts::tests` |
//! | no judge answered, and the exit code is 0 | `eval-core`: `runner::tests::bookkeeping`; `tests/projects`: `judged::nobody_is_asked_unless_the_environment_says_so` |
//! | a run that was killed begins anew | [`a_killed_run_is_resumed_without_what_it_finished`] |
//! | repeated runs are answered by one recorded answer | `eval-core`: `simulator::tests::each_run_has_a_sample_of_its_own`; agents are never answered from a record |
//! | pass@5 of three runs | `eval-cli`: `report::pass_at_more_than_the_runs_is_an_error` |
//! | a filter that matches nothing passes | `tests/ui`: `cases_without_match`; `eval-core`: `eval_command::tests` |
//! | the order of expected calls changes an any-order score | `eval-core`: `runner::tests::bookkeeping` |
//! | a missing key passes under nextest, or is found after the agent ran | [`a_missing_judge_is_no_pass_under_nextest`], `eval-cli`: `plan::a_missing_key_is_found_before_anything_runs` |
//! | a failure in JUnit says nothing | [`a_junit_report_says_metric_expected_and_actual`] |
//! | two errors of three are full marks | `eval-cli`: `report::two_errors_of_three_are_not_full_marks` |
//! | without a network nothing works | `tests/projects`: `judged::a_recording_is_replayed_until_the_question_changes` |
//! | two processes write one file | `tests/projects`: `judged::many_processes_record_at_once_and_a_killed_one_leaves_a_whole_file`, `journaled` |

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use eval_core::format::Value;
use eval_report::journal;

use crate::project::{Draft, Project, echo_set, set, target};
use crate::run::Run;

/// Runs `cargo-evalset` in a project, over the runs of a folder. Cargo and its tests find them there too.
pub(crate) fn evalset(project: &Project, runs: &Path, args: &[&str]) -> Run {
    let mut cargo = project.command();
    cargo.args(args).env("EVALSET_DIR", runs);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evalset"));
    // The tests are a developer's machine, wherever they run.
    command.args(args).env("CARGO", cargo.get_program()).env_remove("CI");
    if let Some(folder) = cargo.get_current_dir() {
        // What differs in the checkout of this repository, which may be above, says nothing about the project.
        command.current_dir(folder).env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap_or(folder));
    }
    for (name, value) in cargo.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Run::of(&mut command)
}

pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = target().join("reported").join(name);
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("the target folder is ours");
    folder
}

fn shown(folder: &Path) -> &str {
    folder.to_str().expect("the target folder has a plain name")
}

fn json(run: &Run) -> Value {
    Value::parse(run.stdout()).unwrap_or_else(|problems| panic!("{problems}\n{run}"))
}

#[cfg(unix)]
#[test]
fn a_killed_run_is_resumed_without_what_it_finished() {
    let cases = [("a_hello", "hello"), ("b_fatal", "die"), ("c_flaky", "flaky"), ("f_late", "good night")];
    let draft = Draft::new("journaled").named("reported_killed");
    let draft = draft.file("evals/first.evalset.json", echo_set(&cases));
    let project = draft.file("evals/second.evalset.json", echo_set(&[("only", "hi")])).shared();
    let runs = folder("killed");
    let binary = project.test_binary("tests/first.rs");
    let variables = [("EVALSET_DIR", shown(&runs)), ("EVALSET_RUN_ID", "killed"), ("DIE", "1")];
    binary.run_with(&variables, &["--test-threads=1"]).fails();

    let report = evalset(&project, &runs, &["report"]).fails();
    report.says("UNFINISHED").says("no verdict: 0 of 1 run ended").says("(exit code 2)");
    let rerun = evalset(&project, &runs, &["rerun", "--unfinished"]).fails();
    rerun
        .says("--test first -- --include-ignored --exact first::b_fatal first::c_flaky first::f_late")
        .says("binaries that cargo did not start leave no record: `reported_killed::second`")
        .ran(&[("first::b_fatal", "ok"), ("first::c_flaky", "ok"), ("first::f_late", "ok")]);
    // It says the same of what it leaves.
    let report = evalset(&project, &runs, &["report"]).fails();
    report.says("4 cases: 4 passed").says("leave no record: `reported_killed::second`");
    evalset(&project, &runs, &["rescore"]).fails().says("test binaries may not have been started");
    evalset(&project, &runs, &["report", "--partial"]).passes().says("all 4 cases passed");
    evalset(&project, &runs, &["rerun", "--partial"]).passes().says("nothing to run again");
}

#[cfg(target_os = "linux")]
#[test]
fn a_binary_that_the_runner_did_not_come_to_is_missed_until_it_ran() {
    let draft = Draft::new("journaled").named("reported_beside");
    let draft =
        draft.file("evals/first.evalset.json", echo_set(&[("a_flaky", "flaky"), ("b_hello", "hello")]));
    let draft = draft.file("tests/third.rs", "#[test]\nfn it_has_no_set() {}\n");
    let project = draft.file("evals/second.evalset.json", echo_set(&[("only", "hi")])).owned();
    let runs = folder("beside");
    let test = |args: &[&str], variables: &[(&str, &str)]| {
        let mut tests = project.command();
        let args = [&["test"], args].concat();
        Run::of(tests.args(args).env("EVALSET_DIR", &runs).envs(variables.iter().copied()))
    };
    test(&[], &[]).passes();
    evalset(&project, &runs, &["report"]).passes().says("all 3 cases passed");
    test(&["--test", "first", "--test", "third"], &[]).passes();
    evalset(&project, &runs, &["report"]).passes().says("all 2 cases passed (exit code 0)");
    test(&["--", "hello"], &[]).passes();
    evalset(&project, &runs, &["report"]).passes().says("the one case passed");

    // Cargo starts no further binary after a failure. The agent passes when it is asked again.
    let marker = runs.join("marker");
    let flaky = [("FAIL_UNLESS_EXISTS", shown(&marker))];
    test(&["--test", "first", "--test", "second"], &flaky).fails();
    let report = evalset(&project, &runs, &["report"]).fails();
    report
        .says("of 2 cases: 1 failed; 1 more test never began (exit code 2)")
        .says("`rerun --unfinished` runs what never began (of `reported_beside::second`)");
    evalset(&project, &runs, &["rerun", "--failed"]).fails().says("second::only: the test never began");
    let junit = runs.join("junit.xml");
    evalset(&project, &runs, &["report", "--junit", shown(&junit)]).fails().says("1 more test never began");
    assert!(fs::read_to_string(&junit).expect("it was written").contains("<testcase name=\"second::only\""));
    evalset(&project, &runs, &["rescore"]).fails().says("1 more test never began");
    evalset(&project, &runs, &["rerun"]).passes().ran(&[("second::only", "ok")]);
    evalset(&project, &runs, &["report"]).passes().says("all 3 cases passed");
}

#[cfg(target_os = "linux")]
#[test]
fn a_runner_that_is_killed_between_binaries_leaves_no_pass() {
    let kills = "use eval_core::{Agent, BoxError, agent_fn, eval_set};\n\n\
        #[eval_set(\"evals/first.evalset.json\")]\nfn first() -> impl Agent {\n    agent_fn(|text, _| async move {\n        \
        if std::env::var_os(\"KILL\").is_some() {\n            let runner = std::os::unix::process::parent_id().to_string();\n            \
        std::process::Command::new(\"kill\").args([\"-9\", &runner]).status()?;\n        }\n        \
        Ok::<_, BoxError>(text)\n    })\n}\n";
    let draft = Draft::new("journaled").named("reported_beside_killed").file("tests/first.rs", kills);
    let draft = draft.file("evals/first.evalset.json", echo_set(&[("a_hello", "hello")]));
    let project = draft.file("evals/second.evalset.json", echo_set(&[("only", "hi")])).owned();
    let runners = [&["test", "--test", "first", "--test", "second"][..], &["nextest", "run", "-j", "1"]];
    for (runner, args) in ["cargo", "nextest"].into_iter().zip(runners) {
        if runner == "nextest" && !project.has(&["nextest", "--version"]) {
            continue;
        }
        let runs = folder(&format!("beside_killed_{runner}"));
        project.cargo(&[args, &["--no-run"]].concat()).passes();
        let mut tests = project.command();
        Run::of(tests.args(args).env("EVALSET_DIR", &runs).env("KILL", "1")).fails();
        let ended = || {
            (0..100).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(100));
                evalset(&project, &runs, &["report"]).stdout().contains("the one case passed; ")
            })
        };
        assert!(ended(), "{}", evalset(&project, &runs, &["report"]));
        let report = evalset(&project, &runs, &["report"]).fails();
        report
            .says("the one case passed; 1 more test never began (exit code 2)")
            .says("(of `reported_beside_killed::second`)");
        evalset(&project, &runs, &["rescore"]).fails();
        let rerun = evalset(&project, &runs, &["rerun", "--unfinished"]).passes();
        rerun.says("--test second -- --include-ignored --exact second::only");
        evalset(&project, &runs, &["report"]).passes().says("all 2 cases passed");
    }
}

#[test]
fn a_run_that_lacks_tests_is_no_pass_unless_they_were_left_out_on_purpose() {
    let draft = Draft::new("journaled").named("reported_partial");
    let draft = draft.file("evals/first.evalset.json", echo_set(&[("a_hello", "hello"), ("b_hi", "hi")]));
    let project = draft.file("evals/second.evalset.json", echo_set(&[("only", "hi")])).owned();
    let runs = folder("partial");
    let test = |args: &[&str]| {
        let mut tests = project.command();
        Run::of(tests.args(["test", "--test", "first"]).args(args).env("EVALSET_DIR", &runs)).passes();
        evalset(&project, &runs, &["report"])
    };
    test(&[]).passes().says("all 2 cases passed (exit code 0)").says("tests built 20");
    test(&["--", "first::a_hello"]).passes().says("1 more test was left out on purpose");
    test(&["--", "--skip", "b_hi"]).passes().says("1 more test was left out on purpose");

    // The run of a runner that was killed after its first test.
    drop(test(&["--", "--test-threads=1"]));
    let run = journal::runs(&runs).expect("it can be read").remove(0).path;
    let whole = fs::read_dir(&run).expect("a run").flatten().map(|entry| entry.path());
    let whole =
        whole.into_iter().find(|path| path.extension().is_some_and(|end| end == "jsonl")).expect("a journal");
    let lines = fs::read_to_string(&whole).expect("a journal");
    let ended =
        lines.lines().position(|line| line.starts_with("{\"record\":\"decided\"")).expect("a verdict");
    let cut: Vec<&str> = lines.lines().take(ended + 1).collect();
    fs::write(&whole, cut.join("\n") + "\n").expect("it can be written");
    let report = evalset(&project, &runs, &["report"]).fails();
    report.says("the one case passed; 1 more test never began (exit code 2)");
    let rerun = evalset(&project, &runs, &["rerun", "--unfinished", "--dry-run"]).fails();
    rerun.says("--test first -- --include-ignored --exact first::b_hi");
    let copy = folder("partial_copy");
    for file in fs::read_dir(&run).expect("a run").flatten() {
        fs::copy(file.path(), copy.join(file.file_name())).expect("the target folder is ours");
    }

    // The test binary is built anew, and nothing runs.
    project.write(
        "tests/first.rs",
        &format!("{}\n", fs::read_to_string(project.folder().join("tests/first.rs")).expect("the test")),
    );
    test(&[]).passes();
    std::thread::sleep(std::time::Duration::from_secs(3));
    project.write(
        "tests/first.rs",
        &format!(
            "{}\n// new\n",
            fs::read_to_string(project.folder().join("tests/first.rs")).expect("the test")
        ),
    );
    project.cargo(&["test", "--test", "first", "--no-run"]).passes();
    evalset(&project, &runs, &["report"]).fails().says("was built again after the run");

    // The killed test is known without the binary that ran, from a copy alone.
    let report = evalset(&project, &runs, &["report", shown(&copy)]).fails();
    report.says("the one case passed; 1 more test never began (exit code 2)");
}

#[test]
fn one_process_of_nextest_records_what_all_were_to_run() {
    let draft = Draft::new("journaled").named("reported_listed");
    let cases = [("a_hello", "hello"), ("b_hi", "hi"), ("c_hey", "hey")];
    let draft = draft.file("evals/first.evalset.json", echo_set(&cases));
    let project = draft.file("evals/second.evalset.json", echo_set(&[("only", "hi")])).shared();
    if !project.has(&["nextest", "--version"]) {
        return;
    }
    let runs = folder("listed");
    let nextest = |args: &[&str]| {
        let mut tests = project.command();
        let args = [&["nextest", "run", "--test", "first"], args].concat();
        Run::of(tests.args(args).env("EVALSET_DIR", &runs)).passes();
        journal::runs(&runs).expect("it can be read").remove(0).path
    };
    let listings = |run: &Path| {
        let names =
            fs::read_dir(run).expect("a run").flatten().map(|entry| entry.path().display().to_string());
        names.filter(|name| name.ends_with(".listed.jsonl")).collect::<Vec<_>>()
    };
    let whole = nextest(&[]);
    assert_eq!(listings(&whole).len(), 1);
    evalset(&project, &runs, &["report"]).passes().says("all 3 cases passed");
    let parts = ["count:1/2", "count:2/2"].map(|part| nextest(&["--partition", part]));
    let [one, two] = [shown(&parts[0]), shown(&parts[1])];
    evalset(&project, &runs, &["report", one]).fails().says("never began");
    evalset(&project, &runs, &["report", "--merge", one, two]).passes().says("all 3 cases passed");
    // A part whose process was killed before it said what was to run.
    fs::remove_file(&listings(&whole)[0]).expect("it is ours");
    let doubt = "what the test binary `first` of package `reported_listed` was to run is not recorded";
    evalset(&project, &runs, &["report", shown(&whole)]).fails().says(doubt);
}

#[test]
fn a_test_that_is_there_no_more_is_no_pass_when_run_again() {
    let project = |cases: &[(&str, &str)]| {
        let draft = Draft::new("journaled").named("reported_gone");
        draft
            .file("evals/first.evalset.json", echo_set(cases))
            .file("evals/second.evalset.json", echo_set(&[("only", "hi")]))
            .owned()
    };
    let runs = folder("gone");
    let before = project(&[("a_hello", "hello"), ("e_no_agent", "anybody?")]);
    let mut tests = before.command();
    Run::of(tests.args(["test", "--test", "first"]).env("EVALSET_DIR", &runs)).fails();
    let after = project(&[("a_hello", "hello")]);
    let rerun = evalset(&after, &runs, &["rerun"]).fails();
    rerun.says("left over     first::e_no_agent (error)\n").ran(&[]);
}

/// Sets of which one case passes and one fails, for nextest where that is there.
fn archived(name: &'static str) -> Option<Project> {
    let cases = [
        ("paris", "Weather in Paris?", "It is sunny in Paris."),
        ("oslo", "Weather in Oslo?", "Rain and fog, as far as anyone can see."),
    ];
    let config = r#"{"criteria": {"response_match_score": 0.5}}"#;
    let draft = Draft::new("archived").named(name).file("evals/weather.evalset.json", set(&cases));
    let project = draft.file("evals/test_config.json", config).owned();
    project.has(&["nextest", "--version"]).then_some(project)
}

#[test]
fn partitions_that_ran_apart_come_to_the_same_as_one_run() {
    let Some(project) = archived("reported_partitions") else { return };
    let here = folder("partitions");
    let archive = here.join("tests.tar.zst");
    project.cargo(&["nextest", "archive", "--archive-file", shown(&archive)]).passes();
    let nextest = |name: &str, more: &[&str]| {
        let folder = here.join(name);
        fs::create_dir(&folder).expect("the folder is ours");
        for file in ["Cargo.toml", ".config/nextest.toml"] {
            let copy = folder.join(file);
            fs::create_dir_all(copy.parent().expect("it lies in the folder")).expect("the folder is ours");
            fs::copy(project.folder().join(file), copy).expect("files can be copied");
        }
        let runs = folder.join("runs");
        let mut command = project.command();
        command.current_dir(&folder).env("EVALSET_DIR", &runs);
        command.args(["nextest", "run", "--no-fail-fast", "--archive-file", shown(&archive)]);
        Run::of(command.args(["--workspace-remap", shown(&folder)]).args(more));
        runs
    };
    let whole = nextest("whole", &[]);
    let parts =
        [nextest("one", &["--partition", "slice:1/2"]), nextest("two", &["--partition", "slice:2/2"])];
    let summary = |args: &[&str]| {
        let report = json(&evalset(&project, &whole, &[&["report", "--format", "json"], args].concat()));
        let cases: Vec<(String, String)> = report["cases"]
            .as_array()
            .unwrap_or_default()
            .iter()
            .map(|case| (case["test"].to_string(), case["state"].to_string()))
            .collect();
        let summary = &report["summary"];
        let counts =
            ["cases", "passed", "failed", "runs", "pass_rate", "interval"].map(|key| summary[key].clone());
        (cases, counts, report["outcome"].clone())
    };
    let alone = summary(&[]);
    assert_eq!(alone.0.len(), 3, "{alone:?}");
    assert_eq!(summary(&["--merge", shown(&parts[0]), shown(&parts[1])]), alone);

    let run = journal::runs(&parts[0]).expect("it can be read").remove(0);
    let run = journal::RecordedRun::read(&run.path).expect("it can be read");
    let weather = run.tests.iter().filter(|test| test.name().starts_with("weather::"));
    let groups: Vec<_> = weather.filter_map(|test| test.last()?.head.env.get("NEXTEST_TEST_GROUP")).collect();
    assert!(!groups.is_empty() && groups.iter().all(|group| *group == "judges"), "{groups:?}");
}

#[test]
fn a_junit_report_says_metric_expected_and_actual() {
    let Some(project) = archived("reported_junit") else { return };
    let runs = folder("junit");
    let mut command = project.command();
    Run::of(command.args(["test"]).env("EVALSET_DIR", &runs)).fails();
    let junit = runs.join("junit.xml");
    evalset(&project, &runs, &["report", "--junit", shown(&junit)]).fails();
    let junit = fs::read_to_string(&junit).expect("it was written");
    for part in [
        "<failure message=\"response_match_score is 0.",
        "expected  Rain and fog, as far as anyone can see.",
        "actual    It is sunny in Paris.",
        "response_match_score.threshold=0.5",
    ] {
        assert!(junit.contains(part), "{part}\n{junit}");
    }
    let again = evalset(&project, &runs, &["rerun", "--failed", "--nextest"]).fails();
    again.says("1 test run: 0 passed, 1 failed");
    let unchanged = evalset(&project, &runs, &["rescore"]).fails();
    assert!(!unchanged.output().contains("edited since"), "{unchanged}");
    let expected = fs::read_to_string(project.folder().join("evals/weather.evalset.json")).expect("the set");
    project.write(
        "evals/weather.evalset.json",
        &expected.replace("Rain and fog, as far as anyone can see.", "It is sunny."),
    );
    // The attempt of `rerun` is in the run, and the edited case is the one that ran.
    evalset(&project, &runs, &["rescore"]).passes().says("FAIL -> PASS").says("(edited since)");
}

#[test]
fn a_missing_judge_is_no_pass_under_nextest() {
    let set = echo_set(&[("bread", "The bread")]);
    let draft = Draft::new("judged").named("reported_judged").file("evals/manners.evalset.json", set);
    let project = draft.owned();
    if !project.has(&["nextest", "--version"]) {
        return;
    }
    let runs = folder("judged");
    let nextest = |variables: &[(&str, &str)]| {
        let mut command = project.command();
        command.args(["nextest", "run"]).env("EVALSET_DIR", &runs).envs(variables.iter().copied());
        Run::of(&mut command)
    };
    nextest(&[]).fails().says("no judge: there is no recording");
    let report = evalset(&project, &runs, &["report"]).fails();
    report.says("ERROR").says("0 passed").says("(exit code 2)");
    // Even where it may be left out, which nextest shows as a pass, it is no pass in the report.
    nextest(&[("EVALSET_MISSING_JUDGE", "skip")]).passes();
    let report = evalset(&project, &runs, &["report"]).fails();
    report.says("SKIP").says("nothing was checked");
}

#[test]
fn a_program_offers_its_evals_as_a_command() {
    let dependencies = "[dependencies]\neval-core = { {evals} }\n\
        eval-report = { path = \"{workspace}/eval-report\" }\n\
        tokio = { version = \"1\", default-features = false, features = [\"macros\", \"rt\"] }\n";
    let draft = Draft::new("own_command").dependencies(dependencies);
    let project = draft.file("evals/hello.evalset.json", echo_set(&[("hello", "hello")])).shared();
    let run = |args: &[&str]| {
        let mut command = project.command();
        let output = command.args(["run", "--quiet", "--"]).args(args).output().expect("cargo runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let eval = |agent: &str| run(&["eval", "--agent", agent, "--set", "evals/hello.evalset.json"]);
    let (code, out) = eval("right");
    assert_eq!(code, Some(0), "{out}");
    let report = Value::parse(&out).expect("it is JSON");
    assert_eq!(report["summary"]["passed"].as_i64(), Some(1), "{out}");
    assert_eq!(eval("wrong").0, Some(1));
    assert_eq!(eval("wrnog").0, Some(2));
    assert_eq!(run(&["serve"]).0, Some(42), "anything else is the program's own");
}
