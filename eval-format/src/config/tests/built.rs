//! Mistakes that only configs built in Rust can have, and the criteria of metrics that are written in Rust.

use super::{accepts, found};
use crate::config::{Criterion, EvalConfig, UserSimulatorConfig};

/// A metric of one's own that asks a judge reads the same options as a built-in one.
#[test]
fn judge_options_of_custom_metrics_are_checked_as_those_of_built_in_ones() {
    let at = "criteria.polite.judge_model_options";
    for (options, expected) in [
        (r#"{"judge_model": "m", "num_samples": 3, "judgeModelConfig": {"topK": 1}}"#, vec![]),
        (r#"{"num_sampels": 3}"#, vec![format!("unknown-key {at}.num_sampels")]),
        (r#"{"num_samples": 2.5}"#, vec![format!("wrong-type {at}.num_samples")]),
        (r#"{"num_samples": -3}"#, vec![format!("wrong-type {at}.num_samples")]),
        (r#"{"num_samples": "three"}"#, vec![format!("wrong-type {at}.num_samples")]),
        (r#"{"num_samples": 4000000000}"#, vec![format!("wrong-type {at}.num_samples")]),
        (r#"{"parallelism_limit": 0}"#, vec![format!("wrong-type {at}.parallelism_limit")]),
        (r#"{"judge_model": " "}"#, vec![format!("wrong-type {at}.judge_model")]),
        (r#""three""#, vec![format!("wrong-type {at}")]),
    ] {
        let text =
            format!(r#"{{"criteria": {{"polite": {{"threshold": 1, "judge_model_options": {options}}}}}}}"#);
        assert_eq!(found(&text, &["polite"]), expected, "{options}");
    }
    // As pydantic reads a number.
    let text = r#"{"criteria": {"polite": {"threshold": 1, "judgeModelOptions": {"numSamples": "1"}, "mine": {"x": "1"}}}}"#;
    let config = accepts(text, &["polite"]);
    assert_eq!(config.criterion("polite").and_then(Criterion::num_samples), Some(1));
    assert!(config.criterion("polite").unwrap().get("mine").is_some(), "other keys are the metric's own");
}

#[test]
fn a_metric_that_stands_twice_in_a_config_built_in_rust_is_an_error() {
    let mut config = EvalConfig::default().with("response_match_score", Criterion::new(0.9));
    config.criteria.push(("response_match_score".to_owned(), Criterion::new(0.1)));
    let problems = config.checked(&[]).unwrap_err().to_string();
    assert!(problems.contains("`response_match_score`") && problems.contains("repeated"), "{problems}");
    let simulator = UserSimulatorConfig::default().model("a").with_extra("model", "b");
    let config = EvalConfig::adk_default().with_user_simulator(simulator);
    assert!(config.checked(&[]).unwrap_err().to_string().contains("repeated"));
}
