//! Traces that are written here.

use eval_agents::traces::{GapKind, Traces};
use serde_json::{Value, json};

/// A span of this number with attributes, below another one.
pub(crate) fn span(number: u64, parent: u64, name: &str, attributes: Value) -> Value {
    let start = 1_760_000_000_000_000_000 + number * 1_000_000_000;
    json!({
        "traceId": format!("{:032x}", 0xabc),
        "spanId": format!("{number:016x}"),
        "parentSpanId": if parent == 0 { String::new() } else { format!("{parent:016x}") },
        "name": name,
        "startTimeUnixNano": start.to_string(),
        "endTimeUnixNano": (start + 500_000_000).to_string(),
        "attributes": attributes,
    })
}

pub(crate) fn agent(number: u64, parent: u64, name: &str) -> Value {
    span(
        number,
        parent,
        "invoke_agent",
        json!({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name }),
    )
}

/// A call of a model, with its messages.
pub(crate) fn chat(number: u64, parent: u64, sent: Value, put_out: Value) -> Value {
    let attributes = json!({
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": sent.to_string(),
        "gen_ai.output.messages": put_out.to_string(),
    });
    span(number, parent, "chat", attributes)
}

pub(crate) fn tool(number: u64, parent: u64, name: &str, args: Value, result: Value) -> Value {
    let attributes = json!({
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.arguments": args.to_string(),
        "gen_ai.tool.call.result": result.to_string(),
    });
    span(number, parent, "execute_tool", attributes)
}

/// A message of text.
pub(crate) fn says(role: &str, text: &str) -> Value {
    json!({ "role": role, "parts": [{ "type": "text", "content": text }] })
}

pub(crate) fn calls(id: &str, name: &str, args: Value) -> Value {
    json!({ "role": "assistant", "parts": [{ "type": "tool_call", "id": id, "name": name, "arguments": args }] })
}

pub(crate) fn result(id: &str, response: Value) -> Value {
    json!({ "role": "tool", "parts": [{ "type": "tool_call_response", "id": id, "response": response }] })
}

/// A whole turn: a question about the weather in Oslo, a call of a tool, and the answer.
pub(crate) fn weather() -> Vec<Value> {
    let question = says("user", "How is Oslo?");
    vec![
        agent(1, 0, "weather"),
        chat(2, 1, json!([question]), json!([calls("c1", "get_weather", json!({ "city": "Oslo" }))])),
        tool(3, 1, "get_weather", json!({ "city": "Oslo" }), json!({ "sky": "grey" })),
        chat(
            4,
            1,
            json!([question, result("c1", json!({ "sky": "grey" }))]),
            json!([says("assistant", "Oslo is grey.")]),
        ),
    ]
}

pub(crate) fn document(spans: &[Value]) -> String {
    json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] }).to_string()
}

pub(crate) fn read(spans: &[Value]) -> Traces {
    Traces::from_reader(document(spans).as_bytes()).unwrap()
}

/// Another value of an attribute of a span.
pub(crate) fn with(mut span: Value, key: &str, value: Value) -> Value {
    span["attributes"][key] = value;
    span
}

pub(crate) fn without(mut span: Value, key: &str) -> Value {
    span["attributes"].as_object_mut().unwrap().remove(key);
    span
}

/// The kinds of all gaps, each once, in the order of their codes.
pub(crate) fn kinds(traces: &Traces) -> Vec<GapKind> {
    let of_conversations =
        traces.conversations().iter().flat_map(|it| it.all_gaps().map(|(_, gap)| gap.kind));
    let all = traces.gaps().iter().map(|gap| gap.kind).chain(of_conversations);
    all.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

pub(crate) fn loses(traces: &Traces) -> bool {
    kinds(traces).into_iter().any(GapKind::loses)
}

/// A value on each line.
pub(crate) fn lines(values: &[Value]) -> String {
    values.iter().fold(String::new(), |text, value| text + &value.to_string() + "\n")
}
