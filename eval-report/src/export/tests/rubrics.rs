//! Verdicts on rubrics in ADK's form.

use crate::export::Export;
use eval_format::{Criterion, EvalCase, EvalConfig, EvalSet, Invocation, Rubric, Value};
use serde_json::json;

use super::fixture;
use crate::adk_oracle::ask;
use eval_core::EvalRunner;
use eval_core::agent::Replay;
use eval_core::judge::ScriptedJudge;
use eval_core::report::EvalReport;

const FINAL: &str = "rubric_based_final_response_quality_v1";
const TRAJECTORY: &str = "rubric_based_multi_turn_trajectory_quality_v1";

fn reply(verdicts: &[(&str, &str)]) -> String {
    let block = |(id, verdict): &(&str, &str)| {
        format!("ID: {id}\nProperty: p\nRationale: because {id}\nVerdict: {verdict}\n")
    };
    verdicts.iter().map(block).collect()
}

/// Two turns, judged by three rubrics: of the criterion, of the case, of the second turn.
fn report(second: &str) -> EvalReport {
    let rubric = |id: &str| Rubric::new(id, "p").of_type("FINAL_RESPONSE_QUALITY");
    let case = EvalCase::new("c")
        .turn(Invocation::user("Hi"))
        .turn(Invocation::user("Bye").with_rubrics([rubric("turn")]))
        .with_rubrics([rubric("case")]);
    let of = |id: &str| Criterion::new(0.5).with_rubrics([Rubric::new(id, "p")]).with_num_samples(1);
    let config = EvalConfig::default().with(FINAL, of("all")).with(TRAJECTORY, of("whole"));
    let replies = [
        reply(&[("all", "yes"), ("case", "no")]),
        second.to_owned(),
        second.to_owned(),
        reply(&[("whole", "yes")]),
    ];
    // A reply that says all is not asked about again.
    let again = usize::from(second.contains("turn"));
    let judge = ScriptedJudge::new(replies[..2].iter().chain(&replies[2 + again..]));
    let runner = EvalRunner::new().config(config).judge(judge);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let set = EvalSet::new("s").case(case);
    let agent = || Replay::new([["Hello."], ["Goodbye."]]);
    runtime.block_on(runner.run_set(&set, agent, 1)).unwrap()
}

fn case_result(report: &EvalReport) -> Value {
    let result = report.adk_results("app", fixture::time())[0].to_value();
    result["eval_case_results"][0].clone()
}

/// The metric of a name in a list of ADK's results: id and score of each rubric.
fn rubrics(results: &Value, metric: &str) -> Vec<(String, Option<f64>)> {
    let results = results.as_array().unwrap_or_default();
    let found = results.iter().find(|result| result["metric_name"].as_str() == Some(metric)).unwrap();
    let scores = found["details"]["rubric_scores"].as_array().unwrap_or_default();
    scores
        .iter()
        .map(|score| (score["rubric_id"].as_str().unwrap().to_owned(), score["score"].as_f64()))
        .collect()
}

fn named<const N: usize>(scores: [(&str, Option<f64>); N]) -> Vec<(String, Option<f64>)> {
    scores.map(|(id, score)| (id.to_owned(), score)).to_vec()
}

#[test]
fn verdicts_stand_at_their_turns_and_their_means_at_the_run() {
    let report = report(&reply(&[("all", "no"), ("case", "no"), ("turn", "yes")]));
    let run = case_result(&report);
    let turns = &run["eval_metric_result_per_invocation"];
    let of_turn = |at: usize, metric| rubrics(&turns[at]["eval_metric_results"], metric);
    assert_eq!(of_turn(0, FINAL), named([("all", Some(1.0)), ("case", Some(0.0))]));
    assert_eq!(of_turn(1, FINAL), named([("all", Some(0.0)), ("case", Some(0.0)), ("turn", Some(1.0))]));
    assert_eq!((of_turn(0, TRAJECTORY), of_turn(1, TRAJECTORY)), (vec![], named([("whole", Some(1.0))])));
    let overall = &run["overall_eval_metric_results"];
    let means = named([("all", Some(0.5)), ("case", Some(0.0)), ("turn", Some(1.0))]);
    assert_eq!(rubrics(overall, FINAL), means);
    assert_eq!(overall[0]["score"].as_f64(), Some(0.4));
    // As in ADK, the judged rubrics are in the actual turn.
    let judged = turns[1]["actual_invocation"]["rubrics"].as_array().unwrap_or_default();
    let ids: Vec<&str> = judged.iter().filter_map(|rubric| rubric["rubric_id"].as_str()).collect();
    assert_eq!(ids, ["case", "turn"]);
}

#[test]
fn a_rubric_without_a_verdict_has_no_score() {
    let report = report(&reply(&[("all", "yes"), ("case", "yes")]));
    let run = case_result(&report);
    let second = &run["eval_metric_result_per_invocation"][1]["eval_metric_results"];
    assert_eq!(rubrics(second, FINAL), named([("all", Some(1.0)), ("case", Some(1.0)), ("turn", None)]));
    assert_eq!(second[0]["eval_status"].as_i64(), Some(3));
    let reason = report.cases[0].verdict.reason().unwrap_or_default();
    assert!(reason.contains("the judge gave no verdict on rubric `turn`"), "{reason}");
}

#[test]
fn adk_loads_the_verdicts_and_writes_them_unchanged() {
    let report = report(&reply(&[("all", "no"), ("case", "no"), ("turn", "yes")]));
    let text = report.adk_results("app", fixture::time())[0].to_json();
    for answer in ask("eval_set_result", &[json!(text)]).unwrap_or_default() {
        assert_eq!(answer.as_str(), Some(text.as_str()));
    }
}
