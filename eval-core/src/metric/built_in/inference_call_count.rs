use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Score, Scores};
use crate::score::usage::{inference_calls, mean_of_known};

pub(super) const NAME: &str = "inference_call_count_v1";

/// `inference_call_count_v1`: how many model calls there were. Informational, 0 and up.
///
/// Counts events that carry usage or a model version; not known for turns in the flat form. The mean is over the
/// turns where it is known.
///
/// Source: the inference call count evaluator of google-adk 2.13.0.
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
