//! What the tests of the metrics share.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use eval_format::{
    Criterion, EvalCase, FunctionCall, IntermediateData, Invocation, InvocationEvent, Map, UsageMetadata,
    json,
};

use super::{Metric, MetricInput, Scores};
use crate::agent::BoxError;
use crate::judge::{BoxJudge, Judge, JudgeRequest, NoJudge, Scripted};

/// The result of a future that never waits.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("built-in metrics do not wait"),
    }
}

/// What a metric makes of turns for which nothing is expected.
pub(super) fn score(metric: &impl Metric, actual: &[Invocation]) -> Scores {
    compare(metric, &[], actual, &Criterion::new(1.0))
}

/// What a metric makes of turns beside the expected ones.
pub(super) fn compare(
    metric: &impl Metric,
    expected: &[Invocation],
    actual: &[Invocation],
    criterion: &Criterion,
) -> Scores {
    try_compare(metric, expected, actual, criterion).unwrap()
}

/// The same, of a metric that may fail.
pub(super) fn try_compare(
    metric: &impl Metric,
    expected: &[Invocation],
    actual: &[Invocation],
    criterion: &Criterion,
) -> Result<Scores, BoxError> {
    asking(metric, &EvalCase::new("c"), expected, actual, criterion, &NoJudge.boxed())
}

/// What a metric makes of turns with the help of a judge.
pub(super) fn judged(
    metric: &impl Metric,
    expected: &[Invocation],
    actual: &[Invocation],
    criterion: &Criterion,
    judge: &Arc<Scripted>,
) -> Result<Scores, BoxError> {
    asking(metric, &EvalCase::new("c"), expected, actual, criterion, &Arc::clone(judge).boxed())
}

/// What a judged metric makes of a run of a case, given these replies, and what it asked.
pub(super) fn judged_case(
    metric: &impl Metric,
    case: &EvalCase,
    actual: &[Invocation],
    criterion: &Criterion,
    replies: &[&str],
) -> (Result<Scores, BoxError>, Vec<JudgeRequest>) {
    let script = Arc::new(Scripted::new(replies.iter().copied()));
    let judge = Arc::clone(&script).boxed();
    (asking(metric, case, &case.conversation, actual, criterion, &judge), script.requests())
}

fn asking(
    metric: &impl Metric,
    case: &EvalCase,
    expected: &[Invocation],
    actual: &[Invocation],
    criterion: &Criterion,
    judge: &BoxJudge,
) -> Result<Scores, BoxError> {
    let state = Map::new();
    ready(metric.score(MetricInput { case, actual, expected, state: &state, criterion, judge }))
}

/// Checks the score of one turn that calls tools; a call is its tool's name, with no arguments.
pub(super) fn check_calls(metric: &impl Metric, expected: &str, actual: &str, score: f64) {
    let scores = compare(metric, &[calling(expected)], &[calling(actual)], &Criterion::new(1.0));
    assert_eq!(scores.scores()[0].value(), Some(score), "{expected:?} {actual:?}");
}

/// A turn that calls these tools.
pub(super) fn calling(tools: &str) -> Invocation {
    let calls = tools.split_whitespace().map(|tool| FunctionCall::new(tool, json!({})));
    calls.fold(Invocation::user("q"), Invocation::call)
}

/// Checks the score of one turn that answers.
pub(super) fn check_texts(
    metric: &impl Metric,
    criterion: &Criterion,
    expected: Option<&str>,
    actual: &str,
    score: Option<f64>,
) {
    let turn = expected.map_or_else(|| Invocation::user("q"), answering);
    let scores = compare(metric, &[turn], &[answering(actual)], criterion);
    assert_eq!(scores.scores()[0].value(), score, "{expected:?} {actual:?} {criterion:?}");
}

/// A turn with an answer.
pub(super) fn answering(text: &str) -> Invocation {
    Invocation::user("q").response(text)
}

/// A turn with one model call per count of prompt tokens.
pub(super) fn using(prompts: &[i64]) -> Invocation {
    let events = prompts
        .iter()
        .map(|tokens| InvocationEvent {
            author: "a".to_owned(),
            usage_metadata: Some(UsageMetadata {
                prompt_token_count: Some(*tokens),
                ..UsageMetadata::default()
            }),
            ..InvocationEvent::default()
        })
        .collect();
    Invocation { intermediate_data: Some(IntermediateData::Events(events)), ..Invocation::user("q") }
}
