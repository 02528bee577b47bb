//! What the tests of the metrics share.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use eval_format::{Criterion, EvalCase, IntermediateData, Invocation, InvocationEvent, Map, UsageMetadata};

use super::{Metric, MetricInput, Scores};

/// The result of a future that never waits.
pub(super) fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("built-in metrics do not wait"),
    }
}

/// What a metric makes of turns for which nothing is expected.
pub(super) fn score(metric: &impl Metric, actual: &[Invocation]) -> Scores {
    let input = MetricInput {
        case: &EvalCase::new("c"),
        actual,
        expected: &[],
        state: &Map::new(),
        criterion: &Criterion::new(1.0),
    };
    ready(metric.score(input)).unwrap()
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
