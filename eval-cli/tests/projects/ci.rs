//! The jobs of `docs/ci.md` and `docs/worse.md`, run as GitHub and GitLab run them, in the repository of a user.
//!
//! A key, an action, an expression or a variable that is not emulated is an error of the test.

mod actions;
mod emulated;
mod expression;
mod github;
mod gitlab;
mod keys;
mod machine;
mod page;

use std::fs;
use std::process::Command;

use machine::Machine;
use page::{ADDRESS, Section};

use crate::WORKSPACE;
use crate::project::Project;
use crate::reported::evalset;
use crate::run::Run;

const SET: &str = "evals/weather.evalset.json";
const TESTS: &str = "tests/weather.rs";

/// The repository of a user who has taken the first steps, and the dependency of the page. The versions of this workspace
/// are locked.
fn repository(machine: &Machine, address: &str, is_real: bool) {
    let origin = machine.origin();
    let dependencies = Section::new("# Evals in continuous integration", address).blocks("toml").concat();
    drop(evalset(&origin, &origin.folder().join("target/evalset"), &["new"]).passes());
    let manifest = read(&origin, "Cargo.toml");
    let (package, by_path) = manifest.split_once("[dev-dependencies]").expect("`new` adds a dependency");
    let name = package.replace("name = \"origin\"", &format!("name = \"{}\"", machine.package()));
    fs::copy(format!("{WORKSPACE}/Cargo.lock"), origin.folder().join("Cargo.lock")).expect("there is a lock");
    // Locked before the address is known: a crate by path and a crate that is patched to a path are locked alike.
    origin.write("Cargo.toml", &format!("{name}[dev-dependencies]{by_path}"));
    let lock = || {
        let mut cargo = origin.command();
        cargo.args(["metadata", "--format-version", "1"]);
        Run::of(if is_real { cargo.env("CARGO_HOME", machine.cargo_home()) } else { cargo.arg("--offline") })
    };
    drop(lock().passes());
    origin.write("Cargo.toml", &format!("{name}{dependencies}"));
    if is_real {
        drop(lock().passes());
    }
    machine.commit();
}

fn read(project: &Project, file: &str) -> String {
    fs::read_to_string(project.folder().join(file)).expect("the file is there")
}

/// Changes a file of the repository, and commits it.
#[track_caller]
fn change(machine: &Machine, file: &str, from: &str, to: &str) {
    let origin = machine.origin();
    let text = read(&origin, file);
    assert_eq!(text.matches(from).count(), 1, "`{from}` in {text}");
    origin.write(file, &text.replace(from, to));
    machine.commit();
}

/// Lets the tool of the case in Oslo get another argument than is expected.
fn break_a_case(machine: &Machine) {
    change(machine, SET, r#""args": { "city": "Oslo" }"#, r#""args": { "city": "Bergen" }"#);
}

const STEPS: [&str; 7] = [
    "actions/checkout@v4",
    "Swatinem/rust-cache@v2",
    "cargo install --locked --git \"$EVALSET_REPOSITORY\" cargo-evalset",
    "cargo evalset check evals --github --deny-warnings",
    "tests",
    "report",
    "actions/upload-artifact@v4",
];

fn job_of_github(address: &str) -> github::Job {
    let section = Section::new("GitHub Actions", address);
    github::Job::new(section.blocks("yaml")[0], None).expect("the workflow is known")
}

/// The case that fails, as the page shows it.
fn annotation_of_the_page() -> String {
    Section::new("GitHub Actions", ADDRESS).blocks("text").concat()
}

#[test]
fn the_workflow_passes_and_fails_as_its_evals_do() {
    let job = job_of_github(ADDRESS);
    assert_eq!(job.scripts().filter(|script| machine::installs(script)).count(), 1);
    let machine = Machine::new("github", ADDRESS, false);
    repository(&machine, ADDRESS, false);

    let green = job.run(&machine, 1, &[]);
    assert!(!green.has_failed, "{}", green.log);
    assert_eq!(green.with("success"), STEPS, "{}", green.log);
    assert_eq!(green.annotations(), [""; 0]);
    assert!(green.summary.contains("2 cases: 2 passed"), "{}", green.summary);
    reports(&machine, "evals", "failures=\"0\"");

    break_a_case(&machine);
    let red = job.run(&machine, 2, &[]);
    assert!(red.has_failed);
    assert_eq!(red.with("failure"), ["tests", "report"], "{}", red.log);
    assert_eq!(red.with("skipped"), [""; 0], "{}", red.log);
    let annotations = red.annotations();
    assert_eq!(annotations.join("\n"), annotation_of_the_page().trim_end(), "{}", red.log);
    let place = format!("file={SET},line=14,");
    assert!(annotations.len() == 1 && annotations[0].contains(&place), "{annotations:?}");
    assert!(red.summary.contains("2 cases: 1 passed, 1 failed"), "{}", red.summary);
    reports(&machine, "evals", "failures=\"1\"");

    // A set that is broken is found before anything is built. The cache has the run before, and no report is of it.
    change(&machine, SET, "\"_note\":", "\"final_session_sate\": {}, \"_note\":");
    let broken = job.run(&machine, 3, &[]);
    assert_eq!(broken.with("failure"), [STEPS[3]], "{}", broken.log);
    assert_eq!(broken.with("skipped"), STEPS[4..], "{}", broken.log);
    let annotations = broken.annotations();
    assert!(annotations[0].starts_with(&format!("::error file={SET},line=15,")), "{annotations:?}");
    assert!(broken.summary.is_empty() && !broken.log.contains("Compiling"), "{}", broken.log);

    change(&machine, SET, "\"final_session_sate\": {}, ", "");
    change(&machine, TESTS, "agent_fn(answer)", "agent_fn(anwser)");
    let unbuilt = job.run(&machine, 4, &[]);
    assert_eq!(unbuilt.with("failure"), &STEPS[4..], "{}", unbuilt.log);
    assert!(unbuilt.log.contains("`EVALSET_RUN_ID` is `4-1`, and there is no such run"), "{}", unbuilt.log);
    assert_eq!(unbuilt.annotations().len(), 1, "{}", unbuilt.log);
    assert!(unbuilt.annotations()[0].contains("they did not build"), "{}", unbuilt.log);
}

/// Checks the page and the JUnit report in an artifact: both show the two cases.
#[track_caller]
fn reports(machine: &Machine, artifact: &str, suite: &str) {
    let [page, junit] = ["report.html", "junit.xml"].map(|name| {
        let file = machine.artifact(artifact).join(name);
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    });
    assert!(page.contains("</html>") && page.contains("Oslo"), "{page}");
    assert!(junit.contains(suite), "{junit}");
    let report: quick_junit::Report = quick_junit::Report::deserialize_from_str(&junit).expect("it is JUnit");
    assert_eq!(report.tests, 2, "{junit}");
}

/// The repository of a user whose agent is in Python.
fn repository_without_rust(machine: &Machine) {
    let origin = machine.origin();
    drop(evalset(&origin, &origin.folder().join("runs"), &["new"]).passes());
    for rust in ["src", "tests", "Cargo.toml", "runs"] {
        let path = origin.folder().join(rust);
        drop(fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)));
    }
    let agent = format!("{WORKSPACE}/eval-cli/tests/agents/weather.py");
    origin.write(AGENT, &fs::read_to_string(agent).expect("the sources are here"));
    machine.commit();
}

const AGENT: &str = "agents/weather.py";

#[test]
fn the_gate_of_a_pull_request_decides_in_place_of_its_cases() {
    let section = Section::of_page("docs/worse.md", "In CI", ADDRESS);
    let job = github::Job::new(section.blocks("yaml")[0], None).expect("the workflow is known");
    let machine = Machine::new("gate", ADDRESS, false);
    repository_without_rust(&machine);
    let origin = machine.origin();
    let in_origin = |args: &[&str]| {
        drop(evalset(&origin, &origin.folder().join(".evalset"), args).passes());
    };
    in_origin(&["run", "evals", "--agent-cmd", "python3 agents/weather.py", "--runs", "10"]);
    in_origin(&["bless"]);
    drop(fs::remove_dir_all(origin.folder().join(".evalset")));
    machine.commit();
    let comment = || {
        let file = machine.artifact("gate").join("gate.md");
        fs::read_to_string(file).expect("the comment is kept")
    };

    let same = job.run(&machine, 1, &[]);
    assert!(!same.has_failed && same.annotations().is_empty(), "{}", same.log);
    assert!(comment().starts_with("<!-- evalset-gate -->\n## Gate: PASS\n"), "{}", comment());

    // An agent that calls another tool fails all cases, and the gate says so, not the step that runs them.
    change(&machine, AGENT, "name=\"get_weather\"", "name=\"get_time\"");
    let worse = job.run(&machine, 2, &[]);
    assert_eq!(worse.with("failure"), ["gate"], "{}", worse.log);
    assert_eq!(worse.with("skipped"), [""; 0], "{}", worse.log);
    assert!(worse.annotations()[0].starts_with("::error title=gate%3A REGRESSION::"), "{}", worse.log);
    assert!(comment().starts_with("<!-- evalset-gate -->\n## Gate: REGRESSION\n"), "{}", comment());

    // An agent that does not answer is an error, and nothing is decided.
    change(&machine, AGENT, "name=\"get_time\"", "name=\"get_weather\"");
    change(&machine, AGENT, "say(type=\"started\")", "sys.exit(1)");
    let broken = job.run(&machine, 3, &[]);
    assert!(broken.has_failed && broken.with("skipped").contains(&"gate"), "{}", broken.log);
}

#[test]
fn a_workflow_without_rust_runs_its_agent() {
    let section = Section::new("GitHub Actions", ADDRESS);
    let [workflow, steps] = section.blocks("yaml").try_into().expect("a workflow, and steps in place of one");
    let job = github::Job::new(workflow, Some(("tests", steps))).expect("the workflow is known");
    let machine = Machine::new("python", ADDRESS, false);
    repository_without_rust(&machine);

    break_a_case(&machine);
    let red = job.run(&machine, 1, &[]);
    assert_eq!(red.with("failure"), ["tests", "report"], "{}", red.log);
    let annotations = red.annotations();
    assert!(annotations[0].starts_with(&format!("::error file={SET},line=14,")), "{annotations:?}");
    reports(&machine, "evals", "failures=\"1\"");

    change(&machine, SET, "Bergen\" }", "Oslo\" }");
    let green = job.run(&machine, 2, &[]);
    assert!(!green.has_failed && green.annotations().is_empty(), "{}", green.log);
    reports(&machine, "evals", "failures=\"0\"");
}

#[test]
fn recordings_of_a_job_can_be_taken_from_it() {
    let section = Section::new("Live judges in a job of their own", ADDRESS);
    let job = github::Job::new(section.blocks("yaml")[0], None).expect("the workflow is known");
    assert_eq!(job.scripts().filter(|script| machine::installs(script)).count(), 1);
    let machine = Machine::new("record", ADDRESS, false);
    repository(&machine, ADDRESS, false);
    // Tests that write a recording, as tests with a judge do.
    let origin = machine.origin();
    let writes = "\n#[test]\nfn recorded() {\n    \
                  std::fs::write(\"evals/weather.evalset.judge.json\", \"{}\\n\").unwrap();\n}\n";
    origin.write(TESTS, &(read(&origin, TESTS) + writes));
    machine.commit();
    let ended = job.run(&machine, 1, &[("GOOGLE_API_KEY", "")]);
    assert!(!ended.has_failed, "{}", ended.log);
    let patch =
        fs::read_to_string(machine.artifact("recordings").join("recordings.patch")).expect("it is kept");
    assert!(patch.contains("+++ b/evals/weather.evalset.judge.json\n") && !patch.contains(".rs"), "{patch}");
    let file = machine.artifact("recordings").join("recordings.patch");
    let applied = Command::new("git").arg("apply").arg(file).current_dir(origin.folder()).status();
    assert!(applied.expect("git runs").success());
    assert_eq!(read(&origin, "evals/weather.evalset.judge.json"), "{}\n");

    let judged = r#"{"criteria": {"final_response_match_v2": {"threshold": 0.5,
        "judge_model_options": {"judge_model": "gemini-2.5-flash"}}}}"#;
    origin.write("evals/test_config.json", judged);
    origin.remove("evals/weather.evalset.judge.json");
    machine.commit();
    let ended = job.run(&machine, 2, &[("GOOGLE_API_KEY", "")]);
    assert_eq!(ended.with("failure"), ["cargo evalset plan evals"], "{}", ended.log);
    assert!(ended.log.contains("GOOGLE_API_KEY") && !ended.log.contains("Compiling"), "{}", ended.log);
}

#[test]
fn the_job_of_gitlab_passes_and_fails_as_its_evals_do() {
    let job = gitlab::Job::new(Section::new("GitLab", ADDRESS).blocks("yaml")[0]).expect("the file is known");
    assert!(job.installs());
    let machine = Machine::new("gitlab", ADDRESS, false);
    repository(&machine, ADDRESS, false);

    let green = job.run(&machine, 11).expect("the job can run");
    assert_eq!(green.code, Some(0), "{}", green.log);
    reports(&machine, "job", "failures=\"0\"");

    break_a_case(&machine);
    let red = job.run(&machine, 12).expect("the job can run");
    assert_eq!(red.code, Some(101), "{}", red.log);
    reports(&machine, "job", "failures=\"1\"");

    // The cache has both runs, and this job has none.
    change(&machine, SET, "\"_note\":", "\"final_session_sate\": {}, \"_note\":");
    let broken = job.run(&machine, 13).expect("the job can run");
    assert_eq!(broken.code, Some(1), "{}", broken.log);
    assert!(broken.log.contains("unknown key `final_session_sate`"), "{}", broken.log);
    assert!(broken.log.contains("`EVALSET_RUN_ID` is `13`, and there is no such run"), "{}", broken.log);
    assert!(broken.log.contains("WARNING: report.html: no matching files"), "{}", broken.log);
}

/// The address is a clone of the commit that is checked out. Everything is built, in minutes.
#[test]
#[ignore = "builds the command and the crates; `.ci/run full` runs it"]
fn the_workflow_installs_what_it_needs() {
    let clone = crate::first_steps::place("ci_clone");
    drop(fs::remove_dir_all(&clone));
    let mut git = Command::new("git");
    drop(Run::of(git.args(["clone", "--quiet", "--bare", WORKSPACE]).arg(&clone)).passes());
    let address = format!("file://{}", clone.display());
    let job = job_of_github(&address);
    let machine = Machine::new("real", &address, true);
    repository(&machine, &address, true);
    let green = job.run(&machine, 1, &[]);
    assert_eq!(green.with("success"), STEPS, "{}", green.log);
    reports(&machine, "evals", "failures=\"0\"");

    break_a_case(&machine);
    let red = job.run(&machine, 2, &[]);
    assert_eq!(red.with("failure"), ["tests", "report"], "{}", red.log);
    reports(&machine, "evals", "failures=\"1\"");
    assert_eq!(red.annotations().join("\n"), annotation_of_the_page().trim_end());
    // The cache has the command and the crates.
    assert!(red.log.contains("is already installed"), "{}", red.log);
    assert!(!red.log.contains("Compiling eval-core"), "{}", red.log);
}
