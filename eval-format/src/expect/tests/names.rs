//! Names of calls and responses, and the rules of a turn by position.

use serde_json::json;

use super::{call, case};
use crate::expect::compare::Relation;
use crate::expect::{Others, Rules};
use crate::metric::ArgsMatch;
use crate::model::{
    Content, EvalCase, FunctionResponse, IntermediateData, Invocation, InvocationEvent, Part,
};

#[test]
fn names_stand_for_calls_by_their_position_in_the_turn() {
    let calls = || [call("f", json!({})), call("g#1", json!({})), call("g", json!({})), call("f", json!({}))];
    let expect = json!({ "1": {
        "optional": ["f#2", "g#1"], "repeat": { "f#1": 3 }, "calls": { "g": "any" }, "order": "any", "others": ["log"],
    } });
    let rules = Rules::of(&case(calls(), expect)).unwrap();
    let turn = rules.turn(0);
    let each = |is: &dyn Fn(usize) -> bool| (0..4).map(is).collect::<Vec<_>>();
    assert_eq!(each(&|at| turn.is_optional(at)), [false, true, false, true]);
    assert_eq!(each(&|at| turn.has_rules(at)), [false, false, true, false]);
    assert_eq!((0..4).map(|at| turn.most(at)).collect::<Vec<_>>(), [3, 1, 1, 1]);
    assert!(turn.any_order() && !turn.is_literal() && !turn.is_free());
    assert!(turn.allows(Some("log")) && !turn.allows(Some("f")) && !turn.allows(None));
    assert_eq!(turn.points(2).len(), 1);
    assert!(rules.turn(7).is_literal() && !rules.turn(7).allows(Some("log")) && !rules.is_empty());

    let free = json!({ "1": { "optional": ["f#*", "g#1", "g"], "others": "any" } });
    let rules = Rules::of(&case(calls(), free)).unwrap();
    assert!(rules.turn(0).is_free() && rules.turn(0).others() == Some(&Others::Any));
    assert!(Rules::of(&case(calls(), json!(null))).unwrap().is_empty());
    let problems = Rules::of(&case(calls(), json!({ "1": { "optional": ["h"] } }))).unwrap_err();
    assert!(problems.to_string().contains("no call of `h` is expected in turn 1"), "{problems}");
}

#[test]
fn calls_and_responses_in_events_have_names_too() {
    let part = |part| InvocationEvent::new("agent").with_content(Content::new("model", vec![part]));
    let response = |id: i64| FunctionResponse::new("f", json!({ "id": id, "at": "2026-11-23T10:00:00Z" }));
    let events = vec![
        part(Part::call(call("f", json!({ "x": 1 })))),
        part(Part::response(response(1))),
        part(Part::call(call("f", json!({ "x": 2 })))),
        part(Part::response(response(2))),
    ];
    let turn = Invocation::user("Hi").with_intermediate_data(IntermediateData::Events(events));
    let expect = json!({ "1": { "calls": { "f#2": { "x": "integer" } }, "responses": { "f#*": { "at": "date_time" } } } });
    let case = EvalCase::new("c").turn(turn).with_extra(EvalCase::EXPECT_KEY, expect);
    let rules = Rules::of(&case).unwrap();
    let golden: Vec<_> = case.conversation[0].tool_calls().collect();
    let relation =
        |at: usize| rules.turn(0).compare(at, golden[at], &call("f", json!({ "x": 5 })), ArgsMatch::Exact);
    assert!(!relation(0).matches() && relation(1).matches());

    let later = FunctionResponse::new("f", json!({ "id": 2, "at": "2026-11-24 11:00" }));
    let golden: Vec<_> = case.conversation[0].tool_responses().collect();
    let relation = |at: usize| rules.turn(0).compare_responses(at, golden[at], &later);
    assert!(matches!(relation(1), Relation::Loosened(_)), "{:?}", relation(1));
    assert!(matches!(relation(0), Relation::Mismatch(_)) && rules.turn(0).has_response_rules(0));
    assert!(!rules.turn(0).has_rules(0));
}
