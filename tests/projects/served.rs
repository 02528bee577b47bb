//! One server for all tests of a process, and one for all processes of a run of nextest.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::WORKSPACE;
use crate::project::{Draft, Project, set};

/// A project whose agent is behind a server. The server notes its process in `starts`.
fn project(name: &'static str) -> Project {
    let file = |path: &str| {
        fs::read_to_string(Path::new(WORKSPACE).join("eval-agents").join(path)).expect("the sources are here")
    };
    // The server answers with its process: a part of the words is right.
    let quick = ["one", "two", "three"].map(|id| (id, "Who are you?", "pid 1"));
    Draft::new("served")
        .named(name)
        .dependencies(
            "[dev-dependencies]\neval-core = { {evals} }\neval-agents.path = \"{workspace}/eval-agents\"\n",
        )
        .file("serve.sh", file("samples/serve.sh"))
        .file("server.py", file("tests/servers/server.py"))
        .file("evals/quick.evalset.json", set(&quick))
        .file("evals/slow.evalset.json", set(&[("wait", "Please wait.", "pid 1")]))
        .file("evals/test_config.json", r#"{"criteria": {"response_match_score": 0.4}}"#)
        .owned()
}

/// A command of nextest in the project.
fn nextest(project: &Project, args: &[&str]) -> Command {
    let mut command = project.command();
    command.args(["nextest", "run"]).args(args).env("STARTS", project.folder().join("starts"));
    command
}

/// The servers that were started.
fn servers(project: &Project) -> Vec<String> {
    let text = fs::read_to_string(project.folder().join("starts")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Waits until none of the servers runs.
fn assert_gone(servers: &[String]) {
    let begun = Instant::now();
    for pid in servers {
        let runs = || {
            let found = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().expect("`ps` is there");
            let stat = String::from_utf8_lossy(&found.stdout).trim().to_owned();
            !stat.is_empty() && !stat.starts_with('Z')
        };
        while runs() {
            assert!(begun.elapsed() < Duration::from_secs(10), "the server {pid} is left over");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn a_server_is_started_once_for_a_process_or_once_for_a_run() {
    let project = project("served_once");
    let starts = project.folder().join("starts");
    let mut by_cargo = project.command();
    by_cargo.args(["test", "--test", "evals", "quick"]).env("STARTS", &starts);
    crate::run::Run::of(&mut by_cargo).passes();
    assert_eq!(servers(&project).len(), 1, "`cargo test` has one process");
    assert_gone(&servers(&project));
    if !project.has(&["nextest", "--version"]) {
        return;
    }
    for (profile, expected) in [("default", 3), ("shared", 1)] {
        fs::remove_file(&starts).expect("a server was started");
        let only = "test(/^quick::/) - test(is_current)";
        crate::run::Run::of(&mut nextest(&project, &["--profile", profile, "-E", only])).passes();
        assert_eq!(servers(&project).len(), expected, "{profile}");
        assert_gone(&servers(&project));
    }
}

#[test]
fn a_server_of_a_run_ends_with_nextest_however_that_ends() {
    let project = project("served_killed");
    if !project.has(&["nextest", "--version"]) {
        return;
    }
    project.cargo(&["nextest", "run", "--no-run"]).passes();
    let only = "test(slow::wait)";
    // A shell that starts this test in the background makes it deaf to SIGINT.
    for signal in ["-TERM", "-KILL"] {
        let _ = fs::remove_file(project.folder().join("starts"));
        let mut command = nextest(&project, &["--profile", "shared", "-E", only]);
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("cargo is there");
        let log = project.folder().join("target/serve.log");
        let begun = Instant::now();
        while servers(&project).is_empty()
            || !fs::read_to_string(&log).is_ok_and(|log| log.contains("waiting"))
        {
            // Cargo may wait for the builds of other tests first.
            assert!(begun.elapsed() < Duration::from_mins(5), "no test began");
            assert_eq!(run.try_wait().expect("it was started"), None, "nextest ended before a test began");
            thread::sleep(Duration::from_millis(50));
        }
        let sent =
            Command::new("kill").args([signal, &run.id().to_string()]).status().expect("`kill` is there");
        assert!(sent.success());
        assert!(!run.wait().expect("it was started").success());
        assert_gone(&servers(&project));
    }
}

#[test]
fn a_server_that_does_not_start_ends_the_run_with_its_words() {
    let project = project("served_broken");
    if !project.has(&["nextest", "--version"]) {
        return;
    }
    let run = crate::run::Run::of(&mut nextest(&project, &["--profile", "broken"])).fails();
    run.says("the server ended before it listened on port").says("no such folder: agents");
}
