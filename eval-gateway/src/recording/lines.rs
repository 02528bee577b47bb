//! Texts of several lines, as arrays of lines, so that a review shows the line that changed.

use eval_format::{Map, Value};

/// The key of an array of lines that takes the place of a text.
const LINES: &str = "_lines";

/// The value with its texts as lines.
pub(super) fn split(value: &Value) -> Value {
    match value {
        Value::String(text) if text.contains('\n') => {
            let lines: Value = text.split('\n').map(Value::from).collect();
            Value::Object(Map::from([(LINES, lines)]))
        }
        Value::Array(items) => items.iter().map(split).collect(),
        Value::Object(map) => Value::Object(map.iter().map(|(key, item)| (key, split(item))).collect()),
        other => other.clone(),
    }
}

/// The value with its lines joined again.
pub(super) fn join(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(join).collect(),
        Value::Object(map) => match map.get(LINES).and_then(Value::as_array).filter(|_| map.len() == 1) {
            Some(lines) if lines.iter().all(|line| line.as_str().is_some()) => {
                let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
                Value::String(lines.join("\n"))
            }
            _ => Value::Object(map.iter().map(|(key, item)| (key, join(item))).collect()),
        },
        other => other.clone(),
    }
}
