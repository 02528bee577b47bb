//! Answers that a fault changes: cut, with broken arguments, or empty.

use eval_format::__private::AnswerChange;
use eval_format::{Map, Value};

use crate::deltas::{Edit, edited};
use crate::recording::{Answer, Body};
use crate::sse::{Data, Event};

/// The answer with a change; `None` if it has nothing to change, such as calls with arguments.
pub(crate) fn changed(answer: &Answer, change: AnswerChange) -> Option<Answer> {
    let body = match &answer.body {
        // A stream of Gemini without `alt=sse` is an array.
        Body::Json(Value::Array(items)) => {
            let events = items.iter().map(|item| Event::of_json(None, item.clone())).collect();
            let items = of_stream(events, change).into_iter().filter_map(|event| event.json().cloned());
            Body::Json(items.collect())
        }
        Body::Json(value) => {
            let event = Event::of_json(None, value.clone());
            let changed = of_stream(vec![event], change);
            Body::Json(changed.first()?.json()?.clone())
        }
        Body::Events(events) => Body::Events(of_stream(events.clone(), change)),
        Body::Text { .. } => return None,
    };
    (body != answer.body).then(|| Answer { body, ..answer.clone() })
}

/// The events with a change. A plain answer is one event.
fn of_stream(events: Vec<Event>, change: AnswerChange) -> Vec<Event> {
    match change {
        AnswerChange::Truncated => {
            let cut =
                edited(events, |key, place, text| if is_words(key, place) { half(text) } else { Vec::new() });
            cut.into_iter().map(|event| ended(event, truncated)).collect()
        }
        AnswerChange::MalformedArguments => {
            let has_gemini_call = events.iter().filter_map(Event::json).any(has_function_call);
            let broken = edited(
                events,
                |key, place, text| {
                    if is_arguments(key, place) { last_brace(text) } else { Vec::new() }
                },
            );
            let broken = broken.into_iter().map(|event| ended(event, with_broken_input));
            if has_gemini_call {
                broken.map(|event| ended(event, without_gemini_call)).collect()
            } else {
                broken.collect()
            }
        }
        AnswerChange::Empty => events
            .into_iter()
            .filter(|event| !is_of_a_part(event))
            .map(|event| ended(event, emptied))
            .collect(),
    }
}

/// Whether a text is words of the answer.
fn is_words(key: &str, place: &str) -> bool {
    match key {
        "text" | "content" => true,
        "delta" => place.contains("(response.output_text.delta)"),
        _ => false,
    }
}

fn is_arguments(key: &str, place: &str) -> bool {
    match key {
        "arguments" | "partial_json" => true,
        "delta" => place.contains("(response.function_call_arguments.delta)"),
        _ => false,
    }
}

/// The removal of the second half of a text.
fn half(text: &str) -> Vec<Edit> {
    let middle = text.chars().count() / 2;
    let begin = text.char_indices().nth(middle).map_or(text.len(), |(at, _)| at);
    vec![Edit { begin, end: text.len(), with: "" }]
}

/// The removal of the brace that ends an object.
fn last_brace(text: &str) -> Vec<Edit> {
    match text.strip_suffix('}') {
        Some(before) => vec![Edit { begin: before.len(), end: text.len(), with: "" }],
        None => Vec::new(),
    }
}

/// The event with each field as `change` has it; `None` of it leaves a field alone, and looks into its value.
fn ended(event: Event, change: fn(&Map, &str, &Value) -> Option<Value>) -> Event {
    let Data::Json(value) = event.data else { return event };
    let value = of_value(&value, change);
    let kind = value.as_object().and_then(|map| map.get("type")).and_then(Value::as_str);
    // The name of an event repeats its type.
    let name = event.name.map(|name| kind.map_or(name, str::to_owned));
    Event { name, data: Data::Json(value) }
}

fn of_value(value: &Value, change: fn(&Map, &str, &Value) -> Option<Value>) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| of_value(item, change)).collect(),
        Value::Object(map) => {
            let fields = map
                .iter()
                .map(|(key, item)| (key, change(map, key, item).unwrap_or_else(|| of_value(item, change))));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

fn truncated(of: &Map, key: &str, value: &Value) -> Option<Value> {
    let is_response = || of.get("object").and_then(Value::as_str) == Some("response");
    match (key, value) {
        ("finish_reason", Value::String(_)) => Some(Value::from("length")),
        ("stop_reason", Value::String(_)) => Some(Value::from("max_tokens")),
        ("finishReason", Value::String(_)) => Some(Value::from("MAX_TOKENS")),
        ("type", Value::String(kind)) if kind == "response.completed" => {
            Some(Value::from("response.incomplete"))
        }
        ("status", Value::String(status)) if status == "completed" => Some(Value::from("incomplete")),
        ("incomplete_details", _) if is_response() => {
            Some(Value::Object(Map::from([("reason", "max_output_tokens")])))
        }
        _ => None,
    }
}

/// Arguments that are an object become a text that is no JSON.
fn with_broken_input(of: &Map, key: &str, value: &Value) -> Option<Value> {
    let is_call = of.get("type").and_then(Value::as_str) == Some("tool_use");
    match value {
        // A stream's input is empty: its arguments follow.
        Value::Object(input) if key == "input" && is_call && !input.is_empty() => {
            let text = value.to_string();
            Some(Value::from(text.strip_suffix('}').unwrap_or(&text)))
        }
        _ => None,
    }
}

fn has_function_call(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_function_call),
        Value::Object(map) => {
            map.contains_key("functionCall") || map.iter().any(|(_, item)| has_function_call(item))
        }
        _ => false,
    }
}

/// Gemini drops a call with broken arguments, and says so.
fn without_gemini_call(_: &Map, key: &str, value: &Value) -> Option<Value> {
    match (key, value) {
        ("parts", Value::Array(parts)) => {
            Some(parts.iter().filter(|part| !has_function_call(part)).cloned().collect())
        }
        ("finishReason", Value::String(_)) => Some(Value::from("MALFORMED_FUNCTION_CALL")),
        _ => None,
    }
}

/// Whether an event is of a part of the answer, and not of the answer itself.
fn is_of_a_part(event: &Event) -> bool {
    const PARTS: [&str; 6] = [
        "content_block_",
        "response.output_item.",
        "response.content_part.",
        "response.output_text.",
        "response.function_call_arguments.",
        "response.reasoning_",
    ];
    let kind =
        event.json().and_then(Value::as_object).and_then(|map| map.get("type")).and_then(Value::as_str);
    kind.is_some_and(|kind| PARTS.iter().any(|part| kind.starts_with(part)))
}

fn emptied(_: &Map, key: &str, value: &Value) -> Option<Value> {
    match (key, value) {
        ("text" | "content" | "output_text", Value::String(_)) => Some(Value::from("")),
        ("tool_calls" | "parts" | "output" | "content", Value::Array(_)) => Some(Value::Array(Vec::new())),
        ("finish_reason", Value::String(_)) => Some(Value::from("stop")),
        ("stop_reason", Value::String(_)) => Some(Value::from("end_turn")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use eval_format::__private::parse_value;

    use super::*;

    fn json(text: &str) -> Body {
        Body::Json(parse_value(text).unwrap())
    }

    fn events(texts: &[&str]) -> Body {
        let event = |text: &&str| {
            let value = parse_value(text).unwrap();
            let kind = value.as_object().and_then(|map| map.get("type")).and_then(Value::as_str);
            let name = kind.map(str::to_owned);
            Event { name, data: Data::Json(value) }
        };
        Body::Events(texts.iter().map(event).collect())
    }

    #[track_caller]
    fn assert_changed(change: AnswerChange, before: Body, after: Option<&Body>) {
        let answer = Answer { run: 1, status: 200, headers: Vec::new(), body: before };
        assert_eq!(changed(&answer, change).map(|answer| answer.body).as_ref(), after);
    }

    #[test]
    fn a_plain_answer_is_changed_where_its_wire_says_why_it_ended() {
        for (change, before, after) in [
            (
                AnswerChange::Truncated,
                r#"{"choices":[{"message":{"content":"It is sunny."},"finish_reason":"stop"}]}"#,
                r#"{"choices":[{"message":{"content":"It is "},"finish_reason":"length"}]}"#,
            ),
            (AnswerChange::Truncated, r#"{"stop_reason":"end_turn"}"#, r#"{"stop_reason":"max_tokens"}"#),
            (
                AnswerChange::MalformedArguments,
                r#"{"tool_calls":[{"function":{"arguments":"{\"a\":1}"}}]}"#,
                r#"{"tool_calls":[{"function":{"arguments":"{\"a\":1"}}]}"#,
            ),
            (
                AnswerChange::MalformedArguments,
                r#"{"content":[{"type":"tool_use","id":"t","input":{"a":1}}],"stop_reason":"tool_use"}"#,
                r#"{"content":[{"type":"tool_use","id":"t","input":"{\"a\":1"}],"stop_reason":"tool_use"}"#,
            ),
            (
                AnswerChange::MalformedArguments,
                r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{}}}]},"finishReason":"STOP"}]}"#,
                r#"{"candidates":[{"content":{"parts":[]},"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#,
            ),
            (
                AnswerChange::Empty,
                r#"{"content":[{"type":"tool_use","input":{}}],"stop_reason":"tool_use"}"#,
                r#"{"content":[],"stop_reason":"end_turn"}"#,
            ),
        ] {
            assert_changed(change, json(before), Some(&json(after)));
        }
        // Without a call there are no arguments.
        for said in [
            r#"{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}"#,
            r#"{"content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"}"#,
        ] {
            assert_changed(AnswerChange::MalformedArguments, json(said), None);
        }
    }

    #[test]
    fn a_stream_that_is_truncated_has_half_of_its_words_and_says_so() {
        let before = [
            r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"It is"}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":" sunny."}"#,
            r#"{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"It is sunny."}"#,
            r#"{"type":"response.completed","response":{"object":"response","status":"completed","incomplete_details":null,"output":[{"type":"message","status":"completed","content":[{"type":"output_text","text":"It is sunny."}]}]}}"#,
        ];
        let after = [
            r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"It is"}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":" "}"#,
            r#"{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"It is "}"#,
            r#"{"type":"response.incomplete","response":{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","status":"incomplete","content":[{"type":"output_text","text":"It is "}]}]}}"#,
        ];
        assert_changed(AnswerChange::Truncated, events(&before), Some(&events(&after)));
        let chat = |first: &str, second: &str, why: &str| {
            let chunk = |text: &str, why: &str| {
                format!(
                    r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":{why}}}]}}"#
                )
            };
            events(&[&chunk(first, "null"), &chunk(second, why)])
        };
        assert_changed(
            AnswerChange::Truncated,
            chat("It is", " sunny.", "\"stop\""),
            Some(&chat("It is", " ", "\"length\"")),
        );
    }

    #[test]
    fn arguments_that_come_in_pieces_are_broken_at_their_end_alone() {
        let chunk = |text: &str| {
            format!(
                r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":"{text}"}}}}]}}}}]}}"#
            )
        };
        let pieces = |texts: [&str; 3]| {
            let chunks = texts.map(chunk);
            events(&chunks.each_ref().map(String::as_str))
        };
        let whole = pieces([r#"{\"a\":{}"#, r#",\"b\":{\"c\":1}"#, "}"]);
        let broken = pieces([r#"{\"a\":{}"#, r#",\"b\":{\"c\":1}"#, ""]);
        assert_changed(AnswerChange::MalformedArguments, whole, Some(&broken));
        let call = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]}"#;
        let end = r#"{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}]}"#;
        let told = [
            call.replace(r#"{"functionCall":{"name":"f"}}"#, ""),
            end.replace("STOP", "MALFORMED_FUNCTION_CALL"),
        ];
        assert_changed(
            AnswerChange::MalformedArguments,
            events(&[call, end]),
            Some(&events(&told.each_ref().map(String::as_str))),
        );
        let array = json(&format!("[{call},{end}]"));
        assert_changed(
            AnswerChange::MalformedArguments,
            array,
            Some(&json(&format!("[{}]", told.join(",")))),
        );
    }

    #[test]
    fn an_empty_stream_has_no_parts() {
        let start = r#"{"type":"message_start","message":{"content":[]}}"#;
        let block = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#;
        let end = |why: &str| format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{why}"}}}}"#);
        assert_changed(
            AnswerChange::Empty,
            events(&[start, block, &end("tool_use")]),
            Some(&events(&[start, &end("end_turn")])),
        );
    }
}
