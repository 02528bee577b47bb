//! The schema of the keys `_expect` and `_criteria` of a case.

use super::descriptions::description;
use super::parts::{any_of, array, described, list, object, pattern, type_of};
use crate::expect::{DEMANDS, OBJECTS, TURN_KEYS, words};
use crate::value::{Map, Value};

pub(super) const EXAMPLE: &str = r#"{"1": {"calls": {"search": {"q": {"contains": "visa"}}}}}"#;

const TURN: &str = "turn_of_expect";
const MATCHER: &str = "matcher_of_expect";
const DEMAND: &str = "demands_of_expect";

/// The value of `_expect`: an object with turns by their numbers.
pub(super) fn turns() -> Value {
    object([
        ("type", "object".into()),
        ("patternProperties", object([("^[1-9][0-9]*$", reference(TURN))])),
        ("additionalProperties", false.into()),
    ])
}

/// The value of `_criteria`: which metrics there are is known with the config alone.
pub(super) fn criteria() -> Value {
    let change = any_of(["number", "object", "null"].map(type_of).into());
    object([("type", "object".into()), ("minProperties", 1_i64.into()), ("additionalProperties", change)])
}

/// The definitions that [`turns`] refers to.
pub(super) fn definitions() -> [(&'static str, Value); 3] {
    [
        (TURN, closed("a turn of `_expect`", &TURN_KEYS, turn_key)),
        (MATCHER, matcher()),
        (DEMAND, closed("demands of `_expect`", &DEMANDS, demand)),
    ]
}

/// An object of these keys and no others.
fn closed(what: &str, keys: &[&str], schema: fn(&str) -> Value) -> Value {
    let properties: Map =
        keys.iter().map(|key| (*key, described(description(what, key), "", vec![schema(key)]))).collect();
    object([
        ("type", "object".into()),
        ("title", what.into()),
        ("properties", Value::Object(properties)),
        ("additionalProperties", false.into()),
    ])
}

fn turn_key(key: &str) -> Value {
    let matchers = || by_name(reference(MATCHER));
    match key {
        "calls" => by_name(any_of(vec![constant("any"), matchers()])),
        "order" => constant("any"),
        "others" => any_of(vec![constant("any"), array(type_of("string"))]),
        "optional" => array(type_of("string")),
        "repeat" => by_name(count()),
        "responses" => by_name(matchers()),
        _ => reference(DEMAND),
    }
}

fn matcher() -> Value {
    let with = |keys: &[&str]| closed("a matcher of `_expect`", keys, matcher_key);
    let mut options = vec![object([("enum", list(words()))]), with(&["min", "max"])];
    options.extend(OBJECTS.iter().filter(|key| !["min", "max"].contains(key)).map(|key| with(&[*key])));
    any_of(options.into_iter().map(at_least_one_key).collect())
}

/// The schema of an object, of which one key has to be there.
fn at_least_one_key(mut schema: Value) -> Value {
    if let Value::Object(map) = &mut schema
        && map.contains_key("properties")
    {
        map.insert("minProperties", 1_i64);
    }
    schema
}

fn matcher_key(key: &str) -> Value {
    match key {
        "contains" => texts(),
        "regex" => type_of("string"),
        "one_of" => object([("type", "array".into()), ("minItems", 1_i64.into())]),
        "within" => tolerance(),
        "optional" => reference(MATCHER),
        "equals" => true.into(),
        _ => type_of("number"),
    }
}

fn demand(key: &str) -> Value {
    match key {
        "number" => {
            let near = object([
                ("type", "object".into()),
                ("properties", object([("is", type_of("number")), ("within", tolerance())])),
                ("required", list(["is"])),
                ("additionalProperties", false.into()),
            ]);
            one_or_more(any_of(vec![type_of("number"), near]))
        }
        "json" => {
            let equals = closed("a matcher of `_expect`", &["equals"], matcher_key);
            by_name(any_of(vec![at_least_one_key(equals), reference(MATCHER)]))
        }
        "max_words" => count(),
        _ => texts(),
    }
}

fn texts() -> Value {
    one_or_more(type_of("string"))
}

fn one_or_more(item: Value) -> Value {
    let several = object([("type", "array".into()), ("items", item.clone()), ("minItems", 1_i64.into())]);
    any_of(vec![item, several])
}

fn tolerance() -> Value {
    any_of(vec![object([("type", "number".into()), ("minimum", 0_i64.into())]), pattern("%$")])
}

fn count() -> Value {
    object([("type", "integer".into()), ("minimum", 1_i64.into())])
}

fn by_name(value: Value) -> Value {
    object([("type", "object".into()), ("additionalProperties", value)])
}

fn constant(text: &str) -> Value {
    object([("const", text.into())])
}

fn reference(name: &str) -> Value {
    object([("$ref", format!("#/definitions/{name}").into())])
}
