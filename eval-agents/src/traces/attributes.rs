//! Attributes in all forms that they are written in.

use std::collections::BTreeMap;

use eval_core::format::{Map, Number, Value};

use super::gap::Notes;
use super::id::base64;

const MAX_NESTING: usize = 64;

pub(super) type Attributes = BTreeMap<String, Value>;

/// OTLP's attributes: a list of keys and values, or an object, whose nested keys are joined with dots.
pub(super) fn otlp(value: &Value, notes: &mut Notes) -> Attributes {
    let mut out = Attributes::new();
    match value {
        Value::Null => {}
        Value::Object(map) => flatten(map, "", 0, &mut out, notes),
        Value::Array(items) => {
            for item in items {
                match (item["key"].as_str(), union_of(&item["value"], notes)) {
                    (Some(key), Some((kind, value))) => {
                        let value = any_value(kind, value, 0, notes);
                        add(&mut out, key.to_owned(), value, notes);
                    }
                    // A value that was set to nothing.
                    (Some(_), None)
                        if item["value"].is_null() || item["value"] == Value::Object(Map::new()) => {}
                    (Some(key), None) => {
                        notes.malformed(format!(
                            "the attribute `{}` has no value of a known type",
                            short(key)
                        ));
                    }
                    (None, _) => notes.malformed("an attribute has no key"),
                }
            }
        }
        other => notes.misfit("`attributes`", "a list", other.kind()),
    }
    out
}

/// Adds an attribute. A second, different value is noted and dropped.
fn add(out: &mut Attributes, key: String, value: Value, notes: &mut Notes) {
    match out.get(&key) {
        Some(first) if *first != value => notes.malformed(stands_twice(&key)),
        _ => drop(out.insert(key, value)),
    }
}

fn stands_twice(key: &str) -> String {
    format!("the attribute `{}` is there twice, with different values", short(key))
}

/// The beginning of an untrusted name.
fn short(key: &str) -> String {
    key.chars().take(80).collect()
}

fn flatten(map: &Map, prefix: &str, depth: usize, out: &mut Attributes, notes: &mut Notes) {
    for (key, value) in map {
        let full = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        match value {
            Value::Object(nested) if depth < MAX_NESTING => flatten(nested, &full, depth + 1, out, notes),
            other => add(out, full, other.clone(), notes),
        }
    }
}

/// The one field of an `AnyValue`, by its name in `camelCase`.
fn union_of<'v>(value: &'v Value, notes: &mut Notes) -> Option<(&'static str, &'v Value)> {
    const KINDS: &[(&str, &str)] = &[
        ("stringValue", "string_value"),
        ("boolValue", "bool_value"),
        ("intValue", "int_value"),
        ("doubleValue", "double_value"),
        ("bytesValue", "bytes_value"),
        ("arrayValue", "array_value"),
        ("kvlistValue", "kvlist_value"),
    ];
    let map = value.as_object()?;
    let is_kind = |key: &&str| KINDS.iter().any(|(camel, snake)| key == camel || key == snake);
    if map.keys().filter(is_kind).count() > 1 {
        notes.malformed("an attribute has two values");
    }
    KINDS.iter().find_map(|(camel, snake)| Some((*camel, map.get(camel).or_else(|| map.get(snake))?)))
}

pub(super) fn body(value: &Value, notes: &mut Notes) -> Value {
    union_of(value, notes).map_or(Value::Null, |(kind, value)| any_value(kind, value, 0, notes))
}

fn any_value(kind: &str, value: &Value, depth: usize, notes: &mut Notes) -> Value {
    if depth > MAX_NESTING {
        notes.malformed("a value is nested too deeply");
        return Value::Null;
    }
    let nested = |value: &Value, notes: &mut Notes| match union_of(value, notes) {
        Some((kind, value)) => any_value(kind, value, depth + 1, notes),
        None => Value::Null,
    };
    match (kind, value) {
        ("stringValue", Value::String(_))
        | ("boolValue", Value::Bool(_))
        | ("intValue" | "doubleValue", Value::Number(_)) => value.clone(),
        ("intValue" | "doubleValue", Value::String(text)) => number(text, value),
        ("bytesValue", Value::String(text)) => text_of_bytes(text, value),
        ("arrayValue", Value::Object(list)) => {
            let items = list["values"].as_array().unwrap_or_default();
            Value::Array(items.iter().map(|item| nested(item, notes)).collect())
        }
        ("kvlistValue", Value::Object(list)) => {
            let mut map = Map::new();
            for item in list["values"].as_array().unwrap_or_default() {
                let Some(key) = item["key"].as_str() else {
                    notes.malformed("an attribute has no key");
                    continue;
                };
                let value = nested(&item["value"], notes);
                if map.insert(key, value.clone()).is_some_and(|first| first != value) {
                    notes.malformed(stands_twice(key));
                }
            }
            Value::Object(map)
        }
        (_, Value::Null) => Value::Null,
        (kind, other) => {
            notes.malformed(format!("a `{kind}` is {}", other.kind()));
            Value::Null
        }
    }
}

fn number(text: &str, otherwise: &Value) -> Value {
    Number::parse(text.trim()).map_or_else(|| otherwise.clone(), Value::Number)
}

fn text_of_bytes(text: &str, otherwise: &Value) -> Value {
    let bytes = base64(text).and_then(|bytes| String::from_utf8(bytes).ok());
    bytes.map_or_else(|| otherwise.clone(), Value::from)
}

/// Jaeger's tags: a list of keys, types and values.
pub(super) fn jaeger(value: &Value, notes: &mut Notes) -> Attributes {
    let mut out = Attributes::new();
    let items = match value {
        Value::Null => return out,
        Value::Array(items) => items,
        other => {
            notes.misfit("tags", "a list", other.kind());
            return out;
        }
    };
    for tag in items {
        let Some(key) = tag["key"].as_str() else {
            notes.malformed("a tag has no key");
            continue;
        };
        let value = &tag["value"];
        let value = match (tag["type"].as_str(), value) {
            (Some("int64" | "float64"), Value::String(text)) => number(text, value),
            (Some("binary"), Value::String(text)) => text_of_bytes(text, value),
            _ => value.clone(),
        };
        add(&mut out, key.to_owned(), value, notes);
    }
    out
}

pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// A count, written as a number or as a string. A negative integer counts as zero.
pub(super) fn count(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => number.clone(),
        Value::String(text) => Number::parse(text.trim())?,
        _ => return None,
    };
    if let Some(int) = number.as_i64() {
        return Some(u64::try_from(int).unwrap_or_default());
    }
    // A number of more than 64 bits is no count.
    number.to_string().parse().ok().or_else(|| whole(number.as_f64()))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole and in range"
)]
fn whole(float: f64) -> Option<u64> {
    (float.fract() == 0.0 && (0.0..9.0e18).contains(&float)).then_some(float as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        Value::parse(text).unwrap()
    }

    /// The attributes of a text, as JSON, with the messages of the notes.
    fn read(of: fn(&Value, &mut Notes) -> Attributes, text: &str) -> (String, Vec<String>) {
        let mut notes = Notes::default();
        let map: Map = of(&value(text), &mut notes).into_iter().collect();
        (Value::from(map).to_string(), notes.into_gaps().into_iter().map(|gap| gap.message).collect())
    }

    #[test]
    fn each_kind_of_value_is_read_and_what_is_none_is_noted() {
        let entry = |any: &str| read(otlp, &format!(r#"[{{"key": "k", "value": {any}}}]"#));
        for (any, expected) in [
            (r#"{"stringValue": "a"}"#, r#"{"k":"a"}"#),
            (r#"{"boolValue": true}"#, r#"{"k":true}"#),
            (r#"{"int_value": "7"}"#, r#"{"k":7}"#),
            (r#"{"doubleValue": 0.5}"#, r#"{"k":0.5}"#),
            (r#"{"bytesValue": "aGk="}"#, r#"{"k":"hi"}"#),
            (r#"{"bytesValue": "h"}"#, r#"{"k":"h"}"#),
            (r#"{"arrayValue": {"values": [{"intValue": 1}, {}]}}"#, r#"{"k":[1,null]}"#),
            (r#"{"kvlistValue": {"values": [{"key": "a", "value": {"intValue": 1}}]}}"#, r#"{"k":{"a":1}}"#),
            (r#"{"stringValue": null}"#, r#"{"k":null}"#),
            // Set to nothing.
            ("{}", "{}"),
            ("null", "{}"),
        ] {
            assert_eq!(entry(any), (expected.to_owned(), vec![]), "{any}");
        }
        for (any, expected, told) in [
            (r#"{"stringValue": 5}"#, r#"{"k":null}"#, "a `stringValue` is a number"),
            (r#"{"newValue": 5}"#, "{}", "the attribute `k` has no value of a known type"),
            ("5", "{}", "the attribute `k` has no value of a known type"),
        ] {
            assert_eq!(entry(any), (expected.to_owned(), vec![told.to_owned()]), "{any}");
        }
        assert_eq!(read(otlp, "[{}]").1, ["an attribute has no key"]);
        assert_eq!(read(otlp, "5").1, ["`attributes` should be a list and is a number"]);
        assert_eq!(read(otlp, "null"), ("{}".to_owned(), vec![]));
        let long = format!(r#"[{{"key": "{}", "value": 5}}]"#, "é".repeat(90));
        assert!(read(otlp, &long).1[0].starts_with(&format!("the attribute `{}` has", "é".repeat(80))));
    }

    #[test]
    fn values_are_read_up_to_a_depth() {
        let nested = |depth: usize| {
            let open = r#"{"arrayValue": {"values": ["#.repeat(depth);
            let all = format!(r#"[{{"key": "k", "value": {open}{{"intValue": 1}}{}}}]"#, "]}}".repeat(depth));
            read(otlp, &all)
        };
        assert_eq!(nested(MAX_NESTING).1, [""; 0]);
        assert!(nested(MAX_NESTING).0.contains('1'));
        assert_eq!(nested(MAX_NESTING + 1).1, ["a value is nested too deeply"]);
        // Names of an object are joined down to the same depth.
        let joined = |depth: usize| {
            read(otlp, &format!(r#"{}{{"x": 1}}{}"#, r#"{"a": "#.repeat(depth), "}".repeat(depth))).0
        };
        assert_eq!(joined(2), r#"{"a.a.x":1}"#);
        assert!(joined(MAX_NESTING).ends_with(r#"a.a.x":1}"#), "{}", joined(MAX_NESTING));
        assert!(joined(MAX_NESTING + 1).ends_with(r#"a.a":{"x":1}}"#), "{}", joined(MAX_NESTING + 1));
    }

    #[test]
    fn tags_of_jaeger_have_values_of_their_types() {
        for (tag, expected) in [
            (r#""type": "int64", "value": "7""#, r#"{"k":7}"#),
            (r#""type": "float64", "value": "0.5""#, r#"{"k":0.5}"#),
            (r#""type": "int64", "value": "many""#, r#"{"k":"many"}"#),
            (r#""type": "binary", "value": "aGk=""#, r#"{"k":"hi"}"#),
            (r#""type": "string", "value": "7""#, r#"{"k":"7"}"#),
            (r#""value": true"#, r#"{"k":true}"#),
        ] {
            let found = read(jaeger, &format!(r#"[{{"key": "k", {tag}}}]"#));
            assert_eq!(found, (expected.to_owned(), vec![]), "{tag}");
        }
        assert_eq!(read(jaeger, "null"), ("{}".to_owned(), vec![]));
        assert_eq!(read(jaeger, "5").1, ["tags should be a list and is a number"]);
        assert_eq!(read(jaeger, "[{}]").1, ["a tag has no key"]);
    }

    #[test]
    fn a_count_is_whole_and_not_below_zero() {
        for (text, expected) in [
            ("7", Some(7)),
            (r#"" 7 ""#, Some(7)),
            ("-7", Some(0)),
            ("7.0", Some(7)),
            ("7.5", None),
            ("-7.0", None),
            ("18446744073709551615", Some(u64::MAX)),
            ("8.9e18", Some(8_900_000_000_000_000_000)),
            ("9.0e18", None),
            ("true", None),
            (r#""many""#, None),
        ] {
            assert_eq!(count(&value(text)), expected, "{text}");
        }
    }
}
