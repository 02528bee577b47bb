//! Checked values: the walker returns them, and the typed model is built from them.

use super::table::Model;
use crate::value::{Map, Value};

/// A value that was checked against a [`Type`](super::table::Type).
pub(crate) enum Checked {
    /// A scalar or a free-form value, or a placeholder of a refused value. A refused value has a problem, so nothing is
    /// built from the placeholder.
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
    /// Takes a field out and converts it; `None` if it is absent, or a value of another type.
    pub(crate) fn take<T: FromChecked>(&mut self, name: &str) -> Option<T> {
        let (_, slot) = self.fields.iter_mut().find(|(field, _)| *field == name)?;
        T::take_from(slot)
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

/// A type that can be built from a checked value.
pub(crate) trait FromChecked: Sized {
    fn take_from(slot: &mut Option<Checked>) -> Option<Self>;
}

impl FromChecked for Value {
    fn take_from(slot: &mut Option<Checked>) -> Option<Self> {
        slot.take().map(Checked::into_value)
    }
}

impl FromChecked for String {
    fn take_from(slot: &mut Option<Checked>) -> Option<Self> {
        match slot.take() {
            Some(Checked::Value(Value::String(text))) => Some(text),
            _ => None,
        }
    }
}

impl FromChecked for Map {
    fn take_from(slot: &mut Option<Checked>) -> Option<Self> {
        match slot.take()?.into_value() {
            Value::Object(map) => Some(map),
            _ => None,
        }
    }
}

impl FromChecked for f64 {
    fn take_from(slot: &mut Option<Checked>) -> Option<Self> {
        slot.take()?.into_value().as_f64()
    }
}

impl FromChecked for bool {
    fn take_from(slot: &mut Option<Checked>) -> Option<Self> {
        slot.take()?.into_value().as_bool()
    }
}

impl FromChecked for i64 {
    /// An integer beyond 64 bits is not taken out.
    fn take_from(slot: &mut Option<Checked>) -> Option<Self> {
        let Some(Checked::Value(value)) = slot else { return None };
        let int = value.as_i64()?;
        *slot = None;
        Some(int)
    }
}

/// Types that are built from one record.
macro_rules! from_record {
    ($($type:ident),+) => {
        $(impl $crate::schema::FromChecked for $type {
            fn take_from(slot: &mut Option<$crate::schema::Checked>) -> Option<Self> {
                slot.take()?.into_record().map(Self::from)
            }
        })+
    };
}

pub(crate) use from_record;

from_record!(Record);

/// A field that may be absent takes the value if it is there.
impl<T: FromChecked> FromChecked for Option<T> {
    fn take_from(slot: &mut Option<Checked>) -> Option<Self> {
        T::take_from(slot).map(Some)
    }
}

/// The elements of a list. An object of any keys is a list of pairs.
impl<T: FromChecked> FromChecked for Vec<T> {
    fn take_from(slot: &mut Option<Checked>) -> Option<Self> {
        let items = match slot.take()? {
            Checked::List(items) => items,
            Checked::Dict(entries) => pairs(entries),
            _ => return None,
        };
        // A loop: `collect` would be compiled to many times the code for each type.
        let mut made = Vec::with_capacity(items.len());
        for item in items {
            if let Some(item) = T::take_from(&mut Some(item)) {
                made.push(item);
            }
        }
        Some(made)
    }
}

fn pairs(entries: Vec<(String, Checked)>) -> Vec<Checked> {
    let pair = |(key, value)| Checked::Pair(Box::new((Checked::Value(Value::String(key)), value)));
    entries.into_iter().map(pair).collect()
}

impl<A: FromChecked, B: FromChecked> FromChecked for (A, B) {
    fn take_from(slot: &mut Option<Checked>) -> Option<Self> {
        let Checked::Pair(pair) = slot.take()? else { return None };
        let (first, second) = *pair;
        Some((A::take_from(&mut Some(first))?, B::take_from(&mut Some(second))?))
    }
}
