//! Functions as metrics.

use std::future::Future;
use std::marker::PhantomData;

use eval_format::{Criterion, Invocation};

use super::input::MetricInput;
use super::metric_trait::{BoxMetric, Metric};
use super::scores::{Score, Scores};
use crate::agent::BoxError;

/// An argument of `metrics(..)` and of [`EvalRunner::metric`](crate::EvalRunner::metric): a function or closure, or a
/// [`Metric`].
///
/// Functions have one of three shapes, told apart by their types. Two score turn by turn; they return anything that
/// converts into a [`Score`]:
///
/// ```
/// use eval_core::{Criterion, Invocation, Score};
///
/// /// Actual turn, expected turn, and the criterion with its threshold and options.
/// fn polite(actual: &Invocation, _: Option<&Invocation>, _: &Criterion) -> bool {
///     actual.response_text().contains("please")
/// }
///
/// /// The same, async.
/// async fn brief(actual: &Invocation, _: Option<&Invocation>, _: &Criterion) -> Score {
///     let words = actual.response_text().split_whitespace().count();
///     Score::from(words <= 50).note(format!("{words} words"))
/// }
/// # let _ = (eval_core::__private::metric(polite), eval_core::__private::metric(brief));
/// ```
///
/// The third is `fn() -> impl Metric`, for a [`Metric`] that sees the whole run. A value that is a metric is taken
/// directly.
///
/// The trait is sealed: it is implemented for metrics and functions of these shapes, and for nothing else. `Shape` is
/// inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a metric",
    label = "not a metric",
    note = "expected `fn(&Invocation, Option<&Invocation>, &Criterion) -> impl Into<Score>`, plain or async, or `fn() -> impl Metric`, or a value that implements `Metric`"
)]
pub trait MetricFn<Shape> {
    /// The metric of this function.
    #[doc(hidden)]
    fn into_metric(self, seal: Seal) -> BoxMetric;
}

pub(crate) fn of_function<Shape, F: MetricFn<Shape>>(function: F) -> BoxMetric {
    function.into_metric(Seal)
}

/// Seals [`MetricFn`]: other crates cannot name this type, so they cannot implement the trait.
#[derive(Clone, Copy, Debug)]
pub struct Seal;

/// The shape of a plain function over one turn.
#[derive(Debug)]
pub struct Plain;

/// The shape of an async function over one turn.
#[derive(Debug)]
pub struct Async;

/// The shape of a function that makes a metric.
#[derive(Debug)]
pub struct Factory;

/// The shape of a metric.
#[derive(Debug)]
pub struct Itself;

#[doc(hidden)]
impl<M: Metric + 'static> MetricFn<Itself> for M {
    fn into_metric(self, _: Seal) -> BoxMetric {
        BoxMetric::new(self)
    }
}

struct PlainFn<F>(F);

#[doc(hidden)]
impl<F, S> MetricFn<(Plain, S)> for F
where
    F: Fn(&Invocation, Option<&Invocation>, &Criterion) -> S + Send + Sync + 'static,
    S: Into<Score> + 'static,
{
    fn into_metric(self, _: Seal) -> BoxMetric {
        BoxMetric::returning::<S>(PlainFn(self))
    }
}

impl<F, S> Metric for PlainFn<F>
where
    F: Fn(&Invocation, Option<&Invocation>, &Criterion) -> S + Send + Sync,
    S: Into<Score>,
{
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        Ok(input.score_turns(&|_, actual, expected| (self.0)(actual, expected, input.criterion).into()))
    }
}

/// An async function over one turn, for one lifetime of its arguments. The bound `for<'a> AsyncScore<'a>`
/// expresses what `Fn(&'a ..) -> impl Future + 'a` cannot.
pub trait AsyncScore<'a>: Fn(&'a Invocation, Option<&'a Invocation>, &'a Criterion) -> Self::Answer {
    /// The output of the future.
    type Score: Into<Score>;
    /// The future.
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

#[doc(hidden)]
impl<F> MetricFn<Async> for F
where
    F: for<'a> AsyncScore<'a> + Send + Sync + 'static,
{
    fn into_metric(self, _: Seal) -> BoxMetric {
        BoxMetric::returning::<<F as AsyncScore<'static>>::Score>(AsyncFunction(self))
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
        Ok(Scores::of_turns(scores))
    }
}

#[doc(hidden)]
impl<F, M> MetricFn<(Factory, PhantomData<M>)> for F
where
    F: Fn() -> M,
    M: Metric + 'static,
{
    fn into_metric(self, _: Seal) -> BoxMetric {
        BoxMetric::new(self())
    }
}
