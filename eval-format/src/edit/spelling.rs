//! The spelling of keys that a file uses.

use eval_support::key_case::camel;

use crate::schema::{EVAL_CASE, Model, Spelling, Type};
use crate::value::{Map, Value};

/// The spelling of keys in the cases of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `eval_id`, as ADK writes it.
    Snake,
    /// `evalId`.
    Camel,
    /// `id`, as adk-rs writes it. Other keys are as in ADK.
    Short,
}

impl Style {
    /// The style of a case with these keys. The spelling of its id decides.
    pub(super) fn of_keys<'k>(keys: impl IntoIterator<Item = &'k str>) -> Self {
        let id = const { EVAL_CASE.position("eval_id") };
        let spellings = keys.into_iter().filter_map(|key| EVAL_CASE.find(key));
        match spellings.filter(|(at, _)| *at == id).map(|(_, spelling)| spelling).max() {
            Some(Spelling::Camel) => Self::Camel,
            Some(Spelling::Alias) => Self::Short,
            Some(Spelling::Snake) | None => Self::Snake,
        }
    }

    /// A case in ADK's saved form, spelt in this style.
    pub(super) fn spell(self, case: Value) -> Value {
        match (self, case) {
            (Self::Camel, case) => in_camel_case(&case, &EVAL_CASE),
            (Self::Short, Value::Object(map)) if !map.contains_key("id") => {
                let short = |key: String| if key == "eval_id" { "id".to_owned() } else { key };
                Value::Object(map.into_iter().map(|(key, value)| (short(key), value)).collect())
            }
            (_, case) => case,
        }
    }
}

/// An object of a model with the model's keys in camelCase. Other keys and their values stay.
fn in_camel_case(value: &Value, model: &Model) -> Value {
    let Value::Object(map) = value else { return value.clone() };
    let spelt = map.iter().map(|(key, value)| match model.find(key) {
        Some((at, spelling)) => {
            let field = &model.fields[at];
            let respelt = model.camel && spelling == Spelling::Snake;
            (if respelt { camel(field.name) } else { key.to_owned() }, of_type(value, &field.kind))
        }
        None => (key.to_owned(), value.clone()),
    });
    Value::Object(spelt.collect::<Map>())
}

fn of_type(value: &Value, kind: &Type) -> Value {
    let each = |kind: &dyn Fn(&Value) -> Value| match value {
        Value::Array(items) => Value::Array(items.iter().map(kind).collect()),
        other => other.clone(),
    };
    match kind {
        Type::Model(model) | Type::Named(model, _) => in_camel_case(value, model),
        Type::List(kind) => each(&|item| of_type(item, kind)),
        Type::Models(model) => each(&|item| in_camel_case(item, model)),
        Type::Dict(model) => match value {
            Value::Object(map) => {
                let spelt = map.iter().map(|(key, value)| (key.to_owned(), in_camel_case(value, model)));
                Value::Object(spelt.collect::<Map>())
            }
            other => other.clone(),
        },
        // The author is a string, and stays.
        Type::AuthorsAndParts(model) => each(&|pair| match pair {
            Value::Array(pair) => {
                let parts = |item: &Value| of_type(item, &Type::Models(model));
                Value::Array(pair.iter().map(parts).collect())
            }
            other => other.clone(),
        }),
        Type::Either(one, other) => {
            let is_other =
                value.as_object().is_some_and(|map| map.keys().any(|key| other.find(key).is_some()));
            in_camel_case(value, if is_other { other } else { one })
        }
        Type::EmptyOr(kind) => of_type(value, kind),
        _ => value.clone(),
    }
}
