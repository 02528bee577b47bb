//! The cases that no agent can fail.

use serde_json::json;

use super::super::check_compatibility;
use crate::config::{Criterion, EvalConfig};
use crate::metric::{METRICS, MatchType};
use crate::model::{Content, EvalCase, FunctionCall, Invocation, Part};
use crate::options::TurnAggregation;
use crate::value::{Map, Value};

fn greeting() -> Invocation {
    Invocation::user("Hi").response("Hello!")
}

fn order() -> Invocation {
    greeting().call(FunctionCall::new("order", json!({})))
}

/// A turn whose answer is an image.
fn picture() -> Invocation {
    let data = Value::from(json!({"mime_type": "image/png", "data": "aGVsbG8="}));
    let image = Part { other: Map::from([("inline_data", data)]), ..Part::default() };
    Invocation { final_response: Some(Content::new("model", vec![image])), ..Invocation::user("Hi") }
}

fn case(turns: &[Invocation]) -> EvalCase {
    EvalCase { conversation: turns.to_vec(), ..EvalCase::new("c") }
}

fn fails(config: &EvalConfig, gate: TurnAggregation, turns: &[Invocation]) -> Option<String> {
    let found = check_compatibility(config, &[], gate, &[case(turns)]);
    found.first().map(ToString::to_string)
}

#[test]
fn a_case_that_no_agent_can_fail_is_an_error() {
    let one = |name: &str, criterion: Criterion| EvalConfig::default().with(name, criterion);
    let trajectory = |match_type| Criterion::new(1.0).with_match_type(match_type);
    let name = "tool_trajectory_avg_score";
    let no_calls = "no turn expects a tool call, and other calls are allowed";
    let no_words = "no expected answer has words";
    for (config, turns, reason) in [
        (one(name, trajectory(MatchType::InOrder)), vec![greeting()], Some(no_calls)),
        (one(name, trajectory(MatchType::AnyOrder)), vec![greeting(), greeting()], Some(no_calls)),
        (one(name, trajectory(MatchType::AnyOrder)), vec![greeting(), order()], None),
        (one(name, trajectory(MatchType::Exact)), vec![greeting()], None),
        (
            one(name, trajectory(MatchType::InOrder).with_forbidden_tools(Vec::<String>::new())),
            vec![greeting()],
            Some(no_calls),
        ),
        (
            one(name, trajectory(MatchType::InOrder).with_forbidden_tools([" "])),
            vec![greeting()],
            Some(no_calls),
        ),
        (one(name, trajectory(MatchType::InOrder).with_forbidden_tools(["rm_rf"])), vec![greeting()], None),
        (one("trajectory_in_order_match", Criterion::new(1.0)), vec![greeting()], Some(no_calls)),
        (one("trajectory_any_order_match", Criterion::new(1.0)), vec![greeting()], Some(no_calls)),
        (one("trajectory_exact_match", Criterion::new(1.0)), vec![greeting()], None),
        (one("trajectory_precision", Criterion::new(1.0)), vec![greeting()], None),
        (one("trajectory_recall", Criterion::new(1.0)), vec![greeting()], None),
        (one("trajectory_match_ratio", Criterion::new(1.0)), vec![greeting()], None),
        (one("final_response_match_v1", Criterion::new(1.0)), vec![greeting()], None),
        (
            one("final_response_match_v1", Criterion::new(1.0)),
            vec![Invocation::user("Hi").response("")],
            Some(no_words),
        ),
        (
            one("final_response_match_v1", Criterion::new(1.0)),
            vec![Invocation::user("Hi").response(" \n")],
            Some(no_words),
        ),
        (one("final_response_match_v1", Criterion::new(1.0)), vec![picture()], Some(no_words)),
        // It is not evaluated, which fails.
        (one("final_response_match_v1", Criterion::new(1.0)), vec![Invocation::user("Hi")], None),
        (one("response_match_score", Criterion::new(0.1)), vec![picture()], None),
        (
            one("tool_response_match", Criterion::new(1.0)),
            vec![order()],
            Some("no turn expects a tool response"),
        ),
        (
            one("intermediate_response_match", Criterion::new(1.0)),
            vec![order()],
            Some("no turn expects a text before its answer"),
        ),
        (
            one(name, trajectory(MatchType::InOrder)).with("response_match_score", Criterion::new(0.0)),
            vec![greeting()],
            Some("`response_match_score`: no score is below its threshold 0.0"),
        ),
        (
            one(name, trajectory(MatchType::InOrder)).with("response_match_score", Criterion::new(-7.0)),
            vec![greeting()],
            Some("no score is below its threshold -7.0"),
        ),
        (
            one(name, trajectory(MatchType::InOrder)).with("response_match_score", Criterion::new(0.1)),
            vec![greeting()],
            None,
        ),
        (one("response_evaluation_score", Criterion::new(1.0)), vec![greeting()], Some("threshold 1.0")),
    ] {
        let found = fails(&config, TurnAggregation::Mean, &turns);
        match reason {
            None => assert_eq!(found, None, "{config:?} {turns:?}"),
            Some(reason) => {
                let found = found.unwrap_or_default();
                assert!(
                    found.starts_with("case `c`: no metric decides it, so it would pass unchecked; "),
                    "{found}"
                );
                assert!(found.contains(reason), "{found}");
                assert!(found.contains("; add a metric that can fail it, such as "), "{found}");
            }
        }
    }
}

#[test]
fn turns_that_every_agent_passes_reach_a_low_threshold_by_themselves() {
    let config = |threshold: f64| {
        let criterion = Criterion::new(threshold).with_match_type(MatchType::AnyOrder);
        EvalConfig::default().with("tool_trajectory_avg_score", criterion)
    };
    let turns = [greeting(), order(), greeting()];
    let said = fails(&config(0.6), TurnAggregation::Mean, &turns).unwrap();
    let reason = "2 of 3 turns have no expected calls and score 1.0, which alone reaches its threshold 0.6";
    assert!(said.contains(reason), "{said}");
    assert!(fails(&config(2.0 / 3.0), TurnAggregation::Mean, &turns).is_some());
    assert_eq!(fails(&config(0.7), TurnAggregation::Mean, &turns), None);
    assert_eq!(fails(&config(0.6), TurnAggregation::EveryTurn, &turns), None);
    assert!(fails(&config(0.6), TurnAggregation::EveryTurn, &[greeting()]).is_some());
}

#[test]
fn the_state_decides_unless_its_threshold_is_one_that_nothing_misses() {
    let free = EvalConfig::default().with("trajectory_in_order_match", Criterion::new(1.0));
    let case = case(&[greeting()]).final_state(Map::from([("a", 1_i64)]));
    let found = |config: &EvalConfig| {
        check_compatibility(config, &[], TurnAggregation::Mean, std::slice::from_ref(&case))
    };
    assert!(found(&free).is_empty());
    assert!(found(&free.clone().with("final_session_state_match", Criterion::new(0.5))).is_empty());
    let said = found(&free.with("final_session_state_match", Criterion::new(0.0)))[0].to_string();
    assert!(said.contains("`final_session_state_match`: no score is below its threshold 0.0"), "{said}");
}

#[test]
fn no_metric_can_fail_at_its_lowest_score_and_informational_ones_never_can() {
    for info in METRICS {
        for turn in [greeting(), order(), picture()] {
            let lowest = Criterion::new(info.min);
            assert!(
                info.cannot_fail(&lowest, &case(&[turn]), TurnAggregation::Mean).is_some(),
                "{}",
                info.name
            );
        }
        if !info.gates {
            assert!(
                info.cannot_fail(&Criterion::new(9.0), &case(&[order()]), TurnAggregation::Mean).is_some()
            );
        }
    }
}
