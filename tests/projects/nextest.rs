//! The other runner: one process per test, and archives that run where the sources are not.

use std::fs;

use eval_report::journal;

use crate::project::{Draft, Project, set};
use crate::run::Run;

const NAMES: [&str; 4] = ["folder::is_current", "folder::weather::paris", "weather::oslo", "weather::paris"];

/// The project, for one test that may move it; `None`, and a line that says so, where nextest is missing.
fn project(name: &'static str) -> Option<Project> {
    let cases = [
        ("paris", "Weather in Paris?", "It is sunny in Paris."),
        ("oslo", "Weather in Oslo?", "Rain and fog, as far as anyone can see."),
    ];
    let config = r#"{"criteria": {"response_match_score": 0.5}}"#;
    let draft = Draft::new("archived").named(name);
    let draft = draft.file("evals/weather.evalset.json", set(&cases)).file("evals/test_config.json", config);
    let project = draft.owned();
    project.has(&["nextest", "--version"]).then_some(project)
}

/// The tests that nextest ran, and whether each passed.
fn outcomes(run: &Run) -> Vec<(&str, bool)> {
    // `        PASS [   0.008s] (1/4) archived::weather weather::paris`
    let mut tests: Vec<_> = run
        .stderr()
        .lines()
        .filter_map(|line| {
            let (verdict, rest) = line.trim_start().split_once(" [")?;
            matches!(verdict, "PASS" | "FAIL")
                .then(|| (rest.rsplit(' ').next().unwrap_or(rest), verdict == "PASS"))
        })
        .collect();
    tests.sort_unstable();
    tests.dedup();
    tests
}

const OUTCOMES: [(&str, bool); 4] = [(NAMES[0], true), (NAMES[1], true), (NAMES[2], false), (NAMES[3], true)];

#[test]
fn nextest_lists_and_runs_the_names_that_cargo_test_does() {
    let Some(project) = project("nextest_names") else { return };
    let listed = project.cargo(&["nextest", "list", "--message-format", "oneline"]).passes();
    let names: Vec<_> = listed.stdout().lines().filter_map(|line| line.split(' ').next_back()).collect();
    assert_eq!(names, NAMES, "{listed}");
    let by_cargo = project.cargo(&["test", "--", "--list"]).passes();
    assert_eq!(by_cargo.listed(), NAMES, "{by_cargo}");

    let run = project.cargo(&["nextest", "run", "--no-fail-fast"]).fails();
    assert_eq!(outcomes(&run), OUTCOMES, "{run}");
    let again = run.output();
    let again = again.lines().find_map(|line| line.trim_start().strip_prefix("run again"));
    let again = again.unwrap_or_else(|| panic!("no command:\n{run}")).trim();
    assert!(again.starts_with("cargo nextest run "), "{again}");
    let run = project.shell(again).fails();
    assert_eq!(outcomes(&run), [("weather::oslo", false)], "{run}");
}

#[test]
fn a_junit_report_begins_with_what_failed() {
    let Some(project) = project("nextest_junit") else { return };
    project.cargo(&["nextest", "run", "--profile", "reported"]).fails();
    let report = project.folder().join("target/nextest/reported/junit.xml");
    let report = fs::read_to_string(&report).expect("nextest wrote it");
    let message = "<failure message=\"Error: weather::oslo: response_match_score is 0.";
    assert!(report.contains(message), "{report}");
}

#[test]
fn an_archive_runs_in_a_folder_without_the_sources() {
    let Some(project) = project("nextest_archive") else { return };
    let elsewhere = project.folder().with_file_name("nextest_archive_elsewhere");
    let moved = project.folder().with_file_name("nextest_archive_moved");
    for folder in [&elsewhere, &moved] {
        drop(fs::remove_dir_all(folder));
    }
    fs::create_dir(&elsewhere).expect("a folder can be made");
    let archive = elsewhere.join("tests.tar.zst");
    let archive = archive.to_str().expect("the target folder has a plain name");
    project.cargo(&["nextest", "archive", "--archive-file", archive]).passes();
    fs::rename(project.folder(), &moved).expect("the sources can go");
    // Nextest wants to see a workspace; nothing else of it is here.
    fs::copy(moved.join("Cargo.toml"), elsewhere.join("Cargo.toml")).expect("files can be copied");

    let remap = elsewhere.to_str().expect("the target folder has a plain name");
    let mut command = project.command();
    command.current_dir(&elsewhere).args(["nextest", "run", "--no-fail-fast"]);
    let run = Run::of(command.args(["--archive-file", archive, "--workspace-remap", remap])).fails();
    assert_eq!(outcomes(&run), OUTCOMES, "{run}");
    // The folder of the archive goes when the run ends; the record stays.
    let runs = journal::runs(&elsewhere.join("target/evalset")).expect("it can be read");
    let recorded = journal::RecordedRun::read(&runs[0].path).expect("it can be read");
    assert_eq!(recorded.tests.len(), 3, "the cases of {}", runs[0].path.display());
    run.says("note: the JSON is not on this machine")
        .says("expected  Rain and fog, as far as anyone can see.");
}
