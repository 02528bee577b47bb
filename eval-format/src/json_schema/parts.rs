//! Parts of schemas.

use crate::value::{Map, Value};

/// A rough pattern for the text of a number: pydantic's exact rules are too long for a pattern.
pub(super) const NUMBER: &str = r"^\s*[+-]?([0-9.]|[iI][nN][fF]|[nN][aA][nN])";

pub(super) fn described(description: Option<&str>, example: &str, options: Vec<Value>) -> Value {
    let mut entries = Vec::new();
    entries.extend(description.map(|text| ("description".to_owned(), Value::from(text))));
    entries.extend(Value::parse(example).ok().map(|example| ("examples".to_owned(), list([example]))));
    entries.push(("anyOf".to_owned(), Value::Array(options)));
    Value::Object(Map::from_unique(entries))
}

pub(super) fn required(name: &str) -> Value {
    object([("required", list([name]))])
}

pub(super) fn any_of(options: Vec<Value>) -> Value {
    object([("anyOf", Value::Array(options))])
}

pub(super) fn type_of(name: &str) -> Value {
    object([("type", name.into())])
}

pub(super) fn array(items: Value) -> Value {
    object([("type", "array".into()), ("items", items)])
}

pub(super) fn pattern(pattern: &str) -> Value {
    object([("type", "string".into()), ("pattern", pattern.into())])
}

pub(super) fn list<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Value {
    Value::Array(items.into_iter().map(Into::into).collect())
}

pub(super) fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(Map::from_unique(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
}
