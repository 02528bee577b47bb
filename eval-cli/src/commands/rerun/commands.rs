//! The commands that run tests again by name.

use std::ffi::OsString;

use eval_support::shell;

use super::chosen::CargoTests;
use crate::cargo::{self, Targets};
use crate::output::{CommandError, notice};

/// The most names in a command. The length of a command is limited; this many names stay far below the limit.
const MAX_NAMES_PER_COMMAND: usize = 500;

/// `cargo test -p weather --test evals -- --include-ignored --exact weather::sunny weather::oslo`.
///
/// With `--include-ignored`, an ignored test that was run is run again. Without it, the command would run no
/// test and succeed. A binary without names is run as a whole, without its ignored tests.
pub(in crate::commands) fn of_cargo(
    tests: &CargoTests<'_>,
    targets: &Targets,
    more: &[String],
) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    for (binary, names) in tests {
        let mut command = ["test", "--no-fail-fast", "-p", binary.package].map(str::to_owned).to_vec();
        command.extend(targets.selection(*binary));
        command.extend(more.iter().cloned());
        if names.is_empty() {
            commands.push(command);
            continue;
        }
        command.extend(["--", "--include-ignored", "--exact"].map(str::to_owned));
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        commands
            .extend(names.chunks(MAX_NAMES_PER_COMMAND).map(|names| [command.as_slice(), names].concat()));
    }
    commands
}

/// `cargo nextest run --run-ignored all -E 'package(=weather) & test(=weather::sunny)'`, with a filter for each test. One
/// filter for all of them would be longer than an argument can be.
pub(super) fn of_nextest(tests: &CargoTests<'_>, more: &[String]) -> Vec<Vec<String>> {
    let mut filters: Vec<String> = Vec::new();
    let mut packages: Vec<String> = Vec::new();
    for (binary, names) in tests {
        let package = escaped(binary.package);
        filters.extend(names.iter().map(|name| format!("package(={package}) & test(={})", escaped(name))));
        packages.extend(names.is_empty().then(|| format!("package(={package})")));
    }
    filters.dedup();
    packages.dedup();
    let command = |filters: &[String], ignored: &[&str]| {
        let mut command = [&["nextest", "run", "--no-fail-fast"], ignored].concat();
        command.extend(more.iter().map(String::as_str));
        command.extend(filters.iter().flat_map(|filter| ["-E", filter]));
        command.into_iter().map(str::to_owned).collect()
    };
    let named =
        filters.chunks(MAX_NAMES_PER_COMMAND).map(|filters| command(filters, &["--run-ignored", "all"]));
    let whole = packages.chunks(MAX_NAMES_PER_COMMAND).map(|packages| command(packages, &[]));
    named.chain(whole).collect()
}

/// A name as nextest's filters take it.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace(')', "\\)").replace(',', "\\,")
}

pub(super) fn shown(commands: &[Vec<String>]) -> String {
    commands.iter().map(|command| line(command) + "\n").collect()
}

fn line(command: &[String]) -> String {
    format!("cargo {}", shell::line(command))
}

/// Runs all commands with these variables, one after the other. Returns the first exit code that is not 0.
pub(super) fn run(commands: &[Vec<String>], variables: &[(&str, OsString)]) -> Result<i32, CommandError> {
    let mut exit_code = 0;
    for command in commands {
        notice(&format!("running {}", line(command)));
        let status = cargo::command().args(command).envs(variables.iter().cloned()).status();
        let status = status.map_err(|error| {
            CommandError::new(format!("cannot run `cargo`: {error}"), "run this where cargo is installed")
        })?;
        // A cargo that was killed has no code.
        let code = status.code().unwrap_or(TEST_FAILURE_EXIT_CODE);
        exit_code = if exit_code == 0 { code } else { exit_code };
    }
    Ok(exit_code)
}

const TEST_FAILURE_EXIT_CODE: i32 = 101;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cargo::TestBinary;

    const EVALS: TestBinary<'static> = TestBinary { package: "app", name: Some("evals") };

    #[test]
    fn a_command_names_its_tests_exactly() {
        let tests = CargoTests::from([(EVALS, BTreeSet::from(["a::x", "a::y"]))]);
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
        let names: Vec<String> = (0..1200).map(|at| format!("a::case_{at}")).collect();
        let tests = CargoTests::from([(EVALS, names.iter().map(String::as_str).collect())]);
        assert_eq!(of_cargo(&tests, &Targets::default(), &[]).len(), 3);
        assert_eq!(of_nextest(&tests, &[]).len(), 3);
    }

    #[test]
    fn a_binary_without_names_is_run_as_a_whole() {
        let tests = CargoTests::from([(EVALS, BTreeSet::new())]);
        assert_eq!(shown(&of_cargo(&tests, &Targets::default(), &[])), "cargo test --no-fail-fast -p app\n");
        assert_eq!(shown(&of_nextest(&tests, &[])), "cargo nextest run --no-fail-fast -E 'package(=app)'\n");
    }

    #[test]
    fn what_a_filter_would_read_is_escaped() {
        assert_eq!(escaped(r"a)b\c"), r"a\)b\\c");
    }
}
