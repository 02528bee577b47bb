//! Tables of the objects in a config whose fields ADK knows, and the walk along them.

use super::object::{Extra, Object, wrong_type};
use crate::coerce;
use crate::problem::{JsonPath, Problem};
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
    /// What to write where it is absent; none where it may be.
    required: Option<&'static str>,
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

impl Field {
    pub(super) const fn required(name: &'static str, kind: Kind, example: &'static str) -> Self {
        Self { name, kind, required: Some(example), nullable: false }
    }

    pub(super) const fn optional(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, required: None, nullable: false }
    }

    pub(super) const fn nullable(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, required: None, nullable: true }
    }
}

impl Shape {
    /// The object in ADK's spelling without its nulls; a problem for everything that ADK rejects.
    pub(super) fn read(&self, node: &Node<'_>, path: JsonPath, problems: &mut Vec<Problem>) -> Option<Map> {
        let mut object = Object::read(node, path, self.what, self.extra, problems)?;
        let mut map = Vec::new();
        for field in self.fields {
            let entry = match field.required {
                Some(example) => object.required(field.name, example),
                None => object.field(field.name),
            };
            let Some(entry) = entry.filter(|entry| !(field.nullable && entry.value.is_null())) else {
                continue;
            };
            let value = field.kind.read(entry, object.path.key(&entry.key), problems);
            map.extend(value.map(|value| (field.name.to_owned(), value)));
        }
        map.extend(object.finish(problems).into_iter().map(Entry::to_pair));
        Some(Map::from_unique(map))
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
