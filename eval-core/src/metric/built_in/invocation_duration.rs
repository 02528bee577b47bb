//! `invocation_duration_v1` is the number of seconds that a turn took. Informational.
//!
//! Range: 0 and up per turn; a turn that was not timed has no score. The overall score is the mean over the turns that
//! were timed, rounded to milliseconds.
//!
//! Source: `_InvocationDurationV1Evaluator` in `_efficiency_evaluators.py` of google-adk 2.13.0.

use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Score, Scores};
use crate::score::usage::Durations;

/// The name of the metric.
pub const NAME: &str = "invocation_duration_v1";

/// The metric `invocation_duration_v1`.
#[derive(Debug)]
pub(crate) struct InvocationDuration;

impl Metric for InvocationDuration {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let turns: Vec<Durations> = input.actual.iter().map(Durations::of_turn).collect();
        let overall = Durations::mean(&turns).total;
        Ok(turns.iter().map(|turn| Score::from(turn.total)).collect::<Scores>().with_overall(overall))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::tests::computed::score;
    use eval_format::Invocation;

    #[test]
    fn the_mean_is_over_timed_turns_in_milliseconds() {
        let timed = |seconds| Invocation::user("q").with_duration(seconds);
        let turns = [timed(1.2345), timed(2.0), timed(1.0), Invocation::user("q")];
        assert_eq!(score(&InvocationDuration, &turns).overall(), Some(1.411));
    }
}
