//! `cargo evalset rerun`: runs tests of a recorded run again, by name.

mod cut_short;
mod missing;
mod targets;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use eval_core::journal::RecordedRun;

use crate::answer::{Answer, Outcome, Refusal};
use crate::recorded::{Recorded, State, gaps, has_gaps};
use crate::runs::{self, Which};
use crate::shell;
use crate::show::one_line;
use crate::words::{count, short_code_list};
use targets::Targets;

/// Runs the tests of a recorded run again that did not pass: all of them, or those that the flags name.
///
/// The commands are printed before they run, and their exit code is handed on. The tests record a new run.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,

    /// Tests whose score stayed below a threshold.
    #[arg(long)]
    failed: bool,

    /// Tests with an error, and those that were not evaluated.
    #[arg(long)]
    errors: bool,

    /// Tests that began and have no verdict, as their process was killed, and those of the same sets that never began.
    #[arg(long)]
    unfinished: bool,

    /// Runs them with nextest.
    #[arg(long)]
    nextest: bool,

    /// Prints the commands and runs nothing.
    #[arg(long)]
    dry_run: bool,

    /// More arguments of `cargo test` or `cargo nextest run`: a profile, features.
    #[arg(last = true, value_name = "ARG")]
    more: Vec<String>,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset rerun
  cargo evalset rerun --unfinished
  cargo evalset rerun --errors --nextest
  cargo evalset rerun 2026-11-22T02-31-07-4f1c --failed --dry-run
  cargo evalset rerun --failed -- --release --features live

Exit codes:
  0  nothing to run again, or all of it passed
  2  there is no such run, a test cannot be run again, or a part of the record cannot be read
  any other is that of cargo";

/// Tests by package and test binary.
type ByBinary<'r> = BTreeMap<(&'r str, &'r str), BTreeSet<String>>;

pub(crate) fn run(args: &Args) -> Result<Answer, Refusal> {
    let recording = args.which.read()?;
    let tests = Recorded::all(&recording.run);
    let chosen: Vec<&Recorded<'_>> = tests.iter().filter(|test| args.wants(test.state)).collect();
    let (mut by_binary, others) = by_binary(&chosen);
    let targets = Targets::here();
    if args.takes_unfinished() {
        for ((package, binary), name) in never_begun(&recording.run, &tests, &targets, &args.more) {
            by_binary.entry((package, binary)).or_default().insert(name);
        }
    }
    let remark = if args.takes_unfinished() { cut_short::remark(&tests, &targets) } else { None };
    if by_binary.is_empty() {
        return nothing(args, &recording.run, &others, remark);
    }
    if let Some(remark) = remark {
        notice(&format!("note: {remark}"));
    }
    if !others.is_empty() {
        notice(&format!(
            "not run again, as cargo did not run {}: {}",
            them(&others),
            short_code_list(&others)
        ));
    }
    let is_missing = !args.dry_run && missing::tell(&by_binary, &targets, &args.more);
    let commands = if args.nextest {
        nextest_commands(&by_binary, &args.more)
    } else {
        cargo_commands(&by_binary, &targets, &args.more)
    };
    for gap in gaps(&recording.run) {
        notice(&format!("note: {gap}"));
    }
    let is_incomplete = is_missing || !others.is_empty() || has_gaps(&recording.run);
    let mut answer = run_all(&commands, args.dry_run)?;
    if is_incomplete && !args.dry_run && answer.outcome.exit_code() == 0 {
        answer.outcome = Outcome::Unmeasurable;
    }
    Ok(answer)
}

impl Args {
    /// Without a flag, everything that did not pass is meant.
    fn takes_all(&self) -> bool {
        !(self.failed || self.errors || self.unfinished)
    }

    fn takes_unfinished(&self) -> bool {
        self.unfinished || self.takes_all()
    }

    fn wants(&self, state: State) -> bool {
        match state {
            State::Passed | State::Skipped => false,
            State::Failed => self.failed || self.takes_all(),
            State::Error | State::NotEvaluated => self.errors || self.takes_all(),
            State::Unfinished => self.takes_unfinished(),
        }
    }
}

/// The tests that cargo can run, and the names of the others: cases that a program ran without the attribute.
fn by_binary<'r>(chosen: &[&Recorded<'r>]) -> (ByBinary<'r>, Vec<String>) {
    let mut by_binary = ByBinary::new();
    let mut others = Vec::new();
    for test in chosen {
        let (is_of_cargo, test) = (is_of_cargo(test), test.test);
        if is_of_cargo {
            by_binary.entry((&test.package, &test.binary)).or_default().insert(test.name.clone());
        } else {
            others.push(one_line(&test.name));
        }
    }
    (by_binary, others)
}

/// Whether cargo ran a test, rather than a program of the user's own.
fn is_of_cargo(test: &Recorded<'_>) -> bool {
    is_path(&test.test.name) && !test.test.package.is_empty()
}

/// Whether a name is the path of a function in Rust, and so can be that of a test.
fn is_path(name: &str) -> bool {
    name.split("::").all(|part| {
        let part = part.strip_prefix("r#").unwrap_or(part);
        !part.is_empty()
            && !part.starts_with(|c: char| c.is_ascii_digit())
            && part.chars().all(|c| {
                c == '_' || c.is_alphanumeric() || !c.is_ascii() && !c.is_control() && !c.is_whitespace()
            })
    })
}

/// Tests that a killed process never began: cargo lists them beside those that did begin.
///
/// Their sets are those of which the process began a test, since nobody knows what else was to run.
fn never_begun<'r>(
    run: &'r RecordedRun,
    tests: &[Recorded<'r>],
    targets: &Targets,
    more: &[String],
) -> Vec<((&'r str, &'r str), String)> {
    let unfinished = tests.iter().filter(|test| test.state == State::Unfinished && is_of_cargo(test));
    let binaries: BTreeSet<(&str, &str)> =
        unfinished.map(|test| (test.test.package.as_str(), test.test.binary.as_str())).collect();
    if targets.is_empty() && !binaries.is_empty() {
        notice(
            "cargo knows no package here, so tests that never began are not found: run this in the project's folder",
        );
    }
    let mut found = Vec::new();
    for (package, binary) in binaries {
        let begun: BTreeSet<&str> = run
            .tests
            .iter()
            .filter(|test| (test.package.as_str(), test.binary.as_str()) == (package, binary))
            .map(|test| test.name.as_str())
            .collect();
        tell_asking(package, binary);
        let sets: BTreeSet<&str> = begun.iter().filter_map(|name| Some(name.rsplit_once("::")?.0)).collect();
        for name in targets.unignored(package, binary, more) {
            let of_a_set = name.rsplit_once("::").is_some_and(|(set, _)| sets.contains(set));
            if of_a_set && !begun.contains(name.as_str()) {
                found.push(((package, binary), name));
            }
        }
    }
    found
}

/// The tests may have to be built, which takes its time.
fn tell_asking(package: &str, binary: &str) {
    notice(&format!("asking cargo for the tests of `{binary}` in `{package}`"));
}

fn nothing(
    args: &Args,
    run: &RecordedRun,
    others: &[String],
    remark: Option<&str>,
) -> Result<Answer, Refusal> {
    if !others.is_empty() {
        return Err(Refusal::new(
            format!("cargo did not run {}: {}", them(others), short_code_list(others)),
            "run the program again that did",
        ));
    }
    let what = match (args.takes_all(), args.failed, args.errors, args.unfinished) {
        (true, ..) => "every test passed",
        (_, true, false, false) => "no test failed",
        (_, false, true, false) => "no test has an error",
        (_, false, false, true) => {
            "every test that began has a verdict (tests that never began are in no record)"
        }
        _ => "no test is one of these",
    };
    let mut text = format!("nothing to run again: {what}\n");
    for note in remark.map(str::to_owned).into_iter().chain(gaps(run)) {
        text.push_str(&format!("note: {note}\n"));
    }
    if !has_gaps(run) {
        return Ok(Answer { outcome: Outcome::Passed, text });
    }
    text.push_str("so there may be tests that this record does not know: run all of them again\n");
    Ok(Answer { outcome: Outcome::Unmeasurable, text })
}

fn them(names: &[String]) -> &'static str {
    if names.len() == 1 { "it" } else { "them" }
}

/// Commands have a limit in length; so many names stay far below it.
const NAMES_IN_A_COMMAND: usize = 500;

fn chunks(names: &BTreeSet<String>) -> impl Iterator<Item = Vec<&String>> {
    let names: Vec<&String> = names.iter().collect();
    let chunks: Vec<Vec<&String>> = names.chunks(NAMES_IN_A_COMMAND).map(<[&String]>::to_vec).collect();
    chunks.into_iter()
}

/// `cargo test -p weather --test evals -- --include-ignored --exact weather::sunny weather::oslo`.
///
/// An ignored test that was run is run again: without the flag the command would run none, and pass.
fn cargo_commands(by_binary: &ByBinary<'_>, targets: &Targets, more: &[String]) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    for ((package, binary), names) in by_binary {
        for names in chunks(names) {
            let mut command = ["test", "--no-fail-fast", "-p", package].map(str::to_owned).to_vec();
            command.extend(targets.selection(package, binary));
            command.extend(more.iter().cloned());
            command.extend(["--", "--include-ignored", "--exact"].map(str::to_owned));
            command.extend(names.into_iter().cloned());
            commands.push(command);
        }
    }
    commands
}

/// `cargo nextest run --run-ignored all -E 'package(=weather) & test(=weather::sunny)'`, with a filter for each test: one
/// for all of
/// them would be longer than an argument can be.
fn nextest_commands(by_binary: &ByBinary<'_>, more: &[String]) -> Vec<Vec<String>> {
    let mut filters: Vec<String> = Vec::new();
    for ((package, _), names) in by_binary {
        filters.extend(
            names.iter().map(|name| format!("package(={}) & test(={})", escaped(package), escaped(name))),
        );
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

/// Runs the commands one after the other, all of them; the first exit code that is not 0 is that of the whole.
fn run_all(commands: &[Vec<String>], dry_run: bool) -> Result<Answer, Refusal> {
    let mut code = 0;
    let mut text = String::new();
    for command in commands {
        let line = format!("cargo {}", shell::line(command));
        if dry_run {
            text.push_str(&format!("{line}\n"));
            continue;
        }
        notice(&format!("running {line}"));
        let status = runs::cargo().args(command).status();
        let status = status.map_err(|error| {
            Refusal::new(format!("cannot run `cargo`: {error}"), "run this where cargo is installed")
        })?;
        // A cargo that was killed has none.
        let of_this = status.code().unwrap_or(FAILURE);
        code = if code == 0 { of_this } else { code };
    }
    if !dry_run {
        text.push_str(&format!(
            "{} ended; `cargo evalset report` shows what came out\n",
            count(commands.len(), "command")
        ));
    }
    Ok(Answer { outcome: Outcome::Other(code), text })
}

/// What cargo's test runners end with where tests fail.
const FAILURE: i32 = 101;

/// Prints at once: what follows may take long.
fn notice(text: &str) {
    use std::io::Write;
    // Nobody is there to be told that stderr takes nothing.
    drop(writeln!(anstream::stderr().lock(), "{}", one_line(text)));
}

/// A command that lists tests rather than running them.
fn listing(package: &str, selection: &[String], more: &[String]) -> Command {
    let mut command = runs::cargo();
    command
        .args(["test", "--quiet", "-p", package])
        .args(selection)
        .args(more)
        .args(["--", "--list", "--format", "terse"]);
    command
}

#[cfg(test)]
mod tests;
