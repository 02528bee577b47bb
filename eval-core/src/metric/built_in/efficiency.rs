//! `tool_call_count_v1`, `inference_call_count_v1`, `token_usage_v1` and `invocation_duration_v1`: the tool calls, model calls,
//! tokens and seconds of a turn. Informational.
//!
//! Source: `_efficiency_evaluators.py` of google-adk 2.13.0.
//!
//! The overall score is
//!
//! - of tool calls the mean over all turns, those without calls included
//! - of model calls the mean over the turns that have a score
//! - of tokens the sum divided by the number of all turns; there is no score if no turn reported tokens
//! - of seconds the mean over the turns that were timed, rounded to milliseconds

use eval_format::{Criterion, Direction, Invocation};

use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Score, Scores};
use crate::score::usage::{Durations, TokenUsage, inference_calls, mean_of_known, tool_calls};

pub(super) const TOOL_CALL_COUNT: &str = "tool_call_count_v1";
pub(super) const INFERENCE_CALL_COUNT: &str = "inference_call_count_v1";
/// The name of the metric of tokens.
pub const TOKEN_USAGE: &str = "token_usage_v1";
/// The name of the metric of seconds.
pub const INVOCATION_DURATION: &str = "invocation_duration_v1";

pub(super) fn tool_call_count(actual: &Invocation, _: Option<&Invocation>, _: &Criterion) -> Score {
    Score::from(tool_calls(actual))
}

/// The metrics whose overall score is not the mean over all turns.
#[derive(Debug)]
pub(crate) enum Efficiency {
    InferenceCalls,
    Tokens,
    Seconds,
}

impl Metric for Efficiency {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let turns = input.actual.iter();
        let (turns, overall): (Vec<Option<f64>>, _) = match self {
            Self::InferenceCalls => {
                let mut turns: Vec<_> = turns.map(inference_calls).collect();
                // An agent that reports no call of a model, as many do not, would keep any limit.
                let is_limit = input.criterion.direction() == Direction::AtMost;
                if is_limit && turns.iter().flatten().all(|calls| *calls == 0.0) {
                    turns.fill(None);
                }
                let overall = mean_of_known(&turns);
                (turns, overall)
            }
            Self::Tokens => {
                let turns: Vec<_> = turns.map(TokenUsage::of_turn).collect();
                (turns.iter().map(TokenUsage::score).collect(), TokenUsage::mean(&turns).total)
            }
            Self::Seconds => {
                let turns: Vec<_> = turns.map(Durations::of_turn).collect();
                (turns.iter().map(|turn| turn.total).collect(), Durations::mean(&turns).total)
            }
        };
        Ok(turns.into_iter().map(Score::from).collect::<Scores>().with_overall(overall))
    }
}

#[cfg(test)]
mod tests {
    use eval_format::FunctionCall;
    use serde_json::json;

    use super::*;
    use crate::metric::of_function;
    use crate::metric::tests::computed::{compare, score, using};

    #[test]
    fn the_mean_counts_turns_without_calls() {
        let twice = || {
            let call = || FunctionCall::new("f", json!({}));
            Invocation::user("q").call(call()).call(call())
        };
        let scores = score(&of_function(tool_call_count), &[Invocation::user("q"), twice(), twice()]);
        assert_eq!(scores.overall(), Some(1.333_333_333_333_333_3));
    }

    #[test]
    fn the_mean_is_over_turns_where_it_is_known() {
        let scores =
            score(&Efficiency::InferenceCalls, &[Invocation::user("q"), using(&[]), using(&[1, 1, 1])]);
        assert_eq!(scores.overall(), Some(1.5));
    }

    #[test]
    fn no_limit_is_kept_by_model_calls_that_nothing_reports() {
        let limit = Criterion::at_most(3.0);
        let of = |turns: &[Invocation]| compare(&Efficiency::InferenceCalls, &[], turns, &limit).overall();
        assert_eq!(of(&[using(&[]), using(&[])]), None);
        assert_eq!(of(&[using(&[]), using(&[1, 1])]), Some(1.0), "the agent reports its calls");
        assert_eq!(score(&Efficiency::InferenceCalls, &[using(&[])]).overall(), Some(0.0), "as in ADK");
    }

    #[test]
    fn the_mean_is_over_all_turns() {
        let scores = score(&Efficiency::Tokens, &[using(&[10, 9]), using(&[4]), using(&[])]);
        assert_eq!(scores.overall(), Some(7.666_666_666_666_667));
    }

    #[test]
    fn the_mean_is_over_timed_turns_in_milliseconds() {
        let timed = |seconds| Invocation::user("q").with_duration(seconds);
        let turns = [timed(1.2345), timed(2.0), timed(1.0), Invocation::user("q")];
        assert_eq!(score(&Efficiency::Seconds, &turns).overall(), Some(1.411));
    }
}
