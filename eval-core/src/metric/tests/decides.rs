//! Test of eval-format's knowledge of metrics that decide a case: every metric that asks no judge is played with agents
//! that do their worst.

use eval_format::expect::{Expect, Others, Rules, TurnExpect};
use eval_format::metric::{METRICS, Need, Subject};
use eval_format::{Criterion, EvalCase, FunctionCall, Invocation, Map, MatchType, TurnAggregation};
use serde_json::json;

use super::computed::no_judge;
use crate::decide::verdict_of_run;
use crate::metric::{Metric, MetricInput, built_in};
use crate::report::MetricOutcome;
use crate::test_support::ready;

/// Turns as cases expect them.
fn expected() -> Vec<Invocation> {
    let data = |data: serde_json::Value, answer: serde_json::Value| {
        let turn = json!({"user_content": {}, "final_response": answer, "intermediate_data": data});
        Invocation::parse(&turn.to_string()).unwrap()
    };
    let text = |text: &str| json!({"parts": [{ "text": text }]});
    let image = json!({"parts": [{"inline_data": {"mime_type": "image/png", "data": "aGVsbG8="}}]});
    let calls = json!({"tool_uses": [{"name": "f", "args": {"x": 1}}]});
    vec![
        data(json!(null), json!(null)),
        data(json!(null), text("")),
        data(json!({}), text(" \n")),
        data(json!({}), image),
        data(json!({}), text("👍")),
        data(calls.clone(), text("It is done.")),
        data(calls, json!(null)),
        data(json!({"tool_responses": [{"name": "f", "response": {"result": 1}}]}), text("done")),
        data(json!({"tool_responses": [{"name": "f"}]}), text("")),
        data(json!({"intermediate_responses": [["a", [{"text": "Let me see."}]]]}), text("done")),
        data(json!({"intermediate_responses": [["a", [{"text": " "}]]]}), text("")),
    ]
}

/// Actions of agents in a turn: nothing, nonsense, the expected ones, and nonsense beside them.
fn actual(expected: &Invocation) -> Vec<Invocation> {
    let rm = FunctionCall::new("rm_rf", json!({"path": "/"}));
    vec![
        Invocation::user("q"),
        Invocation::user("q").response("garbage!").call(rm.clone()),
        expected.clone(),
        expected.clone().call(rm),
    ]
}

fn criteria(name: &str) -> Vec<Criterion> {
    let mut all = Vec::new();
    for threshold in [-1.0, 0.0, 0.3, 0.5, 0.7, 1.0, 7.0] {
        let plain = Criterion::new(threshold);
        match name {
            "tool_trajectory_avg_score" => {
                for match_type in [MatchType::Exact, MatchType::InOrder, MatchType::AnyOrder] {
                    let matched = plain.clone().with_match_type(match_type);
                    all.push(matched.clone().with_ignore_args(true));
                    all.push(matched.clone().with_forbidden_tools(["rm_rf"]));
                    all.push(matched.clone().with_forbidden_tools(Vec::<String>::new()));
                    all.push(matched);
                }
            }
            "trajectory_single_tool_use" => all.push(plain.with_tool_name("f")),
            _ => all.push(plain),
        }
    }
    all
}

#[test]
fn a_metric_decides_a_case_if_and_only_if_an_agent_can_fail_it() {
    let turns = expected();
    let mut conversations: Vec<Vec<&Invocation>> = turns.iter().map(|turn| vec![turn]).collect();
    for first in &turns {
        conversations.extend(turns.iter().map(|second| vec![first, second]));
    }
    let computed = METRICS.iter().filter(|info| info.gates && !info.needs.contains(&Need::Judge));
    let mut checked = 0;
    for info in computed.filter(|info| info.name != "final_session_state_match") {
        for criterion in criteria(info.name) {
            for conversation in &conversations {
                let case =
                    conversation.iter().fold(EvalCase::new("c"), |case, turn| case.turn((*turn).clone()));
                for gate in [TurnAggregation::Mean, TurnAggregation::EveryTurn] {
                    let decides = info.cannot_fail(&criterion, &case, gate).is_none();
                    // A turn that cannot be scored fails even here; the threshold is a mistake anyway.
                    if criterion.threshold <= info.min {
                        assert!(!decides, "{} {criterion:?}", info.name);
                        continue;
                    }
                    assert_eq!(
                        can_fail(info.name, &criterion, &case, gate),
                        decides,
                        "{} {criterion:?} {case:?}",
                        info.name
                    );
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 10_000);
}

/// A turn whose calls may all be left out, and any others made, is no turn that an agent can fail.
#[test]
fn rules_make_turns_that_no_agent_can_fail_and_they_are_known() {
    let free = || TurnExpect::default().optional("f").others(Others::Any);
    let turn = expected().into_iter().find(|turn| turn.tool_calls().count() == 1).unwrap();
    let calls = METRICS.iter().filter(|info| matches!(info.compares, Subject::ToolCalls(_)));
    let mut free_cases = 0;
    for info in calls {
        for (rules, is_free) in [
            (free(), true),
            (free().any_order().any_args("f"), true),
            (TurnExpect::default().optional("f"), info.name.contains("order_match")),
            (TurnExpect::default().others(Others::Any), false),
            (TurnExpect::default().any_args("f").any_order(), false),
        ] {
            let case = EvalCase::new("c").turn(turn.clone()).with_expect(Expect::default().turn(1, rules));
            for criterion in criteria(info.name).into_iter().filter(|it| it.threshold > info.min) {
                // Arguments are ignored by a criterion, or free by a rule.
                let gate = TurnAggregation::Mean;
                let decides = info.cannot_fail(&criterion, &case, gate).is_none();
                assert_eq!(
                    can_fail(info.name, &criterion, &case, gate),
                    decides,
                    "{} {criterion:?} {case:?}",
                    info.name
                );
                if info.name != "tool_trajectory_avg_score" && criterion.threshold <= 1.0 {
                    assert_eq!(!decides, is_free, "{} {case:?}", info.name);
                    free_cases += usize::from(is_free);
                }
            }
        }
    }
    assert!(free_cases > 10);
}

/// Whether one of the agents fails the case.
fn can_fail(name: &str, criterion: &Criterion, case: &EvalCase, gate: TurnAggregation) -> bool {
    if eval_format::metric::metric(name).unwrap().missing_in(case).is_some() {
        return false;
    }
    let choices: Vec<Vec<Invocation>> = case.conversation.iter().map(actual).collect();
    let mut runs: Vec<Vec<Invocation>> = vec![Vec::new()];
    for choice in choices {
        runs = runs
            .iter()
            .flat_map(|run| choice.iter().map(|turn| [run.as_slice(), std::slice::from_ref(turn)].concat()))
            .collect();
    }
    runs.iter().any(|actual| fails(name, criterion, case, actual, gate))
}

fn fails(
    name: &str,
    criterion: &Criterion,
    case: &EvalCase,
    actual: &[Invocation],
    gate: TurnAggregation,
) -> bool {
    let (state, judge) = (Map::new(), no_judge());
    let rules = Rules::of(case).unwrap();
    let expected = &case.conversation;
    let input = MetricInput {
        actual,
        expected,
        state: &state,
        judge: &judge,
        rules: Some(&rules),
        demands: Some(&rules),
        ..MetricInput::new(case, &[], criterion)
    };
    let scores = ready(built_in(name).unwrap().score(input)).unwrap();
    verdict_of_run(Some(criterion), &MetricOutcome::Scored(scores), gate).fails()
}
