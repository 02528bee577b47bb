//! Thresholds: how they are read, and which are out of range.

use super::*;

#[test]
fn thresholds_are_read_as_pydantic_reads_floats() {
    for (text, threshold) in
        [("1", 1.0), ("0.5", 0.5), ("true", 1.0), (r#""0.25""#, 0.25), (r#"" 1e-1 ""#, 0.1)]
    {
        for criterion in [text.to_owned(), format!(r#"{{"threshold": {text}}}"#)] {
            let config = accepts(&trajectory(&criterion), &[]);
            assert_eq!(config.criterion("tool_trajectory_avg_score"), Some(&Criterion::new(threshold)));
        }
    }
    let at = "criteria.tool_trajectory_avg_score";
    for text in ["null", "[]", r#""""#, r#""high""#] {
        assert_eq!(found(&trajectory(text), &[]), [format!("wrong-type {at}")], "{text}");
        let object = trajectory(&format!(r#"{{"threshold": {text}}}"#));
        assert_eq!(found(&object, &[]), [format!("wrong-type {at}.threshold")], "{text}");
    }
}

#[test]
fn thresholds_out_of_range_are_taken_as_adk_takes_them() {
    let out_of_range = "threshold-range criteria.tool_trajectory_avg_score";
    // Nothing passes these, as in ADK.
    for text in ["1.5", "80", "7"] {
        assert_eq!(found(&trajectory(text), &[]), [format!("[{out_of_range}]")]);
        assert!(EvalConfig::parse(&trajectory(text)).is_ok());
    }
    // Everything would pass these.
    assert_eq!(
        found(&trajectory("-0.1"), &[]),
        ["nothing-checked criteria".to_owned(), format!("[{out_of_range}]")]
    );
    for text in ["NaN", r#""nan""#, "1e400"] {
        assert_eq!(found(&trajectory(text), &[]), [out_of_range]);
    }
}

#[test]
fn a_direction_is_read_where_scores_count_or_measure() {
    let config = |criterion: &str| format!(r#"{{"criteria": {{{criterion}}}}}"#);
    let tokens = config(r#""token_usage_v1": {"threshold": 5000, "direction": "at_most"}"#);
    assert_eq!(accepts(&tokens, &[]).criterion("token_usage_v1"), Some(&Criterion::at_most(5000.0)));
    let own = config(r#""cost": {"threshold": 5, "direction": "AT MOST"}"#);
    assert_eq!(accepts(&own, &["cost"]).criterion("cost"), Some(&Criterion::at_most(5.0)));
    let calls = config(r#""tool_call_count_v1": {"threshold": 1, "direction": "at_least"}"#);
    assert!(accepts(&calls, &[]).criterion("tool_call_count_v1").is_some_and(|it| !it.is_met(0.0)));
    for (criterion, problem) in [
        (r#""token_usage_v1": {"threshold": 5000}"#, "informational-threshold criteria.token_usage_v1"),
        (
            r#""token_usage_v1": {"threshold": 5000, "direction": "down"}"#,
            "wrong-type criteria.token_usage_v1.direction",
        ),
        (r#""cost": {"threshold": 5, "direction": "down"}"#, "wrong-type criteria.cost.direction"),
        (
            r#""safety_v1": {"threshold": 0.5, "direction": "at_most"}"#,
            "unknown-key criteria.safety_v1.direction",
        ),
        // Every score would pass.
        (r#""tool_call_count_v1": {"threshold": 0, "direction": "at_least"}"#, "nothing-checked criteria"),
    ] {
        assert_eq!(found(&config(criterion), &["cost"]), [problem], "{criterion}");
    }
    let none_can = config(r#""token_usage_v1": {"threshold": -1, "direction": "at_most"}"#);
    assert_eq!(problems(&none_can, &[])[0].label, "no score can reach it");
}

#[test]
fn a_threshold_of_a_custom_metric_is_one_that_a_score_can_miss_and_reach() {
    let custom = |threshold: &str| format!(r#"{{"criteria": {{"tone": {threshold}}}}}"#);
    for threshold in ["-3", "0.5", "80", "1e300"] {
        assert_eq!(found(&custom(threshold), &["tone"]), [""; 0]);
    }
    for (threshold, label) in [
        ("NaN", "no score reaches NaN"),
        ("1e400", "no score can reach it"),
        (r#""inf""#, "no score can reach it"),
        ("-Infinity", "every score would pass"),
    ] {
        let problems = problems(&custom(threshold), &["tone"]);
        assert_eq!(
            (problems[0].code, problems[0].label.as_str()),
            (ProblemCode::ThresholdRange, label),
            "{threshold}"
        );
    }
}
