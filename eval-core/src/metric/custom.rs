use std::future::Future;
use std::marker::PhantomData;

use eval_format::{Criterion, Invocation};

use super::{BoxMetric, Metric, MetricInput, Score, Scores};
use crate::agent::BoxError;

/// A function that can be named in `metrics(..)`.
///
/// Three shapes, told apart by their type:
///
/// ```
/// use eval_core::{Criterion, Invocation, Metric, Score};
///
/// // Turn by turn: what happened, what was expected, threshold and options.
/// fn polite(actual: &Invocation, _: Option<&Invocation>, _: &Criterion) -> bool {
///     actual.response_text().contains("please")
/// }
///
/// // The same, async; anything that converts into a `Score` can be returned.
/// async fn brief(actual: &Invocation, _: Option<&Invocation>, _: &Criterion) -> Score {
///     let words = actual.response_text().split_whitespace().count();
///     Score::from(words <= 50).note(format!("{words} words"))
/// }
/// # let _ = (eval_core::__private::metric(polite), eval_core::__private::metric(brief));
/// ```
///
/// and `fn() -> impl Metric` for metrics that see the whole run.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a metric",
    label = "not a metric",
    note = "expected `fn(&Invocation, Option<&Invocation>, &Criterion) -> impl Into<Score>`, plain or async, or `fn() -> impl Metric`"
)]
pub trait MetricFn<Shape> {
    /// The metric that this function stands for.
    fn into_metric(self) -> BoxMetric;
}

/// A metric from a plain function over one turn.
#[derive(Debug)]
pub struct Plain;

/// A metric from an async function over one turn.
#[derive(Debug)]
pub struct Async;

/// A function that makes a metric.
#[derive(Debug)]
pub struct Factory;

struct PlainFn<F>(F);

impl<F, S> MetricFn<(Plain, S)> for F
where
    F: Fn(&Invocation, Option<&Invocation>, &Criterion) -> S + Send + Sync + 'static,
    S: Into<Score> + 'static,
{
    fn into_metric(self) -> BoxMetric {
        BoxMetric::new(PlainFn(self))
    }
}

impl<F, S> Metric for PlainFn<F>
where
    F: Fn(&Invocation, Option<&Invocation>, &Criterion) -> S + Send + Sync,
    S: Into<Score>,
{
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        Ok(input
            .turns()
            .map(|(actual, expected)| (self.0)(actual, expected, input.criterion).into())
            .collect())
    }
}

/// An async function over one turn, for one lifetime of what it borrows: the bound
/// `for<'a> AsyncScore<'a>` says what `Fn(&'a ..) -> impl Future + 'a` cannot.
#[doc(hidden)]
pub trait AsyncScore<'a>: Fn(&'a Invocation, Option<&'a Invocation>, &'a Criterion) -> Self::Answer {
    type Score: Into<Score>;
    type Answer: Future<Output = Self::Score> + Send + 'a;
}

impl<'a, F, Fut, S> AsyncScore<'a> for F
where
    F: Fn(&'a Invocation, Option<&'a Invocation>, &'a Criterion) -> Fut,
    Fut: Future<Output = S> + Send + 'a,
    S: Into<Score>,
{
    type Score = S;
    type Answer = Fut;
}

struct AsyncFunction<F>(F);

impl<F> MetricFn<Async> for F
where
    F: for<'a> AsyncScore<'a> + Send + Sync + 'static,
{
    fn into_metric(self) -> BoxMetric {
        BoxMetric::new(AsyncFunction(self))
    }
}

impl<F> Metric for AsyncFunction<F>
where
    F: for<'a> AsyncScore<'a> + Send + Sync,
{
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let mut scores = Vec::with_capacity(input.actual.len());
        for (actual, expected) in input.turns() {
            let answer = (self.0)(actual, expected, input.criterion);
            scores.push(answer.await.into());
        }
        Ok(scores.into_iter().collect())
    }
}

impl<F, M> MetricFn<(Factory, PhantomData<M>)> for F
where
    F: Fn() -> M,
    M: Metric + 'static,
{
    fn into_metric(self) -> BoxMetric {
        BoxMetric::new(self())
    }
}
