//! `inference_call_count_v1` counts the model calls of a turn. Informational.
//!
//! An event that carries usage metadata or a model version is a model call.
//!
//! Range: 0 and up per turn. A turn in the flat form (`intermediate_data.tool_uses`) has no events and no score. The
//! overall score is the mean over the turns that have one.
//!
//! Source: `_InferenceCallCountV1Evaluator` in `_efficiency_evaluators.py` of google-adk 2.13.0.

use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Score, Scores};
use crate::score::usage::{inference_calls, mean_of_known};

pub(super) const NAME: &str = "inference_call_count_v1";

/// The metric `inference_call_count_v1`.
#[derive(Debug)]
pub(crate) struct InferenceCallCount;

impl Metric for InferenceCallCount {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let turns: Vec<Option<f64>> = input.actual.iter().map(inference_calls).collect();
        let overall = mean_of_known(&turns);
        Ok(turns.into_iter().map(Score::from).collect::<Scores>().with_overall(overall))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::tests::computed::{score, using};
    use eval_format::Invocation;

    #[test]
    fn the_mean_is_over_turns_where_it_is_known() {
        let scores = score(&InferenceCallCount, &[Invocation::user("q"), using(&[]), using(&[1, 1, 1])]);
        assert_eq!(scores.overall(), Some(1.5));
    }
}
