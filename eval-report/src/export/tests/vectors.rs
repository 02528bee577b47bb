//! Round trips through google-adk 2.13.0: our results, loaded and written again, have the same bytes.

use crate::export::Export;
use std::path::Path;

use eval_format::{ConversationScenario, EvalCase, EvalSet, Persona, UserBehavior, UserPersona};
use eval_format::{Criterion, EvalConfig};
use serde_json::json;

use super::fixture;
use crate::adk_oracle::ask;
use eval_core::EvalRunner;
use eval_core::agent::Replay;
use eval_core::judge::ScriptedJudge;

/// The result of the fixture, as ADK wrote it after it loaded it.
const STORED_RESULT: &str = include_str!("../../../tests/vectors/eval_set_result.json");
/// The table of ADK's `AgentEvaluator` for the same result.
const STORED_TABLE: &str = include_str!("../../../tests/vectors/eval_results.csv");

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
fn a_scenario_has_no_expected_turns_for_adk_either() {
    let config = EvalConfig::default()
        .with("trajectory_single_tool_use", Criterion::new(1.0).with_tool_name("book"))
        .with("response_match_score", Criterion::new(0.8));
    let runner = EvalRunner::new().config(config).judge(ScriptedJudge::new(["In May.", "</finished>"]));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let agent = || Replay::new([["For when?"], ["It is booked."]]);
    let report = runtime.block_on(runner.run_set(&scenarios(), agent, 1)).unwrap();
    assert_eq!(report.cases[0].runs[0].transcript.turns.len(), 2, "{report}");
    let result = report.adk_results("weather_app", fixture::time())[0].to_json();
    let json: serde_json::Value = serde_json::from_str(&result).unwrap();
    let turns = &json["eval_case_results"][0]["eval_metric_result_per_invocation"];
    assert_eq!(turns[1]["expected_invocation"], json!(null));
    assert_eq!(turns[1]["actual_invocation"]["user_content"]["parts"][0]["text"], "In May.");
    if let Some(answers) = ask("eval_set_result", &[json!(result)]) {
        same(&result, answers[0].as_str().unwrap());
    }
    let table = report.to_csv();
    assert!(
        table.contains(",trajectory_single_tool_use,1.0,0.0,FAILED,In May.,,It is booked.,,\n"),
        "{table}"
    );
    if let Some(answers) = ask("table", &[json!(result)]) {
        same(&table, answers[0].as_str().unwrap());
    }
}

/// A set of a scenario with every field.
fn scenarios() -> EvalSet {
    let brief = UserBehavior::new("Brief", "One line.").instruction("Say little.").violation("It says much.");
    let scenario = ConversationScenario::new("A room, please.", "Book a room in Paris for May.")
        .persona(UserPersona::new("HURRIED", "In a hurry.").behavior(brief));
    EvalSet::new("trips").case(EvalCase::new("room").scenario(scenario))
}

#[test]
fn sets_pass_through_adk_unchanged() {
    let mut sets = vec![fixture::set(), scenarios()];
    let samples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples"));
    for file in eval_format::find::find_sets(samples, "").unwrap() {
        sets.push(EvalSet::read(samples.join(file)).unwrap());
    }
    // ADK writes out a ready-made persona; here its name stays.
    for scenario in
        sets.iter_mut().flat_map(|set| &mut set.eval_cases).flat_map(|case| &mut case.conversation_scenario)
    {
        scenario.user_persona.take_if(|persona| !matches!(persona, Persona::Own(_)));
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
