//! `cargo evalset rerun`: runs tests of a recorded run again, by name.

mod cargo_commands;
mod cargo_tests;
mod cut_short;
mod missing;
mod never_begun;
mod notice;
mod targets;

use eval_report::journal::Completeness;
use eval_support::untrusted::one_line;
use eval_support::words::{count, short_code_list, them};

use crate::output::{Answer, CommandError, Outcome};
use crate::recorded::{RunArgs, RunResults, State, gaps, has_gaps};
use cargo_tests::CargoTests;
use notice::notice;
use targets::Targets;

/// Runs tests of a recorded run again: all that did not pass, or those that the flags choose.
///
/// Prints the commands before it runs them, and returns their exit code. The tests record a new run.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// Runs tests again whose score was below a threshold.
    #[arg(long)]
    failed: bool,

    /// Runs tests again with an error, and those that were not evaluated.
    #[arg(long)]
    errors: bool,

    /// Runs tests again that began and have no verdict because their process was killed, and tests that were to run and
    /// never began.
    #[arg(long)]
    unfinished: bool,

    /// Runs them with nextest.
    #[arg(long)]
    nextest: bool,

    /// Prints the commands and runs nothing.
    #[arg(long)]
    dry_run: bool,

    /// More arguments for `cargo test` or `cargo nextest run`, such as a profile or features.
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
  0  all that did not pass was run again and passed, and nothing else keeps the run from passing
  2  there is no such run, a test cannot be run again, no test ran, a part of the record cannot be read, or something is left
     over: a test that the flags leave out, a test that never began, a run of another job
  any other is that of cargo";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let loaded = args.run.which().load_outline()?;
    let run = &loaded.run;
    let results = RunResults::of(&loaded, None, false)
        .map_err(|error| CommandError::new(error.to_string(), "report the run: `cargo evalset report`"))?;
    let tests = &results.tests;
    let targets = Targets::here();
    let lacks = Completeness::of(run);
    let mut chosen = CargoTests::default();
    let mut others = Vec::new();
    for test in tests.iter().filter(|test| args.wants(test.state)) {
        if !chosen.add(test) {
            others.push(one_line(&test.name));
        }
    }
    let mut remark = None;
    if args.takes_unfinished() {
        others.extend(lacks.of_programs.iter().map(|name| one_line(name)));
        never_begun::add(&mut chosen, &mut others, run, &lacks, &targets, &args.more);
        remark = cut_short::remark(tests, &targets);
    }
    if chosen.is_empty() {
        return nothing(args, &results, &others, remark);
    }
    if let Some(remark) = remark {
        notice(&format!("note: {remark}"));
    }
    if !others.is_empty() {
        let names = short_code_list(&others);
        notice(&format!("not run again, as cargo did not run {}: {names}", them(others.len())));
    }
    let is_missing = !args.dry_run && missing::tell(&chosen, &targets, &args.more);
    let commands = if args.nextest {
        cargo_commands::of_nextest(&chosen, &args.more)
    } else {
        cargo_commands::of_cargo(&chosen, &targets, &args.more)
    };
    for gap in gaps(run) {
        notice(&format!("note: {gap}"));
    }
    if args.dry_run {
        return Ok(Answer::new(Outcome::Passed, cargo_commands::shown(&commands)));
    }
    let mut answer = cargo_commands::run(&commands, args.nextest)?;
    let left = left_over(args, &results);
    for left in &left {
        notice(&format!("note: left over: {left}"));
    }
    let is_incomplete = is_missing || !others.is_empty() || has_gaps(run) || !left.is_empty();
    if is_incomplete && answer.exit_code == 0 {
        answer.exit_code = Outcome::Unmeasurable.exit_code();
    }
    Ok(answer)
}

impl Args {
    /// Without a flag, all tests that did not pass are chosen.
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

/// What keeps `report` of the run from ending with 0 and is not run again: tests that the flags leave out, and doubts about the
/// run as a whole.
fn left_over(args: &Args, results: &RunResults<'_>) -> Vec<String> {
    let tests = results.needing_attention().filter(|test| !args.wants(test.state));
    let tests = tests.map(|test| format!("{} ({})", one_line(&test.name), test.state.name()));
    let never_began = if args.takes_unfinished() { 0 } else { results.totals.missing };
    let never_began = (never_began > 0).then(|| format!("{} never began", count(never_began, "test")));
    let totals = &results.totals;
    let is_in_doubt = totals.is_doubtful || totals.lacks_parts || totals.unlisted > 0;
    let doubts = results.doubts.iter().filter(|_| is_in_doubt).cloned();
    let nothing = (totals.passed + totals.failed + totals.errors + totals.unfinished + totals.not_evaluated
        == 0)
        .then(|| totals.reason());
    tests.chain(never_began).chain(doubts).chain(nothing).collect()
}

/// The answer if no test can be run again. `others` are chosen tests that cargo did not run.
fn nothing(
    args: &Args,
    results: &RunResults<'_>,
    others: &[String],
    remark: Option<&str>,
) -> Result<Answer, CommandError> {
    if !others.is_empty() {
        return Err(CommandError::new(
            format!("cargo did not run {}: {}", them(others.len()), short_code_list(others)),
            "run the program again that did",
        ));
    }
    let run = &results.loaded.run;
    let what = match (args.takes_all(), args.failed, args.errors, args.unfinished) {
        (true, ..) => "every test passed",
        (_, true, false, false) => "no test failed",
        (_, false, true, false) => "no test has an error",
        (_, false, false, true) => "every test that was to run has a verdict",
        _ => "no test is one of these",
    };
    let mut text = format!("nothing to run again: {what}\n");
    for note in remark.map(str::to_owned).into_iter().chain(gaps(run)) {
        text.push_str(&format!("note: {note}\n"));
    }
    let left = left_over(args, results);
    for left in &left {
        text.push_str(&format!("note: left over: {left}\n"));
    }
    if !has_gaps(run) {
        let outcome = if left.is_empty() { Outcome::Passed } else { Outcome::Unmeasurable };
        return Ok(Answer::new(outcome, text));
    }
    text.push_str("The record is incomplete, so there may be tests that it lacks: run all tests again.\n");
    Ok(Answer::new(Outcome::Unmeasurable, text))
}
