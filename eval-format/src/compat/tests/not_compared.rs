//! Expectations that are never read.

use super::super::NotCompared;
use crate::config::{Criterion, EvalConfig};
use crate::model::EvalCase;
use crate::reader::check_set;

/// A case that expects all that a case can expect.
fn everything() -> Vec<EvalCase> {
    let text = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c",
        "rubrics": [{"rubric_id": "a", "rubric_content": {"text_property": "x"}, "type": "TOOL_USE_QUALITY"},
            {"rubric_id": "b", "rubric_content": {"text_property": "x"}}],
        "final_session_state": {"x": 1},
        "conversation": [
            {"user_content": {"parts": [{"text": "Hi"}]},
                "final_response": {"parts": [{"text": "Hello"}, {"inline_data": {"mime_type": "image/png", "data": "aGVsbG8="}},
                    {"function_call": {"name": "f", "args": {}}}]},
                "intermediate_data": {"tool_uses": [{"name": "f", "args": {}}],
                    "tool_responses": [{"name": "f", "response": {"result": 42}}, {"name": "g"}],
                    "intermediate_responses": [["a", [{"text": "Let me see."}]]]},
                "rubrics": [{"rubric_id": "t", "rubric_content": {"text_property": "x"}, "type": "TRAJECTORY_QUALITY"}]},
            {"user_content": {"parts": [{"text": "Bye"}]},
                "intermediate_data": {"invocation_events": [
                    {"author": "a", "content": {"parts": [{"text": "One moment."}, {"function_call": {"name": "f", "args": {}}}]}},
                    {"author": "a", "content": {"parts": [{"function_response": {"name": "f", "response": {}}}]}}]}}
        ]}]}"#;
    check_set("s.evalset.json", text.as_bytes(), None).set.expect("a set").eval_cases
}

fn not_compared(config: &EvalConfig, answered: &[&str]) -> NotCompared {
    let criteria = config.criteria.iter().map(|(name, criterion)| (name.as_str(), criterion));
    NotCompared::of(criteria, answered, &everything())
}

#[test]
fn what_no_metric_of_the_config_reads_is_counted() {
    let with = |names: &[&str]| {
        names.iter().fold(EvalConfig::default(), |config, name| config.with(*name, Criterion::new(1.0)))
    };
    let counted = |names: &[&str]| not_compared(&with(names), &[]).to_string();
    let rest = "1 image or file in an answer, 1 call or code in an answer";
    assert_eq!(
        counted(&["safety_v1"]),
        format!("2 tool calls, 2 tool responses, 2 intermediate responses, 1 answer, {rest}, 3 rubrics")
    );
    assert_eq!(
        counted(&["tool_trajectory_avg_score", "response_match_score"]),
        format!("2 tool responses, 2 intermediate responses, {rest}, 3 rubrics")
    );
    assert_eq!(
        counted(&[
            "trajectory_recall",
            "tool_response_match",
            "intermediate_response_match",
            "final_response_match_v1"
        ]),
        format!("{rest}, 3 rubrics")
    );
    // It calls a certain tool; what is expected is not read.
    assert!(counted(&["trajectory_single_tool_use"]).starts_with("2 tool calls, "));
    // ADK's needs expected turns, and reads none of their answers.
    assert!(counted(&["response_evaluation_score"]).contains(", 1 answer, "));
    // An untyped rubric is read by nothing, and one about the conversation in the last turn only.
    assert!(counted(&["rubric_based_tool_use_quality_v1"]).ends_with(", 2 rubrics"));
    assert!(counted(&["rubric_based_multi_turn_trajectory_quality_v1"]).ends_with(", 3 rubrics"));
}

#[test]
fn a_criterion_that_nothing_misses_reads_nothing() {
    let config = EvalConfig::default()
        .with("response_match_score", Criterion::new(0.0))
        .with("final_session_state_match", Criterion::new(0.0))
        .with("tool_trajectory_avg_score", Criterion::new(1.0));
    let counts: Vec<_> = not_compared(&config, &[]).counts().collect();
    assert!(counts.contains(&("answers", 1)) && counts.contains(&("session_state", 1)), "{counts:?}");
    assert!(!counts.iter().any(|(name, _)| *name == "tool_calls"), "{counts:?}");
}

#[test]
fn texts_on_the_way_are_read_by_a_judge_that_is_told_to() {
    let judged = Criterion::new(1.0).with("include_intermediate_responses_in_final", true);
    let counts = |criterion: Criterion| {
        let config = EvalConfig::default().with("final_response_match_v2", criterion);
        not_compared(&config, &[]).counts().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert!(!counts(judged).contains(&"intermediate_responses"));
    assert!(counts(Criterion::new(1.0)).contains(&"intermediate_responses"));
}

#[test]
fn a_case_changes_the_criterion_of_a_metric_that_a_program_computes() {
    let config = EvalConfig::default()
        .with("tone", Criterion::new(1.0))
        .with("tool_trajectory_avg_score", Criterion::new(1.0));
    let changes = serde_json::json!({ "tone": 0.5, "tool_trajectory_avg_score": null });
    let cases: Vec<EvalCase> =
        everything().into_iter().map(|case| case.with_extra("_criteria", changes.clone())).collect();
    let criteria = config.criteria.iter().map(|(name, criterion)| (name.as_str(), criterion));
    let said = NotCompared::of(criteria, &[], &cases).to_string();
    assert!(said.starts_with("2 tool calls, "), "{said}");
}

#[test]
fn metrics_of_the_users_own_may_read_anything() {
    let config = EvalConfig::default().with("tone", Criterion::new(1.0));
    assert!(
        not_compared(&config, &["tone"]).to_string().ends_with(" (unless metrics of your own read them)")
    );
    let replaced = EvalConfig::default().with("tool_trajectory_avg_score", Criterion::new(1.0));
    let said = not_compared(&replaced, &["tool_trajectory_avg_score"]).to_string();
    assert!(said.starts_with("2 tool calls, "), "{said}");
    let nothing = NotCompared::of(std::iter::empty(), &["tone"], &[]);
    assert!(nothing.is_empty() && nothing.to_string().is_empty());
}
