//! `token_usage_v1` counts the tokens of the model calls of a turn. Informational.
//!
//! Tokens are input (prompt and tool results) plus output (answer and reasoning), as the provider reported them. The
//! provider's own total is not read.
//!
//! Range: 0 and up per turn; a turn that reported no tokens has no score. The overall score is the sum over the number
//! of all turns; there is none if no turn reported tokens.
//!
//! Source: `_TokenUsageV1Evaluator` in `_efficiency_evaluators.py` of google-adk 2.13.0.

use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Score, Scores};
use crate::score::usage::TokenUsage as Tokens;

/// The name of the metric.
pub const NAME: &str = "token_usage_v1";

/// The metric `token_usage_v1`.
#[derive(Debug)]
pub(crate) struct TokenUsage;

impl Metric for TokenUsage {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let turns: Vec<Tokens<i128>> = input.actual.iter().map(Tokens::of_turn).collect();
        let overall = Tokens::mean(&turns).total;
        Ok(turns.iter().map(|turn| Score::from(turn.score())).collect::<Scores>().with_overall(overall))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::tests::computed::{score, using};

    #[test]
    fn the_mean_is_over_all_turns() {
        let scores = score(&TokenUsage, &[using(&[10, 9]), using(&[4]), using(&[])]);
        assert_eq!(scores.overall(), Some(7.666_666_666_666_667));
    }
}
