//! `cargo evalset rerun`: runs tests of a recorded run again, by name, and records their attempts in the same run.

pub(super) mod chosen;
pub(super) mod commands;

use eval_report::journal::Completeness;
use eval_report::summary_text::rerun_of_programs;
use eval_support::command;
use eval_support::words::{count, short_code_list, them};

use super::report::tags;
use crate::cargo::Targets;
use crate::output::{Answer, CommandError, notice};
use crate::recorded::{RunArgs, RunResults, State, TestResult};
use crate::sides;
use crate::tags::TagArgs;
use chosen::Chosen;

/// Runs tests of a recorded run again: all that did not pass, or those that the flags choose.
///
/// Prints the commands before it runs them. The attempts are recorded in the same run, where the last attempt at a test counts:
/// `report` shows the run with them.
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

    #[command(flatten)]
    tags: TagArgs,

    /// Says that tests were left out on purpose, as for `report`. They do not count as left over, and run only with `--unfinished`.
    #[arg(long)]
    partial: bool,

    /// Runs them with nextest.
    #[arg(long)]
    nextest: bool,

    /// Prints the commands and runs nothing. The exit code is the same as of `report`.
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
  cargo evalset rerun --failed --tag smoke
  cargo evalset rerun 2026-11-22T02-31-07-4f1c --failed --dry-run
  cargo evalset rerun --failed -- --release --features live

Exit codes:
  0  all that did not pass was run again, its new record says that it passed, and `report` of the run ends with 0
  1  a case fails
  2  there is no such run, a test cannot be run again, or something is left over: a test without a new verdict or that the
     flags leave out, a test that never began, a binary that cargo may not have come to, a run of another job
  any other is that of cargo";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let loaded = args.run.which().load_outline()?;
    let results = sides::results(&loaded, args.partial)?;
    let targets = Targets::here();
    let tags = args.tags.among(tags(&loaded))?;
    let wants = |test: &TestResult<'_>| args.wants(test.state) && tags.takes(&test.attempt.started.tags);
    let mut never_began = args.unfinished || args.takes_all() && !args.partial;
    if never_began && !tags.is_empty() {
        never_began = false;
        let missing = Completeness::new(&loaded.run).missing();
        if missing > 0 {
            let tests = count(missing, "test");
            notice(&format!("{tests} that never began are not run, as their tags are not recorded"));
        }
    }
    let chosen = Chosen::new(&results, wants, never_began);
    if !chosen.others.is_empty() {
        let names = short_code_list(&chosen.others);
        let message = format!("cargo did not run {}: {names}", them(chosen.others.len()));
        if chosen.tests.is_empty() {
            let help = match rerun_of_programs(&results).as_slice() {
                [] => "run the program again that did".to_owned(),
                all => {
                    let commands: Vec<&str> = all.iter().map(|it| it.command.as_str()).collect();
                    format!("run them as they ran: `{}`", commands.join("`, `"))
                }
            };
            return Err(CommandError::new(message, help));
        }
        notice(&format!("not run again, as {message}"));
    }
    let commands = if args.nextest {
        commands::of_nextest(&chosen.tests, &args.more)
    } else {
        commands::of_cargo(&chosen.tests, &targets, &args.more)
    };
    if chosen.tests.is_empty() {
        let text = format!("nothing to run again: {}\n", args.nothing(tags.is_empty()));
        return Ok(ended(&results, text));
    }
    if args.dry_run {
        if let Some(note) = results.cut_short().filter(|_| !args.partial) {
            notice(&format!("note: {note}"));
        }
        return Ok(Answer::new(results.totals.outcome(), commands::shown(&commands)));
    }
    let code = commands::run(&commands, &loaded.next_attempt()?)?;
    let now = loaded.read_again()?;
    let now = sides::results(&now, args.partial)?;
    let report = format!(
        "{} report {}{}",
        command::name(),
        loaded.args(),
        if args.partial { "--partial" } else { "" }
    );
    let (ended_commands, report) = (count(commands.len(), "command"), report.trim_end());
    let text = format!("{ended_commands} ended; `{report}` shows the run with the new attempts\n");
    let mut answer = ended(&now, text);
    if code != 0 {
        answer.exit_code = code;
    }
    Ok(answer)
}

impl Args {
    /// Whether no flag chooses tests, so that all that did not pass run again.
    fn takes_all(&self) -> bool {
        !(self.failed || self.errors || self.unfinished)
    }

    fn wants(&self, state: State) -> bool {
        match state {
            State::Passed | State::Skipped => false,
            State::Failed => self.failed || self.takes_all(),
            State::Error | State::NotEvaluated => self.errors || self.takes_all(),
            State::Unfinished => self.unfinished || self.takes_all(),
        }
    }

    fn nothing(&self, of_all_tags: bool) -> &'static str {
        if !of_all_tags {
            return "the tags take no test that is to run again";
        }
        match (self.takes_all(), self.failed, self.errors, self.unfinished) {
            (true, ..) => "every test passed or was skipped",
            (_, true, false, false) => "no test failed",
            (_, false, true, false) => "no test has an error",
            (_, false, false, true) => "every test that was to run has a verdict",
            _ => "no test is one of these",
        }
    }
}

const MAX_NAMED_TESTS: usize = 20;

/// The answer about a run: the tests that are left over, and the same result as in the report.
fn ended(results: &RunResults<'_>, mut text: String) -> Answer {
    let left = results.left_over();
    text.extend(left.iter().take(MAX_NAMED_TESTS).map(|left| format!("left over     {left}\n")));
    if left.len() > MAX_NAMED_TESTS {
        text.push_str(&format!("left over     {}\n", count(left.len() - MAX_NAMED_TESTS, "more problem")));
    }
    let outcome = results.totals.outcome();
    let (shown, code) = (outcome.shown(), outcome.exit_code());
    let (name, reason) = (results.loaded.name(), results.totals.reason());
    text.push_str(&format!("Result {shown}  {name}: {reason} (exit code {code})\n"));
    Answer::new(outcome, text)
}
