//! The built-in metrics, one file for each algorithm, and the list of all of them. `docs/metrics.md` has their rules, and
//! `docs/differences.md` the differences from ADK.
//!
//! A new metric needs a file here, with a function over one turn or a [`Metric`](super::Metric), a `mod`
//! line, an entry of [`COMPUTED`], and an entry of [`METRICS`](eval_format::metric::METRICS) in eval-format.
//! A metric that asks a judge goes to `by_judge`, which has its own list.

// What several metrics share.
mod answers;
mod calls;
mod over_calls;

// Metrics that compute their scores.
mod answer_demands;
mod efficiency;
mod final_response_match_v1;
mod final_session_state_match;
mod intermediate_response_match;
mod response_match;
mod response_similarity;
mod tool_response_match;
mod tool_trajectory;
mod trajectory_share;
mod trajectory_single_tool_use;

#[cfg(feature = "judges")]
mod by_judge;

use eval_format::MatchType;

use super::custom::of_function;
use super::metric_trait::{BoxMetric, MakeMetric};
use efficiency::Efficiency;
use over_calls::over_calls;

pub(crate) use answer_demands::NAME as ANSWER_DEMANDS;
pub use efficiency::{INVOCATION_DURATION, TOKEN_USAGE};
pub(crate) use final_session_state_match::NAME as FINAL_SESSION_STATE_MATCH;
#[cfg(fuzzing)]
pub(crate) use response_similarity::turn as similarity_of_texts;

/// Makes the built-in metric of a name; `None` if there is none, or if it asks a judge and the feature `judges` is off.
pub(crate) fn built_in(name: &str) -> Option<BoxMetric> {
    let (_, make) = all().find(|(known, _)| *known == name)?;
    Some(make())
}

fn all() -> impl Iterator<Item = &'static (&'static str, MakeMetric)> {
    #[cfg(feature = "judges")]
    let by_judge = by_judge::METRICS;
    #[cfg(not(feature = "judges"))]
    let by_judge: &[_] = &[];
    COMPUTED.iter().chain(by_judge)
}

static COMPUTED: &[(&str, MakeMetric)] = &[
    (tool_trajectory::NAME, || {
        over_calls(tool_trajectory::NAME, tool_trajectory::turn, tool_trajectory::ruled)
    }),
    (response_match::NAME, || of_function(response_match::turn)),
    (efficiency::TOOL_CALL_COUNT, || of_function(efficiency::tool_call_count)),
    (efficiency::INFERENCE_CALL_COUNT, || BoxMetric::new(Efficiency::InferenceCalls)),
    (TOKEN_USAGE, || BoxMetric::new(Efficiency::Tokens)),
    (INVOCATION_DURATION, || BoxMetric::new(Efficiency::Seconds)),
    (tool_trajectory::EXACT, || {
        over_calls(tool_trajectory::EXACT, tool_trajectory::by(MatchType::Exact), tool_trajectory::ruled)
    }),
    (tool_trajectory::IN_ORDER, || {
        over_calls(tool_trajectory::IN_ORDER, tool_trajectory::by(MatchType::InOrder), tool_trajectory::ruled)
    }),
    (tool_trajectory::ANY_ORDER, || {
        over_calls(
            tool_trajectory::ANY_ORDER,
            tool_trajectory::by(MatchType::AnyOrder),
            tool_trajectory::ruled,
        )
    }),
    (trajectory_share::PRECISION, || {
        over_calls(
            trajectory_share::PRECISION,
            trajectory_share::precision,
            trajectory_share::ruled_precision,
        )
    }),
    (trajectory_share::RECALL, || {
        over_calls(trajectory_share::RECALL, trajectory_share::recall, trajectory_share::ruled_recall)
    }),
    (trajectory_single_tool_use::NAME, || {
        BoxMetric::new(trajectory_single_tool_use::TrajectorySingleToolUse)
    }),
    (final_response_match_v1::NAME, || of_function(final_response_match_v1::turn)),
    (trajectory_share::MATCH_RATIO, || {
        over_calls(
            trajectory_share::MATCH_RATIO,
            trajectory_share::match_ratio,
            trajectory_share::ruled_match_ratio,
        )
    }),
    (response_similarity::NAME, || of_function(response_similarity::turn)),
    (final_session_state_match::NAME, || BoxMetric::new(final_session_state_match::FinalSessionStateMatch)),
    (answer_demands::NAME, || BoxMetric::new(answer_demands::AnswerDemands)),
    (tool_response_match::NAME, || BoxMetric::new(tool_response_match::ToolResponseMatch)),
    (intermediate_response_match::NAME, || of_function(intermediate_response_match::turn)),
];

#[cfg(test)]
mod tests {
    use eval_format::metric::{METRICS, Need};

    use super::*;

    /// Both lists have the same names, each once. Without the feature `judges` those that need a judge are absent, and
    /// no others.
    #[test]
    fn the_list_here_is_the_list_of_eval_format() {
        let is_here = |needs: &[Need]| cfg!(feature = "judges") || !needs.contains(&Need::Judge);
        let mut expected: Vec<&str> =
            METRICS.iter().filter(|info| is_here(info.needs)).map(|info| info.name).collect();
        let mut found: Vec<&str> = all().map(|(name, _)| *name).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_metric_is_made_by_its_name() {
        for info in METRICS {
            let is_here = all().any(|(name, _)| *name == info.name);
            assert_eq!(built_in(info.name).is_some(), is_here, "{}", info.name);
        }
        assert!(built_in("tool_trajectory").is_none());
    }
}
