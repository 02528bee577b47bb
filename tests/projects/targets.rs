//! Tests in each target of a package, all of one name: the command that a failure prints runs the one that failed.

use crate::project::{Draft, Project, echo_set};

/// The test that each target has.
const TEST: &str = "evals::greetings::hello";

/// The name of each target. The crates of targets `one-two` and `one_two` have the same name.
const OPTIONS: [&str; 5] =
    ["--lib", "--bin side-kick", "--example show-case", "--test 'one[-_]two'", "--bench 'fast[-_]one'"];

fn project() -> Project {
    let tables = "[features]\nextra = []\n\n\
                  [[test]]\nname = \"one-two\"\nrequired-features = [\"extra\"]\n\n\
                  [dev-dependencies]\neval-core = { {evals} }\n";
    Draft::new("targets")
        .dependencies(tables)
        .file("evals/hello.evalset.json", echo_set(&[("hello", "Hello!")]))
        .shared()
}

/// The commands that a run printed, each without the label.
fn printed<'o>(output: &'o str, label: &str) -> Vec<&'o str> {
    let mut commands: Vec<&str> =
        output.lines().filter_map(|line| line.trim_start().strip_prefix(label)).map(str::trim).collect();
    commands.sort_unstable();
    commands.dedup();
    commands
}

#[cfg(unix)]
#[test]
fn the_printed_command_runs_the_one_test_of_its_target() {
    let project = project();
    let run = project.cargo(&["test", "--no-fail-fast", "--all-targets", "--features", "extra"]).fails();
    let unknown = "with the --features and the --profile of this run, if it had any";
    assert_eq!(run.stdout().matches(unknown).count(), OPTIONS.len(), "{run}");
    let commands = printed(run.stdout(), "run again ");
    let mut expected = OPTIONS.map(|option| format!("cargo test -p targets {option} {TEST} -- --exact"));
    expected.sort_unstable();
    assert_eq!(commands, expected, "{run}");
    for command in commands {
        let needs_feature = command.contains("--test ");
        if needs_feature {
            // Without naming the target, cargo would leave it out and succeed.
            project.shell(command).fails().says("requires the features: `extra`").ran(&[]);
        }
        let feature = if needs_feature { "-p targets --features extra" } else { "-p targets" };
        let again = project.shell(&command.replace("-p targets", feature)).fails();
        assert_eq!(again.stdout().matches("\nrunning ").count(), 1, "{again}");
        again.says("running 1 test\n").ran(&[(TEST, "FAILED")]);
    }
}

#[cfg(unix)]
#[test]
fn the_command_for_nextest_names_the_target_as_the_manifest_does() {
    let project = project();
    if !project.has(&["nextest", "--version"]) {
        return;
    }
    let run =
        project.cargo(&["nextest", "run", "--no-fail-fast", "--all-targets", "--features", "extra"]).fails();
    let commands = printed(run.stderr(), "run again ");
    let options = ["--bench fast-one", "--bin side-kick", "--example show-case", "--lib", "--test one-two"];
    let expected = options.map(|option| format!("cargo nextest run -p targets {option} -E 'test(={TEST})'"));
    assert_eq!(commands, expected, "{run}");
    for command in commands {
        let again = project.shell(&command.replace("-p targets", "-p targets --features extra")).fails();
        again.says("1 test run: 0 passed, 1 failed");
    }
}
