//! Hints below the turns of a failure: a setting or a call that would change it, where that is certain.

use std::time::Duration;

use eval_format::metric::{Subject, metric};
use eval_format::options::DEFAULT_AUTHOR;
use eval_format::{Direction, FunctionCall, MatchType};
use eval_support::untrusted::name;

use super::reads_expectations;
use crate::decide::forbidden;
use crate::guard::LIMIT_IS_TIMEOUT;
use crate::report::{CaseReport, MetricReport, RunReport};
use crate::score::align::comparison;
use crate::score::equality::ArgsMatch;
use crate::score::trajectory::trajectory_matches;
use crate::verdict::Verdict;

const MAX_HINTS: usize = 2;

/// The hints of a failure. `timeout` is the limit that the attribute of a test has; `None` in programs.
pub(super) fn of(report: &CaseReport, timeout: Option<Duration>) -> Vec<String> {
    let hints = match &report.verdict {
        Verdict::Error { message, .. } => vec![time_limit(message, timeout)],
        Verdict::Failed => {
            let nothing = nothing_recorded(report);
            let looser = if nothing.is_some() { None } else { looser(report) };
            vec![nothing, looser]
        }
        _ => Vec::new(),
    };
    hints.into_iter().flatten().take(MAX_HINTS).collect()
}

fn time_limit(message: &str, timeout: Option<Duration>) -> Option<String> {
    if !message.contains(LIMIT_IS_TIMEOUT) {
        return None;
    }
    Some(match timeout {
        Some(timeout) if timeout == eval_format::options::DEFAULT_TIMEOUT => {
            format!(
                "{timeout:?} is the default of `timeout`; `timeout = \"..\"` in the attribute sets another limit"
            )
        }
        Some(timeout) => format!("`timeout = ..` in the attribute sets this limit of {timeout:?}"),
        None => "`--timeout` sets this limit, and `EvalRunner::timeout` does in Rust".to_owned(),
    })
}

/// The way to record calls, if the case expects some and none was recorded in any run.
///
/// Agents in Rust and programs record their calls themselves, under the author that they have by default. Events of an ADK server
/// have the names of its agents.
fn nothing_recorded(report: &CaseReport) -> Option<String> {
    let is_expected = report.case.conversation.iter().any(|turn| turn.tool_calls().next().is_some());
    let fails = |metric: &&MetricReport| metric.verdict == Verdict::Failed;
    let compared = |metric: &MetricReport| comparison(&metric.name, metric.criterion.as_ref()).is_some();
    if !is_expected || !report.metrics.iter().filter(fails).any(compared) {
        return None;
    }
    let mut turns = report.runs.iter().flat_map(|run| &run.transcript.turns);
    let records_itself = turns.all(|turn| {
        turn.invocation.tool_calls().next().is_none()
            && turn.events.iter().all(|event| event.author == DEFAULT_AUTHOR)
    });
    records_itself.then(|| {
        "no tool call was recorded in this case; if the agent made some: in Rust `recorder.tool(..)` or \
         `recorder.tool_call(..)` records a call, in Python `@evalset.tool`, in other programs a `tool_call` message"
            .to_owned()
    })
}

/// The looser setting of a criterion with which every turn of every run would match, if there is one.
fn looser(report: &CaseReport) -> Option<String> {
    report.metrics.iter().filter(|metric| metric.verdict == Verdict::Failed).find_map(|metric| {
        let criterion = metric.criterion.as_ref()?;
        let info = eval_format::metric::metric(&metric.name)?;
        let takes = |key: &str| info.criterion.iter().any(|field| field.name == key);
        let (match_type, args) = comparison(&metric.name, Some(criterion))?;
        let is_certain = takes("match_type")
            && metric.bound().is_some_and(|bound| bound.direction == Direction::AtLeast)
            && !calls_forbidden(report);
        if !is_certain {
            return None;
        }
        let all = |match_type, args| report.runs.iter().all(|run| matches(report, run, match_type, args));
        let (setting, what) = if match_type == MatchType::Exact && all(MatchType::InOrder, args) {
            ("\"match_type\": \"IN_ORDER\"", "the expected calls were made in this order, and others besides")
        } else if match_type != MatchType::AnyOrder && all(MatchType::AnyOrder, args) {
            let what = if has_more(report) {
                "the expected calls were made in another order, and others besides"
            } else {
                "the same calls were made in another order"
            };
            ("\"match_type\": \"ANY_ORDER\"", what)
        } else if args == ArgsMatch::Exact && takes("args_match") && all(match_type, ArgsMatch::Subset) {
            ("\"args_match\": \"subset\"", "the calls had further arguments, which the case does not expect")
        } else {
            return None;
        };
        Some(format!(
            "{what}; if that is right, `{setting}` in the criterion of `{}` accepts it",
            name(&metric.name)
        ))
    })
}

fn matches(report: &CaseReport, run: &RunReport, match_type: MatchType, args: ArgsMatch) -> bool {
    let expected = &report.case.conversation;
    let pairs = expected.iter().zip(&run.transcript.turns);
    run.error.is_none()
        && expected.len() == run.transcript.turns.len()
        && pairs.into_iter().all(|(expected, actual)| {
            let expected: Vec<&FunctionCall> = expected.tool_calls().collect();
            let actual: Vec<&FunctionCall> = actual.invocation.tool_calls().collect();
            // A turn that expects no call would accept any from then on.
            (!expected.is_empty() || actual.is_empty())
                && trajectory_matches(&expected, &actual, match_type, args) == Some(true)
        })
}

fn has_more(report: &CaseReport) -> bool {
    report.runs.iter().any(|run| {
        let pairs = report.case.conversation.iter().zip(&run.transcript.turns);
        pairs
            .into_iter()
            .any(|(expected, actual)| actual.invocation.tool_calls().count() > expected.tool_calls().count())
    })
}

/// Whether a golden that is out of date may be the cause: a metric failed that reads the expectations, and all runs did the
/// same and not what is expected, so that what they did can take their place.
pub(super) fn may_be_out_of_date(report: &CaseReport) -> bool {
    reads_the_golden(&report.verdict, &report.metrics)
        && !report.is_as_expected()
        && report.can_be_golden()
        && !calls_forbidden(report)
}

/// Whether a tool was called that a criterion forbids: that is no behaviour to accept.
fn calls_forbidden(report: &CaseReport) -> bool {
    report.metrics.iter().filter_map(|metric| metric.criterion.as_ref()).any(|criterion| {
        let is_forbidden =
            |call: &FunctionCall| criterion.forbidden_tools().any(|tool| call.name.as_deref() == Some(tool));
        let mut turns = report.runs.iter().flat_map(|run| &run.transcript.turns);
        turns.any(|turn| turn.invocation.tool_calls().any(is_forbidden))
            || forbidden(Some(criterion), &report.repeated).is_some()
    })
}

/// Whether a metric failed that reads the expectations of a case: of its turns, or of the state at their end.
pub fn reads_the_golden(verdict: &Verdict, metrics: &[MetricReport]) -> bool {
    let reads_state = |name: &str| metric(name).is_some_and(|info| info.compares == Subject::SessionState);
    let reads = |name: &str| reads_expectations(name) || reads_state(name);
    *verdict == Verdict::Failed
        && metrics.iter().any(|metric| metric.verdict == Verdict::Failed && reads(&metric.name))
}

#[cfg(test)]
mod tests;
