//! The trait that every metric implements, and a metric behind a pointer.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use eval_format::Bound;

use super::input::MetricInput;
use super::scores::Scores;
use crate::agent::{BoxError, BoxFuture};

/// A way to score a run.
///
/// ```
/// use eval_core::{BoxError, Metric, MetricInput, Score, Scores};
///
/// /// At most as many words as the criterion's `max_words`.
/// struct Brevity;
///
/// impl Metric for Brevity {
///     async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
///         let max = input.criterion.get("max_words").and_then(|v| v.as_i64()).unwrap_or(50);
///         Ok(input
///             .turns()
///             .map(|(actual, _)| Score::from(actual.response_text().split_whitespace().count() as i64 <= max))
///             .collect())
///     }
/// }
/// ```
///
/// A metric that looks at one turn at a time can be a function: see [`MetricFn`](super::MetricFn). An error, a panic,
/// or a number of scores that is not the number of turns makes the metric an ERROR; the other metrics of the case are
/// scored anyway. [`MetricInput::new`] shows how a metric is tested.
pub trait Metric: Send + Sync {
    /// Scores one run, turn by turn or as a whole.
    fn score(&self, input: MetricInput<'_>) -> impl Future<Output = Result<Scores, BoxError>> + Send;

    /// The limits of its scores and of its time. Not public API.
    #[doc(hidden)]
    fn __limits(&self) -> Limits {
        Limits::default()
    }
}

trait DynMetric: Send + Sync {
    fn score<'a>(&'a self, input: MetricInput<'a>) -> BoxFuture<'a, Result<Scores, BoxError>>;
}

impl<M: Metric> DynMetric for M {
    fn score<'a>(&'a self, input: MetricInput<'a>) -> BoxFuture<'a, Result<Scores, BoxError>> {
        Box::pin(Metric::score(self, input))
    }
}

/// A limit that no metric's score reaches, and neither does its negative.
const HIGHEST_SCORE: f64 = 1e300;

/// The limits of a metric's scores and of its time. Not public API.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The lowest and the highest score that it can have.
    pub(super) range: (f64, f64),
    pub(super) time: TimeLimit,
}

/// The time limit of a metric.
#[derive(Clone, Copy, Debug)]
pub(super) enum TimeLimit {
    /// The limit of custom metrics, at which the metric is given up.
    Usual,
    /// A limit that the metric keeps itself; `None` for the limit of custom metrics.
    Kept(Option<Duration>),
}

impl Default for Limits {
    fn default() -> Self {
        Self { range: (-HIGHEST_SCORE, HIGHEST_SCORE), time: TimeLimit::Usual }
    }
}

/// The time that a metric has to end what it started once its own time limit has passed.
const ENDS_WITHIN: Duration = Duration::from_secs(10);

/// A metric behind a pointer, cheap to clone.
#[derive(Clone)]
pub struct BoxMetric {
    metric: Arc<dyn DynMetric>,
    limits: Limits,
}

impl BoxMetric {
    /// Puts a metric behind a pointer.
    pub fn new(metric: impl Metric + 'static) -> Self {
        let limits = metric.__limits();
        Self { metric: Arc::new(metric), limits }
    }

    /// Puts the metric of a function that returns an `S` behind a pointer. A `bool` has a known range.
    pub(super) fn returning<S>(metric: impl Metric + 'static) -> Self {
        let metric = Self::new(metric);
        if std::any::type_name::<S>() == std::any::type_name::<bool>() {
            return Self { limits: Limits { range: (0.0, 1.0), ..metric.limits }, ..metric };
        }
        metric
    }

    /// The time after which the metric is given up, if other custom metrics have this time. A metric that keeps its limit
    /// itself says why it has no score, and gets the time to do so.
    pub(crate) fn time_limit(&self, usual: Duration) -> Duration {
        match self.limits.time {
            TimeLimit::Usual => usual,
            TimeLimit::Kept(own) => own.unwrap_or(usual).saturating_add(ENDS_WITHIN),
        }
    }

    /// Whether no possible score of the metric misses a bound.
    pub(crate) fn cannot_miss(&self, bound: Bound) -> bool {
        let (min, max) = self.limits.range;
        bound.is_free(min, Some(max))
    }
}

impl fmt::Debug for BoxMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxMetric(..)")
    }
}

/// A metric that is shared.
///
/// ```
/// use std::sync::Arc;
/// use eval_core::EvalRunner;
/// use eval_core::metric::BoxMetric;
/// # use eval_core::{BoxError, Metric, MetricInput, Scores};
/// # struct Slow;
/// # impl Metric for Slow {
/// #     async fn score(&self, _: MetricInput<'_>) -> Result<Scores, BoxError> { Ok(Scores::whole_run(true)) }
/// # }
///
/// let shared = Arc::new(Slow);
/// let chosen: BoxMetric = BoxMetric::new(shared.clone());
/// let runner = EvalRunner::new().metric("slow", shared).metric("slow again", chosen);
/// # let _ = runner;
/// ```
impl<M: Metric> Metric for Arc<M> {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        M::score(self, input).await
    }

    fn __limits(&self) -> Limits {
        M::__limits(self)
    }
}

impl Metric for BoxMetric {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        self.metric.score(input).await
    }

    fn __limits(&self) -> Limits {
        self.limits
    }
}

pub(crate) type MakeMetric = fn() -> BoxMetric;
