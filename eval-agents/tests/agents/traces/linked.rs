//! Turns and conversations that are spread over traces: each model call of a loop written by hand is a trace of its own, and what it
//! was sent says what it goes on with.

use eval_agents::traces::{Conversation, GapKind, Traces};
use serde_json::{Value, json};

use super::support::{agent, calls, chat, kinds, loses, read, result, says, span, with, without};

/// A span in a trace of its own.
fn alone(mut span: Value) -> Value {
    span["traceId"] = json!(format!("{:0>32}", span["spanId"].as_str().unwrap()));
    span
}

/// A model call in a trace of its own.
fn call(number: u64, sent: &[Value], put_out: &Value) -> Value {
    alone(chat(number, 0, json!(sent), json!([put_out])))
}

/// A turn with a call of a tool, its two model calls in traces of their own, after what was said before. Adds it to that.
fn asked(number: u64, history: &mut Vec<Value>, user: &str, id: &str, city: &str) -> [Value; 2] {
    history.push(says("user", user));
    let asks = calls(id, "get_weather", json!({ "city": city }));
    let first = call(number, history, &asks);
    history.extend([asks, result(id, json!({ "sky": "grey", "city": city }))]);
    let answer = says("assistant", &format!("{city} is grey."));
    let second = call(number + 1, history, &answer);
    history.push(answer);
    [first, second]
}

/// User, calls and answer of each turn.
fn told(conversation: &Conversation) -> Vec<String> {
    let turns = conversation.turns.iter().map(|turn| {
        let calls: Vec<String> = turn.calls.iter().map(|call| call.to_function_call().to_string()).collect();
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        format!("{} | {} | {}", text(&turn.user), calls.join(" "), text(&turn.answer))
    });
    turns.collect()
}

fn all(traces: &Traces) -> Vec<Vec<String>> {
    traces.conversations().iter().map(told).collect()
}

const OSLO: &str = r#"How is Oslo? | get_weather(city: "Oslo") | Oslo is grey."#;
const ROME: &str = r#"And Rome? | get_weather(city: "Rome") | Rome is grey."#;

#[test]
fn model_calls_in_traces_of_their_own_are_the_turns_of_one_conversation() {
    // Instructions with the time in them differ from call to call.
    let mut history = vec![says("system", "It is nine.")];
    let mut spans = Vec::from(asked(1, &mut history, "How is Oslo?", "c1", "Oslo"));
    history[0] = says("system", "It is ten.");
    spans.extend(asked(3, &mut history, "And Rome?", "c2", "Rome"));
    history.push(says("user", "Thanks"));
    spans.push(call(5, &history, &says("assistant", "Bye.")));
    let traces = read(&spans);
    assert_eq!(all(&traces), [vec![OSLO, ROME, "Thanks |  | Bye."]]);
    assert_eq!(kinds(&traces), []);
    let conversation = &traces.conversations()[0];
    assert_eq!((conversation.trace_ids.len(), conversation.turns[0].model_calls.len()), (5, 2));
    assert!(conversation.turns[0].calls[0].result.is_some());
    // The order of the file does not matter.
    spans.reverse();
    assert_eq!(all(&read(&spans)), all(&traces));
}

#[test]
fn a_turn_that_begins_with_results_that_no_call_asked_for_loses_something() {
    let spans = asked(1, &mut Vec::new(), "How is Oslo?", "c1", "Oslo");
    let second = read(&spans[1..]);
    assert_eq!(kinds(&second), [GapKind::CallsNotCaptured]);
    assert!(loses(&second));
    // Under an agent too, and where the call was another one.
    let mut below = spans[1].clone();
    below["parentSpanId"] = json!(format!("{:016x}", 9));
    below["traceId"] = agent(9, 0, "weather")["traceId"].clone();
    assert_eq!(kinds(&read(&[agent(9, 0, "weather"), below])), [GapKind::CallsNotCaptured]);
    let other = asked(7, &mut Vec::new(), "How is Oslo?", "x", "Oslo");
    let in_one = |span: &Value| with(span.clone(), "gen_ai.conversation.id", json!("one"));
    let traces = read(&[in_one(&other[0]), in_one(&with_start(&spans[1], 8))]);
    assert!(kinds(&traces).contains(&GapKind::CallsNotCaptured), "{:?}", kinds(&traces));
}

fn with_start(span: &Value, number: u64) -> Value {
    let mut span = span.clone();
    let start = 1_760_000_000_000_000_000 + number * 1_000_000_000;
    span["startTimeUnixNano"] = json!(start.to_string());
    span["endTimeUnixNano"] = json!((start + 500_000_000).to_string());
    span
}

#[test]
fn equal_conversations_at_one_time_are_told_apart_by_the_ids_of_their_calls() {
    let (mut one, mut other) = (Vec::new(), Vec::new());
    let [a1, a2] = asked(1, &mut one, "How is Oslo?", "a", "Oslo");
    let [b1, b2] = asked(11, &mut other, "How is Oslo?", "b", "Oslo");
    // Each second call comes after both first ones.
    let traces = read(&[a1.clone(), with_start(&b1, 1), b2.clone(), with_start(&a2, 20)]);
    assert_eq!(all(&traces), [vec![OSLO], vec![OSLO]]);
    let ids = |traces: &Traces| -> Vec<Vec<String>> {
        traces.conversations().iter().map(|it| it.trace_ids.clone()).collect()
    };
    let id = |span: &Value| span["traceId"].as_str().unwrap().to_owned();
    assert_eq!(ids(&traces), [vec![id(&a1), id(&a2)], vec![id(&b1), id(&b2)]]);
    assert_eq!(kinds(&traces), []);
    // Where both have one id, each goes on once.
    let [b1, b2] = asked(11, &mut Vec::new(), "How is Oslo?", "a", "Oslo");
    let traces = read(&[a1, a2, b1, b2]);
    assert_eq!((all(&traces), kinds(&traces)), (vec![vec![OSLO.to_owned()]; 2], vec![]));
}

#[test]
fn a_history_that_was_cut_goes_on_by_the_id_of_the_only_call_that_it_has_a_result_of() {
    let mut history = Vec::new();
    let first = asked(1, &mut history, "How is Oslo?", "a", "Oslo");
    // A window of the last messages: what the user said first is not sent again.
    let cut = |history: &[Value]| {
        let mut window = history[1..].to_vec();
        let rome = asked(3, &mut window, "And Rome?", "b", "Rome");
        Vec::from(rome)
    };
    let whole: Vec<Value> = first.iter().cloned().chain(cut(&history)).collect();
    assert_eq!(all(&read(&whole)), [vec![OSLO, ROME]]);
    // Two had a call with this id, so that it is not known with which one it goes on.
    let mut other = vec![says("user", "Hello"), says("assistant", "Hi")];
    let second = asked(21, &mut other, "How is Oslo?", "a", "Oslo");
    let doubtful: Vec<Value> =
        first.into_iter().chain(second.map(|span| with_start(&span, 2))).chain(cut(&history)).collect();
    let traces = read(&doubtful);
    assert_eq!(traces.conversations().len(), 3, "{:?}", all(&traces));
    assert_eq!(told(&traces.conversations()[2]), [ROME]);
}

#[test]
fn results_join_their_turn_also_where_other_turns_of_the_session_stand_between() {
    let in_one = |span: Value| with(span, "session.id", json!("s"));
    let [a1, a2] = asked(1, &mut Vec::new(), "How is Oslo?", "a", "Oslo").map(in_one);
    let [b1, b2] = asked(11, &mut Vec::new(), "And Rome?", "b", "Rome").map(in_one);
    let traces = read(&[a1, with_start(&b1, 2), with_start(&a2, 3), with_start(&b2, 4)]);
    assert_eq!((all(&traces), kinds(&traces)), (vec![vec![OSLO.to_owned(), ROME.to_owned()]], vec![]));
}

#[test]
fn what_names_another_conversation_or_case_is_never_joined() {
    let spans = || {
        let mut history = Vec::new();
        let first = asked(1, &mut history, "How is Oslo?", "a", "Oslo");
        (first, asked(3, &mut history, "And Rome?", "b", "Rome"))
    };
    for key in ["gen_ai.conversation.id", "agentevals.eval.case.id"] {
        let (first, second) = spans();
        let tagged = |span: Value, name: &str| with(span, key, json!(name));
        let two: Vec<Value> = first
            .into_iter()
            .map(|span| tagged(span, "one"))
            .chain(second.into_iter().map(|span| tagged(span, "two")))
            .collect();
        let traces = read(&two);
        assert_eq!(all(&traces), [vec![OSLO], vec![ROME]], "{key}");
        assert_eq!(kinds(&traces), [GapKind::EarlierTurns], "{key}");
        assert!(!loses(&traces));
    }
    // A conversation without a name does not go on with one that has a name.
    let (first, second) = spans();
    let named = first.map(|span| with(span, "session.id", json!("s")));
    assert_eq!(read(&[&named[..], &second[..]].concat()).conversations().len(), 2);
}

#[test]
fn words_that_had_no_answer_are_not_those_of_the_next_turn() {
    let fail = |mut span: Value| {
        span["status"] = json!({ "code": 2 });
        without(span, "gen_ai.output.messages")
    };
    let (there, now) = (says("user", "Are you there?"), says("user", "And now?"));
    let failed = fail(call(1, std::slice::from_ref(&there), &there));
    let again = call(2, &[there.clone(), now.clone()], &says("assistant", "Yes."));
    let traces = read(&[failed.clone(), again.clone()]);
    assert_eq!(all(&traces), [vec!["Are you there? |  | ", "And now? |  | Yes."]]);
    assert_eq!(traces.conversations()[0].turns[0].error.as_deref(), Some("_OTHER"));
    // Without the first trace nothing says whose they are.
    let traces = read(std::slice::from_ref(&again));
    assert_eq!(
        (all(&traces)[0][0].as_str(), kinds(&traces)),
        ("Are you there?And now? |  | Yes.", vec![GapKind::SeveralMessages])
    );
    // In a session the first turn can be under an agent.
    let in_one = |span: Value| with(span, "session.id", json!("s"));
    let below = fail(chat(12, 11, json!([there]), json!([])));
    let traces = read(&[in_one(agent(11, 0, "a")), in_one(below), in_one(with_start(&again, 20))]);
    assert_eq!(told(&traces.conversations()[0])[1], "And now? |  | Yes.");
}

#[test]
fn a_span_that_is_no_agent_and_holds_several_turns_is_said() {
    let mut history = Vec::new();
    let spans: Vec<Value> = asked(1, &mut history, "How is Oslo?", "a", "Oslo")
        .into_iter()
        .chain(asked(3, &mut history, "And Rome?", "b", "Rome"))
        .collect();
    let below = |root: Value| {
        let inner = spans.iter().cloned().map(|mut span| {
            span["traceId"] = root["traceId"].clone();
            span["parentSpanId"] = root["spanId"].clone();
            span
        });
        std::iter::once(root.clone()).chain(inner).collect::<Vec<_>>()
    };
    let chain = json!({ "openinference.span.kind": "CHAIN" });
    for root in [span(99, 0, "main", json!({})), span(99, 0, "main", chain)] {
        assert_eq!(kinds(&read(&below(root))), [GapKind::SeveralTurns]);
    }
    // An agent says what a turn is: it may say more to its model by itself.
    assert_eq!(kinds(&read(&below(agent(99, 0, "weather")))), []);
    // One turn is no history.
    let mut one = below(span(99, 0, "POST /chat", json!({})));
    one.truncate(3);
    let traces = read(&one);
    assert_eq!((all(&traces), kinds(&traces)), (vec![vec![OSLO.to_owned()]], vec![]));
}

#[test]
fn results_whose_history_leaves_the_call_out_join_the_only_turn_that_asked_for_them_in_these_words() {
    let first =
        call(1, &[says("user", "How is Oslo?")], &calls("a", "get_weather", json!({ "city": "Oslo" })));
    let answered = |user: &str, id: &str| {
        call(2, &[says("user", user), result(id, json!("grey"))], &says("assistant", "Oslo is grey."))
    };
    assert_eq!(all(&read(&[first.clone(), answered("How is Oslo?", "a")])), [vec![OSLO]]);
    for other in [answered("How is Rome?", "a"), answered("How is Oslo?", "b")] {
        assert_eq!(read(&[first.clone(), other]).conversations().len(), 2);
    }
    // Earlier results are not the results that it asked for.
    let later = call(
        3,
        &[says("user", "How is Oslo?"), result("a", json!("grey"))],
        &says("assistant", "Still grey."),
    );
    assert_eq!(read(&[first, answered("How is Oslo?", "a"), later]).conversations().len(), 2);
}

#[test]
fn a_conversation_goes_on_at_one_place_so_that_the_second_that_does_is_one_of_its_own() {
    let (hi, hello) = (says("user", "Hi"), says("assistant", "Hello"));
    let first = call(1, std::slice::from_ref(&hi), &hello);
    let fork = |number, user: &str| {
        call(number, &[hi.clone(), hello.clone(), says("user", user)], &says("assistant", "Yes."))
    };
    let traces = read(&[first, fork(2, "One?"), fork(3, "Two?")]);
    assert_eq!(all(&traces), [vec!["Hi |  | Hello", "One? |  | Yes."], vec!["Two? |  | Yes."]]);
}

#[test]
fn results_without_ids_join_the_turn_before_them_if_it_asked_for_tools() {
    let in_one = |span: Value| with(span, "gen_ai.conversation.id", json!("one"));
    let asks = json!({ "role": "assistant", "parts": [
        { "type": "tool_call", "name": "get_weather", "arguments": { "city": "Oslo" } }] });
    let grey = json!({ "role": "tool", "parts": [{ "type": "tool_call_response", "response": "grey" }] });
    let question = says("user", "How is Oslo?");
    let first = in_one(call(1, std::slice::from_ref(&question), &asks));
    let answer =
        in_one(call(2, &[question.clone(), asks, grey.clone()], &says("assistant", "Oslo is grey.")));
    let traces = read(&[first, answer.clone()]);
    assert_eq!((all(&traces), kinds(&traces)), (vec![vec![OSLO.to_owned()]], vec![]));
    // Nothing was asked for.
    let said = in_one(call(1, &[question], &says("assistant", "Let me see.")));
    let traces = read(&[said, answer]);
    assert_eq!((traces.conversations()[0].turns.len(), kinds(&traces)), (2, vec![GapKind::CallsNotCaptured]));
}

#[test]
fn what_is_not_known_of_a_part_of_a_turn_is_no_gap_if_another_part_says_it() {
    let in_one = |span: Value| with(span, "gen_ai.conversation.id", json!("one"));
    let question = says("user", "Oslo and Rome?");
    let mut both = calls("a", "get_weather", json!({ "city": "Oslo" }));
    both["parts"].as_array_mut().unwrap().push(calls("b", "get_weather", json!({}))["parts"][0].clone());
    let first = in_one(call(1, std::slice::from_ref(&question), &both));
    let results = [result("a", json!("grey")), result("b", json!("blue"))];
    // Its answer was not captured, and the next call has one. The user's message is not sent again.
    let silent = in_one(call(2, &results[..1], &says("assistant", "")));
    let last = in_one(call(3, &results, &says("assistant", "Grey and blue.")));
    let traces = read(&[first, silent, last]);
    assert_eq!(kinds(&traces), []);
    let turn = &traces.conversations()[0].turns[0];
    assert_eq!(
        (turn.user.as_deref(), turn.answer.as_deref()),
        (Some("Oslo and Rome?"), Some("Grey and blue."))
    );
}

#[test]
fn a_turn_goes_on_with_what_its_last_call_of_a_model_asked_for() {
    let in_one = |span: Value| with(span, "gen_ai.conversation.id", json!("one"));
    let question = says("user", "Plan");
    let first = in_one(call(1, std::slice::from_ref(&question), &calls("a", "f", json!({}))));
    // The second trace has two calls of a model, one after the other.
    let root = span(20, 0, "work", json!({}));
    let inner = |number, sent: Value, put_out: Value| in_one(chat(number, 20, sent, json!([put_out])));
    let second = [
        in_one(root),
        inner(21, json!([result("a", json!(1))]), calls("x", "f", json!({}))),
        inner(22, json!([result("x", json!(2))]), calls("b", "f", json!({}))),
    ];
    let last = in_one(call(30, &[result("b", json!(3))], &says("assistant", "Done.")));
    let traces = read(&[vec![first], second.to_vec(), vec![last]].concat());
    assert_eq!((traces.conversations()[0].turns.len(), kinds(&traces)), (1, vec![]));
    assert_eq!(traces.conversations()[0].turns[0].calls.len(), 3);
}

#[test]
fn results_join_the_turn_before_them_unless_ids_deny_it_or_an_agent_holds_them() {
    let in_one = |span: Value| with(span, "gen_ai.conversation.id", json!("one"));
    let question = says("user", "How is Oslo?");
    let without_id = |mut message: Value| {
        message["parts"][0].as_object_mut().unwrap().remove("id");
        message
    };
    let asks = |id: &str| calls(id, "get_weather", json!({ "city": "Oslo" }));
    let turns = |asks: Value, results: Value, holder: Option<Value>| {
        let mut answer = in_one(call(2, &[results], &says("assistant", "Grey.")));
        if let Some(holder) = &holder {
            answer["traceId"] = holder["traceId"].clone();
            answer["parentSpanId"] = holder["spanId"].clone();
        }
        let first = in_one(call(1, std::slice::from_ref(&question), &asks));
        let spans: Vec<Value> = [Some(first), holder, Some(answer)].into_iter().flatten().collect();
        read(&spans).conversations()[0].turns.len()
    };
    let grey = |id: &str| result(id, json!("grey"));
    assert_eq!(turns(asks("a"), grey("a"), None), 1);
    assert_eq!(turns(asks("a"), grey("b"), None), 2);
    assert_eq!(turns(without_id(asks("")), grey("b"), None), 1);
    assert_eq!(turns(asks("a"), without_id(grey("")), None), 1);
    assert_eq!(turns(without_id(asks("")), without_id(grey("")), None), 1);
    let holder = in_one(with_start(&agent(9, 0, "weather"), 2));
    assert_eq!(turns(without_id(asks("")), without_id(grey("")), Some(holder)), 2);
}

#[test]
fn a_turn_may_continue_the_one_before_it_if_that_asked_for_tools_and_nothing_says_what_it_was_sent() {
    let bare = |number, finish: &str| {
        let attributes =
            json!({ "gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": [finish] });
        span(number, 0, "chat", attributes)
    };
    let may = |spans: &[Value]| kinds(&read(spans)).contains(&GapKind::PossibleContinuation);
    let sent =
        |span: Value| with(span, "gen_ai.input.messages", json!([says("user", "Hi")]).to_string().into());
    let below = |mut span: Value| {
        span["parentSpanId"] = json!(format!("{:016x}", 9));
        span
    };
    let holder = with_start(&agent(9, 0, "a"), 2);
    for reason in ["tool_calls", "tool_use", "function_call"] {
        assert!(may(&[bare(1, reason), bare(2, "stop")]), "{reason}");
    }
    assert!(!may(&[bare(1, "stop"), bare(2, "stop")]));
    assert!(!may(&[bare(1, "tool_calls"), sent(bare(2, "stop"))]));
    assert!(!may(&[bare(1, "tool_calls"), holder, below(bare(3, "stop"))]));
}

#[test]
fn an_exception_fails_a_model_call_whose_status_says_nothing() {
    let error = |code: Option<i64>| {
        let mut span = chat(2, 1, json!([says("user", "Hi")]), json!([]));
        span["events"] = json!([{ "name": "gen_ai.client.operation.exception", "timeUnixNano": "1" }]);
        span["status"] = json!({ "code": code });
        read(&[agent(1, 0, "a"), span]).conversations()[0].turns[0].model_calls[0].error.clone()
    };
    let other = Some("_OTHER".to_owned());
    assert_eq!(
        (error(None), error(Some(0)), error(Some(1)), error(Some(2))),
        (other.clone(), other.clone(), None, other)
    );
}
