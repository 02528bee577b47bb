//! Rough sizes of events in memory, which the limit of a turn counts.

use eval_format::{Content, Map, Value};

use super::event::Event;

/// Bytes of an event beside its texts and values.
const EVENT_BYTES: usize = 256;
/// Bytes of a value or a part beside its text.
const VALUE_BYTES: usize = 32;

pub(super) fn of_event(event: &Event) -> usize {
    // Each field is named, so that the compiler reports new ones here.
    let Event {
        author,
        content,
        usage: _,
        model_version,
        grounding_metadata,
        state_delta,
        error_code,
        error_message,
        partial: _,
        skip_summarization: _,
        long_running_tool_ids,
        at: _,
    } = event;
    EVENT_BYTES
        + author.len()
        + of_text(model_version.as_ref())
        + of_text(error_code.as_ref())
        + of_text(error_message.as_ref())
        + long_running_tool_ids.iter().map(|id| id.len() + VALUE_BYTES).sum::<usize>()
        + of_map(state_delta)
        + grounding_metadata.as_ref().map_or(0, of_map)
        + content.as_ref().map_or(0, of_content)
}

fn of_content(content: &Content) -> usize {
    let mut bytes = 0;
    for part in content.parts() {
        bytes += VALUE_BYTES + of_text(part.text.as_ref()) + of_map(&part.other);
        if let Some(call) = &part.function_call {
            bytes += of_text(call.name.as_ref()) + call.args.as_ref().map_or(0, of_map) + of_map(&call.other);
        }
        if let Some(response) = &part.function_response {
            let result = response.response.as_ref().map_or(0, of_map);
            bytes += of_text(response.name.as_ref()) + result + of_map(&response.other);
        }
    }
    bytes
}

fn of_text(text: Option<&String>) -> usize {
    text.map_or(0, String::len)
}

/// Not recursive, since tools may return values of any depth.
fn of_map(map: &Map) -> usize {
    // Values that hold other values. Most maps of an event hold none, and then nothing is allocated.
    let mut nested = Vec::new();
    let mut bytes = of_entries(map, &mut nested);
    while let Some(value) = nested.pop() {
        bytes += match value {
            Value::Array(items) => items.iter().map(|item| of_value(item, &mut nested)).sum(),
            Value::Object(map) => of_entries(map, &mut nested),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        };
    }
    bytes
}

fn of_entries<'a>(map: &'a Map, nested: &mut Vec<&'a Value>) -> usize {
    map.iter().map(|(key, value)| key.len() + of_value(value, nested)).sum()
}

/// The size of a value alone. A value that holds others is added to `nested`.
fn of_value<'a>(value: &'a Value, nested: &mut Vec<&'a Value>) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => return VALUE_BYTES + text.len(),
        Value::Array(_) | Value::Object(_) => nested.push(value),
    }
    VALUE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use eval_format::{FunctionCall, FunctionResponse, Part};
    use serde_json::json;

    #[test]
    fn every_text_of_an_event_counts() {
        let long = "x".repeat(1000);
        let of = |part| Event::new("a", Content::new("model", vec![part]));
        for event in [
            Event::new(long.clone(), Content::default()),
            Event::new("a", Content::model(long.clone())),
            Event::error("a", "500", long.clone()),
            Event::empty("a").with_state("k", long.as_str()),
            Event::empty("a").with_state(long.as_str(), 1),
            Event::empty("a").with_model_version(long.clone()),
            Event::empty("a").with_long_running_tool(long.clone()),
            Event::empty("a").with_grounding_metadata(Map::from([("k", long.as_str())])),
            of(Part::call(FunctionCall::new(long.clone(), json!({})))),
            of(Part::call(FunctionCall::new("f", json!({ "deep": [[{ "k": long.clone() }]] })))),
            of(Part::response(FunctionResponse::new("f", json!([long.clone()])))),
            of(Part::default().with_other("inline_data", long.as_str())),
        ] {
            let bytes = of_event(&event);
            assert!((1000..2500).contains(&bytes), "{bytes}: {event:?}");
        }
    }

    #[test]
    fn values_of_any_depth_are_weighed() {
        let deep = (0..100_000).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        let event = Event::empty("a").with_state("k", deep);
        assert!(of_event(&event) > 100_000 * VALUE_BYTES);
        // Dropping such a value is recursive, and no part of what is tested here.
        std::mem::forget(event);
    }
}
