//! The commands that run tests again by name.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::process::Stdio;

use eval_support::shell;
use eval_support::variables::RUN_ID;
use eval_support::words::count;

use super::cargo_tests::CargoTests;
use super::notice::notice;
use super::targets::Targets;
use crate::cargo;
use crate::output::{Answer, CommandError, Outcome};

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
    for (binary, names) in tests.iter() {
        for names in chunks(names) {
            let mut command = ["test", "--no-fail-fast", "-p", binary.package].map(str::to_owned).to_vec();
            command.extend(targets.selection(binary));
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
    for (binary, names) in tests.iter() {
        let package = escaped(binary.package);
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

/// Runs all commands, one after the other. The exit code is the first that is not 0. A command of `cargo test` that runs no
/// test ends with 2, although cargo calls that a success.
pub(super) fn run(commands: &[Arguments], is_nextest: bool) -> Result<Answer, CommandError> {
    let mut exit_code = 0;
    for command in commands {
        notice(&format!("running {}", line(command)));
        let ended = if is_nextest { run_nextest(command) } else { run_tests(command) };
        let of_this = ended.map_err(|error| {
            CommandError::new(format!("cannot run `cargo`: {error}"), "run this where cargo is installed")
        })?;
        exit_code = if exit_code == 0 { of_this } else { exit_code };
    }
    let ended = count(commands.len(), "command");
    // The tests record a run of their own, so a variable that names another one is not handed to them.
    let report = match std::env::var_os(RUN_ID).filter(|id| !id.is_empty()) {
        Some(_) => format!("{RUN_ID}= cargo evalset report"),
        None => "cargo evalset report".to_owned(),
    };
    let partial = if is_nextest { " --partial" } else { "" };
    let text = format!("{ended} ended; `{report}{partial}` shows the results\n");
    Ok(Answer { text, annotations: String::new(), opens: None, exit_code })
}

/// nextest itself fails if it runs no test.
fn run_nextest(command: &[String]) -> io::Result<i32> {
    let status = cargo::command().args(command).env_remove(RUN_ID).status()?;
    // A cargo that was killed has no code.
    Ok(status.code().unwrap_or(FAILURE))
}

/// Runs `cargo test`, shows what it prints, and counts the tests that it ran.
fn run_tests(command: &[String]) -> io::Result<i32> {
    let (before, after) =
        command.split_at(command.iter().position(|arg| arg == "--").map_or(command.len(), |at| at + 1));
    let mut cargo = cargo::command();
    cargo.args(before).env_remove(RUN_ID);
    if io::stdout().is_terminal() && !after.is_empty() {
        // The tests see a pipe, and would print without colour.
        cargo.arg("--color=always");
    }
    let mut child = cargo.args(after).stdout(Stdio::piped()).spawn()?;
    let mut ran = 0;
    if let Some(output) = child.stdout.take() {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line)? > 0 {
            ran += tests_begun(&line).unwrap_or_default();
            let mut out = io::stdout().lock();
            // Tests go on if nobody reads what they print.
            drop(out.write_all(&line).and_then(|()| out.flush()));
            line.clear();
        }
    }
    let code = child.wait()?.code().unwrap_or(FAILURE);
    if code == 0 && ran == 0 {
        notice("no test ran: what was to be run again is not among the tests that this command builds");
        return Ok(Outcome::Unmeasurable.exit_code());
    }
    Ok(code)
}

/// The number in `running 3 tests`.
fn tests_begun(line: &[u8]) -> Option<usize> {
    let line = str::from_utf8(line).ok()?.trim_end();
    let number = line.strip_prefix("running ")?;
    number.strip_suffix(" tests").or_else(|| number.strip_suffix(" test"))?.parse().ok()
}

/// The exit code of `cargo test` if a test fails.
const FAILURE: i32 = 101;

#[cfg(test)]
mod tests {
    use super::super::cargo_tests::TestBinary;
    use super::*;

    fn tests(names: impl IntoIterator<Item = String>) -> CargoTests<'static> {
        let mut tests = CargoTests::default();
        for name in names {
            tests.add_name(TestBinary { package: "app", name: Some("evals") }, name);
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
    fn the_tests_that_run_are_counted() {
        for (line, expected) in [
            ("running 3 tests\n", Some(3)),
            ("running 1 test\r\n", Some(1)),
            ("running 0 tests", Some(0)),
            ("running late\n", None),
        ] {
            assert_eq!(tests_begun(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn what_a_filter_would_read_is_escaped() {
        assert_eq!(escaped(r"a)b\c"), r"a\)b\\c");
    }
}
