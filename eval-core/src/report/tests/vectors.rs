//! What google-adk 2.13.0 loads from our results and writes again is what we wrote, to the byte.

use std::path::Path;

use eval_format::EvalSet;
use serde_json::json;

use super::fixture;
use crate::oracle::ask;

/// What ADK wrote after it loaded the result of the fixture.
const STORED_RESULT: &str = include_str!("../../../../tests/vectors/eval_set_result.json");
/// What ADK's `AgentEvaluator` wrote from the same result.
const STORED_TABLE: &str = include_str!("../../../../tests/vectors/eval_results.csv");

#[track_caller]
fn same(ours: &str, theirs: &str) {
    let difference = ours.lines().zip(theirs.lines()).enumerate().find(|(_, (ours, theirs))| ours != theirs);
    assert!(ours == theirs, "{difference:?}, {} and {} bytes", ours.len(), theirs.len());
}

#[test]
fn results_pass_through_adk_unchanged() {
    let mut report = fixture::report();
    let all = report.adk_results("weather_app", fixture::time())[0].to_json();
    // One run that went well and one that broke off are enough to store.
    report.cases.retain(|case| ["forecast", "breaks"].contains(&case.eval_id()));
    report.cases.iter_mut().for_each(|case| case.runs.truncate(1));
    let some = report.adk_results("weather_app", fixture::time())[0].to_json();
    if let Some(answers) = ask("eval_set_result", &[json!(all), json!(some)]) {
        same(&all, answers[0].as_str().unwrap());
        same(&some, answers[1].as_str().unwrap());
    }
    same(&some, STORED_RESULT);
}

#[test]
fn the_table_is_that_of_adk() {
    let report = fixture::report();
    let table = report.to_csv();
    let result = report.adk_results("weather_app", fixture::time())[0].to_json();
    if let Some(answers) = ask("table", &[json!(result)]) {
        same(&table, answers[0].as_str().unwrap());
    }
    same(&table, STORED_TABLE);
}

#[test]
fn sets_pass_through_adk_unchanged() {
    let mut sets = vec![fixture::set()];
    let samples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../samples"));
    for file in eval_format::find_sets(samples, "").unwrap() {
        sets.push(EvalSet::read(samples.join(file)).unwrap());
    }
    let texts: Vec<String> = sets.iter().map(EvalSet::to_json).collect();
    for (set, text) in sets.iter().zip(&texts) {
        assert_eq!(&EvalSet::parse(text).unwrap(), set);
    }
    let inputs: Vec<_> = texts.iter().map(|text| json!(text)).collect();
    for (text, answer) in texts.iter().zip(ask("eval_set", &inputs).unwrap_or_default()) {
        same(text, answer.as_str().unwrap());
    }
}
