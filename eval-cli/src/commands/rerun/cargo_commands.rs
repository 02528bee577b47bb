//! The commands that run tests again by name.

use std::collections::BTreeSet;

use super::cargo_tests::CargoTests;
use super::notice::notice;
use super::targets::Targets;
use crate::cargo;
use crate::output::words::count;
use crate::output::{Answer, CommandError, shell};

/// The arguments of cargo.
pub(super) type Arguments = Vec<String>;

/// How many names a command has at most. The length of a command is limited; this many names stay far below the limit.
const NAMES_IN_A_COMMAND: usize = 500;

/// `cargo test -p weather --test evals -- --include-ignored --exact weather::sunny weather::oslo`.
///
/// With `--include-ignored`, an ignored test that was run is run again. Without it, the command would run no test and
/// succeed.
pub(super) fn of_cargo(tests: &CargoTests<'_>, targets: &Targets, more: &[String]) -> Vec<Arguments> {
    let mut commands = Vec::new();
    for (package, binary, names) in tests.iter() {
        for names in chunks(names) {
            let mut command = ["test", "--no-fail-fast", "-p", package].map(str::to_owned).to_vec();
            command.extend(targets.selection(package, binary));
            command.extend(more.iter().cloned());
            command.extend(["--", "--include-ignored", "--exact"].map(str::to_owned));
            command.extend(names);
            commands.push(command);
        }
    }
    commands
}

fn chunks(names: &BTreeSet<String>) -> impl Iterator<Item = Vec<String>> {
    let names: Vec<String> = names.iter().cloned().collect();
    let chunks: Vec<Vec<String>> = names.chunks(NAMES_IN_A_COMMAND).map(<[String]>::to_vec).collect();
    chunks.into_iter()
}

/// `cargo nextest run --run-ignored all -E 'package(=weather) & test(=weather::sunny)'`, with a filter for each test. One
/// filter for all of them would be longer than an argument can be.
pub(super) fn of_nextest(tests: &CargoTests<'_>, more: &[String]) -> Vec<Arguments> {
    let mut filters: Vec<String> = Vec::new();
    for (package, _, names) in tests.iter() {
        let package = escaped(package);
        filters.extend(names.iter().map(|name| format!("package(={package}) & test(={})", escaped(name))));
    }
    filters.dedup();
    let command = |filters: &[String]| {
        let mut command =
            ["nextest", "run", "--no-fail-fast", "--run-ignored", "all"].map(str::to_owned).to_vec();
        command.extend(more.iter().cloned());
        command.extend(filters.iter().flat_map(|filter| ["-E".to_owned(), filter.clone()]));
        command
    };
    filters.chunks(NAMES_IN_A_COMMAND).map(command).collect()
}

/// A name as nextest's filters take it.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace(')', "\\)").replace(',', "\\,")
}

/// The commands for a shell, a line each.
pub(super) fn shown(commands: &[Arguments]) -> String {
    commands.iter().map(|command| line(command) + "\n").collect()
}

fn line(command: &[String]) -> String {
    format!("cargo {}", shell::line(command))
}

/// Runs all commands, one after the other. The exit code is the first that is not 0.
pub(super) fn run(commands: &[Arguments]) -> Result<Answer, CommandError> {
    let mut exit_code = 0;
    for command in commands {
        notice(&format!("running {}", line(command)));
        let status = cargo::command().args(command).status().map_err(|error| {
            CommandError::new(format!("cannot run `cargo`: {error}"), "run this where cargo is installed")
        })?;
        // A cargo that was killed has no code.
        let of_this = status.code().unwrap_or(FAILURE);
        exit_code = if exit_code == 0 { of_this } else { exit_code };
    }
    let text =
        format!("{} ended; `cargo evalset report` shows the results\n", count(commands.len(), "command"));
    Ok(Answer { text, annotations: String::new(), exit_code })
}

/// The exit code of `cargo test` if a test fails.
const FAILURE: i32 = 101;

#[cfg(test)]
mod tests {
    use super::*;

    fn tests(names: impl IntoIterator<Item = String>) -> CargoTests<'static> {
        let mut tests = CargoTests::default();
        for name in names {
            tests.add_name("app", "evals", name);
        }
        tests
    }

    #[test]
    fn a_command_names_its_tests_exactly() {
        let tests = tests(["a::x", "a::y"].map(str::to_owned));
        let more = ["--release".to_owned()];
        assert_eq!(
            shown(&of_cargo(&tests, &Targets::default(), &more)),
            "cargo test --no-fail-fast -p app --release -- --include-ignored --exact a::x a::y\n"
        );
        assert_eq!(
            shown(&of_nextest(&tests, &more)),
            "cargo nextest run --no-fail-fast --run-ignored all --release -E 'package(=app) & test(=a::x)' \
             -E 'package(=app) & test(=a::y)'\n"
        );
    }

    #[test]
    fn many_tests_are_several_commands() {
        let tests = tests((0..1200).map(|at| format!("a::case_{at}")));
        assert_eq!(of_cargo(&tests, &Targets::default(), &[]).len(), 3);
        assert_eq!(of_nextest(&tests, &[]).len(), 3);
    }

    #[test]
    fn what_a_filter_would_read_is_escaped() {
        assert_eq!(escaped(r"a)b\c"), r"a\)b\\c");
    }
}
