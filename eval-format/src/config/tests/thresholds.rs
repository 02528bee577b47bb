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
            (Code::ThresholdRange, label),
            "{threshold}"
        );
    }
}
