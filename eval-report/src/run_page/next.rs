//! The thing to do about a case: a sentence and commands, by the cause of its verdict.

use std::iter;

use eval_core::report::{Role, Verdict, asks_for_a_recording};
use eval_support::{shell, untrusted};

use crate::output::rerun_command;
use crate::page::{Command, Next, line};
use crate::recorded::{RunResults, State, TestResult};
use crate::summary_text;

/// `None` while the case is in work, and for a case that nothing is known to run again.
pub(super) fn next(results: &RunResults<'_>, test: &TestResult<'_>) -> Option<Next> {
    if test.is_in_progress {
        return None;
    }
    let cause = cause(test);
    let golden =
        summary_text::new_golden(results, test).or_else(|| Some(printed(test, "new golden ")?.to_owned()));
    let golden = golden.filter(|_| matches!(cause, Cause::Failed { .. }));
    let again = rerun(test).map(|command| Command { does: cause.verb(), command });
    let golden = golden.map(|command| Command { does: "Take what came as a draft", command: line(&command) });
    let hint = printed(test, "hint: ").map(|hint| format!(" {}.", hint.trim_end_matches('.')));
    let why = line(&(cause.why(golden.is_some()) + &hint.unwrap_or_default()));
    let commands: Vec<Command> = golden.into_iter().chain(again).collect();
    (!commands.is_empty() || !matches!(cause, Cause::Passed)).then_some(Next { why, commands })
}

/// The command that runs the case again, or records missing answers of its judge: the command that the
/// failing test printed, or for a program the command that started it.
fn rerun(test: &TestResult<'_>) -> Option<String> {
    if test.is_in_progress {
        return None;
    }
    let ours =
        ["record it ", "run again ", "build again "].into_iter().find_map(|begin| printed(test, begin));
    let command = match ours {
        Some(command) => command.to_owned(),
        None if test.attempt.started.of_program => program(test)?,
        None => {
            let (package, name) = (test.test.package()?, test.test.name());
            format!("cargo test -p {} -- --exact {}", shell::word(package), shell::word(name))
        }
    };
    let records = misses_an_answer(test) && !command.starts_with("EVALSET_JUDGE=");
    Some(line(&summary_text::recording(command, records)))
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
    NotRecorded,
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
    match (&decided.verdict, test.state) {
        (Verdict::Error { role, message }, _) => Cause::Error(*role, message),
        (_, State::Passed) => Cause::Passed,
        (_, State::Failed) => Cause::Failed { is_flaky: test.runs.are_flaky() },
        (verdict, _) => Cause::Without(verdict.reason()),
    }
}

impl Cause<'_> {
    fn verb(&self) -> &'static str {
        if matches!(self, Self::NotRecorded) { "Record it" } else { "Run it again" }
    }

    fn why(&self, has_golden: bool) -> String {
        match self {
            Self::Passed => "It passed. To see it once more, run it again.".to_owned(),
            Self::Failed { .. } if has_golden => {
                "If what came is right, take it as a draft of a new golden. If it is not, change the agent and run the \
                 case again."
                    .to_owned()
            }
            Self::Failed { is_flaky: true } => {
                "Some runs passed and others did not. Change the agent, or run the case again.".to_owned()
            }
            Self::Failed { is_flaky: false } => "Change the agent, and run the case again.".to_owned(),
            Self::NotRecorded => {
                "The judge's answer to this is not recorded, so running the case again gives the same error. This \
                 command asks the judge, and records its answer."
                    .to_owned()
            }
            Self::Error(Role::Agent, message) => {
                let what = last_words(Role::Agent, message);
                format!("The agent broke off: {what}. Mend the agent, then run the case again.")
            },
            Self::Error(Role::Harness, message) => last_words(Role::Harness, message),
            Self::Error(role, message) => format!("The {role} broke off: {}", last_words(*role, message)),
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
mod tests {
    use super::*;

    #[test]
    fn what_to_do_depends_on_the_cause() {
        let raised = "the agent failed:\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: no city";
        for (cause, has_golden, verb, why) in [
            (Cause::Passed, false, "Run it again", "It passed"),
            (
                Cause::Failed { is_flaky: false },
                true,
                "Run it again",
                "If what came is right, take it as a draft",
            ),
            (Cause::Failed { is_flaky: false }, false, "Run it again", "Change the agent, and run"),
            (Cause::Failed { is_flaky: true }, false, "Run it again", "Some runs passed"),
            (Cause::NotRecorded, false, "Record it", "The judge's answer to this is not recorded"),
            (
                Cause::Error(Role::Agent, raised),
                false,
                "Run it again",
                "The agent broke off: ValueError: no city",
            ),
            (
                Cause::Error(Role::Agent, "run 1 of 3: agent error in turn 1: the agent failed: 503: x"),
                false,
                "Run it again",
                "The agent broke off: 503: x",
            ),
            (
                Cause::Error(Role::Agent, "agent error: refused"),
                false,
                "Run it again",
                "The agent broke off: refused",
            ),
            (
                Cause::Error(Role::Agent, "\n  \nrefused\nmore"),
                false,
                "Run it again",
                "The agent broke off: refused",
            ),
            (Cause::Error(Role::Judge, "429"), false, "Run it again", "The judge broke off: 429"),
            (Cause::Error(Role::Harness, "stale: x"), false, "Run it again", "stale: x"),
            (Cause::Without(Some("no score\n")), false, "Run it again", "It has no verdict: no score"),
            (Cause::Without(None), false, "Run it again", "It has no verdict."),
            (Cause::Unfinished, false, "Run it again", "Its process ended"),
        ] {
            assert_eq!(cause.verb(), verb, "{cause:?}");
            let told = cause.why(has_golden);
            assert!(told.starts_with(why) && !told.contains('\n'), "{cause:?}: {told}");
        }
    }
}
