//! The spelling of keys: ADK's files have `snake_case`, its servers camelCase.

use eval_core::format::{Map, Value};

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

/// A key in `snake_case`. Other spellings than camelCase stay as they are.
pub(crate) fn snake(key: &str) -> String {
    let mut out = String::with_capacity(key.len() + 4);
    for c in key.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// A key in camelCase.
pub(crate) fn camel(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    let mut upper = false;
    for c in key.chars() {
        match c {
            '_' if !out.is_empty() => upper = true,
            c if upper => {
                out.push(c.to_ascii_uppercase());
                upper = false;
            }
            c => out.push(c),
        }
    }
    out
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_change_their_spelling_and_back() {
        for (snake_case, camel_case) in [
            ("text", "text"),
            ("inline_data", "inlineData"),
            ("parameters_json_schema", "parametersJsonSchema"),
        ] {
            assert_eq!((snake(camel_case).as_str(), snake(snake_case).as_str()), (snake_case, snake_case));
            assert_eq!((camel(snake_case).as_str(), camel(camel_case).as_str()), (camel_case, camel_case));
        }
    }

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
