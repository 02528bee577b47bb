//! The thing to do about a case: a sentence and commands, by the cause of its verdict.

use std::collections::BTreeSet;
use std::iter;
use std::time::Duration;

use eval_core::__private::{ASKED_IF, ASKS_MODELS};
use eval_core::report::{Role, Verdict, asks_for_a_recording};
use eval_support::message::MissingCall;
use eval_support::words::count;
use eval_support::{shell, untrusted};

use super::difference::did_the_same;
use super::miss::Miss;
use super::outcomes::Outcomes;
use super::wording::time_limit;
use crate::output::{rerun_command, rerun_sets_command, with_option};
use crate::page::{Command, Next, NextOfGroup, NextStep, line};
use crate::recorded::{Cases, Lacking, RunResults, State, TestResult};
use crate::summary_text::{self, MAX_NAMED_CASES};

/// The facts of the runs of a case that tell its cause.
#[derive(Clone, Debug, Default)]
pub(super) struct CauseFacts<'s> {
    pub(super) outcomes: Outcomes,
    /// The tool that had not responded when the time limit passed.
    pub(super) unanswered: Option<&'s str>,
    /// The call that the agent made without a golden response for it.
    pub(super) miss: Option<&'s Miss>,
    /// Whether a run failed because a fault of the case was not reached.
    pub(super) lacks_fault: bool,
    /// Whether the agent refused what its golden answers.
    pub(super) refuses: bool,
}

/// `None` while the case is in progress, and for a case that nothing is known to run again.
pub(super) fn next(results: &RunResults<'_>, test: &TestResult<'_>, seen: &CauseFacts<'_>) -> Option<Next> {
    if test.is_in_progress {
        return None;
    }
    let cause = cause(test);
    let is_mixed = seen.outcomes.are_mixed() && !matches!(cause, Cause::Failed { .. } | Cause::Passed);
    let failure = is_mixed.then_some(Cause::Failed { is_flaky: test.runs.are_flaky() });
    let golden =
        summary_text::review_of(results, &[test]).or_else(|| Some(printed(test, "review ")?.to_owned()));
    let golden = golden.filter(|_| matches!(failure.as_ref().unwrap_or(&cause), Cause::Failed { .. }));
    let golden = golden.map(|command| Command::new(TAKE, line(&command)));
    let advice = Advice { has_golden: golden.is_some(), is_stable: did_the_same(test), seen };
    let records = lacking(test).is_something();
    let again = rerun(test).map(|command| Command { records, ..Command::new(cause.verb(), command) });
    let lacks_models = lacks_models(test);
    let install = lacks_models.then(|| install(INSTALL));
    let lacking = if lacks_models { NO_MODELS } else { "" };
    let longer = longer(test, &cause);
    let hint = printed(test, "hint: ").filter(|_| longer.is_none());
    let hint = hint.map(|hint| format!(" {}.", sentence(hint.trim_end_matches('.'))));
    let unplayed = seen.outcomes.unplayed().map(|it| format!(" {it}")).unwrap_or_default();
    let why = line(&(cause.why(&advice) + lacking + &hint.unwrap_or_default() + &unplayed));
    let again = install.into_iter().chain(again);
    let step = |cause: &Cause<'_>, why, commands| {
        let about = cause.about(&seen.outcomes).map(|it| line(&it));
        NextStep { about, why, commands }
    };
    let steps = match failure {
        None => vec![step(&cause, why, again.chain(golden).chain(longer).collect())],
        // One command runs again what failed and what has no verdict.
        Some(failure) => vec![
            step(&failure, line(&failure.why(&advice)), golden.into_iter().collect()),
            step(&cause, why, again.chain(longer).collect()),
        ],
    };
    let is_known = !steps[0].commands.is_empty() || !matches!(cause, Cause::Passed);
    is_known.then_some(Next { steps, group: None })
}

/// The commands that run again what did not pass in a run.
pub(super) fn of_run(results: &RunResults<'_>, files: &Cases) -> Vec<Command> {
    let all = summary_text::rerun(results);
    let lacks_models = all.iter().any(|it| it.of_program && it.lacking.judge) && !ASKS_MODELS;
    let mut commands: Vec<Command> =
        lacks_models.then(|| install("First install a command that asks models:")).into_iter().collect();
    let mut said = false;
    for again in &all {
        let begin = match (lacks_models, again.lacking.is_something()) {
            (true, _) => "Then run again what did not pass",
            (false, true) => "Run again what did not pass, and record what it lacks",
            (false, false) => "Run again what did not pass",
        };
        let does = match whole_sets(results, again.sets.iter().copied(), files) {
            Some(sets) => format!("{begin}, with {sets}:"),
            None if said => String::new(),
            None => format!("{begin}:"),
        };
        said = true;
        commands.push(Command::new(does, line(&again.command)));
    }
    commands
}

/// `all 68 cases of the set`; `None` without sets.
fn whole_sets<'f>(
    results: &RunResults<'_>,
    sets: impl Iterator<Item = &'f str>,
    files: &Cases,
) -> Option<String> {
    let sets: BTreeSet<&str> = sets.collect();
    let of_run = |set: &str| {
        results.tests.iter().filter(|test| test.attempt.started.file.as_deref() == Some(set)).count()
    };
    let selects = results.tests.iter().any(|test| {
        let options = test.attempt.head.again.iter().flatten();
        options.into_iter().any(|it| it.starts_with("--tag") || it.starts_with("--skip-tag"))
    });
    let cases = sets.iter().map(|set| files.count(set).filter(|_| !selects).unwrap_or_else(|| of_run(set)));
    let cases = count(cases.sum(), "case");
    match sets.len() {
        0 => None,
        1 => Some(format!("all {cases} of the set")),
        several => Some(format!("all {cases} of {several} sets")),
    }
}

/// Whether the judge has to be asked, and the command that wrote the page, which would ask it, cannot.
fn lacks_models(test: &TestResult<'_>) -> bool {
    misses_an_answer(test) && !ASKS_MODELS && is_of_command(test)
}

const INSTALL: &str = "Install a command that asks models";

fn install(does: &str) -> Command {
    let command = "cargo install --locked --git \"$EVALSET_REPOSITORY\" cargo-evalset --features model-judge";
    Command::new(does, command.to_owned())
}

/// The reason of a verdict. That a variable makes the command ask a judge is left out if it cannot.
pub(super) fn told(test: &TestResult<'_>, reason: &str) -> String {
    let without = "and this command asks no judge: install one that does";
    if lacks_models(test) { reason.replace(ASKED_IF, without) } else { reason.to_owned() }
}

/// The command that runs a case with more time, after a time limit of the command.
fn longer(test: &TestResult<'_>, cause: &Cause<'_>) -> Option<Command> {
    let Cause::Error(Role::Agent, message) = cause else { return None };
    let limit = time_limit(message)?;
    let (options, started) = (test.attempt.head.again.as_ref()?, &test.attempt.started);
    let options = with_option(options, "--timeout", &longer_limit(limit)?);
    let file = started.file.as_deref().filter(|_| started.of_program)?;
    let command = line(&rerun_command(&options, [(file, started.eval_id.as_str())]));
    Some(Command::new("Give it more time", command))
}

/// Ten times the limit, as `--timeout` takes it: `15s` of 1.5 seconds.
fn longer_limit(limit: Duration) -> Option<String> {
    let millis = limit.checked_mul(10)?.as_millis().max(1);
    Some(if millis % 1000 == 0 { format!("{}s", millis / 1000) } else { format!("{millis}ms") })
}

const TAKE: &str = "Review it, and accept it as the new golden";
const NO_MODELS: &str =
    " The command that wrote this page cannot: it was built without the feature `model-judge`.";

/// Whether `cargo evalset run` ran a case. Then the case had the features of the command.
fn is_of_command(test: &TestResult<'_>) -> bool {
    test.attempt.started.of_program && test.attempt.head.again.is_some()
}

/// A text with a capital letter.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The most cases of one cause that are reviewed. Of more, the set is changed at once.
const MAX_TAKEN: usize = 10;

/// The remedy for all cases with one cause.
pub(super) fn group(results: &RunResults<'_>, tests: &[&TestResult<'_>], files: &Cases) -> NextOfGroup {
    let cases = tests.len();
    let golden = summary_text::review_of(results, tests);
    let golden = golden.filter(|_| tests.iter().all(|test| matches!(cause(test), Cause::Failed { .. })));
    let records = tests.iter().all(|test| lacking(test).is_something());
    let why = of_group(cases, golden.is_some(), records).to_owned();
    let sets = tests.iter().filter_map(|test| test.attempt.started.file.as_deref());
    let whole = whole_sets(results, sets.filter(|_| cases > MAX_NAMED_CASES), files);
    let what = whole.unwrap_or_else(|| format!("all {cases}"));
    let does = if records { format!("Record {what}") } else { format!("Run {what} again") };
    let again = rerun_all(tests).map(|command| Command { records, ..Command::new(does, command) });
    let golden = golden.filter(|_| cases <= MAX_TAKEN);
    let golden =
        golden.map(|command| Command::new(format!("Review all {cases}, one by one"), line(&command)));
    NextOfGroup { cases, why, commands: again.into_iter().chain(golden).collect() }
}

fn of_group(count: usize, has_golden: bool, records: bool) -> &'static str {
    match (has_golden, records) {
        (_, true) => "One command records the answers that all of them lack.",
        (true, _) if count > MAX_TAKEN => {
            "If what the agent did is right in all of them, change the set at once, for example with search and \
             replace. If it is wrong, change the agent, and run them again."
        }
        (true, _) => {
            "If what the agent did is right, review them one by one, and accept it. If it is wrong, change the agent, and run \
             them again."
        }
        (false, false) => "Fix the cause once, and run all of them again.",
    }
}

pub(super) fn add_group(next: &mut Next, group: &NextOfGroup) {
    // What records all answers records this one.
    if group.commands.iter().any(|it| it.records) {
        for step in &mut next.steps {
            step.commands.retain(|it| !it.records);
        }
    }
    next.group = Some(group.clone());
}

/// The command that runs these cases again; `None` if they need several.
fn rerun_all(tests: &[&TestResult<'_>]) -> Option<String> {
    let options = tests.first()?.attempt.head.again.as_ref()?;
    let cases = tests.iter().map(|test| {
        let of_program = is_of_command(test) && test.attempt.head.again.as_ref() == Some(options);
        Some((test.attempt.started.file.as_deref()?, test.attempt.started.eval_id.as_str()))
            .filter(|_| of_program)
    });
    let cases: Vec<_> = cases.collect::<Option<_>>()?;
    let command = if cases.len() > MAX_NAMED_CASES {
        rerun_sets_command(options, cases.into_iter().map(|(file, _)| file))
    } else {
        rerun_command(options, cases)
    };
    Some(line(&Lacking::of_all(tests.iter().map(|test| lacking(test))).recorded_by(&command)))
}

/// The command that runs the case again, or records what it lacks: the command that the failing test printed, or for a program
/// the command that started it.
fn rerun(test: &TestResult<'_>) -> Option<String> {
    if test.is_in_progress {
        return None;
    }
    if let Some(command) = printed(test, "record it ") {
        return Some(line(command));
    }
    let command = match ["run again ", "build again "].into_iter().find_map(|begin| printed(test, begin)) {
        Some(command) => command.to_owned(),
        None if test.attempt.started.of_program => program(test)?,
        None => {
            let (package, name) = (test.test.package()?, test.test.name());
            format!("cargo test -p {} -- --exact {}", shell::word(package), shell::word(name))
        }
    };
    Some(line(&lacking(test).recorded_by(&command)))
}

/// The command behind a word that a failing test printed. Untrusted lines are marked, so a line with this begin is of
/// the test itself.
fn printed<'r>(test: &TestResult<'r>, begin: &str) -> Option<&'r str> {
    let failure = test.attempt.decided.as_ref()?.failure.as_deref()?;
    failure.lines().rev().find_map(|line| line.strip_prefix(begin)).map(str::trim)
}

/// The command that ran a program, for this case alone if it is `cargo evalset run`.
fn program(test: &TestResult<'_>) -> Option<String> {
    let (head, started) = (&test.attempt.head, &test.attempt.started);
    let (Some(again), Some(file)) = (&head.again, started.file.as_deref()) else {
        let program = head.program.as_deref()?;
        return Some(shell::line(
            &iter::once(program).chain(head.args.iter().map(String::as_str)).collect::<Vec<_>>(),
        ));
    };
    Some(rerun_command(again, [(file, started.eval_id.as_str())]))
}

/// The missing answers of the case in each run, until they are recorded.
fn lacking(test: &TestResult<'_>) -> Lacking {
    Lacking { judge: misses_an_answer(test), ..test.lacking() }
}

/// Whether a metric lacks an answer of its judge. Without a recording, another run lacks it too, even if another
/// metric failed the case.
fn misses_an_answer(test: &TestResult<'_>) -> bool {
    test.asks_for_a_recording() || test.deciding().any(|metric| asks_for_a_recording(&metric.verdict))
}

#[derive(Debug)]
enum Cause<'r> {
    Passed,
    Failed {
        is_flaky: bool,
    },
    /// An answer of a judge.
    NotRecorded,
    /// A call of a model.
    CallNotRecorded(MissingCall),
    Error(Role, &'r str),
    /// No verdict, or a skipped case, with the reason.
    Without(Option<&'r str>),
    /// The process ended before the case.
    Unfinished,
}

fn cause<'r>(test: &TestResult<'r>) -> Cause<'r> {
    if misses_an_answer(test) {
        return Cause::NotRecorded;
    }
    let Some(decided) = &test.attempt.decided else { return Cause::Unfinished };
    if let Some(call) = test.lacking().models {
        return Cause::CallNotRecorded(call);
    }
    match (&decided.verdict, test.state) {
        (Verdict::Error { role, message }, _) => Cause::Error(*role, message),
        (_, State::Passed) => Cause::Passed,
        (_, State::Failed) => Cause::Failed { is_flaky: test.runs.are_flaky() },
        (verdict, _) => Cause::Without(verdict.reason()),
    }
}

/// The facts on which the sentence depends beside the cause.
#[derive(Clone, Copy, Debug)]
struct Advice<'s> {
    has_golden: bool,
    is_stable: bool,
    seen: &'s CauseFacts<'s>,
}

impl Cause<'_> {
    fn verb(&self) -> &'static str {
        if matches!(self, Self::NotRecorded | Self::CallNotRecorded(_)) {
            "Record it"
        } else {
            "Run it again"
        }
    }

    /// The runs that it is about; `None` if that is clear.
    fn about(&self, outcomes: &Outcomes) -> Option<String> {
        match self {
            Self::Passed | Self::Unfinished => None,
            Self::Failed { .. } if outcomes.are_mixed() => outcomes.failed(),
            Self::Failed { .. } => outcomes.failed().map(|it| format!("{it}, the others passed")),
            Self::NotRecorded | Self::CallNotRecorded(_) | Self::Error(..) | Self::Without(_) => {
                outcomes.without_verdict()
            }
        }
    }

    /// The known facts about it, and the remedy.
    fn why(&self, advice: &Advice<'_>) -> String {
        let seen = advice.seen;
        match self {
            Self::Passed => "It passed. To see it once more, run it again.".to_owned(),
            Self::Failed { .. } if seen.lacks_fault => {
                "Change the agent, or the fault in `_tools`, and run the case again.".to_owned()
            }
            Self::Failed { .. } if seen.refuses => {
                let taken = " Only if it has to refuse, accept that in a review.";
                let taken = if advice.has_golden { taken } else { "" };
                format!(
                    "The agent refused, or gave up, where the golden has an answer. Change the agent, and run the case \
                     again.{taken}"
                )
            }
            Self::Failed { .. } if advice.has_golden => {
                let same = if advice.is_stable { " All runs did the same." } else { "" };
                format!(
                    "If what the agent did is wrong, change the agent and run it again. If it is right, review it, and accept it \
                     as the new golden.{same}"
                )
            }
            Self::Failed { is_flaky: true } => "Change the agent, or run the case again.".to_owned(),
            Self::Failed { is_flaky: false } => "Change the agent, and run the case again.".to_owned(),
            Self::NotRecorded => {
                "The judge's answer to this is not recorded, so another run gives the same error. With \
                 `EVALSET_JUDGE=record` the command asks the judge, and records its answer."
                    .to_owned()
            }
            Self::CallNotRecorded(MissingCall::New) => {
                "The model's answer to this is not recorded, so another run gives the same error. With \
                 `EVALSET_MODELS=record` the command asks the model, and records its answer."
                    .to_owned()
            }
            Self::CallNotRecorded(MissingCall::Changed) => {
                "What the agent asks its model changed since the answer was recorded, so another run gives the same error. If the \
                 change is meant, record the case again: with `EVALSET_MODELS=record-all` the command asks the model. If not, \
                 change the agent."
                    .to_owned()
            }
            Self::Error(Role::Agent, message) => match (time_limit(message), seen.unanswered) {
                (Some(limit), tool) => {
                    let who = tool.map_or("The agent had no answer".to_owned(), |tool| {
                        format!("`{tool}` gave no response")
                    });
                    format!(
                        "{who} within {limit:?}. Whether it hangs or is slow cannot be told from a run. If it hangs, fix it, and run \
                         the case again. If it is slow, give it more time.",
                    )
                }
                // The line above says what went wrong.
                (None, _) => "Fix the agent, then run the case again.".to_owned(),
            },
            Self::Error(Role::Tools, message) => match seen.miss {
                Some(miss) => {
                    // Only an argument of a call that the golden has can vary.
                    let vary = ", or let the argument vary in the case (`_expect`)";
                    let vary = if miss.is_of_golden { vary } else { "" };
                    format!(
                        "The case has no response for this call. Fix the agent{vary}, or add the call and its response to the golden."
                    )
                }
                None => format!("The tools failed: {}", last_words(Role::Tools, message)),
            },
            Self::Error(Role::Harness, message) => last_words(Role::Harness, message),
            Self::Error(role, message) => format!("The {role} failed: {}", last_words(*role, message)),
            Self::Without(Some(reason)) => format!("It has no verdict: {}", untrusted::headline(reason)),
            Self::Without(None) => "It has no verdict. Run it again.".to_owned(),
            Self::Unfinished => "Its process ended before it had a verdict. Run it again.".to_owned(),
        }
    }
}

/// The headline of an error without the words for who failed where: `run 1 of 3: agent error in turn 1: the agent failed: `.
fn last_words(role: Role, message: &str) -> String {
    let headline = untrusted::headline(message);
    let told = headline.split_once(&format!("{role} error")).and_then(|(_, behind)| behind.split_once(": "));
    let told = told.map_or(&*headline, |(_, told)| told);
    told.strip_prefix("the agent failed: ").unwrap_or(told).to_owned()
}

#[cfg(test)]
mod tests;
