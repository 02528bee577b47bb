use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Score, Scores};
use crate::score::usage::TokenUsage as Tokens;

pub(crate) const NAME: &str = "token_usage_v1";

/// `token_usage_v1`: how many tokens the model calls took. Informational, 0 and up.
///
/// Input (prompt and tool results) plus output (answer and reasoning) as the provider reported them; its own total is
/// not read. The mean is over all turns as soon as one reported.
///
/// Source: the token usage evaluator of google-adk 2.13.0.
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
