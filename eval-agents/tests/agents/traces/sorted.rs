//! Spans sorted into turns and calls: owners of calls, and precedence of sources.

use eval_agents::traces::{GapKind, Traces, Turn};
use serde_json::{Value, json};

use super::support::{agent, calls, chat, kinds, read, result, says, span, tool, with, without};

fn turns(spans: &[Value]) -> Vec<Turn> {
    read(spans).conversations().iter().flat_map(|conversation| conversation.turns.clone()).collect()
}

fn only(spans: &[Value]) -> Turn {
    let [turn] = turns(spans).try_into().unwrap();
    turn
}

/// A model call that answers.
fn answer(number: u64, parent: u64) -> Value {
    chat(number, parent, json!([says("user", "Hi")]), json!([says("assistant", "Hello")]))
}

fn get(number: u64, parent: u64) -> Value {
    tool(number, parent, "get", json!({ "n": number }), json!(1))
}

#[test]
fn a_call_is_of_the_agent_above_it_and_names_one_only_if_there_is_none() {
    let named = |span: Value| with(span, "gen_ai.agent.name", json!("inner"));
    let agents = |spans: &[Value]| {
        let turn = only(spans);
        (turn.model_calls[0].agent.clone(), turn.calls.first().and_then(|call| call.agent.clone()))
    };
    let (inner, outer) = (Some("inner".to_owned()), Some("outer".to_owned()));
    let below = [agent(1, 0, "outer"), named(answer(2, 1)), named(get(3, 1))];
    assert_eq!(agents(&below), (outer.clone(), outer.clone()));
    let root = span(1, 0, "POST /chat", json!({}));
    assert_eq!(
        agents(&[root.clone(), named(answer(2, 1)), named(get(3, 1))]),
        (inner.clone(), inner.clone())
    );
    // A span between them changes nothing, and what a call does is not of the agent that it names.
    let between = span(2, 1, "work", json!({}));
    assert_eq!(agents(&[agent(1, 0, "outer"), between, answer(3, 2), get(4, 2)]), (outer.clone(), outer));
    assert_eq!(agents(&[root, named(answer(2, 1)), get(3, 2)]), (inner, None));
}

#[test]
fn a_call_in_a_call_is_the_same_unless_an_agent_a_model_or_a_tool_is_between() {
    let count = |spans: &[Value]| {
        let all = turns(spans);
        (
            all.iter().map(|turn| turn.model_calls.len()).sum::<usize>(),
            all.iter().map(|turn| turn.calls.len()).sum::<usize>(),
        )
    };
    let top = || agent(1, 0, "a");
    let other = |number, parent| tool(number, parent, "other", json!({}), json!(1));
    let work = |number, parent| span(number, parent, "work", json!({}));
    assert_eq!(count(&[top(), answer(2, 1), work(3, 2), answer(4, 3)]), (1, 0));
    assert_eq!(count(&[top(), answer(2, 1), other(3, 2), answer(4, 3)]), (2, 1));
    assert_eq!(count(&[top(), answer(2, 1), agent(3, 2, "b"), answer(4, 3)]), (2, 0));
    assert_eq!(count(&[top(), get(2, 1), work(3, 2), get(4, 3)]), (0, 1));
    assert_eq!(count(&[top(), get(2, 1), agent(3, 2, "b"), get(4, 3)]), (0, 2));
    assert_eq!(count(&[top(), get(2, 1), answer(3, 2), get(4, 3)]), (1, 2));
    assert_eq!(count(&[top(), get(2, 1), other(3, 2), get(4, 3)]), (0, 3));
}

#[test]
fn the_span_of_an_agent_is_a_turn_if_it_has_calls_messages_or_an_error() {
    let messages =
        |key: &str, role: &str| with(agent(1, 0, "a"), key, json!([says(role, "Hi")]).to_string().into());
    let mut failed = agent(1, 0, "a");
    failed["status"] = json!({ "code": 2 });
    for spans in [
        vec![agent(1, 0, "a"), answer(2, 1)],
        vec![agent(1, 0, "a"), get(2, 1)],
        vec![messages("gen_ai.input.messages", "user")],
        vec![messages("gen_ai.output.messages", "assistant")],
        vec![with(agent(1, 0, "a"), "error.type", json!("timeout"))],
        vec![failed],
    ] {
        let traces = read(&spans);
        assert_eq!(traces.conversations()[0].turns.len(), 1, "{spans:?}");
        assert!(!kinds(&traces).contains(&GapKind::EmptyAgent), "{spans:?}");
    }
    let empty = read(&[agent(1, 0, "a"), span(2, 1, "work", json!({}))]);
    assert_eq!((kinds(&empty), empty.conversations()[0].turns.len()), (vec![GapKind::EmptyAgent], 0));
}

#[test]
fn agents_below_a_span_are_turns_of_their_own_unless_it_is_a_chain_and_they_are_asked_the_same() {
    let asks = |number, parent, user: &str| {
        chat(number, parent, json!([says("user", user)]), json!([says("assistant", "Hello")]))
    };
    let steps = |root: Value, users: [&str; 2], between: bool| {
        let mut spans = vec![root];
        let above = if between { 2 } else { 1 };
        if between {
            spans.push(span(2, 1, "work", json!({})));
        }
        for (number, user) in [3, 5].into_iter().zip(users) {
            spans.extend([agent(number, above, "a"), asks(number + 1, number, user)]);
        }
        turns(&spans).len()
    };
    let chain = || span(1, 0, "graph", json!({ "openinference.span.kind": "CHAIN" }));
    let plain = || span(1, 0, "POST /chat", json!({}));
    for between in [false, true] {
        assert_eq!(steps(chain(), ["Hi", "Hi"], between), 1);
        assert_eq!(steps(chain(), ["Hi", "Bye"], between), 2);
        assert_eq!(steps(plain(), ["Hi", "Hi"], between), 2);
    }
}

/// The kinds of the gaps of one turn.
fn gaps(spans: &[Value]) -> Vec<GapKind> {
    kinds(&read(spans))
}

#[test]
fn an_answer_that_was_left_out_is_a_gap_unless_tools_were_asked_for_or_the_turn_failed() {
    let question = || json!([says("user", "Hi")]);
    let elided = |more: Value| {
        let mut parts = vec![json!({ "type": "text", "content": "<elided>" })];
        parts.extend(more.as_array().unwrap().iter().cloned());
        chat(2, 1, question(), json!([{ "role": "assistant", "parts": parts }]))
    };
    let call = calls("c", "get", json!({}))["parts"].clone();
    assert_eq!(gaps(&[agent(1, 0, "a"), elided(json!([]))]), [GapKind::AnswerNotCaptured]);
    let asked = gaps(&[agent(1, 0, "a"), elided(call), get(3, 1)]);
    assert!(!asked.contains(&GapKind::AnswerNotCaptured), "{asked:?}");
    let said = elided(json!([{ "type": "text", "content": "Hello" }]));
    assert!(!gaps(&[agent(1, 0, "a"), said]).contains(&GapKind::AnswerNotCaptured));
    let failed = with(agent(1, 0, "a"), "error.type", json!("timeout"));
    let lost = without(answer(2, 1), "gen_ai.output.messages");
    assert_eq!(gaps(&[failed, lost]), []);
}

#[test]
fn an_output_that_cannot_be_read_is_told_once_and_hides_no_calls() {
    let cut = with(answer(2, 1), "gen_ai.output.messages", json!("[{\"role\": \"assist"));
    let cut = with(cut, "gen_ai.response.finish_reasons", json!(["tool_calls"]));
    let found = gaps(&[agent(1, 0, "a"), cut, answer(3, 1)]);
    assert_eq!(found, [GapKind::Unreadable]);
}

#[test]
fn arguments_that_adk_wrote_are_kept_where_content_is_off_but_for_empty_ones() {
    let args = |args: &str| {
        let spans = [
            agent(1, 0, "dice"),
            span(
                2,
                1,
                "call_llm",
                json!({ "gcp.vertex.agent.llm_request": "{}", "gcp.vertex.agent.llm_response": "{}" }),
            ),
            span(
                3,
                1,
                "execute_tool roll",
                json!({
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": "roll",
                    "gcp.vertex.agent.tool_call_args": args,
                }),
            ),
        ];
        only(&spans).calls[0].args.as_ref().map(ToString::to_string)
    };
    assert_eq!((args("{}"), args(r#"{"n":6}"#)), (None, Some(r#"{"n":6}"#.to_owned())));
}

#[test]
fn results_by_order_are_of_calls_that_came_before_them() {
    let question = says("user", "Go");
    let ask = |id: &str| json!([calls(id, "get", json!({}))]);
    let sent = |results: &[Value]| {
        let mut all = vec![question.clone()];
        all.extend(results.iter().cloned());
        json!(all)
    };
    let (old, new) = (result("x", json!("old")), result("y", json!("new")));
    let spans = [
        agent(1, 0, "a"),
        // The first result is of an earlier turn.
        chat(2, 1, sent(std::slice::from_ref(&old)), ask("1")),
        chat(3, 1, sent(&[old, new]), json!([says("assistant", "Done")])),
    ];
    let turn = only(&spans);
    assert_eq!(turn.calls[0].result.as_ref().map(ToString::to_string).as_deref(), Some("\"new\""));
}

/// The arguments and the result of the only call, and the gaps.
fn joined(of_span: Value, of_call: Value, response: Option<Value>) -> (String, String, Vec<GapKind>) {
    let question = says("user", "Go");
    let mut sent = vec![question.clone()];
    sent.extend(response.map(|value| result("c", value)));
    let traces: Traces = read(&[
        agent(1, 0, "a"),
        chat(2, 1, json!([question]), json!([calls("c", "get", of_call)])),
        of_span,
        chat(4, 1, json!(sent), json!([says("assistant", "Done")])),
    ]);
    let [call] = traces.conversations()[0].turns[0].calls.as_slice() else { panic!("{traces:?}") };
    let shown = |value: Option<&eval_core::format::Value>| value.map_or("-".to_owned(), ToString::to_string);
    (shown(call.args.as_ref()), shown(call.result.as_ref()), kinds(&traces))
}

#[test]
fn what_the_span_of_a_call_lacks_is_taken_from_the_messages_and_that_is_said_unless_ids_join_them() {
    let of = |args: Option<Value>, result: Option<Value>, id: Option<&str>| {
        let mut span = span(
            3,
            1,
            "execute_tool",
            json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get" }),
        );
        for (key, value) in [("arguments", args), ("result", result)] {
            if let Some(value) = value {
                span = with(span, &format!("gen_ai.tool.call.{key}"), value.to_string().into());
            }
        }
        match id {
            Some(id) => with(span, "gen_ai.tool.call.id", json!(id)),
            None => span,
        }
    };
    let of_message = || json!({ "n": 1 });
    let told =
        |args: &str, result: &str, gaps: &[GapKind]| (args.to_owned(), result.to_owned(), gaps.to_vec());
    let by_name = &[GapKind::DataByName][..];
    for (span, expected) in [
        (of(Some(json!({ "n": 2 })), Some(json!(7)), None), told(r#"{"n":2}"#, "7", &[])),
        (of(None, Some(json!(7)), None), told(r#"{"n":1}"#, "7", by_name)),
        (of(Some(json!({})), Some(json!(7)), None), told(r#"{"n":1}"#, "7", by_name)),
        (of(Some(json!({ "n": 2 })), None, None), told(r#"{"n":2}"#, "8", by_name)),
        (of(None, None, Some("c")), told(r#"{"n":1}"#, "8", &[])),
        (of(None, None, Some("other")), told(r#"{"n":1}"#, "8", by_name)),
    ] {
        assert_eq!(joined(span.clone(), of_message(), Some(json!(8))), expected, "{span}");
    }
    // Neither has them.
    let neither = joined(of(Some(json!({})), None, Some("c")), json!({}), None);
    assert_eq!(neither, told("{}", "-", &[GapKind::ResultNotCaptured]));
}
