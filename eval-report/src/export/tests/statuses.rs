//! Statuses of each kind of run in ADK's and adk-rs's results.

use crate::export::{Export, table_with_errors};
use eval_format::{Criterion, TurnAggregation, Value};
use serde_json::json;

use eval_core::{CaseReport, EvalCase, EvalRunner, EvalSet, Invocation, Replay};

use super::fixture;
use eval_core::Verdict;
use eval_core::report::{EvalReport, MetricOutcome, Role, TurnVerdict};

/// The runs of a case in ADK's form.
fn runs(report: &EvalReport, eval_id: &str) -> Vec<Value> {
    let value = report.adk_results("app", fixture::time())[0].to_value();
    let runs = value["eval_case_results"].as_array().unwrap_or_default();
    runs.iter().filter(|run| run["eval_id"].as_str() == Some(eval_id)).cloned().collect()
}

fn statuses(run: &Value) -> Vec<(String, i64)> {
    let metrics = run["overall_eval_metric_results"].as_array().unwrap_or_default();
    let status = |metric: &Value| {
        let name = metric["metric_name"].as_str().unwrap().to_owned();
        (name, metric["eval_status"].as_i64().unwrap())
    };
    metrics.iter().map(status).collect()
}

#[test]
fn statuses_are_the_numbers_of_adk() {
    let report = fixture::report();
    for (eval_id, status) in
        [("forecast", 1), ("quiet", 2), ("breaks", 2), ("metric breaks", 2), ("unscored", 3), ("no setup", 2)]
    {
        let runs = runs(&report, eval_id);
        assert_eq!(runs.len(), 2, "{eval_id}");
        for run in runs {
            assert_eq!(run["final_eval_status"].as_i64(), Some(status), "{eval_id}");
        }
    }
    let of_metrics = statuses(&runs(&report, "unscored")[0]);
    let expected = [
        ("tool_trajectory_avg_score", 1),
        ("response_match_score", 1),
        ("picky", 3),
        ("tool_call_count_v1", 4),
        ("inference_call_count_v1", 4),
        ("token_usage_v1", 4),
        ("invocation_duration_v1", 4),
    ];
    assert_eq!(of_metrics, expected.map(|(name, status)| (name.to_owned(), status)));
}

#[test]
fn an_error_has_no_metrics_and_tells_its_reason() {
    let report = fixture::report();
    for (eval_id, turns, author, message) in [
        ("breaks", 2, "agent", "agent error in turn 2: connection refused,\n\"twice\""),
        ("metric breaks", 2, "metric", "metric error: picky: no, \"not\" today"),
        ("no setup", 0, "setup", "setup error: no key"),
    ] {
        for run in runs(&report, eval_id) {
            assert!(statuses(&run).is_empty(), "{eval_id}");
            let played = run["eval_metric_result_per_invocation"].as_array().unwrap();
            assert_eq!(played.len(), turns, "{eval_id}");
            for turn in played {
                assert_eq!(turn["eval_metric_results"].as_array().map(<[_]>::len), Some(0));
            }
            let last = run["session_details"]["events"].as_array().unwrap().last().unwrap().clone();
            assert_eq!(last["author"].as_str(), Some(author));
            assert_eq!(last["error_message"].as_str(), Some(message));
        }
        assert!(!report.to_csv().lines().any(|row| row.starts_with(&format!("weather,{eval_id},"))));
    }
}

#[test]
fn one_score_for_the_run_stands_at_its_last_turn() {
    let run = &runs(&fixture::report(), "forecast")[0];
    let found: Vec<(Value, Value)> = run["eval_metric_result_per_invocation"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|turn| turn["eval_metric_results"].as_array().unwrap())
        .filter(|metric| metric["metric_name"].as_str() == Some("final_session_state_match"))
        .map(|metric| (metric["score"].clone(), metric["eval_status"].clone()))
        .collect();
    let status = |number: i64| Value::from(number);
    assert_eq!(found, [(Value::Null, status(3)), (Value::from(1.0), status(1))]);
}

#[test]
fn a_metric_that_was_skipped_is_named_in_every_export() {
    let skipped = |unjudged: bool| {
        let mut report = fixture::report();
        let case = &mut report.cases[0];
        let reason = "no judge".to_owned();
        case.metrics[2].verdict = Verdict::Skipped(reason.clone());
        for run in &mut case.runs {
            let reason = reason.clone();
            run.metrics[2].outcome =
                if unjudged { MetricOutcome::Unjudged(reason) } else { MetricOutcome::Skipped(reason) };
        }
        report
    };
    // A run without a judge must not pass in ADK. A metric that does not apply changes nothing.
    for (unjudged, status) in [(true, 3), (false, 1)] {
        let report = skipped(unjudged);
        for run in runs(&report, "forecast") {
            assert!(statuses(&run).contains(&("picky".to_owned(), 3)), "{run}");
            assert_eq!(run["final_eval_status"].as_i64(), Some(status), "{run}");
        }
        let table = report.to_csv();
        let rows = table.lines().filter(|row| row.starts_with("weather,forecast,picky,0.3,,NOT_EVALUATED,"));
        assert_eq!(rows.count(), 4, "two turns of two runs: {table}");
        let json = report.to_adk_rs();
        assert_eq!(json["results"][0]["skipped"], json!({ "picky": "no judge" }));
        assert!(report.to_string().contains("picky skipped"), "{report}");
    }
}

#[test]
fn a_case_that_did_not_pass_is_green_in_no_export() {
    let error = |role, message: &str| Verdict::Error { role, message: message.to_owned() };
    for (verdict, status, name, author, message) in [
        (Verdict::Failed, 2, "FAILED", "harness", "FAILED"),
        (error(Role::Harness, "the set is stale"), 2, "FAILED", "harness", "harness error: the set is stale"),
        (error(Role::Setup, "no key"), 2, "FAILED", "setup", "setup error: no key"),
        (Verdict::NotEvaluated("no score".to_owned()), 3, "NOT_EVALUATED", "harness", "no score"),
        (Verdict::Skipped("not run".to_owned()), 3, "NOT_EVALUATED", "harness", "not run"),
    ] {
        for (has_runs, entries) in [(true, 2), (false, 1)] {
            let mut report = fixture::report();
            report.cases.truncate(1);
            let case = &mut report.cases[0];
            case.verdict = verdict.clone();
            if !has_runs {
                case.runs.clear();
            }
            let runs = runs(&report, "forecast");
            assert_eq!(runs.len(), entries, "{verdict:?}");
            for run in runs {
                assert_eq!(run["final_eval_status"].as_i64(), Some(status), "{verdict:?}");
                // The scores are ADK's.
                assert_eq!(statuses(&run).iter().filter(|(_, status)| *status == 1).count() >= 3, has_runs);
                let last = run["session_details"]["events"].as_array().unwrap().last().unwrap().clone();
                assert_eq!(last["author"].as_str(), Some(author));
                assert_eq!(last["error_message"].as_str(), Some(message));
            }
            let table = table_with_errors(&report);
            let row = |row: &&str| {
                row.starts_with(&format!("weather,forecast,,,,{name},")) && row.contains(message)
            };
            assert_eq!(table.lines().filter(row).count(), entries, "{table}");
        }
    }
}

#[test]
fn a_skipped_case_is_counted_where_adk_rs_looks_for_it() {
    let mut report = fixture::report();
    report.cases.truncate(2);
    report.cases[1].verdict = Verdict::Skipped("no judge".to_owned());
    let json = report.to_adk_rs();
    assert_eq!(json["results"][1]["overall_status"], "ERROR");
    let summary =
        json!({ "total": 2, "passed": 1, "failed": 0, "errors": 1, "skipped": 1, "pass_rate": 1.0 });
    assert_eq!(json["summary"], summary);
    assert!(report.all_passed());
}

#[test]
fn a_mean_that_did_not_decide_says_what_did() {
    let mut report = fixture::report();
    report.cases[0].metrics[1].passed_runs = Some(1);
    let json = report.to_adk_rs();
    let details = &json["results"][0]["scores"]["response_match_score"]["details"];
    assert_eq!(
        (&details["threshold"], &details["passed_runs"], &details["runs"]),
        (&json!(0.5), &json!(1), &json!(2))
    );
    assert!(report.to_string().contains("(0.5 reached in 1 of 2 runs)"), "{report}");
}

#[test]
fn a_gate_on_every_turn_is_kept() {
    let mut report = fixture::report();
    // Its turns score 1.0 and 0.857.
    report.cases[0].metrics[1].criterion.as_mut().unwrap().threshold = 0.9;
    for run in &mut report.cases[0].runs {
        run.metrics[1].turns = vec![TurnVerdict::Passed, TurnVerdict::Failed];
    }
    for (gate, status) in [(TurnAggregation::Mean, 1), (TurnAggregation::EveryTurn, 2)] {
        report.cases[0].gate = gate;
        let run = &runs(&report, "forecast")[0];
        assert_eq!(run["final_eval_status"].as_i64(), Some(status));
        assert_eq!(statuses(run)[1], ("response_match_score".to_owned(), status));
    }
}

#[test]
fn the_report_of_adk_rs_has_a_number_and_a_reason_for_everything() {
    let json = fixture::report().to_adk_rs();
    assert_eq!(
        json["summary"],
        json!({ "total": 6, "passed": 1, "failed": 1, "errors": 4, "skipped": 0, "pass_rate": 1.0 / 6.0 })
    );
    let [forecast, quiet, breaks, .., unscored, _] = json["results"].as_array().unwrap().as_slice() else {
        panic!("{json}")
    };
    assert_eq!(forecast["overall_status"], "PASSED");
    assert_eq!(forecast.get("error"), None);
    assert_eq!(quiet["overall_status"], "FAILED");
    assert_eq!(breaks["overall_status"], "ERROR");
    assert!(breaks["error"].as_str().unwrap().contains("connection refused"), "{breaks}");
    let picky = &unscored["scores"]["picky"];
    assert_eq!((&picky["score"], &picky["status"]), (&json!(0.0), &json!("ERROR")));
    assert_eq!(picky["details"]["per_invocation"], json!([1.0, null, 1.0, null]));
    assert_eq!(picky["details"]["reason"], "turn 2 of run 1: nothing to go by");
    for metric in ["final_session_state_match", "token_usage_v1"] {
        assert_eq!(unscored["scores"].get(metric), None, "{metric}");
    }
}

#[test]
fn a_turn_that_stays_out_of_the_mean_has_no_score_and_fails_nothing() {
    use eval_core::agent::BoxError;
    use eval_core::{Metric, MetricInput, Score, Scores};

    struct Half;

    impl Metric for Half {
        async fn score(&self, _: MetricInput<'_>) -> Result<Scores, BoxError> {
            Ok([Score::left_out("nothing is expected"), Score::from(1.0)].into_iter().collect())
        }
    }

    let case = ["a", "b"]
        .into_iter()
        .fold(EvalCase::new("c"), |case, text| case.turn(Invocation::user(text).response(text)));
    let runner = EvalRunner::new().metric("half", Half);
    let set = EvalSet::new("s").case(case);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let agent = || Replay::new([["a"], ["b"]]);
    let report = runtime.block_on(runner.run_set(&set, agent, 1)).unwrap();
    let run = &runs(&report, "c")[0];
    assert_eq!(run["final_eval_status"].as_i64(), Some(1));
    assert!(statuses(run).contains(&("half".to_owned(), 1)), "{run}");
    let first = &run["eval_metric_result_per_invocation"].as_array().unwrap()[0]["eval_metric_results"];
    let half =
        first.as_array().unwrap().iter().find(|it| it["metric_name"].as_str() == Some("half")).unwrap();
    assert!(half["score"].is_null() && half["eval_status"].as_i64() == Some(3), "{half}");
}

#[test]
fn the_report_of_adk_rs_has_its_names() {
    let case = |id: &str, answer: &str| EvalCase::new(id).turn(Invocation::user("hi").response(answer));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let set = EvalSet::new("s").case(case("c", "hi")).case(case("d", "bye"));
    let report = runtime.block_on(EvalRunner::new().run_set(&set, || Replay::new([["hi"]]), 2)).unwrap();
    assert!(!report.all_passed());
    assert_eq!(report.failures().map(CaseReport::eval_id).collect::<Vec<_>>(), ["d"]);
    let json = report.to_adk_rs();
    let passed = &json["results"][0];
    let details = |threshold: f64| json!({ "per_invocation": [1.0], "threshold": threshold, "runs": 1 });
    assert_eq!(
        passed,
        &json!({
            "eval_set_id": "s",
            "eval_case_id": "c",
            "scores": {
                "tool_trajectory_avg_score": { "score": 1.0, "status": "PASSED", "details": details(1.0) },
                "response_match_score": { "score": 1.0, "status": "PASSED", "details": details(0.8) },
            },
            "overall_status": "PASSED",
        })
    );
    assert_eq!(json["results"][1]["overall_status"], "FAILED");
}

#[test]
fn a_limit_that_is_exceeded_has_failed_in_every_export() {
    use eval_core::agent::BoxError;
    use eval_core::{Metric, MetricInput, Score, Scores};

    struct Cost(f64);

    impl Metric for Cost {
        async fn score(&self, _: MetricInput<'_>) -> Result<Scores, BoxError> {
            Ok([Score::from(self.0)].into_iter().collect())
        }
    }

    let set = EvalSet::new("s").case(EvalCase::new("c").turn(Invocation::user("hi").response("hi")));
    for (cost, number, name) in [(3.0, 1, "PASSED"), (10.0, 2, "FAILED")] {
        let runner = EvalRunner::new().criterion("cost", Criterion::at_most(5.0)).metric("cost", Cost(cost));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let report = runtime.block_on(runner.run_set(&set, || Replay::new([["hi"]]), 1)).unwrap();
        assert_eq!(report.all_passed(), number == 1);
        let run = &runs(&report, "c")[0];
        assert_eq!(run["final_eval_status"].as_i64(), Some(number));
        assert!(statuses(run).contains(&("cost".to_owned(), number)), "{run}");
        let metrics = run["overall_eval_metric_results"].as_array().unwrap().iter();
        let criterion = metrics.clone().find(|it| it["metric_name"].as_str() == Some("cost")).unwrap();
        assert_eq!(criterion["criterion"]["direction"].as_str(), Some("at_most"));
        let row = format!("s,c,cost,5.0,{cost:?},{name},hi,hi,hi,,");
        assert!(report.to_csv().lines().any(|line| line == row), "{}", report.to_csv());
        let json = report.to_adk_rs();
        let result = &json["results"][0];
        assert_eq!(
            (&result["overall_status"], &result["scores"]["cost"]["status"]),
            (&json!(name), &json!(name))
        );
        assert_eq!(result["scores"]["cost"]["details"]["direction"], "at_most");
        assert_eq!(report.to_json()["cases"][0]["metrics"][0]["direction"], "at_most");
    }
}
