//! The forms in which traces are stored, and the conventions in which they are written.

use std::io::Write;

use eval_agents::traces::{GapKind, Traces, Turn};
use serde_json::{Value, json};

use super::support::{
    agent, calls, chat, document, kinds, lines, read, result, says, span, tool, weather, with,
};

fn only_turn(text: &[u8]) -> Turn {
    let traces = Traces::from_reader(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(kinds(&traces), []);
    assert_eq!(traces.conversations().len(), 1);
    let [turn] = traces.conversations()[0].turns.as_slice() else { panic!("{traces:#?}") };
    turn.clone()
}

/// Attributes as a list, as OTLP has them.
fn as_lists(mut span: Value) -> Value {
    let attributes = span["attributes"].as_object().unwrap();
    span["attributes"] = attributes
        .iter()
        .map(|(key, value)| json!({ "value": { "stringValue": value }, "key": key }))
        .collect();
    span
}

fn snake(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| {
                let mut name = String::new();
                for letter in key.chars() {
                    if letter.is_ascii_uppercase() && !key.contains('.') {
                        name.push('_');
                        name.push(letter.to_ascii_lowercase());
                    } else {
                        name.push(letter);
                    }
                }
                (name, snake(value))
            });
            Value::Object(entries.collect())
        }
        Value::Array(items) => items.iter().map(snake).collect(),
        other => other.clone(),
    }
}

#[test]
fn all_forms_of_one_trace_hold_the_same_turn() {
    let spans = weather();
    let wanted = only_turn(document(&spans).as_bytes());
    assert_eq!(wanted.answer.as_deref(), Some("Oslo is grey."));

    let listed: Vec<Value> = spans.iter().cloned().map(as_lists).collect();
    let whole: Value = serde_json::from_str(&document(&spans)).unwrap();
    let one_each: Vec<Value> = spans
        .iter()
        .map(|span| serde_json::from_str(&document(std::slice::from_ref(span))).unwrap())
        .collect();
    let batches = json!({ "batches": [{ "instrumentationLibrarySpans": [{ "spans": spans }] }] });
    let mut base64 = spans.clone();
    for span in &mut base64 {
        span["traceId"] = json!("AAAAAAAAAAAAAAAAAAAKvA==");
    }
    let forms = [
        ("lists of attributes", document(&listed)),
        ("the names of protobuf", snake(&whole).to_string()),
        ("indented", serde_json::to_string_pretty(&whole).unwrap()),
        ("lines of documents", lines(&one_each)),
        ("lines of spans", lines(&spans)),
        ("lines with CRLF and empty lines", lines(&spans).replace('\n', "\r\n\r\n")),
        ("a list of spans", json!(spans).to_string()),
        ("Tempo's batches", batches.to_string()),
        ("Tempo's wrapper", json!({ "trace": whole }).to_string()),
        ("ids in base64", document(&base64)),
        ("a byte order mark", format!("\u{feff}{whole}")),
    ];
    for (form, text) in &forms {
        assert_eq!(only_turn(text.as_bytes()), wanted, "{form}");
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        assert_eq!(only_turn(&packed.finish().unwrap()), wanted, "{form}, packed");
    }
}

#[test]
fn jaegers_export_holds_the_same_turn() {
    let tags = |span: &Value| -> Value {
        let attributes = span["attributes"].as_object().unwrap();
        attributes
            .iter()
            .map(|(key, value)| json!({ "key": key, "type": "string", "value": value }))
            .collect()
    };
    let micros = |time: &Value| time.as_str().unwrap().parse::<u64>().unwrap() / 1000;
    let spans: Value = weather()
        .iter()
        .map(|span| {
            let parent =
                json!({ "refType": "CHILD_OF", "traceID": span["traceId"], "spanID": span["parentSpanId"] });
            json!({
                "traceID": span["traceId"], "spanID": span["spanId"], "operationName": span["name"],
                "references": [parent], "startTime": micros(&span["startTimeUnixNano"]), "duration": 500_000,
                "tags": tags(span), "processID": "p1",
            })
        })
        .collect();
    let data = json!({ "data": [{ "spans": spans, "processes": { "p1": { "serviceName": "s" } } }] });
    assert_eq!(only_turn(data.to_string().as_bytes()), only_turn(document(&weather()).as_bytes()));
}

#[test]
fn what_is_no_trace_is_refused_with_what_it_is() {
    let refused = |text: &str| Traces::from_reader(text.as_bytes()).unwrap_err().to_string();
    for (text, why) in [
        ("", "there is nothing in it"),
        (" \n ", "there is nothing in it"),
        ("5", "value 1 in it is a number"),
        ("[]", "no spans"),
        ("[1, 2]", "no spans"),
        (r#"{"eval_set_id": "x"}"#, "no spans"),
        (r#"{"data": 5}"#, "`data` is a number"),
        (r#"{"resourceSpans": [{"#, "EOF while parsing"),
        (r#"{"resourceSpans": [], "resourceLogs": "#, "EOF while parsing"),
        ("{\"resourceSpans\": []}\n{\"resourceSpans\": [}", "at line 2"),
        ("resourceSpans", "expected value at line 1"),
    ] {
        assert!(refused(text).contains(why), "{text}: {}", refused(text));
    }
    let cut = Traces::from_reader(&[0x1f, 0x8b, 8, 0][..]).unwrap_err().to_string();
    assert!(cut.contains("cannot be read"), "{cut}");
    let missing = Traces::read("no/such.json").unwrap_err().to_string();
    assert!(missing.starts_with("no/such.json: cannot be read"), "{missing}");
}

/// User, calls, answer, results.
type Added = (Option<String>, String, Option<String>, Vec<String>);

/// The turn of two model calls that say the same in some convention: a call of `add`, and its sum.
fn added(spans: &[Value]) -> Added {
    let turn = only_turn(document(spans).as_bytes());
    let results = turn
        .calls
        .iter()
        .map(|call| format!("{:?}", call.result.as_ref().map(ToString::to_string)))
        .collect();
    let calls: Vec<String> = turn.calls.iter().map(|call| call.to_function_call().to_string()).collect();
    (turn.user, calls.join(" "), turn.answer, results)
}

/// The conversation that all conventions hold.
fn sum() -> Added {
    (
        Some("Add 2 and 3".to_owned()),
        "add(a: 2, b: 3)".to_owned(),
        Some("5".to_owned()),
        vec![r#"Some("5")"#.to_owned()],
    )
}

#[test]
fn messages_of_openai_anthropic_and_google_are_read() {
    let args = json!({ "a": 2, "b": 3 });
    let two =
        |sent: Value, asks: Value, then: Value, says: Value| [chat(1, 0, sent, asks), chat(2, 0, then, says)];
    let current = two(
        json!([says("user", "Add 2 and 3")]),
        json!([calls("c", "add", args.clone())]),
        json!([says("user", "Add 2 and 3"), result("c", json!(5))]),
        json!([says("assistant", "5")]),
    );
    assert_eq!(added(&current), sum());

    let user = json!({ "role": "user", "content": "Add 2 and 3" });
    let openai = two(
        json!([user]),
        json!([{ "role": "assistant", "content": null, "tool_calls": [
            { "id": "c", "type": "function", "function": { "name": "add", "arguments": args.to_string() } }] }]),
        json!([user, { "role": "tool", "tool_call_id": "c", "content": "5" }]),
        json!([{ "role": "assistant", "content": "5" }]),
    );
    assert_eq!(added(&openai), sum());

    let anthropic = two(
        json!([user]),
        json!([{ "role": "assistant", "content": [{ "type": "thinking", "thinking": "hm" },
            { "type": "tool_use", "id": "c", "name": "add", "input": args }] }]),
        json!([user, { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": "5" }] }]),
        json!([{ "role": "assistant", "content": [{ "type": "text", "text": "5" }] }]),
    );
    assert_eq!(added(&anthropic), sum());

    let google = two(
        json!([{ "role": "user", "parts": [{ "text": "Add 2 and 3" }] }]),
        json!([{ "role": "model", "parts": [{ "text": "hm", "thought": true },
            { "functionCall": { "id": "c", "name": "add", "args": args } }] }]),
        json!([{ "role": "user", "parts": [{ "text": "Add 2 and 3" }] },
            { "role": "tool", "parts": [{ "functionResponse": { "id": "c", "name": "add", "response": 5 } }] }]),
        json!([{ "role": "model", "parts": [{ "text": "5" }] }]),
    );
    assert_eq!(added(&google), sum());
}

#[test]
fn attributes_of_openllmetry_and_openinference_are_read() {
    let args = json!({ "a": 2, "b": 3 });
    let indexed = [
        span(
            1,
            0,
            "openai.chat",
            json!({
                "gen_ai.system": "openai", "gen_ai.request.model": "m",
                "gen_ai.prompt.0.role": "system", "gen_ai.prompt.0.content": "Add.",
                "gen_ai.prompt.1.role": "user", "gen_ai.prompt.1.content": "Add 2 and 3",
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.tool_calls.0.id": "c", "gen_ai.completion.0.tool_calls.0.name": "add",
                "gen_ai.completion.0.tool_calls.0.arguments": args.to_string(),
            }),
        ),
        span(
            2,
            0,
            "openai.chat",
            json!({
                "gen_ai.system": "openai", "gen_ai.request.model": "m",
                "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Add 2 and 3",
                "gen_ai.prompt.1.role": "tool", "gen_ai.prompt.1.tool_call_id": "c", "gen_ai.prompt.1.content": "5",
                "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "5",
            }),
        ),
    ];
    assert_eq!(added(&indexed), sum());

    let inference = [
        span(1, 0, "agent", json!({ "openinference.span.kind": "AGENT", "agent.name": "adder" })),
        span(
            2,
            1,
            "llm",
            json!({
                "openinference.span.kind": "LLM", "llm.model_name": "m", "llm.token_count.prompt": 7,
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.contents.0.message_content.type": "text",
                "llm.input_messages.0.message.contents.0.message_content.text": "Add 2 and 3",
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c",
                "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "add",
                "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": args.to_string(),
            }),
        ),
        span(
            3,
            1,
            "add",
            json!({
                "openinference.span.kind": "TOOL", "tool.name": "add", "input.value": args.to_string(),
                "input.mime_type": "application/json", "output.value": "5",
            }),
        ),
        span(
            4,
            1,
            "llm",
            json!({
                "openinference.span.kind": "LLM", "llm.model_name": "m", "llm.token_count.prompt": 5,
                "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Add 2 and 3",
                "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "5",
            }),
        ),
    ];
    assert_eq!(added(&inference), sum());
    let turn = only_turn(document(&inference).as_bytes());
    assert_eq!((turn.agent.as_deref(), turn.usage.input_tokens), (Some("adder"), Some(12)));
}

#[test]
fn logs_fill_what_their_spans_lack_whichever_comes_first() {
    let bare = span(1, 0, "chat", json!({ "gen_ai.operation.name": "chat" }));
    let log = |name: &str, time: u64, body: Value| {
        json!({
            "eventName": name, "timeUnixNano": time.to_string(), "traceId": bare["traceId"], "spanId": bare["spanId"],
            "body": { "kvlistValue": { "values": body } },
        })
    };
    let text = |text: &str| json!([{ "key": "content", "value": { "stringValue": text } }]);
    let message = json!([{ "key": "message", "value": { "stringValue": "{\"content\": \"Hello\"}" } }]);
    let logs = json!([log("gen_ai.choice", 2, message), log("gen_ai.user.message", 1, text("Hi"))]);
    let logs = json!({ "resourceLogs": [{ "scopeLogs": [{ "logRecords": logs }] }] }).to_string();
    for text in [
        format!("{logs}\n{}", document(std::slice::from_ref(&bare))),
        format!("{}\n{logs}", document(std::slice::from_ref(&bare))),
    ] {
        let turn = only_turn(text.as_bytes());
        assert_eq!((turn.user.as_deref(), turn.answer.as_deref()), (Some("Hi"), Some("Hello")));
    }
    // The span's own value goes before.
    let full = chat(1, 0, json!([says("user", "Own words")]), json!([says("assistant", "Own answer")]));
    let turn = only_turn(format!("{logs}\n{}", document(&[full])).as_bytes());
    assert_eq!(turn.answer.as_deref(), Some("Own answer"));
}

#[test]
fn what_agents_behind_tools_say_is_not_said_by_the_agent_and_their_calls_and_tokens_count() {
    let question = says("user", "Plan");
    let spans = [
        agent(1, 0, "boss"),
        chat(2, 1, json!([question]), json!([calls("c", "planner", json!({ "request": "plan" }))])),
        tool(3, 1, "planner", json!({ "request": "plan" }), json!("a plan")),
        agent(4, 3, "planner"),
        chat(5, 4, json!([says("user", "plan")]), json!([says("assistant", "the plan of the planner")])),
        chat(
            6,
            1,
            json!([question, result("c", json!("a plan"))]),
            json!([says("assistant", "Here it is.")]),
        ),
    ];
    let turn = only_turn(document(&spans).as_bytes());
    assert_eq!((turn.answer.as_deref(), turn.intermediate.len()), (Some("Here it is."), 0));
    assert_eq!((turn.model_calls.len(), turn.agents), (3, vec!["boss".to_owned(), "planner".to_owned()]));
}

#[test]
fn traces_that_name_one_session_are_one_conversation_and_resources_name_it_first() {
    let mut second = weather();
    for span in &mut second {
        span["traceId"] = json!(format!("{:032x}", 0xdef));
    }
    let all = |session: &str| {
        let spans: Vec<Value> = weather().into_iter().chain(second.clone()).collect();
        let attributes = json!({ "agentevals.session_name": session, "agentevals.eval.case.id": "oslo" });
        json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }], "resource": { "attributes": attributes } }] })
    };
    let traces = Traces::from_reader(all("s-1").to_string().as_bytes()).unwrap();
    let [conversation] = traces.conversations() else { panic!("{traces:#?}") };
    assert_eq!((conversation.key.as_str(), conversation.turns.len()), ("s-1", 2));
    assert_eq!(conversation.case_id.as_deref(), Some("oslo"));
    let apart: Vec<Value> = weather().into_iter().chain(second).collect();
    assert_eq!(read(&apart).conversations().len(), 2);
}

/// Each is a call that a reader of the usual names alone passes over.
#[test]
fn a_call_is_read_or_missed_wherever_a_trace_has_it() {
    let question = json!([says("user", "How is Oslo?")]);
    let answer = says("assistant", "Oslo is grey.");
    let whole = |more: Value| {
        let spans = [agent(1, 0, "weather"), chat(2, 1, question.clone(), json!([answer])), more];
        let traces = read(&spans);
        let names = traces.conversations()[0].turns[0].calls.iter().map(|call| call.name.clone()).collect();
        (kinds(&traces).contains(&GapKind::CallsNotCaptured), names)
    };
    for (name, attributes) in [
        ("running tool", json!({ "gen_ai.tool.name": "rm", "gen_ai.tool.call.id": "x" })),
        ("execute_tool", json!({ "gen_ai.tool.name": "rm" })),
        ("f", json!({ "gen_ai.operation.name": "EXECUTE_TOOL", "gen_ai.tool.name": "rm" })),
        ("f", json!({ "gen_ai.operation.name": "tool_call", "gen_ai.tool.name": "rm" })),
        ("f", json!({ "traceloop.span.kind": "TOOL", "traceloop.entity.name": "rm" })),
        ("ai.toolCall", json!({ "ai.toolCall.name": "rm", "ai.toolCall.args": "{}" })),
        ("rm", json!({ "langfuse.observation.type": "tool" })),
        (
            "f",
            json!({ "gen_ai.operation.name": "generate", "gen_ai.output.messages": [calls("1", "rm", json!({}))] }),
        ),
    ] {
        let (_, names): (bool, Vec<String>) = whole(span(3, 1, name, attributes.clone()));
        assert_eq!(names, ["rm"], "{name} {attributes}");
    }

    // What messages beside the parts have.
    for (key, value) in [
        ("function_call", json!({ "name": "rm", "arguments": "{}" })),
        ("toolCalls", json!([{ "id": "1", "function": { "name": "rm", "arguments": "{}" } }])),
        ("tool_calls", json!([{ "id": "1", "function": { "name": "rm", "arguments": "{}" } }])),
    ] {
        let mut says = answer.clone();
        says[key] = value;
        let traces = read(&[agent(1, 0, "weather"), chat(2, 1, question.clone(), json!([says]))]);
        assert_eq!(traces.conversations()[0].turns[0].calls[0].name, "rm", "{key}");
    }
    let mut oops = answer.clone();
    oops["tool_calls"] = json!("oops");
    let traces = read(&[agent(1, 0, "weather"), chat(2, 1, question.clone(), json!([oops]))]);
    assert_eq!(kinds(&traces), [GapKind::UnknownPart]);

    // A model that ended to call tools called some.
    let ended = with(
        chat(2, 1, question.clone(), json!([answer])),
        "gen_ai.response.finish_reasons",
        json!(["tool_calls"]),
    );
    assert_eq!(kinds(&read(&[agent(1, 0, "weather"), ended])), [GapKind::CallsNotCaptured]);

    // The messages of the agent's own span, without spans of models and tools.
    let of_agent = |sent: Value, put_out: Value| {
        let own = with(agent(1, 0, "weather"), "gen_ai.input.messages", sent);
        kinds(&read(&[with(own, "gen_ai.output.messages", put_out)]))
    };
    let (made, told) = (calls("1", "rm", json!({})), result("1", json!("gone")));
    assert_eq!(of_agent(question.clone(), json!([answer])), []);
    assert_eq!(of_agent(question.clone(), json!([made, answer])), [GapKind::CallsNotCaptured]);
    let told = json!([says("user", "How is Oslo?"), made, told]);
    assert_eq!(of_agent(told, json!([answer])), [GapKind::CallsNotCaptured]);
}
