//! The spelling of keys: ADK's files have `snake_case`, its servers camelCase.

use std::collections::HashMap;

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
    fn a_key_in_two_spellings_is_found_wherever_it_is_one_of_adk() {
        for (text, found) in [
            (r#"{"mimeType": 1, "mime_type": 1}"#, Some(["mimeType", "mime_type"])),
            (r#"[{"a": {"mimeType": 1, "mime_type": 1}}]"#, Some(["mimeType", "mime_type"])),
            (r#"{"args": {"mimeType": 1, "mime_type": 1}}"#, None),
            (r#"{"mimeType": 1, "data": 1}"#, None),
        ] {
            assert_eq!(in_two_spellings(&Value::parse(text).unwrap()), found, "{text}");
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
