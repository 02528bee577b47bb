//! Tables of the objects in a config whose fields ADK knows, and the walk along them.

use super::object::{Object, wrong_type};
use crate::coerce;
use crate::problem::{Code, JsonPath, Problem};
use crate::syntax::{Entry, Node, to_map};
use crate::value::{Map, Value};

/// An object of ADK's: its fields in ADK's order, and what becomes of other keys.
pub(super) struct Shape {
    /// What it is called in messages.
    pub(super) what: &'static str,
    pub(super) fields: &'static [Field],
    pub(super) extra: Extra,
}

pub(super) struct Field {
    name: &'static str,
    kind: Kind,
    required: bool,
    nullable: bool,
}

pub(super) enum Kind {
    String,
    Float,
    Int,
    Bool,
    /// Any object.
    Free,
    Shape(&'static Shape),
}

/// What ADK does with a key that it does not know.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Extra {
    Ignore,
    Keep,
    Forbid,
}

impl Field {
    pub(super) const fn required(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, required: true, nullable: false }
    }

    pub(super) const fn optional(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, required: false, nullable: false }
    }

    pub(super) const fn nullable(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, required: false, nullable: true }
    }
}

impl Shape {
    /// The object in ADK's spelling without its nulls; a problem for everything that ADK rejects.
    pub(super) fn read(&self, node: &Node<'_>, path: JsonPath, problems: &mut Vec<Problem>) -> Option<Map> {
        let mut object = Object::read(node, path, self.what, problems)?;
        let mut map = Vec::new();
        for field in self.fields {
            let entry = if field.required {
                object.required(field.name, self.what, problems)
            } else {
                object.field(field.name, problems)
            };
            let Some(entry) = entry.filter(|entry| !(field.nullable && entry.value.is_null())) else {
                continue;
            };
            let value = field.kind.read(entry, object.path.key(&entry.key), problems);
            map.extend(value.map(|value| (field.name.to_owned(), value)));
        }
        for entry in object.unknown(problems) {
            match self.extra {
                Extra::Ignore => {}
                Extra::Keep => map.push((entry.key.clone().into_owned(), entry.value.to_value())),
                Extra::Forbid => problems.push(self.forbidden(entry, &object)),
            }
        }
        Some(Map::from_unique(map))
    }

    fn forbidden(&self, entry: &Entry<'_>, object: &Object<'_, '_>) -> Problem {
        Problem::error(
            Code::UnknownKey,
            object.path.key(&entry.key),
            entry.key_range.clone(),
            format!("`{}` is not a key of {}", entry.key, self.what),
        )
        .label("ADK rejects it")
        .help(format!("the keys are {}", object.known()))
    }
}

impl Kind {
    fn read(&self, entry: &Entry<'_>, path: JsonPath, problems: &mut Vec<Problem>) -> Option<Value> {
        let node = &entry.value;
        let (value, expected) = match self {
            Self::String => (node.string().map(Value::from), "a string"),
            Self::Float => (coerce::float(node).map(Value::from), "a number"),
            Self::Int => (coerce::int(node).map(Value::Number), "an integer"),
            Self::Bool => (coerce::bool(node).map(Value::Bool), "`true` or `false`"),
            Self::Free => (node.object().map(|entries| Value::Object(to_map(entries))), "an object"),
            Self::Shape(shape) => return shape.read(node, path, problems).map(Value::Object),
        };
        if value.is_none() {
            problems.push(wrong_type(path, node, &format!("`{}`", entry.key), expected));
        }
        value
    }
}
