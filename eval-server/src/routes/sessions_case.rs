//! A live session as the page of the sessions shows it: the case that the page of a run would show.

use std::time::Duration;

use axum::response::Response;
use eval_agents::traces::{Conversation, Turn as TraceTurn};
use eval_core::EvalCase;
use eval_core::report::short;
use eval_format::metric::metric;
use eval_format::{Bound, Criterion, Invocation};
use eval_report::output::time;
use eval_report::page::{CaseDetails, JudgedRubric, MetricLine, Run, RunScore, TurnScore, line, text};
use eval_report::run_page::{self, differences, needed, turns};
use eval_support::words::{count, tokens};
use serde::Serialize;

use super::evaluate_answer::{EvalStatus, MetricResult};
use super::evaluate_request::{Evaluator, answer as answer_by};
use super::sessions::{SessionEntry, found};
use super::sessions_score::{SessionScore, SessionVerdict, checked, expected, read, scored};
use crate::answer;
use crate::app::{App, Call, Id, Shared, Thread};
use crate::display;
use crate::refusal::Refusal;
use crate::sessions::Reading;

/// A live session, and its case. Its fields are for the page alone.
#[derive(Serialize)]
struct Shown {
    session: SessionEntry,
    /// The doubts that keep it from being golden and from passing.
    doubts: Vec<String>,
    case: CaseDetails,
}

/// The most turns, and calls of a turn, that are shown.
const MAX_SHOWN: usize = 200;

/// Shows a live session beside the golden one. With evaluators in the body, it is scored.
pub(super) async fn case(Id(id): Id, Call { app, caller, request }: Call) -> Result<Response, Refusal> {
    let own = Shared::clone(&app);
    app.compute(request, Thread::Own, move |received| {
        let mut evaluators = match received.bytes.trim_ascii() {
            [] => Vec::new(),
            body => read(body)?.2,
        };
        answer_by(&mut evaluators, &own.options.metrics);
        let reading = found(&own, &id)?;
        let golden = golden(&own, &reading);
        // Without scores a golden session with doubts is only shown.
        let is_scored = !evaluators.is_empty();
        let expected = match &golden {
            Some(golden) if is_scored => Some(checked(golden)?),
            golden => golden.as_ref().and_then(expected),
        };
        drop(golden);
        let doubts = display::lines(&reading.doubts());
        let session = SessionEntry::new(&reading);
        let mut case = unscored(&reading, expected.as_ref(), &evaluators);
        if let Some(expected) = expected.filter(|_| is_scored) {
            let actual: Vec<Invocation> =
                of_turns(&reading).iter().take(MAX_SHOWN).map(TraceTurn::to_invocation).collect();
            let score = scored(reading, &expected, &evaluators, caller, &received.wanted);
            case.differs = differing(&actual, &expected, &score, &evaluators);
            add_scores(&mut case, score, &evaluators);
        }
        case.mark_told();
        Ok(answer::data(Shown { session, doubts, case }))
    })
    .await
}

/// The golden session, if there is one and it is another session.
fn golden(app: &App, reading: &Reading) -> Option<Reading> {
    let id = app.sessions.golden().filter(|id| *id != reading.view.id)?;
    app.sessions.read(id)
}

fn of_turns(reading: &Reading) -> &[TraceTurn] {
    reading.conversation().map(|it| it.turns.as_slice()).unwrap_or_default()
}

/// The differences in what failed metrics look at.
fn differing(
    actual: &[Invocation],
    golden: &EvalCase,
    score: &SessionScore,
    evaluators: &[Evaluator],
) -> Option<String> {
    let is_failed = |evaluator: &&Evaluator| {
        let mut results = score.metric_results.iter();
        results.any(|it| it.metric_name == evaluator.name && it.eval_status == EvalStatus::Failed)
    };
    let failed = evaluators.iter().filter(is_failed).map(|it| (it.name.as_str(), it.criterion()));
    let failed: Vec<(&str, Criterion)> = failed.collect();
    differences(actual, &golden.conversation, failed.iter().map(|(name, criterion)| (*name, criterion)))
}

fn unscored(reading: &Reading, golden: Option<&EvalCase>, evaluators: &[Evaluator]) -> CaseDetails {
    let conversation = reading.conversation();
    let of_turns = of_turns(reading);
    let actual: Vec<Invocation> = of_turns.iter().take(MAX_SHOWN).map(timed).collect();
    let expected = golden.map(|case| &case.conversation[..case.conversation.len().min(MAX_SHOWN)]);
    let criteria: Vec<(&str, Criterion)> =
        evaluators.iter().map(|it| (it.name.as_str(), it.criterion())).collect();
    let of_calls = criteria
        .iter()
        .find(|(name, criterion)| eval_core::metric::arithmetic::comparison(name, Some(criterion)).is_some());
    let of_calls = of_calls.map(|(name, criterion)| (*name, criterion));
    let mut turns = turns(&actual, expected, of_calls, "compared with those of the golden session");
    let mut notes = Vec::new();
    let mut left_out = |more: usize, what: &str| {
        if more > 0 {
            notes.push(format!("{} not shown; a draft has them all", count(more, what)));
        }
    };
    left_out(of_turns.len().saturating_sub(MAX_SHOWN), "further turn");
    for turn in &mut turns {
        left_out(turn.calls.len().saturating_sub(MAX_SHOWN), "further call");
        left_out(turn.between.len().saturating_sub(MAX_SHOWN), "further text");
        turn.calls.truncate(MAX_SHOWN);
        turn.between.truncate(MAX_SHOWN);
    }
    let run = Run {
        number: 1,
        state: "not_evaluated",
        error: of_turns.iter().find_map(|turn| turn.error.as_deref()).map(text),
        turns,
        ..Run::default()
    }
    .counted();
    CaseDetails {
        name: line(&reading.view.key),
        facts: facts(reading, conversation),
        notes,
        runs: conversation.map(|_| run).into_iter().collect(),
        ..CaseDetails::default()
    }
}

/// A turn with the times that its trace has.
fn timed(turn: &TraceTurn) -> Invocation {
    let sum = |times: &mut dyn Iterator<Item = Duration>| {
        times.fold(None, |sum: Option<Duration>, time| Some(sum.unwrap_or_default() + time))
    };
    let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
    let mut invocation = turn.to_invocation();
    invocation.duration = seconds(turn.duration());
    invocation.model_duration = seconds(sum(&mut turn.model_calls.iter().filter_map(|call| call.duration)));
    invocation.tool_duration = seconds(sum(&mut turn.calls.iter().filter_map(|call| call.duration)));
    invocation
}

fn facts(reading: &Reading, conversation: Option<&Conversation>) -> Vec<(&'static str, String)> {
    let digest = reading.digest();
    let models = conversation.into_iter().flat_map(|it| &it.turns).flat_map(|turn| &turn.model_calls);
    let mut models: Vec<&str> = models.filter_map(|call| call.model.as_deref()).collect();
    models.sort_unstable();
    models.dedup();
    let traces = conversation.map(|it| it.trace_ids.join(", "));
    let facts = [
        ("Agent", digest.agent),
        ("Models", Some(line(&models.join(", "))).filter(|models| !models.is_empty())),
        ("Tokens", (digest.tokens > 0).then(|| tokens(digest.tokens.into()))),
        ("Took", digest.lasted.map(time::latency)),
        ("Traces", traces.map(|traces| line(&traces))),
        ("Spans", Some(reading.view.spans.to_string())),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn add_scores(case: &mut CaseDetails, score: SessionScore, evaluators: &[Evaluator]) {
    (case.state, case.word) = match score.verdict {
        SessionVerdict::Passed => ("passed", "PASSED"),
        SessionVerdict::Failed => ("failed", "FAILED"),
        SessionVerdict::Error => ("error", "ERROR"),
        SessionVerdict::NotEvaluated => ("not_evaluated", "UNSCORED"),
    };
    case.reason = score.reason;
    for result in &score.metric_results {
        let evaluator = evaluators.iter().find(|it| it.name == result.metric_name);
        let bound = evaluator.filter(|it| !it.decides_nothing()).map(|it| it.criterion().bound());
        case.metrics.push(metric_line(result, bound));
        for run in &mut case.runs {
            run.state = case.state;
            run.scores.push(run_score(result, bound));
            for (at, turn) in run.turns.iter_mut().enumerate() {
                run_page::add_scores(turn, turn_score(result, bound, at));
            }
        }
    }
}

/// The class of a score. A score without a bound is for information.
fn state(status: EvalStatus, bound: Option<Bound>) -> &'static str {
    match status {
        _ if bound.is_none() => "informational",
        EvalStatus::Passed => "passed",
        EvalStatus::Failed => "failed",
        EvalStatus::NotEvaluated => "not_evaluated",
    }
}

fn metric_line(result: &MetricResult, bound: Option<Bound>) -> MetricLine {
    let scores = &result.per_invocation_scores;
    MetricLine {
        name: line(&result.metric_name),
        state: state(result.eval_status, bound),
        score: result.score_shown.clone(),
        threshold: bound.map(needed),
        scored: Some(format!("{} of {}", scores.iter().flatten().count(), count(scores.len(), "turn"))),
        reason: result.error.as_deref().map(line),
        criterion: Vec::new(),
        notes: result.details.iter().flat_map(|details| &details.notes).map(|note| line(note)).collect(),
        about: metric(&result.metric_name).map(|info| info.summary.to_owned()),
    }
}

fn run_score(result: &MetricResult, bound: Option<Bound>) -> RunScore {
    RunScore {
        metric: line(&result.metric_name),
        state: state(result.eval_status, bound),
        score: result.score_shown.clone(),
        threshold: bound.map(needed),
        reason: result.error.as_deref().map(line),
        whole: None,
    }
}

/// The score of a turn; `None` if the metric gave the turns none.
fn turn_score(result: &MetricResult, bound: Option<Bound>, at: usize) -> Option<TurnScore> {
    let score = *result.per_invocation_scores.get(at)?;
    let rubrics = result.details.as_ref().and_then(|details| details.per_invocation.as_ref()?.get(at));
    let rubrics = rubrics.into_iter().flat_map(|turn| &turn.rubric_scores).map(|rubric| JudgedRubric {
        turn: None,
        id: line(&rubric.rubric_id),
        score: rubric.score.filter(|score| score.is_finite()),
        text: None,
        rationale: rubric.rationale.as_deref().map(text),
    });
    Some(TurnScore {
        metric: line(&result.metric_name),
        state: bound.and_then(|_| result.turns.get(at)).map_or("informational", |verdict| verdict.name()),
        score: score.map(|score| short(score, bound)),
        threshold: bound.map(needed),
        rubrics: rubrics.collect(),
        ..TurnScore::default()
    })
}
