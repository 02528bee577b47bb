//! The tree: values with their places in the text.

use std::borrow::Cow;
use std::ops::Range;

use crate::problem::{JsonPath, PathSegment, short};
use crate::value::{Map, Number, Value};

pub(crate) struct Node<'a> {
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind<'a>,
}

/// The value of a [`Node`].
pub(crate) enum Kind<'a> {
    Null,
    Bool(bool),
    /// The text as written: `5.0`, `1e400`, `-Infinity`.
    Number(&'a str),
    String(Cow<'a, str>),
    Array(Vec<Node<'a>>),
    Object(Vec<Entry<'a>>),
}

/// A key and its value; keys are unique within an object.
pub(crate) struct Entry<'a> {
    pub(crate) key: Cow<'a, str>,
    pub(crate) key_range: Range<usize>,
    pub(crate) value: Node<'a>,
}

impl<'a> Node<'a> {
    pub(crate) fn array(&self) -> Option<&[Node<'a>]> {
        match &self.kind {
            Kind::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn object(&self) -> Option<&[Entry<'a>]> {
        match &self.kind {
            Kind::Object(entries) => Some(entries),
            _ => None,
        }
    }

    pub(crate) fn string(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    /// The entry under a key, if this is an object that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry<'a>> {
        self.object()?.iter().find(|entry| entry.key == key)
    }

    /// Its name in messages.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::String(_) => "a string",
            Kind::Array(_) => "an array",
            Kind::Object(_) => "an object",
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(flag) => Value::Bool(*flag),
            Kind::Number(text) => Number::parse(text).map_or(Value::Null, Value::Number),
            Kind::String(text) => Value::String(text.clone().into_owned()),
            Kind::Array(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            Kind::Object(entries) => Value::Object(to_map(entries)),
        }
    }
}

pub(crate) fn to_map(entries: &[Entry<'_>]) -> Map {
    let pair = |entry: &Entry<'_>| (entry.key.clone().into_owned(), entry.value.to_value());
    Map::from_unique(entries.iter().map(pair).collect())
}

/// Calls a function with each value: with an array or object before its elements.
pub(super) fn walk(root: &Node<'_>, visit: impl FnMut(&Node<'_>, &JsonPath)) {
    Walk { path: JsonPath::default(), visit }.node(root);
}

struct Walk<F> {
    path: JsonPath,
    visit: F,
}

impl<F: FnMut(&Node<'_>, &JsonPath)> Walk<F> {
    fn node(&mut self, node: &Node<'_>) {
        (self.visit)(node, &self.path);
        match &node.kind {
            Kind::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.below(PathSegment::Index(at), item);
                }
            }
            Kind::Object(entries) => {
                for entry in entries {
                    self.below(PathSegment::Key(short(&entry.key)), &entry.value);
                }
            }
            _ => {}
        }
    }

    fn below(&mut self, step: PathSegment, node: &Node<'_>) {
        self.path.push(step);
        self.node(node);
        self.path.pop();
    }
}
