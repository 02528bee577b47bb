//! Tables of what a part of a change puts into a golden, in both of ADK's forms.

use eval_format::{
    ArgsMatch, Content, FunctionCall, FunctionResponse, Invocation, InvocationEvent, Map, MatchType,
    SetEditor, Value,
};
use serde_json::json;

use super::*;
use crate::recorded::HowCalls;
use crate::review::loosen::{AnswerMetrics, loosenings};

fn value(json: serde_json::Value) -> Value {
    Value::from(json)
}

fn call(name: &str, id: &str, args: serde_json::Value) -> FunctionCall {
    FunctionCall::new(name, value(args)).with_id(id)
}

fn result(name: &str, id: &str, says: &str) -> FunctionResponse {
    FunctionResponse::new(name, value(json!({ "says": says }))).with_id(id)
}

/// A turn with calls and the responses to them.
fn turn(calls: &[(FunctionCall, FunctionResponse)], is_flat: bool) -> Invocation {
    let turn = Invocation::user("Hi").response("Done.");
    if is_flat {
        let (tool_uses, tool_responses) = calls.iter().cloned().unzip();
        let data = IntermediateData::Tools { tool_uses, tool_responses, intermediate_responses: Vec::new() };
        return turn.with_intermediate_data(data);
    }
    let event = |role: &str, part| InvocationEvent::new("desk").with_content(Content::new(role, vec![part]));
    let events = calls.iter().flat_map(|(call, result)| {
        [
            event("model", eval_format::Part::call(call.clone())),
            event("user", eval_format::Part::response(result.clone())),
        ]
    });
    turn.with_intermediate_data(IntermediateData::Events(events.collect()))
}

fn find() -> (FunctionCall, FunctionResponse) {
    (call("find", "1", json!({ "day": 1, "who": "Anna" })), result("find", "1", "found"))
}

fn book() -> (FunctionCall, FunctionResponse) {
    (call("book", "2", json!({ "id": 7 })), result("book", "2", "booked"))
}

const CALLS: FailedReads = FailedReads {
    calls: Some(HowCalls { match_type: MatchType::Exact, args: ArgsMatch::Exact, counts_extra: true }),
    answers: false,
    state: false,
    data: false,
};

fn changed(golden: Invocation, run: Invocation, reads: FailedReads) -> Change {
    let case = |turn| EvalCase::new("a").turn(turn);
    Change::new(&case(golden), &case(run), reads, false)
}

/// The calls of a case, each with the response to it, in the order of the file.
fn shown(case: &EvalCase) -> String {
    let turn = &case.conversation[0];
    case.check().expect("it is a case");
    let calls: Vec<String> = turn.tool_calls().map(ToString::to_string).collect();
    let results = turn.tool_responses().map(|it| {
        let says = it.response.as_ref().and_then(|map| map.get("says")?.as_str());
        format!("{}:{}", it.id.as_deref().unwrap_or_default(), says.unwrap_or_default())
    });
    format!("{} | {}", calls.join(" "), results.collect::<Vec<_>>().join(" "))
}

#[test]
fn a_part_brings_its_call_with_its_response_in_both_forms() {
    let other = (call("find", "9", json!({ "day": 2, "who": "Ben" })), result("find", "9", "other"));
    let new = (call("check", "2", json!({})), result("check", "2", "free"));
    for is_flat in [true, false] {
        // The id of the new call is one of the golden's: the golden's response stays with its own call.
        let run = turn(&[other.clone(), new.clone(), book()], is_flat);
        let change = changed(turn(&[find(), book()], is_flat), run, CALLS);
        let turn_and_calls = [
            Part::Turn(0),
            Part::Call(0, 0),
            Part::Argument(0, 0, "day".to_owned()),
            Part::Argument(0, 0, "who".to_owned()),
            Part::Call(0, 1),
        ];
        assert_eq!(change.parts(), turn_and_calls);
        let anna = r#"find(day: 1, who: "Anna")"#;
        for (parts, wanted) in [
            (&[][..], format!("{anna} book(id: 7) | 1:found 2:booked")),
            (
                &turn_and_calls[..1],
                r#"find(day: 2, who: "Ben") check() book(id: 7) | 1:other 2-new:free 2:booked"#.to_owned(),
            ),
            (&turn_and_calls[1..2], r#"find(day: 2, who: "Ben") book(id: 7) | 1:other 2:booked"#.to_owned()),
            (&turn_and_calls[2..3], r#"find(day: 2, who: "Anna") book(id: 7) | 1:found 2:booked"#.to_owned()),
            (&turn_and_calls[3..4], r#"find(day: 1, who: "Ben") book(id: 7) | 1:found 2:booked"#.to_owned()),
            (&turn_and_calls[4..], format!("{anna} check() book(id: 7) | 1:found 2-new:free 2:booked")),
        ] {
            assert_eq!(shown(&change.with(parts)), wanted, "flat {is_flat}: {parts:?}");
        }
    }
}

#[test]
fn a_call_that_was_not_made_goes_with_its_response() {
    for is_flat in [true, false] {
        let change = changed(turn(&[find(), book()], is_flat), turn(&[book()], is_flat), CALLS);
        assert_eq!(change.parts(), [Part::Turn(0), Part::Call(0, 0)]);
        assert_eq!(shown(&change.whole()), "book(id: 7) | 2:booked", "flat {is_flat}");
        let none = changed(turn(&[find()], is_flat), turn(&[], is_flat), CALLS);
        assert_eq!(shown(&none.whole()), " | ", "flat {is_flat}");
    }
}

#[test]
fn a_call_before_all_others_and_behind_them_keeps_its_place() {
    let (first, last) = (
        (call("first", "8", json!({})), result("first", "8", "a")),
        (call("last", "9", json!({})), result("last", "9", "b")),
    );
    for is_flat in [true, false] {
        let run = turn(&[first.clone(), find(), book(), last.clone()], is_flat);
        let change = changed(turn(&[find(), book()], is_flat), run, CALLS);
        let wanted = r#"first() find(day: 1, who: "Anna") book(id: 7) last() | 8:a 1:found 2:booked 9:b"#;
        assert_eq!(shown(&change.whole()), wanted, "flat {is_flat}");
    }
}

#[test]
fn what_no_failing_metric_reads_stays() {
    let golden = || turn(&[find()], true).response("Old.");
    let run = || turn(&[book()], true).response("New.");
    let answers = FailedReads { answers: true, ..FailedReads::default() };
    let change = |reads| changed(golden(), run(), reads);
    assert_eq!(change(answers).parts(), [Part::Turn(0), Part::Answer(0)]);
    assert_eq!(change(answers).whole().conversation[0], golden().response("New."));
    assert_eq!(change(CALLS).whole().conversation[0].response_text(), "Old.");
    assert_eq!(change(FailedReads::default()).parts(), []);
}

#[test]
fn a_rule_of_the_golden_is_no_change() {
    let rules = r#"{"1": {"calls": {"find": {"day": "any"}}, "others": ["log"]}}"#;
    let rules = Value::parse(rules).expect("JSON");
    let golden = EvalCase::new("a").turn(turn(&[find()], true)).with_extra(EvalCase::EXPECT_KEY, rules);
    let other = (call("find", "1", json!({ "day": 2, "who": "Anna" })), result("find", "1", "found"));
    let log = (call("log", "5", json!({})), result("log", "5", "ok"));
    let run = EvalCase::new("a").turn(turn(&[other, log], true));
    assert_eq!(Change::new(&golden, &run, CALLS, false).parts(), []);
    assert_eq!(Change::new(&golden, &run, CALLS, true).parts().len(), 4, "ADK knows no rules");
}

#[test]
fn rules_are_proposed_for_what_differs_and_never_a_distance() {
    let of = |golden: serde_json::Value, runs: &[serde_json::Value]| -> Vec<String> {
        let turn = |args: &serde_json::Value| {
            Invocation::user("Hi").call(FunctionCall::new("f", value(args.clone())))
        };
        let runs: Vec<Change> = runs.iter().map(|args| changed(turn(&golden), turn(args), CALLS)).collect();
        let rules = loosenings(&runs, &AnswerMetrics::default())
            .into_iter()
            .map(|it| it.case.extra[EvalCase::EXPECT_KEY].to_string());
        rules.map(|rules| rules.replace(r#"{"1":{"calls":{"f":"#, "").replace("}}}", "")).collect()
    };
    assert_eq!(
        of(json!({ "day": "2026-11-22" }), &[json!({ "day": "2026-11-23" })]),
        [r#"{"day":"date"}"#, r#"{"day":"any"}"#, r#""any""#]
    );
    assert_eq!(
        of(json!({ "n": 1 }), &[json!({ "n": 2 }), json!({ "n": 3.5 })]),
        [r#"{"n":"number"}"#, r#"{"n":"any"}"#, r#""any""#]
    );
    assert_eq!(
        of(json!({ "a.b": "x" }), &[json!({ "a.b": "y" }), json!({})]),
        [r#"{"[\"a.b\"]":{"optional":"any"}}"#, r#""any""#]
    );
}

#[test]
fn other_orders_and_other_calls_get_a_rule() {
    let turn = |names: &[&str]| {
        names
            .iter()
            .fold(Invocation::user("Hi"), |turn, name| turn.call(FunctionCall::new(*name, Map::new())))
    };
    let of = |golden: &[&str], run: &[&str]| -> Vec<String> {
        let all = loosenings(&[changed(turn(golden), turn(run), CALLS)], &AnswerMetrics::default());
        all.into_iter().map(|it| it.case.extra[EvalCase::EXPECT_KEY]["1"].to_string()).collect()
    };
    assert_eq!(of(&["a", "b"], &["b", "a"])[0], r#"{"order":"any"}"#);
    assert_eq!(of(&["a"], &["a", "log"]), [r#"{"others":["log"]}"#, r#"{"others":"any"}"#]);
    assert_eq!(of(&["a", "a", "b"], &["a", "b"]), [r#"{"optional":["a#2"]}"#]);
}

#[test]
fn parts_of_a_change_keep_all_other_bytes_of_a_file() {
    let text = r#"{"eval_set_id": "s",  "eval_cases": [
  {"eval_id": "a", "_note": "keep",	"conversation": [{"invocation_id": "e-1", "user_content": {"parts": [{"text": "Hi"}]},
    "intermediate_data": {"invocation_events": [
      {"author": "desk", "content": {"parts": [{"function_call": {"id": "1", "name": "find", "args": {"day": 1.0, "who":  "\u0041nna"}}}]}},
      {"author": "desk", "content": {"parts": [{"function_response": {"id": "1", "name": "find", "response": {"says": "found"}}}]}}]},
    "final_response": null}]}
]}"#;
    let mut editor = SetEditor::new(text).expect("a set");
    let golden = editor.case("a").expect("it is there").clone();
    let mut run = golden.clone();
    let other = (call("find", "9", json!({ "day": 2, "who": "Ben" })), result("find", "9", "other"));
    run.conversation[0] = turn(&[other], false);
    let change = Change::new(&golden, &run, CALLS, false);
    editor.revise(&change.with(&[Part::Argument(0, 0, "day".to_owned())])).expect("it asks the same");
    assert_eq!(editor.text(), text.replace("1.0", "2"));
    editor.revise(&change.whole()).expect("it asks the same");
    let whole = text.replace("1.0", "2").replace(r#""\u0041nna""#, r#""Ben""#).replace("found", "other");
    assert_eq!(editor.text(), whole);
}

#[test]
fn a_call_in_another_place_stays_where_other_calls_do_not_count() {
    let reads = |match_type| FailedReads {
        calls: Some(HowCalls { match_type, args: ArgsMatch::Exact, counts_extra: false }),
        ..CALLS
    };
    let (golden, run) = (turn(&[find(), book()], true), turn(&[book(), find()], true));
    let moved = changed(golden.clone(), run.clone(), reads(MatchType::InOrder));
    assert_eq!(shown(&moved.whole()), r#"book(id: 7) find(day: 1, who: "Anna") | 2:booked 1-new:found"#);
    assert_eq!(changed(golden, run, reads(MatchType::AnyOrder)).parts(), []);
}
