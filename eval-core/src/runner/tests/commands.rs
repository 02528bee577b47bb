//! Metrics that programs compute.

use std::fs;
use std::path::Path;

use super::*;

const SET: &str = r#"{"eval_set_id": "s", "eval_cases": [
    {"eval_id": "c", "conversation": [{"user_content": {"parts": [{"text": "hi"}]}}]}]}"#;

/// A folder with a set and a config whose metric `calm` this script computes.
fn folder(script: &str, entry: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        r#"{{"criteria": {{"calm": 0.5}}, "custom_metrics": {{"calm": {{"command": ["sh", "calm.sh"]{entry}}}}}}}"#
    );
    let evals = folder.path().join("evals");
    fs::create_dir(&evals).unwrap();
    for (name, text) in [("calm.sh", script), ("s.evalset.json", SET), ("test_config.json", &config)] {
        fs::write(evals.join(name), text).unwrap();
    }
    folder
}

fn report(folder: &Path, runner: &EvalRunner) -> CaseReport {
    let report = run(runner.run_dir(folder, async || Replay::new([["hello"]]), 1)).unwrap();
    report.cases.into_iter().next().unwrap()
}

#[test]
fn a_program_of_the_config_beside_a_set_scores_its_runs() {
    for (answer, verdict, score) in [
        (r#"{"score": 0.75}"#, Verdict::Passed, 0.75),
        (r#"{"score": 0.25, "per_invocation_scores": [0.25]}"#, Verdict::Failed, 0.25),
    ] {
        let folder = folder(&format!("cat > asked; echo '{answer}'"), "");
        let report = report(folder.path(), &EvalRunner::new());
        assert_eq!((&report.verdict, report.metrics[0].score), (&verdict, Some(score)), "{report:?}");
        let asked = fs::read_to_string(folder.path().join("evals/asked")).unwrap();
        let asked: serde_json::Value = serde_json::from_str(&asked).unwrap();
        assert_eq!((&asked["metric_name"], &asked["threshold"]), (&json!("calm"), &json!(0.5)));
        assert_eq!(asked["invocations"][0]["final_response"], "hello");
    }
}

#[test]
fn a_program_that_gives_no_score_is_no_pass_and_an_error_of_its_metric() {
    for (script, entry, says) in [
        (
            "echo oops >&2; exit 7",
            "",
            "calm: the program ended with exit status: 7; it wrote to its standard error:\n| oops",
        ),
        ("sleep 600", r#", "timeout": 0.2"#, "calm: the program gave no answer within 200ms"),
        ("echo fine", "", "calm: the program wrote no JSON to its standard output: fine"),
        (
            r#"echo '{"score": 0.4, "status": "PASSED"}'"#,
            "",
            "calm: the program says PASSED, and its score 0.4 is below",
        ),
    ] {
        let folder = folder(script, entry);
        let report = report(folder.path(), &EvalRunner::new());
        let Verdict::Error { role: Role::Metric, message: reason } = &report.verdict else {
            panic!("{report:?}")
        };
        assert!(reason.starts_with(says), "{reason}");
        let by_hand = reason.lines().last().unwrap();
        assert!(by_hand.contains("/evals && printf %s ") && by_hand.ends_with(" | sh calm.sh`"), "{by_hand}");
    }
    let folder = folder(r#"echo '{"score": 0, "status": "NOT_EVALUATED"}'"#, "");
    let report = report(folder.path(), &EvalRunner::new());
    assert!(
        matches!(&report.verdict, Verdict::NotEvaluated(reason) if reason.contains("did not evaluate")),
        "{report:?}"
    );
}

#[test]
fn the_time_limit_of_runs_holds_for_programs_without_one() {
    let folder = folder("sleep 600", "");
    let report = report(folder.path(), &EvalRunner::new().timeout(Duration::from_millis(200)));
    let reason = report.verdict.reason().unwrap();
    assert!(
        reason.starts_with("calm: the program gave no answer within 200ms (`timeout` sets the limit)"),
        "{reason}"
    );
}

#[test]
fn a_metric_in_rust_takes_the_place_of_a_program_of_its_name() {
    let folder = folder("touch started", "");
    let always = |_: &Invocation, _: Option<&Invocation>, _: &Criterion| 1.0;
    let report = report(folder.path(), &EvalRunner::new().metric("calm", always));
    assert_eq!(report.verdict, Verdict::Passed);
    assert!(!folder.path().join("evals/started").exists());
}

#[test]
fn a_program_with_a_threshold_that_no_score_misses_is_refused() {
    let folder = folder("true", "");
    let runner = EvalRunner::new().only_metric(("calm", Some(0.0)));
    let error =
        run(runner.run_dir(folder.path(), async || Replay::new([["hello"]]), 1)).unwrap_err().to_string();
    assert!(error.contains("no score of `calm` is below its threshold"), "{error}");
}
