//! Tables of what takes the place of what.

use eval_core::agent::Event;
use eval_core::format::{FunctionCall, FunctionResponse, Invocation, Part};
use eval_core::json;
use eval_core::{EvalRunner, Replay};

use super::*;

fn call(name: &str, city: &str) -> FunctionCall {
    FunctionCall::new(name, json!({ "city": city })).with_id(format!("run-{name}-{city}"))
}

fn calls(name: &str, city: &str) -> Vec<Event> {
    let event = |role: &str, part| Event::new("weather", Content::new(role, vec![part]));
    let id = format!("run-{name}-{city}");
    vec![
        event("model", Part::call(call(name, city))),
        event("user", Part::response(FunctionResponse::new(name, json!({ "sky": "grey" })).with_id(id))),
    ]
}

/// A run of the case in which the agent says this, then calls and answers.
fn run(case: &EvalCase, events: &[Vec<Event>], answer: &str) -> Transcript {
    let mut turn: Vec<Event> = events.concat();
    turn.push(Event::from(answer));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let turns = vec![turn; case.conversation.len()];
    let report = runtime
        .expect("a runtime")
        .block_on(EvalRunner::new().run_case(case, || Replay::new(turns.clone())))
        .expect("it runs");
    report.runs[0].transcript.clone()
}

fn flat(calls: Vec<FunctionCall>, results: Vec<FunctionResponse>) -> IntermediateData {
    IntermediateData::Tools { tool_uses: calls, tool_responses: results, intermediate_responses: Vec::new() }
}

fn replaced(golden: &EvalCase, runs: &[Transcript]) -> Result<Draft, NotReplaced> {
    let runs: Vec<&Transcript> = runs.iter().collect();
    Draft::in_place_of(golden, &runs, Origin::new("run r"))
}

fn asked(text: &str) -> Invocation {
    Invocation::user(text)
}

#[test]
fn what_the_golden_expects_is_replaced_and_no_more() {
    let oslo = FunctionCall::new("look", json!({ "city": "Oslo" })).with_id("mine");
    let rome = FunctionCall::new("look", json!({ "city": "Rome" }));
    let results = || vec![FunctionResponse::new("look", json!({ "sky": "blue" })).with_id("mine")];
    for (golden, expected) in [
        // Calls of the golden keep their ids. Others have none, as there are no results to find them by.
        (
            asked("Hi").with_intermediate_data(flat(vec![oslo.clone()], Vec::new())).response("Blue."),
            r#"{"tool_uses":[{"id":"mine","args":{"city":"Oslo"},"name":"look"},{"args":{"city":"Rome"},"name":"look"}]}"#,
        ),
        (
            asked("Hi").with_intermediate_data(flat(vec![rome], Vec::new())).response("Blue."),
            r#"{"tool_uses":[{"args":{"city":"Oslo"},"name":"look"},{"args":{"city":"Rome"},"name":"look"}]}"#,
        ),
        (
            asked("Hi").with_intermediate_data(flat(vec![oslo], results())).response("Blue."),
            r#"{"tool_uses":[{"id":"mine","args":{"city":"Oslo"},"name":"look"},{"id":"run-look-Rome","args":{"city":"Rome"},"name":"look"}],"tool_responses":[{"id":"mine","name":"look","response":{"sky":"grey"}},{"id":"run-look-Rome","name":"look","response":{"sky":"grey"}}]}"#,
        ),
        // A golden that expects nothing yet gets all.
        (
            asked("Hi"),
            r#"{"tool_uses":[{"args":{"city":"Oslo"},"name":"look"},{"args":{"city":"Rome"},"name":"look"}]}"#,
        ),
    ] {
        let golden = EvalCase::new("a").turn(golden).with_extra("_note", "ours");
        let happened = run(&golden, &[calls("look", "Oslo"), calls("look", "Rome")], "Grey.");
        let draft = replaced(&golden, &[happened]).unwrap_or_else(|error| panic!("{error}"));
        let turn = &draft.case.conversation[0];
        assert_eq!(turn.response_text(), "Grey.");
        assert_eq!(turn.intermediate_data.as_ref().expect("data").to_value().to_string(), expected);
        assert_eq!((&*draft.case.eval_id, &draft.case.extra["_note"]), ("a", &Value::from("ours")));
        assert_eq!(draft.case.conversation[0].user_content, golden.conversation[0].user_content);
        let mark = draft.marked().draft().expect("a mark").to_string();
        assert!(mark.starts_with(r#"{"from":"run r","golden":[{"turn":1,"intermediate_data":"#), "{mark}");
    }
}

#[test]
fn a_turn_that_expects_no_answer_gets_none_and_events_stay_events() {
    let event =
        |part| eval_core::format::InvocationEvent::new("w").with_content(Content::new("model", vec![part]));
    let events = vec![event(Part::call(FunctionCall::new("look", json!({ "city": "Lima" }))))];
    let golden = EvalCase::new("a")
        .turn(asked("Hi").with_intermediate_data(IntermediateData::Events(events)))
        .turn(asked("And?").response("Grey."))
        .final_state(Map::from([("city", "Lima"), ("gone", "x")]));
    let state = Event::empty("weather").with_state("city", "Oslo").with_state("other", 1);
    let happened = run(&golden, &[calls("look", "Oslo"), vec![state]], "Grey.");
    let case = replaced(&golden, &[happened]).unwrap_or_else(|error| panic!("{error}")).case;
    assert!(case.conversation[0].final_response.is_none());
    let written = case.conversation[0].intermediate_data.as_ref().expect("data").to_value().to_string();
    let expected = r#"{"invocation_events":[{"author":"weather","content":{"parts":[{"function_call":{"args":{"city":"Oslo"},"name":"look"}}],"role":"model"}}]}"#;
    assert_eq!(written, expected);
    assert_eq!(case.final_session_state, Map::from([("city", "Oslo")]));
    let second: Vec<_> = case.conversation[1].tool_calls().map(ToString::to_string).collect();
    assert_eq!(second, [r#"look(city: "Oslo")"#]);
}

#[test]
fn runs_that_cannot_be_taken_are_refused() {
    let golden = EvalCase::new("a").turn(asked("Hi").response("Blue."));
    let ran = |events: &[Vec<Event>], answer: &str| run(&golden, events, answer);
    let mut broken = ran(&[], "Grey.");
    broken.error = Some(eval_core::report::RunError::new(eval_core::report::Role::Agent, Some(1), "no"));
    let key = concat!("AKIA", "IOSFODNN7EXAMPLE");
    let secret = Event::new(
        "weather",
        Content::new(
            "model",
            vec![Part::call(FunctionCall::new("log_in", json!({ "password": "correct-horse" })))],
        ),
    );
    for (runs, why) in [
        (vec![], "no run of the case came to its end"),
        (vec![ran(&[], "Grey."), broken], "run 2: agent error in turn 1: no"),
        (
            vec![ran(&[], "Grey."), ran(&[calls("look", "Oslo")], "Red.")],
            r#"the runs differ: turn 1: `look` was called in some runs and not in the first one; a rule for it is `{"others":["look"]}`; turn 1: the answer: "Grey." | "Red.""#,
        ),
        (
            vec![ran(&[], "My key is (a key).")],
            "turn 1: a secret was masked there, and what was said is lost",
        ),
        (vec![ran(&[], &format!("My key is {key}."))], "turn 1, the answer: something that looks like a key"),
        (vec![ran(&[vec![secret]], "Blue.")], "turn 1, `log_in`: `password` is named like a secret"),
        (vec![ran(&[], "Blue.")], "the case expects already what the agent did"),
    ] {
        let error = replaced(&golden, &runs).expect_err(why).to_string();
        assert!(error.starts_with(why), "{error} is not {why}");
    }
    let more = golden.clone().turn(asked("And?"));
    assert!(matches!(replaced(&more, &[ran(&[], "Grey.")]), Err(NotReplaced::Turns)));
}

#[test]
fn a_turn_that_expects_no_answer_gets_one_if_nothing_else_changes() {
    let look = || FunctionCall::new("look", json!({ "city": "Oslo" }));
    let happened = |golden: &EvalCase| run(golden, &[calls("look", "Oslo")], "Grey.");
    let answers = |golden: &EvalCase| -> Vec<String> {
        let draft = replaced(golden, &[happened(golden)]).unwrap_or_else(|error| panic!("{error}"));
        draft.case.conversation.iter().map(Invocation::response_text).collect()
    };
    for (first, expected) in
        [(Some("Blue."), ["Grey.", ""]), (Some("Grey."), ["Grey.", "Grey."]), (None, ["Grey."; 2])]
    {
        let turn = asked("Hi").call(look());
        let turn = first.map_or(turn.clone(), |answer| turn.response(answer));
        let golden = EvalCase::new("a").turn(turn).turn(asked("And?").call(look()));
        assert_eq!(answers(&golden), expected);
    }
}

#[test]
fn a_mask_of_the_golden_is_no_reason_to_take_another_one() {
    let log_in = |password: &str| FunctionCall::new("log_in", json!({ "password": password }));
    let golden = EvalCase::new("a").turn(asked("Hi").call(log_in("(a secret)")).response("Blue."));
    let made = Event::new("weather", Content::new("model", vec![Part::call(log_in("(a secret)"))]));
    let ran = |answer: &str| replaced(&golden, &[run(&golden, &[vec![made.clone()]], answer)]);
    assert!(matches!(ran("My key is (a key)."), Err(NotReplaced::Masked { .. })));
    assert_eq!(
        ran("Grey.").unwrap_or_else(|error| panic!("{error}")).case.conversation[0].response_text(),
        "Grey."
    );
}

#[test]
fn calls_that_the_rules_of_the_case_accept_are_no_change() {
    let book = |day: &str| FunctionCall::new("book", json!({ "day": day }));
    let expect = json!({ "1": { "calls": { "book": { "day": "date" } }, "others": ["look"] } });
    let golden = EvalCase::new("a")
        .turn(asked("Hi").call(book("2026-11-24")).response("Booked."))
        .with_extra("_expect", expect);
    let made = |calls: &[FunctionCall], answer: &str| {
        let part =
            |call: &FunctionCall| Event::new("w", Content::new("model", vec![Part::call(call.clone())]));
        run(&golden, &[calls.iter().map(part).collect()], answer)
    };
    let look = FunctionCall::new("look", json!({ "city": "Oslo" }));
    let of_days = |answer: &str| {
        [made(&[book("2026-11-25")], answer), made(&[look.clone(), book("2026-11-26")], answer)]
    };
    assert!(matches!(replaced(&golden, &of_days("Booked.")), Err(NotReplaced::Unchanged)));

    let draft = replaced(&golden, &of_days("It is booked.")).unwrap_or_else(|error| panic!("{error}"));
    let turn = &draft.case.conversation[0];
    assert_eq!(turn.response_text(), "It is booked.");
    assert_eq!(turn.tool_calls().cloned().collect::<Vec<_>>(), [book("2026-11-24")]);
    assert_eq!(draft.case.extra.get("_expect"), golden.extra.get("_expect"));

    // Calls that no rule accepts are what varied, and one that all runs made is the new golden.
    let other = FunctionCall::new("cancel", json!({ "day": "2026-11-24" }));
    let runs = [made(std::slice::from_ref(&other), "Booked."), made(&[book("2026-11-26")], "Booked.")];
    assert!(matches!(replaced(&golden, &runs), Err(NotReplaced::Varied { .. })));
    let draft = replaced(&golden, &[made(&[book("soon")], "Booked.")]);
    assert!(matches!(draft, Err(NotReplaced::Case(_))), "a golden that its own rule refuses is no golden");
}

#[test]
fn runs_that_differ_only_where_nothing_is_expected_are_taken() {
    let golden = EvalCase::new("a").turn(asked("Hi").response("Blue."));
    let said = |text: &str| vec![Event::from(text)];
    let runs = [run(&golden, &[said("One.")], "Grey."), run(&golden, &[said("Two.")], "Grey.")];
    let draft = replaced(&golden, &runs).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(draft.case.conversation[0].response_text(), "Grey.");
}
