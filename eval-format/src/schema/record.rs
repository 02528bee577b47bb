//! Checked values: what the walker returns and the typed model is built from.

use super::table::Model;
use crate::value::{Map, Value};

/// A value that was checked against a [`Type`](super::table::Type).
pub(crate) enum Checked {
    /// A scalar or a free-form value, or a stand-in for a refused value. A refused value has a problem, so nothing is
    /// built from the stand-in.
    Value(Value),
    Record(Record),
    List(Vec<Checked>),
    Dict(Vec<(String, Checked)>),
    Pair(Box<(Checked, Checked)>),
}

/// A checked object of a [`Model`]: the fields that are there and not `null`, under their
/// `snake_case` names and in the model's order, and the keys that ADK keeps.
pub(crate) struct Record {
    pub(crate) model: &'static Model,
    /// `None` in place of a field that was taken out.
    pub(super) fields: Vec<(&'static str, Option<Checked>)>,
    pub(crate) extra: Map,
}

impl Record {
    /// Takes a field out.
    pub(crate) fn take(&mut self, name: &str) -> Option<Checked> {
        self.fields.iter_mut().find(|(field, _)| *field == name)?.1.take()
    }

    pub(crate) fn value(&mut self, name: &str) -> Option<Value> {
        self.take(name).map(Checked::into_value)
    }

    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        match self.value(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn float(&mut self, name: &str) -> Option<f64> {
        self.value(name)?.as_f64()
    }

    /// An integer of 64 bits. A larger one stays in the record.
    pub(crate) fn int(&mut self, name: &str) -> Option<i64> {
        let (_, found) = self.fields.iter().find(|(field, _)| *field == name)?;
        let Some(Checked::Value(value)) = found else { return None };
        let int = value.as_i64()?;
        self.take(name);
        Some(int)
    }

    pub(crate) fn bool(&mut self, name: &str) -> Option<bool> {
        self.value(name)?.as_bool()
    }

    pub(crate) fn map(&mut self, name: &str) -> Option<Map> {
        match self.value(name) {
            Some(Value::Object(map)) => Some(map),
            _ => None,
        }
    }

    pub(crate) fn record<T: From<Record>>(&mut self, name: &str) -> Option<T> {
        self.take(name)?.into_record().map(T::from)
    }

    /// The elements of a list.
    pub(crate) fn list(&mut self, name: &str) -> Option<Vec<Checked>> {
        match self.take(name)? {
            Checked::List(items) => Some(items),
            _ => None,
        }
    }

    /// The elements of a list of records.
    pub(crate) fn records<T: From<Record>>(&mut self, name: &str) -> Option<Vec<T>> {
        self.list(name).map(records)
    }

    /// The elements of a list of strings.
    pub(crate) fn texts(&mut self, name: &str) -> Option<Vec<String>> {
        let items = self.list(name)?;
        let mut made = Vec::with_capacity(items.len());
        for item in items {
            if let Checked::Value(Value::String(text)) = item {
                made.push(text);
            }
        }
        Some(made)
    }

    /// The fields not taken yet, as values.
    pub(crate) fn rest(self) -> Map {
        let mut entries: Vec<(String, Value)> = Vec::with_capacity(self.fields.len() + self.extra.len());
        for (name, value) in self.fields {
            if let Some(value) = value {
                entries.push((name.to_owned(), value.into_value()));
            }
        }
        entries.extend(self.extra);
        Map::from_unique(entries)
    }
}

/// What is made of the records among checked values.
pub(crate) fn records<T: From<Record>>(items: Vec<Checked>) -> Vec<T> {
    // A loop: collecting is many times the code, for each type that is made.
    let mut made = Vec::with_capacity(items.len());
    for item in items {
        if let Checked::Record(record) = item {
            made.push(T::from(record));
        }
    }
    made
}

impl Checked {
    pub(crate) fn into_record(self) -> Option<Record> {
        match self {
            Self::Record(record) => Some(record),
            _ => None,
        }
    }

    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Value(value) => value,
            Self::Record(record) => Value::Object(record.rest()),
            Self::List(items) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(item.into_value());
                }
                Value::Array(values)
            }
            Self::Dict(entries) => {
                let mut values = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    values.push((key, value.into_value()));
                }
                Value::Object(Map::from_unique(values))
            }
            Self::Pair(pair) => Value::Array(vec![pair.0.into_value(), pair.1.into_value()]),
        }
    }
}
