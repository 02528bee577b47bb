//! The model with every field spelled out, as ADK dumps it into its result files.

use crate::coerce;
use crate::model::{IntermediateData, Invocation, InvocationEvent};
use crate::schema::{self, Field, Model, Type};
use crate::value::{Map, Number, Value};

impl Invocation {
    /// The turn with every field, including those that are `null` or have their default: the form of ADK's result
    /// files.
    ///
    /// ```
    /// use eval_format::Invocation;
    ///
    /// let turn = Invocation::user("Hi").to_full_value();
    /// assert_eq!(turn["creation_timestamp"].as_f64(), Some(0.0));
    /// assert!(turn.as_object().is_some_and(|fields| fields.contains_key("final_response")));
    /// ```
    ///
    /// Keys and values that ADK's models refuse are left out of free-form maps, so ADK can always load it.
    pub fn to_full_value(&self) -> Value {
        let mut saved = self.to_value();
        // An empty list of events and the empty flat form have the same saved form.
        if let (Some(IntermediateData::Events(events)), Value::Object(fields)) =
            (&self.intermediate_data, &mut saved)
            && events.is_empty()
        {
            let none = Map::from([("invocation_events", Value::Array(Vec::new()))]);
            fields.insert("intermediate_data", none);
        }
        complete(saved, &schema::INVOCATION)
    }
}

impl InvocationEvent {
    /// The event with every field, those that are `null` included; see [`Invocation::to_full_value`].
    pub fn to_full_value(&self) -> Value {
        complete(self.to_value(), &schema::INVOCATION_EVENT)
    }
}

/// Every field of a model in order, with its value in the object or else its default.
fn complete(value: Value, model: &Model) -> Value {
    let Value::Object(mut given) = value else { return complete(Value::Object(Map::new()), model) };
    let field = |field: &Field| {
        let value = given.remove(field.name).and_then(|value| fitted(value, &field.kind));
        // A required field gets the empty value of its type.
        let default = || if field.nullable { Value::Null } else { empty(&field.kind) };
        (field.name.to_owned(), value.unwrap_or_else(default))
    };
    Value::Object(Map::from_unique(model.fields.iter().map(field).collect()))
}

/// The value as ADK dumps it, if it is of the type.
fn fitted(value: Value, kind: &Type) -> Option<Value> {
    match (kind, value) {
        (Type::Any, value)
        | (Type::String | Type::Choice { .. }, value @ Value::String(_))
        | (Type::Bool, value @ Value::Bool(_))
        | (Type::Object, value @ Value::Object(_)) => Some(value),
        (Type::Bytes, Value::String(text)) => coerce::base64_text(&text).map(Value::String),
        (Type::Enum(names), Value::String(text)) => {
            let known = names.iter().find(|name| name.eq_ignore_ascii_case(&text));
            Some(known.map_or(Value::String(text), |name| Value::from(*name)))
        }
        (Type::Literal(only), Value::String(text)) => (text == *only).then_some(Value::String(text)),
        (Type::Float | Type::PythonFloat, Value::Number(number)) => {
            Some(number.as_f64()).filter(|float| float.is_finite()).map(Value::from)
        }
        (Type::Int, Value::Number(number)) => number.is_integer().then_some(Value::Number(number)),
        (Type::Model(model) | Type::Named(model, _), value @ Value::Object(_)) => {
            Some(complete(value, model))
        }
        (Type::Either(first, second), Value::Object(map)) => {
            let is_second = second.fields.iter().any(|field| map.contains_key(field.name));
            Some(complete(Value::Object(map), if is_second { second } else { first }))
        }
        (Type::EmptyOr(inner), value) => fitted(value, inner),
        (Type::List(inner), Value::Array(items)) => Some(list(items, &|item| fitted(item, inner))),
        (Type::Models(model), Value::Array(items)) => Some(list(items, &|item| object(item, model))),
        (Type::Dict(model), Value::Object(map)) => {
            let entries = map.into_iter().filter_map(|(key, item)| Some((key, object(item, model)?)));
            Some(Value::Object(Map::from_unique(entries.collect())))
        }
        (Type::AuthorsAndParts(model), Value::Array(items)) => {
            Some(list(items, &|item| author_and_parts(item, model)))
        }
        _ => None,
    }
}

fn object(value: Value, model: &Model) -> Option<Value> {
    value.as_object().is_some().then(|| complete(value, model))
}

fn list(items: Vec<Value>, each: &dyn Fn(Value) -> Option<Value>) -> Value {
    Value::Array(items.into_iter().filter_map(each).collect())
}

fn author_and_parts(pair: Value, model: &Model) -> Option<Value> {
    let Value::Array(pair) = pair else { return None };
    let Ok([author @ Value::String(_), Value::Array(parts)]) = <[Value; 2]>::try_from(pair) else {
        return None;
    };
    Some(Value::Array(vec![author, list(parts, &|part| object(part, model))]))
}

fn empty(kind: &Type) -> Value {
    match kind {
        Type::String | Type::Bytes | Type::Enum(_) | Type::Choice { .. } => Value::from(""),
        Type::Literal(only) => Value::from(*only),
        Type::Float | Type::PythonFloat => Value::from(0.0),
        Type::Int => Value::Number(Number::from(0_i64)),
        Type::Bool => Value::Bool(false),
        Type::List(_) | Type::Models(_) | Type::AuthorsAndParts(_) => Value::Array(Vec::new()),
        Type::Object | Type::Dict(_) => Value::Object(Map::new()),
        Type::Any => Value::Null,
        Type::Model(model) | Type::Either(model, _) | Type::Named(model, _) => {
            complete(Value::Object(Map::new()), model)
        }
        Type::EmptyOr(inner) => empty(inner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Content, FunctionCall, Part};
    use serde_json::json;

    fn part(other: serde_json::Value) -> Value {
        let Value::Object(other) = Value::from(other) else { panic!("an object") };
        let part = Part { other, ..Part::default() };
        let turn = Invocation { user_content: Content::new("user", vec![part]), ..Invocation::default() };
        turn.to_full_value()["user_content"]["parts"][0].clone()
    }

    #[test]
    fn every_field_is_there_in_the_order_of_adk() {
        let turn = Invocation::user("q").call(FunctionCall::new("f", json!({}))).to_full_value();
        let keys: Vec<&str> = turn.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "invocation_id",
                "user_content",
                "final_response",
                "intermediate_data",
                "creation_timestamp",
                "duration",
                "model_duration",
                "tool_duration",
                "rubrics",
                "app_details"
            ]
        );
        assert_eq!(
            turn["intermediate_data"].to_string(),
            r#"{"tool_uses":[{"id":null,"args":{},"name":"f","partial_args":null,"will_continue":null}],"#
                .to_owned()
                + r#""tool_responses":[],"intermediate_responses":[]}"#
        );
    }

    #[test]
    fn no_events_stay_events() {
        let turn = Invocation {
            intermediate_data: Some(IntermediateData::Events(Vec::new())),
            ..Invocation::default()
        };
        assert_eq!(turn.to_full_value()["intermediate_data"].to_string(), r#"{"invocation_events":[]}"#);
    }

    #[test]
    fn what_adk_would_refuse_is_left_out() {
        for (given, key, expected) in [
            (json!({ "thought_signature": "/+8=" }), "thought_signature", r#""_-8=""#),
            (json!({ "thought_signature": "!" }), "thought_signature", "null"),
            (json!({ "nonsense": 1 }), "nonsense", "null"),
            (json!({ "media_processing": "static" }), "media_processing", r#""STATIC""#),
            (
                json!({ "video_metadata": { "fps": 1 } }),
                "video_metadata",
                r#"{"end_offset":null,"fps":1.0,"start_offset":null}"#,
            ),
            (json!({ "video_metadata": 3 }), "video_metadata", "null"),
            (json!({ "part_metadata": { "any": [1] } }), "part_metadata", r#"{"any":[1]}"#),
        ] {
            assert_eq!(part(given.clone())[key].to_string(), expected, "{given}");
        }
        assert!(!part(json!({ "nonsense": 1 })).as_object().unwrap().contains_key("nonsense"));
        let turn = Invocation { creation_timestamp: f64::NAN, ..Invocation::default() };
        assert_eq!(turn.to_full_value()["creation_timestamp"].to_string(), "0.0");
    }
}
