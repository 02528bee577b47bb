//! Spans as frameworks and their instrumentations write them, each reduced to what matters of it. `tests/otlp/frameworks/` runs the
//! frameworks themselves.

use eval_agents::traces::{GapKind, Traces, Turn};
use serde_json::{Value, json};

use super::support::{
    agent, calls, chat, document, kinds, read, result, says, span, tool, weather, with, without,
};

fn only_turn(traces: &Traces) -> &Turn {
    let [conversation] = traces.conversations() else { panic!("{traces:#?}") };
    let [turn] = conversation.turns.as_slice() else { panic!("{conversation:#?}") };
    turn
}

/// A span of `OpenInference`.
fn kind(number: u64, parent: u64, name: &str, kind: &str, attributes: Value) -> Value {
    with(span(number, parent, name, attributes), "openinference.span.kind", json!(kind))
}

/// A model call under `OpenInference` that was asked `user` and asks for tools, by their ids, names and arguments.
fn asks(number: u64, parent: u64, user: &str, calls: &[(&str, &str, &str)]) -> Value {
    let mut attributes = json!({
        "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": user,
        "llm.output_messages.0.message.role": "assistant",
    });
    for (at, (id, name, args)) in calls.iter().enumerate() {
        let call = format!("llm.output_messages.0.message.tool_calls.{at}.tool_call");
        attributes[format!("{call}.id")] = json!(id);
        attributes[format!("{call}.function.name")] = json!(name);
        if !args.is_empty() {
            attributes[format!("{call}.function.arguments")] = json!(args);
        }
    }
    kind(number, parent, "Model", "LLM", attributes)
}

/// A span that answers.
fn answers(number: u64, parent: u64, user: &str, answer: &str) -> Value {
    let attributes = json!({
        "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": user,
        "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": answer,
    });
    kind(number, parent, "Model", "LLM", attributes)
}

/// A tool of `LangChain`, whose result is a message.
fn langchain_tool(number: u64, parent: u64, name: &str, id: &str, input: &str, content: &str) -> Value {
    let output =
        json!({ "type": "tool", "data": { "content": content, "tool_call_id": id, "status": "success" } });
    let mut attributes = json!({ "tool.name": name, "output.value": output.to_string() });
    if !input.is_empty() {
        attributes["input.value"] = json!(input);
    }
    if input.starts_with(['{', '[']) {
        attributes["input.mime_type"] = json!("application/json");
    }
    kind(number, parent, name, "TOOL", attributes)
}

#[test]
fn tools_of_langchain_have_the_arguments_that_the_model_wrote_in_its_order_and_their_content_as_result() {
    let wanted =
        [("a", "save", r#"{"text": "{\"city\": 1}"}"#), ("b", "save", r#"{"text": "x"}"#), ("c", "now", "")];
    let spans = [
        kind(1, 0, "LangGraph", "CHAIN", json!({})),
        asks(2, 1, "Go", &wanted),
        // Threads begin in any order.
        langchain_tool(3, 1, "now", "c", "", "12:00"),
        langchain_tool(4, 1, "save", "b", "x", "saved x"),
        langchain_tool(5, 1, "save", "a", r#"{"city": 1}"#, r#"{"saved": 1}"#),
        answers(6, 1, "Go", "Done."),
    ];
    let traces = read(&spans);
    let turn = only_turn(&traces);
    let shown: Vec<String> = turn.calls.iter().map(|call| call.to_function_call().to_string()).collect();
    assert_eq!(shown, [r#"save(text: "{\"city\": 1}")"#, r#"save(text: "x")"#, "now()"]);
    let results: Vec<String> =
        turn.calls.iter().map(|call| call.result.as_ref().unwrap().to_string()).collect();
    assert_eq!(results, [r#"{"saved":1}"#, r#""saved x""#, r#""12:00""#]);
    assert_eq!(kinds(&traces), []);
    // Without the words of the model nothing is made up.
    let hidden =
        ["id", "function.name", "function.arguments"].iter().fold(spans[1].clone(), |span, field| {
            (0..3).fold(span, |span, at| {
                without(span, &format!("llm.output_messages.0.message.tool_calls.{at}.tool_call.{field}"))
            })
        });
    let mut blind = spans.clone();
    blind[1] = hidden;
    let traces = read(&blind);
    assert!(only_turn(&traces).calls.iter().all(|call| call.args.is_none()), "{:?}", only_turn(&traces));
    assert!(kinds(&traces).contains(&GapKind::ArgumentsNotCaptured));
    // The scope says it too, where the result is no message.
    let scoped = |scope: &str| {
        let tool = json!({ "tool.name": "save", "input.value": "{\"city\": 1}", "input.mime_type": "application/json" });
        let spans = [agent(1, 0, "a"), kind(2, 1, "save", "TOOL", tool)];
        let scope =
            json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans, "scope": { "name": scope } }] }] });
        let traces = Traces::from_reader(scope.to_string().as_bytes()).unwrap();
        only_turn(&traces).calls[0].args.is_some()
    };
    assert!(scoped("openinference.instrumentation.openai_agents"));
    assert!(!scoped("openinference.instrumentation.langchain"));
}

#[test]
fn inputs_of_tools_that_are_no_json_or_no_object_are_no_arguments() {
    for (mime, value, is_known) in [
        ("application/json", r#"{"city": "Paris"}"#, true),
        ("text/plain", r#"{"city": "Paris"}"#, false),
        ("application/json", "[1]", false),
        ("text/plain", "Paris", false),
    ] {
        let tool = json!({
            "tool.name": "get_weather", "input.value": value, "input.mime_type": mime, "output.value": "5",
            "tool.parameters": r#"{"type": "object"}"#,
        });
        let traces =
            read(&[agent(1, 0, "a"), kind(2, 1, "get_weather", "TOOL", tool), answers(3, 1, "Hi", "Ok.")]);
        assert_eq!(only_turn(&traces).calls[0].args.is_some(), is_known, "{mime} {value}");
        assert_eq!(kinds(&traces).contains(&GapKind::ArgumentsNotCaptured), !is_known, "{mime} {value}");
    }
}

#[test]
fn messages_of_chains_and_agents_are_not_the_words_of_their_turn() {
    // They have the first message of the whole history.
    let first = json!({
        "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "The first words",
    });
    for outer in ["CHAIN", "AGENT"] {
        let spans = [
            kind(1, 0, "LangGraph", outer, first.clone()),
            kind(2, 1, "model", "CHAIN", first.clone()),
            answers(3, 2, "The last words", "Done."),
        ];
        let traces = read(&spans);
        assert_eq!(only_turn(&traces).user.as_deref(), Some("The last words"), "{outer}");
    }
}

#[test]
fn steps_of_a_graph_that_are_asked_the_same_are_one_turn_and_others_are_turns_of_their_own() {
    let graph = |second: &str| {
        read(&[
            span(1, 0, "POST /chat", json!({})),
            kind(2, 1, "LangGraph", "CHAIN", json!({})),
            kind(3, 2, "agent", "AGENT", json!({})),
            asks(4, 3, "Time?", &[("c", "now", "")]),
            langchain_tool(5, 2, "now", "c", "", "12:00"),
            kind(6, 2, "agent", "AGENT", json!({})),
            answers(7, 6, second, "Noon."),
        ])
    };
    let one = graph("Time?");
    let turn = only_turn(&one);
    assert_eq!((turn.calls.len(), turn.answer.as_deref(), kinds(&one)), (1, Some("Noon."), vec![]));
    let several = graph("Something else");
    let users: Vec<Option<&str>> =
        several.conversations()[0].turns.iter().map(|turn| turn.user.as_deref()).collect();
    assert_eq!(users, [Some("Time?"), Some("Something else")]);
    // The call of the tool is in neither.
    assert!(kinds(&several).contains(&GapKind::CallsNotCaptured));
    // A tool's question to its own model is no message of the user.
    let spans = [
        kind(1, 0, "LangGraph", "CHAIN", json!({})),
        kind(2, 1, "agent", "AGENT", json!({})),
        asks(3, 2, "Time?", &[("c", "helper", "")]),
        langchain_tool(4, 1, "helper", "c", "", "noon"),
        answers(5, 4, "Which time is it?", "noon"),
        kind(6, 1, "agent", "AGENT", json!({})),
        answers(7, 6, "Time?", "Noon."),
    ];
    assert_eq!(only_turn(&read(&spans)).answer.as_deref(), Some("Noon."));
}

#[test]
fn a_handoff_that_names_no_tool_is_the_call_that_the_model_asked_for_and_else_a_gap() {
    let handoff =
        kind(3, 1, "handoff to nurse", "TOOL", json!({ "input.value": "desk", "output.value": "nurse" }));
    let spans = [
        agent(1, 0, "desk"),
        asks(2, 1, "Call the nurse", &[("c", "transfer_to_nurse", "")]),
        handoff.clone(),
        answers(4, 1, "Call the nurse", "Here I am."),
    ];
    let traces = read(&spans);
    assert_eq!(only_turn(&traces).calls[0].to_function_call().to_string(), "transfer_to_nurse()");
    assert_eq!((only_turn(&traces).calls.len(), kinds(&traces)), (1, vec![GapKind::ToolNameMissing]));
    let alone = read(&[agent(1, 0, "desk"), handoff, answers(4, 1, "Call the nurse", "Here I am.")]);
    assert!(kinds(&alone).contains(&GapKind::CallsNotCaptured), "{:?}", kinds(&alone));
    // A name that a tool can have is taken.
    let named = kind(3, 1, "get_weather", "TOOL", json!({}));
    let alone = read(&[agent(1, 0, "desk"), named, answers(4, 1, "Weather?", "Fine.")]);
    assert_eq!(only_turn(&alone).calls[0].name, "get_weather");
    assert!(!kinds(&alone).contains(&GapKind::CallsNotCaptured));
}

#[test]
fn parallel_calls_of_one_tool_without_ids_have_their_own_results() {
    let question = says("user", "Add");
    let asked = json!([calls("a", "add", json!({ "n": 1 })), calls("b", "add", json!({ "n": 2 }))]);
    let spans = [
        agent(1, 0, "adder"),
        chat(2, 1, json!([question]), asked),
        tool(3, 1, "add", json!({ "n": 2 }), json!(20)),
        without(tool(4, 1, "add", json!({ "n": 1 }), json!(10)), "gen_ai.tool.call.result"),
        chat(
            5,
            1,
            json!([question, result("b", json!(20)), result("a", json!(10))]),
            json!([says("assistant", "30")]),
        ),
    ];
    let traces = read(&spans);
    let calls: Vec<(String, String)> = only_turn(&traces)
        .calls
        .iter()
        .map(|call| (call.args.as_ref().unwrap().to_string(), call.result.as_ref().unwrap().to_string()))
        .collect();
    let own = |n: u8| (format!("{{\"n\":{n}}}"), format!("{n}0"));
    assert_eq!((calls, kinds(&traces)), (vec![own(1), own(2)], vec![GapKind::DataByName]));
}

#[test]
fn spans_of_tools_by_the_signs_of_traceloop_and_mcp_or_by_their_name_are_calls() {
    let by_name = json!({ "args": [], "kwargs": { "city": "Oslo" } }).to_string();
    let by_place = json!({ "args": ["Oslo"], "kwargs": {} }).to_string();
    let traceloop = |input: &str| {
        json!({
            "traceloop.span.kind": "tool", "traceloop.entity.name": "get_weather", "traceloop.entity.input": input,
            "traceloop.entity.output": "\"grey\"",
        })
    };
    let mcp = json!({ "mcp.method.name": "tools/call", "gen_ai.tool.name": "get_weather" });
    let spans = [
        ("get_weather.tool", traceloop(&by_name)),
        ("get_weather.tool", traceloop(&by_place)),
        ("tools/call get_weather", mcp),
        ("tools/call get_weather", json!({ "mcp.method.name": "tools/call" })),
        ("execute_tool get_weather", json!({})),
    ];
    for (name, attributes) in spans {
        let tool = span(3, 1, name, attributes.clone());
        // With the words of the model they have its arguments, without them they have a gap.
        let mut spans = weather();
        spans[2] = tool.clone();
        let traces = read(&spans);
        let turn = only_turn(&traces);
        let call = (turn.calls.len(), turn.calls[0].to_function_call().to_string());
        assert_eq!(call, (1, r#"get_weather(city: "Oslo")"#.to_owned()), "{name} {attributes}");
        assert!(!kinds(&traces).into_iter().any(GapKind::loses), "{:?}", kinds(&traces));
        spans[1] = without(spans[1].clone(), "gen_ai.output.messages");
        let traces = read(&spans);
        let is_known = attributes["traceloop.entity.input"] == json!(by_name);
        assert_eq!(only_turn(&traces).calls[0].name, "get_weather", "{name} {attributes}");
        assert_eq!(kinds(&traces).contains(&GapKind::ArgumentsNotCaptured), !is_known, "{name} {attributes}");
        // Where no agent made it, it may belong to any conversation.
        let mut lone = tool;
        lone["parentSpanId"] = json!("");
        lone["traceId"] = json!(format!("{:032x}", 0xdef));
        let both: Vec<Value> = weather().into_iter().chain([lone]).collect();
        let gaps: Vec<GapKind> = read(&both).gaps().iter().map(|gap| gap.kind).collect();
        assert_eq!(gaps, [GapKind::CallsNotCaptured], "{name} {attributes}");
    }
    // Other methods of MCP, and other steps of traceloop, are no calls.
    for attributes in [json!({ "mcp.method.name": "tools/list" }), json!({ "traceloop.span.kind": "task" })] {
        let mut spans = weather();
        spans.push(span(5, 1, "other", attributes));
        assert_eq!((only_turn(&read(&spans)).calls.len(), kinds(&read(&spans))), (1, vec![]));
    }
    let agent = json!({ "traceloop.span.kind": "agent", "traceloop.entity.name": "planner" });
    let traces = read(&[span(1, 0, "planner.agent", agent), answers(2, 1, "Hi", "Hello")]);
    assert_eq!(only_turn(&traces).agent.as_deref(), Some("planner"));
}

#[test]
fn a_stream_of_adk_is_said_once_and_what_it_tells_of_other_agents_is_not_the_user() {
    let part = |text: &str| says("assistant", text);
    let chunks = json!([part("It is"), part(" sunny."), part("It is sunny.")]);
    let context = |text: &str| {
        json!({ "role": "user", "parts": [
        { "type": "text", "content": "For context:" }, { "type": "text", "content": text }] })
    };
    let quoted = says("user", "For context: below is a transcript <<<BEGIN_QUOTED_AGENT_CONTENT>>> hi");
    let sent = json!([says("user", "Hello"), context("[desk] said: Hi"), quoted, says("user", "And now?")]);
    let traces = read(&[agent(1, 0, "nurse"), chat(2, 1, sent, chunks)]);
    let turn = only_turn(&traces);
    assert_eq!((turn.user.as_deref(), turn.answer.as_deref()), (Some("And now?"), Some("It is sunny.")));
    // Chunks without the whole are put together.
    let chunks = json!([part("It is"), part(" sunny.")]);
    let traces = read(&[agent(1, 0, "nurse"), chat(2, 1, json!([says("user", "Hi")]), chunks)]);
    assert_eq!(only_turn(&traces).answer.as_deref(), Some("It is sunny."));
    // Calls that are not all in the last message are kept.
    let (one, other) = (calls("a", "f", json!({})), calls("b", "f", json!({})));
    let mut first = part("x");
    first["parts"].as_array_mut().unwrap().push(one["parts"][0].clone());
    let mut last = part("x");
    last["parts"].as_array_mut().unwrap().push(other["parts"][0].clone());
    let traces = read(&[agent(1, 0, "nurse"), chat(2, 1, json!([says("user", "Hi")]), json!([first, last]))]);
    assert_eq!(only_turn(&traces).calls.len(), 2);
    // A user may begin so.
    let user = "For context: I live in Paris.";
    let traces = read(&[agent(1, 0, "nurse"), chat(2, 1, json!([says("user", user)]), json!([part("Ok")]))]);
    assert_eq!(only_turn(&traces).user.as_deref(), Some(user));
}

#[test]
fn what_limits_dropped_is_a_gap_wherever_it_is_counted() {
    let count = |at: usize, key: &str, value: Value| {
        let mut spans = weather();
        spans[at][key] = value;
        kinds(&read(&spans))
    };
    for key in ["droppedAttributesCount", "dropped_events_count", "droppedLinksCount"] {
        assert_eq!(count(2, key, json!(1)), [GapKind::Dropped], "{key}");
        assert_eq!(count(2, key, json!("2")), [GapKind::Dropped], "{key}");
        assert_eq!(count(2, key, json!(0)), [], "{key}");
    }
    let event =
        json!([{ "name": "gen_ai.choice", "attributes": { "message": "x" }, "droppedAttributesCount": 1 }]);
    assert_eq!(count(3, "events", event), [GapKind::Dropped]);
    // A span that says nothing of agents may have said it in what was dropped.
    let other = |key: &str| {
        let mut spans = weather();
        spans.push(span(5, 1, "GET /", json!({ "http.route": "/" })));
        spans[4][key] = json!(7);
        kinds(&read(&spans))
    };
    assert_eq!(
        (other("droppedAttributesCount"), other("droppedEventsCount")),
        (vec![GapKind::Dropped], vec![])
    );

    let whole: Value = serde_json::from_str(&document(&weather())).unwrap();
    for (place, field) in [
        ("", "droppedSpansCount"),
        ("/resourceSpans/0", "dropped_spans_count"),
        ("/resourceSpans/0/scopeSpans/0", "droppedSpansCount"),
        ("/resourceSpans/0/resource", "droppedAttributesCount"),
        ("/resourceSpans/0/scopeSpans/0/scope", "droppedAttributesCount"),
    ] {
        let mut document = whole.clone();
        document["resourceSpans"][0]["resource"] = json!({});
        document["resourceSpans"][0]["scopeSpans"][0]["scope"] = json!({});
        document.pointer_mut(place).unwrap()[field] = json!(3);
        let traces = Traces::from_reader(document.to_string().as_bytes()).unwrap();
        let gaps: Vec<GapKind> = traces.gaps().iter().map(|gap| gap.kind).collect();
        assert_eq!(gaps, [GapKind::Dropped], "{place} {field}");
    }
    let log = json!({ "resourceLogs": [{ "scopeLogs": [{ "logRecords": [{
        "eventName": "gen_ai.choice", "traceId": weather()[3]["traceId"], "spanId": weather()[3]["spanId"],
        "droppedAttributesCount": 1 }] }] }] });
    let text = format!("{}\n{log}", document(&weather()));
    assert!(kinds(&Traces::from_reader(text.as_bytes()).unwrap()).contains(&GapKind::Dropped));
    let tags = json!([{ "key": "otel.dropped_events_count", "type": "int64", "value": 2 },
        { "key": "gen_ai.operation.name", "type": "string", "value": "invoke_agent" }]);
    let jaeger = json!({ "data": [{ "spans": [{ "traceID": "a", "spanID": "b", "operationName": "x", "tags": tags,
        "startTime": 1, "duration": 1 }] }] });
    assert!(kinds(&Traces::from_reader(jaeger.to_string().as_bytes()).unwrap()).contains(&GapKind::Dropped));
    // An answer in part, beside its `data`.
    let mut jaeger = json!({ "data": [{ "spans": [{ "traceID": "a", "spanID": "b", "operationName": "x" }] }], "errors": null });
    assert!(!kinds(&Traces::from_reader(jaeger.to_string().as_bytes()).unwrap()).contains(&GapKind::Dropped));
    jaeger["errors"] = json!([{ "code": 404, "msg": "trace not found" }]);
    assert!(kinds(&Traces::from_reader(jaeger.to_string().as_bytes()).unwrap()).contains(&GapKind::Dropped));
}

#[test]
fn ids_that_adk_makes_up_of_a_name_and_a_place_join_no_call_with_the_result_of_another() {
    let question = says("user", "Weather?");
    let asks =
        |at: u64, city: &str| calls(&format!("get_weather_{at}"), "get_weather", json!({ "city": city }));
    let mut asked = says("assistant", "One moment.");
    for (at, city) in [(1, "Oslo"), (2, "Rome"), (3, "Bonn")] {
        asked["parts"].as_array_mut().unwrap().push(asks(at, city)["parts"][0].clone());
    }
    let parts: Vec<Value> = ["grey", "blue", "grey"]
        .iter()
        .enumerate()
        .map(|(at, sky)| result(&format!("get_weather_{at}"), json!({ "sky": sky }))["parts"][0].clone())
        .collect();
    let results = json!({ "role": "user", "parts": parts });
    let adk = |span: Value| with(span, "gcp.vertex.agent.event_id", json!("e"));
    let traces = read(&[
        agent(1, 0, "desk"),
        adk(chat(2, 1, json!([question]), json!([asked]))),
        adk(chat(3, 1, json!([question, asked, results]), json!([says("assistant", "Done.")]))),
    ]);
    let skies: Vec<String> = only_turn(&traces)
        .calls
        .iter()
        .map(|call| call.result.as_ref().unwrap()["sky"].to_string())
        .collect();
    assert_eq!(
        (skies, kinds(&traces)),
        (["grey", "blue", "grey"].map(|sky| format!("{sky:?}")).to_vec(), vec![])
    );
}
