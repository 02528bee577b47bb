//! The spelling of keys: ADK's files have `snake_case`, its servers camelCase.

use std::collections::HashMap;

use eval_core::format::{Map, Value};
pub(crate) use eval_support::key_case::{camel, snake};

/// Objects whose keys belong to tools and users, not to ADK.
const FREE: [&str; 7] = [
    "args",
    "response",
    "part_metadata",
    "parameters",
    "parameters_json_schema",
    "response_json_schema",
    "custom_metadata",
];

/// A value with all keys of ADK's own in another spelling.
pub(super) fn respelled(value: Value, spell: fn(&str) -> String) -> Value {
    match value {
        Value::Object(map) => Value::Object(respelled_map(map, spell)),
        Value::Array(items) => items.into_iter().map(|item| respelled(item, spell)).collect(),
        other => other,
    }
}

/// An object with all keys of ADK's own in another spelling.
pub(super) fn respelled_map(map: Map, spell: fn(&str) -> String) -> Map {
    map.into_iter()
        .map(|(key, value)| {
            let is_free = FREE.contains(&snake(&key).as_str());
            (spell(&key), if is_free { value } else { respelled(value, spell) })
        })
        .collect()
}

/// Two keys of ADK's own in one object that are one key in two spellings, in the value or in what it holds.
pub(super) fn in_two_spellings(value: &Value) -> Option<[&str; 2]> {
    match value {
        Value::Array(items) => items.iter().find_map(in_two_spellings),
        Value::Object(map) => {
            let mut names: HashMap<String, &str> = HashMap::new();
            map.iter().find_map(|(key, value)| {
                let name = snake(key);
                let inside = if FREE.contains(&name.as_str()) { None } else { in_two_spellings(value) };
                inside.or_else(|| names.insert(name, key).map(|first| [first, key]))
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_tools_stay_as_they_are() {
        let sent =
            Value::parse(r#"{"toolCall": {"toolType": "X", "args": {"cityName": {"zipCode": 1}}}}"#).unwrap();
        let read = Value::parse(r#"{"tool_call": {"tool_type": "X", "args": {"cityName": {"zipCode": 1}}}}"#)
            .unwrap();
        assert_eq!(respelled(sent.clone(), snake), read);
        assert_eq!(respelled(read, camel), sent);
    }
}
