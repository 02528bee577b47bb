//! What is known of each metric while files are checked: names, ranges, needs, criterion fields.

mod list;

pub use list::METRICS;
pub(crate) use list::{
    ALGORITHM, ARGS_MATCH, FORBIDDEN_TOOLS, IGNORE_ARGS, IGNORE_CASE, INTERMEDIATE_RESPONSES,
    INTERMEDIATE_SENTENCES, JUDGE, MATCH_TYPE, NORMALIZE, RUBRICS, STOP_SIGNAL, TOOL_NAME, WEIGHTS,
};

use crate::config::MatchType;

/// What a config can say about a metric, and what the metric needs in order to score.
///
/// ```
/// let info = eval_format::metric("tool_trajectory_avg_score").unwrap();
/// assert_eq!((info.min, info.max), (0.0, Some(1.0)));
/// assert!(info.gates);
/// assert!(eval_format::metric("tool_trajectory").is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MetricInfo {
    /// The name that stands in `criteria`.
    pub name: &'static str,
    /// Where the name comes from.
    pub group: MetricGroup,
    /// The lowest score it gives.
    pub min: f64,
    /// The highest score it gives; none where there is no end.
    pub max: Option<f64>,
    /// What it cannot score without.
    pub needs: &'static [Need],
    /// What it looks at, and what a report of a failure therefore shows.
    pub compares: Subject,
    /// Whether it can fail a case. One that cannot takes no threshold.
    pub gates: bool,
    /// The keys of its criterion, besides `threshold`, which every gating metric has.
    pub criterion: &'static [CriterionField],
    /// What it measures, in one line.
    pub summary: &'static str,
}

/// Where a metric's name and arithmetic come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetricGroup {
    /// ADK's, computed from the expected turns.
    AdkLexical,
    /// ADK's, scored by a model or a service.
    AdkJudged,
    /// ADK's, reported and never compared.
    AdkInformational,
    /// Named as in Vertex AI's evaluation service.
    Vertex,
    /// Named as in adk-rs.
    AdkRs,
    /// Named as in adk-eval.
    AdkEval,
    /// This project's own.
    Own,
}

/// What a metric cannot score without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Need {
    /// The expected turns of the case.
    Expectation,
    /// A model or a service that judges.
    Judge,
    /// A conversation scenario.
    Scenario,
}

/// What a metric looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// The tool calls of a turn and the expected ones, put side by side in this way unless the
    /// criterion has a `match_type`.
    ToolCalls(MatchType),
    /// The tool calls of a turn alone.
    ActualCalls,
    /// The answer and the expected one.
    Response,
    /// The session state at the end.
    SessionState,
    /// What a turn cost: nothing that is compared.
    Nothing,
}

/// A key that a metric's criterion may have.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CriterionField {
    /// The key in `snake_case`; the camelCase spelling is taken too.
    pub name: &'static str,
    /// What may stand under it.
    pub kind: FieldKind,
    /// The default as JSON text; none where the key is required.
    pub default: Option<&'static str>,
    /// What it does, in one line.
    pub doc: &'static str,
}

/// What may stand under a key of a criterion.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// One of a few strings, in any case, with blanks or `-` for `_`.
    Choice {
        /// The strings as they are kept.
        values: &'static [&'static str],
        /// Whether ADK also takes the position in the list, as a number.
        numbered: bool,
    },
    /// An array of strings.
    Strings,
    /// An array of objects.
    Objects,
    /// An object.
    Object,
}

impl MetricInfo {
    /// Whether a score or threshold lies in the metric's range. `NaN` lies in none.
    ///
    /// ```
    /// let info = eval_format::metric("response_match_score").unwrap();
    /// assert!(info.in_range(0.8) && !info.in_range(80.0) && !info.in_range(f64::NAN));
    /// ```
    pub fn in_range(&self, score: f64) -> bool {
        score >= self.min && self.max.is_none_or(|max| score <= max)
    }

    /// The `type` of the rubrics of cases and turns that the metric reads; none where it reads no rubrics.
    ///
    /// ```
    /// let info = eval_format::metric("rubric_based_tool_use_quality_v1").unwrap();
    /// assert_eq!(info.rubric_type(), Some("TOOL_USE_QUALITY"));
    /// ```
    pub fn rubric_type(&self) -> Option<&'static str> {
        RUBRIC_TYPES.iter().find(|(metric, _)| *metric == self.name).map(|(_, kind)| *kind)
    }
}

/// The metrics that read rubrics, each with the `type` of those that are its own.
pub(crate) const RUBRIC_TYPES: [(&str, &str); 3] = [
    ("rubric_based_final_response_quality_v1", "FINAL_RESPONSE_QUALITY"),
    ("rubric_based_tool_use_quality_v1", "TOOL_USE_QUALITY"),
    ("rubric_based_multi_turn_trajectory_quality_v1", "TRAJECTORY_QUALITY"),
];

/// The built-in metric of a name.
pub fn metric(name: &str) -> Option<&'static MetricInfo> {
    METRICS.iter().find(|info| info.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_identifiers() {
        let mut seen = HashSet::new();
        for info in METRICS {
            assert!(seen.insert(info.name), "{} stands twice", info.name);
            assert!(info.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'));
        }
    }

    #[test]
    fn only_informational_metrics_never_gate() {
        for info in METRICS {
            assert_eq!(info.gates, info.group != MetricGroup::AdkInformational, "{}", info.name);
            assert_eq!(info.max.is_none(), !info.gates, "{}", info.name);
            assert!(info.max.is_none_or(|max| info.min < max), "{}", info.name);
        }
    }

    #[test]
    fn judged_metrics_need_a_judge_and_no_other_does() {
        for info in METRICS {
            let judged = info.group == MetricGroup::AdkJudged;
            assert_eq!(info.needs.contains(&Need::Judge), judged, "{}", info.name);
        }
    }

    #[test]
    fn these_are_built_in() {
        let names: Vec<_> = METRICS.iter().map(|info| info.name).collect();
        assert_eq!(
            names,
            [
                "tool_trajectory_avg_score",
                "response_match_score",
                "final_response_match_v2",
                "response_evaluation_score",
                "safety_v1",
                "hallucinations_v1",
                "rubric_based_final_response_quality_v1",
                "rubric_based_tool_use_quality_v1",
                "rubric_based_multi_turn_trajectory_quality_v1",
                "multi_turn_task_success_v1",
                "multi_turn_trajectory_quality_v1",
                "multi_turn_tool_use_quality_v1",
                "per_turn_user_simulator_quality_v1",
                "tool_call_count_v1",
                "inference_call_count_v1",
                "token_usage_v1",
                "invocation_duration_v1",
                "trajectory_exact_match",
                "trajectory_in_order_match",
                "trajectory_any_order_match",
                "trajectory_precision",
                "trajectory_recall",
                "trajectory_single_tool_use",
                "final_response_match_v1",
                "trajectory_match_ratio",
                "response_similarity",
                "final_session_state_match",
            ]
        );
    }

    #[test]
    fn what_is_compared_follows_from_the_name() {
        let computed = |info: &&MetricInfo| info.group != MetricGroup::AdkJudged;
        for info in METRICS.iter().filter(computed) {
            let calls = matches!(info.compares, Subject::ToolCalls(_) | Subject::ActualCalls);
            assert_eq!(calls, info.name.contains("trajectory"), "{}", info.name);
            assert_eq!(info.compares == Subject::Response, info.name.contains("response"), "{}", info.name);
            assert_eq!(info.compares == Subject::Nothing, !info.gates, "{}", info.name);
        }
    }

    #[test]
    fn metrics_with_rubrics_have_a_type_of_them() {
        for info in METRICS {
            let reads = info.criterion.iter().any(|field| field.name == "rubrics");
            assert_eq!(info.rubric_type().is_some(), reads, "{}", info.name);
        }
    }

    #[test]
    fn ranges_and_needs_are_those_of_adk() {
        for (name, min, max, needs) in [
            ("tool_trajectory_avg_score", 0.0, Some(1.0), &[Need::Expectation][..]),
            ("response_match_score", 0.0, Some(1.0), &[Need::Expectation]),
            ("response_evaluation_score", 1.0, Some(5.0), &[Need::Expectation, Need::Judge]),
            ("safety_v1", 0.0, Some(1.0), &[Need::Judge]),
            ("final_response_match_v2", 0.0, Some(1.0), &[Need::Expectation, Need::Judge]),
            ("hallucinations_v1", 0.0, Some(1.0), &[Need::Judge]),
            ("per_turn_user_simulator_quality_v1", 0.0, Some(1.0), &[Need::Scenario, Need::Judge]),
            ("multi_turn_task_success_v1", 0.0, Some(1.0), &[Need::Judge]),
            ("token_usage_v1", 0.0, None, &[]),
        ] {
            let info = metric(name).unwrap();
            assert_eq!((info.min, info.max, info.needs), (min, max, needs), "{name}");
        }
    }

    #[test]
    fn texts_are_single_lines_and_defaults_are_json() {
        for info in METRICS {
            assert!(!info.summary.is_empty() && !info.summary.contains('\n'), "{}", info.name);
            for field in info.criterion {
                assert!(!field.doc.is_empty() && !field.doc.contains('\n'), "{}", field.name);
                if let Some(default) = field.default {
                    assert!(serde_json::from_str::<serde_json::Value>(default).is_ok(), "{}", field.name);
                }
            }
        }
    }
}
