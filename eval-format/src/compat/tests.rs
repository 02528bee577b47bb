mod decides;
mod not_compared;
mod rubrics;
mod rules;

use super::check_compatibility;
use crate::config::{Criterion, EvalConfig, UserSimulatorConfig};
use crate::model::{ConversationScenario, EvalCase, Invocation, Persona};
use crate::options::TurnAggregation;
use crate::reader::check_set;
use crate::value::Map;

fn scenario() -> EvalCase {
    EvalCase::new("s").scenario(ConversationScenario::new("Hi", "Book."))
}

fn turns() -> EvalCase {
    EvalCase::new("t").turn(Invocation::user("Hi").response("Hello"))
}

fn with(name: &str, threshold: f64) -> EvalConfig {
    EvalConfig::default().with(name, Criterion::new(threshold))
}

#[test]
fn a_case_needs_a_metric_that_applies_and_can_fail() {
    let state = scenario().final_state(Map::from([("a", 1_i64)]));
    let both = EvalCase { conversation_scenario: scenario().conversation_scenario, ..turns() };
    for (what, config, case, answered, fits) in [
        ("both", EvalConfig::adk_default(), both, &[][..], false),
        ("turns", EvalConfig::adk_default(), turns(), &[][..], true),
        ("a scenario", EvalConfig::adk_default(), scenario(), &[], false),
        ("a state", EvalConfig::adk_default(), state, &[], true),
        ("a custom metric", EvalConfig::adk_default(), scenario(), &["own"], true),
        (
            "a custom one in its place",
            with("response_match_score", 1.0),
            scenario(),
            &["response_match_score"],
            true,
        ),
        ("a judged one", with("hallucinations_v1", 0.5), scenario(), &[], true),
        ("a judged one with an expectation", with("final_response_match_v2", 0.5), scenario(), &[], false),
        ("one that cannot fail", with("trajectory_single_tool_use", 0.0), scenario(), &[], false),
        ("one about the user", with("per_turn_user_simulator_quality_v1", 0.5), scenario(), &[], true),
        (
            "one about the user, in turns",
            with("per_turn_user_simulator_quality_v1", 0.5),
            turns(),
            &[],
            false,
        ),
        ("the state of none", with("final_session_state_match", 1.0), turns(), &[], false),
    ] {
        let incompatibilities = check_compatibility(&config, answered, TurnAggregation::Mean, &[case]);
        assert_eq!(incompatibilities.is_empty(), fits, "{what}: {incompatibilities:?}");
    }
}

#[test]
fn a_persona_that_nobody_tells_the_simulator_of_is_incompatible() {
    let told = |template: &str| {
        let simulator = UserSimulatorConfig::default().custom_instructions(template);
        with("hallucinations_v1", 0.5).with_user_simulator(simulator)
    };
    let mut case = scenario();
    let incompatibilities = |config: EvalConfig, case: &EvalCase| {
        check_compatibility(&config, &[], TurnAggregation::Mean, std::slice::from_ref(case))
    };
    assert_eq!(incompatibilities(told("{{ stop_signal }}"), &case), []);
    case.conversation_scenario = Some(ConversationScenario::new("Hi", "Book.").persona(Persona::Expert));
    let why = incompatibilities(told("{{ stop_signal }}"), &case)[0].to_string();
    assert!(
        why.ends_with("add `{{ persona }}` to `custom_instructions`, or remove the `user_persona`"),
        "{why}"
    );
    assert_eq!(incompatibilities(told("{{ persona.description }}"), &case), []);
    assert_eq!(incompatibilities(with("hallucinations_v1", 0.5), &case), []);
}

#[test]
fn the_place_is_the_key_of_the_scenario_in_its_file() {
    let text = r#"{"eval_set_id": "s", "eval_cases": [
        {"eval_id": "t", "conversation": [{"user_content": {}}], "conversation_scenario": null},
        {"eval_id": "é", "conversationScenario": {"startingPrompt": "a", "conversationPlan": "b"}},
        {"eval_id": "u", "conversation_scenario": {"starting_prompt": "a", "conversation_plan": "b"}}]}"#;
    let set = check_set("s.evalset.json", text.as_bytes(), None);
    let cases = set.set.clone().unwrap().eval_cases;
    let found = |config: &EvalConfig| -> Vec<(String, String)> {
        let incompatibilities = check_compatibility(config, &[], TurnAggregation::Mean, &cases);
        let problems = incompatibilities.iter().map(|incompatibility| incompatibility.problem(&set));
        problems.map(|it| (it.path.to_string(), set.text[it.range].to_owned())).collect()
    };
    assert_eq!(
        found(&EvalConfig::adk_default()),
        [
            ("eval_cases[1].conversationScenario".to_owned(), "\"conversationScenario\"".to_owned()),
            ("eval_cases[2].conversation_scenario".to_owned(), "\"conversation_scenario\"".to_owned()),
        ]
    );
    let user = with("per_turn_user_simulator_quality_v1", 0.5);
    assert_eq!(found(&user), [("eval_cases[0]".to_owned(), "\"t\"".to_owned())]);
}
