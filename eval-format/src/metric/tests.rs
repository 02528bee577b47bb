use std::collections::HashSet;

use super::fields::{ALGORITHM, ARGS_MATCH, MATCH_TYPE};
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
            "answer_demands",
            "tool_response_match",
            "intermediate_response_match",
        ]
    );
}

#[test]
fn what_is_compared_follows_from_the_name() {
    let computed = |info: &&MetricInfo| info.group != MetricGroup::AdkJudged;
    for info in METRICS.iter().filter(computed) {
        let calls = matches!(info.compares, Subject::ToolCalls(_) | Subject::ActualCalls);
        assert_eq!(calls, info.name.contains("trajectory"), "{}", info.name);
        let responses = matches!(
            info.compares,
            Subject::Response | Subject::ToolResponses | Subject::IntermediateResponses
        );
        assert_eq!(responses, info.name.contains("response"), "{}", info.name);
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
fn the_defaults_of_choices_are_those_of_their_types() {
    let quoted = |name: &str| Some(format!("{name:?}"));
    for (field, default) in [
        (MATCH_TYPE, MatchType::default().as_str()),
        (ARGS_MATCH, ArgsMatch::default().as_str()),
        (ALGORITHM, Similarity::default().as_str()),
    ] {
        assert_eq!(field.default.map(str::to_owned), quoted(default), "{}", field.name);
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
