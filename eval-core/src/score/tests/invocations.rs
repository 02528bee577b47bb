//! Turns out of JSON, with numbers kept as written.

use std::collections::BTreeMap;

use eval_format::{
    Content, FunctionCall, IntermediateData, Invocation, InvocationEvent, Map, Number, Part, UsageMetadata,
    Value,
};
use serde_json::value::RawValue;

pub(super) type Object<'a> = BTreeMap<String, &'a RawValue>;

/// An object whose values are not read yet.
pub(super) fn object(raw: &RawValue) -> Object<'_> {
    read(raw)
}

pub(super) fn read<'a, T: serde_core::Deserialize<'a>>(raw: &'a RawValue) -> T {
    serde_json::from_str(raw.get()).unwrap_or_else(|error| panic!("{error}: {raw}"))
}

/// A field, `None` where it is absent or null.
pub(super) fn field<'a>(object: &Object<'a>, key: &str) -> Option<&'a RawValue> {
    object.get(key).copied().filter(|raw| raw.get() != "null")
}

fn list<'a>(object: &Object<'a>, key: &str) -> Option<Vec<&'a RawValue>> {
    field(object, key).map(read)
}

/// A value; numbers, `NaN` and the infinities as [`Number::parse`] reads them. `NaN` and the
/// infinities come as objects, since JSON has no text for them.
pub(super) fn value(raw: &RawValue) -> Value {
    match raw.get().as_bytes()[0] {
        b'{' => {
            let entries = object(raw);
            match entries.get("$number") {
                Some(text) => Value::Number(Number::parse(&read::<String>(text)).expect("a number")),
                None => Value::Object(map(&entries)),
            }
        }
        b'[' => Value::Array(read::<Vec<&RawValue>>(raw).into_iter().map(value).collect()),
        b'"' => Value::String(read(raw)),
        b't' | b'f' => Value::Bool(read(raw)),
        b'n' => Value::Null,
        _ => Value::Number(Number::parse(raw.get()).expect("a number")),
    }
}

fn map(entries: &Object<'_>) -> Map {
    entries.iter().map(|(key, raw)| (key.as_str(), value(raw))).collect()
}

/// A float, correctly rounded (which `serde_json` does not promise).
pub(super) fn float(raw: &RawValue) -> f64 {
    value(raw).as_f64().unwrap_or_else(|| panic!("a number: {raw}"))
}

/// A list of turns.
pub(super) fn invocations(raw: &RawValue) -> Vec<Invocation> {
    read::<Vec<&RawValue>>(raw).into_iter().map(invocation).collect()
}

fn invocation(raw: &RawValue) -> Invocation {
    let fields = object(raw);
    let seconds = |key| field(&fields, key).map(float);
    let mut turn = Invocation::default();
    turn.final_response = field(&fields, "final_response").map(content);
    turn.intermediate_data = field(&fields, "intermediate_data").map(intermediate_data);
    turn.duration = seconds("duration");
    turn.model_duration = seconds("model_duration");
    turn.tool_duration = seconds("tool_duration");
    turn
}

fn intermediate_data(raw: &RawValue) -> IntermediateData {
    let fields = object(raw);
    match list(&fields, "invocation_events") {
        Some(events) => IntermediateData::Events(events.into_iter().map(event).collect()),
        None => IntermediateData::Tools {
            tool_uses: list(&fields, "tool_uses").unwrap_or_default().into_iter().map(call).collect(),
            tool_responses: Vec::new(),
            intermediate_responses: Vec::new(),
        },
    }
}

fn event(raw: &RawValue) -> InvocationEvent {
    let fields = object(raw);
    let mut event = InvocationEvent::default();
    event.content = field(&fields, "content").map(content);
    event.usage_metadata = field(&fields, "usage_metadata").map(usage);
    event.model_version = field(&fields, "model_version").map(read);
    event
}

fn usage(raw: &RawValue) -> UsageMetadata {
    let fields = object(raw);
    let count = |key| field(&fields, key).map(read::<i64>);
    let mut usage = UsageMetadata::default();
    usage.prompt_token_count = count("prompt_token_count");
    usage.candidates_token_count = count("candidates_token_count");
    usage.total_token_count = count("total_token_count");
    usage.cached_content_token_count = count("cached_content_token_count");
    usage.thoughts_token_count = count("thoughts_token_count");
    usage.tool_use_prompt_token_count = count("tool_use_prompt_token_count");
    usage
}

fn content(raw: &RawValue) -> Content {
    let parts = list(&object(raw), "parts");
    let mut content = Content::default();
    content.parts = parts.map(|parts| parts.into_iter().map(part).collect());
    content
}

fn part(raw: &RawValue) -> Part {
    let fields = object(raw);
    let mut part = Part::default();
    part.text = field(&fields, "text").map(read);
    part.function_call = field(&fields, "function_call").map(call);
    part
}

fn call(raw: &RawValue) -> FunctionCall {
    let fields = object(raw);
    let mut call = FunctionCall::default();
    call.id = field(&fields, "id").map(read);
    call.name = field(&fields, "name").map(read);
    call.args = field(&fields, "args").map(|raw| map(&object(raw)));
    call
}
