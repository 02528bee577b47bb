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
        let fields = self.fields.into_iter();
        let fields = fields.filter_map(|(name, value)| Some((name.to_owned(), value?.into_value())));
        Map::from_unique(fields.chain(self.extra).collect())
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
            Self::List(items) => items.into_iter().map(Self::into_value).collect(),
            Self::Dict(entries) => {
                let values = entries.into_iter().map(|(key, value)| (key, value.into_value()));
                Value::Object(Map::from_unique(values.collect()))
            }
            Self::Pair(pair) => Value::Array(vec![pair.0.into_value(), pair.1.into_value()]),
        }
    }
}

pub(crate) trait FromChecked: Sized {
    fn take_from(slot: &mut Option<Checked>) -> Option<Self>;
}

/// Types that are built from a value.
macro_rules! from_value {
    ($($kind:ty: $read:expr;)+) => {
        $(impl FromChecked for $kind {
            fn take_from(slot: &mut Option<Checked>) -> Option<Self> {
                $read(slot.take()?.into_value())
            }
        })+
    };
}

from_value! {
    Value: Some;
    f64: |value: Value| value.as_f64();
    bool: |value: Value| value.as_bool();
    String: |value| if let Value::String(text) = value { Some(text) } else { None };
    Map: |value| if let Value::Object(map) = value { Some(map) } else { None };
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

impl<T: FromChecked> FromChecked for Option<T> {
    fn take_from(slot: &mut Option<Checked>) -> Option<Self> {
        T::take_from(slot).map(Some)
    }
}

impl<T: FromChecked> FromChecked for Vec<T> {
    fn take_from(slot: &mut Option<Checked>) -> Option<Self> {
        let items = match slot.take()? {
            Checked::List(items) => items,
            // An object of any keys is a list of pairs.
            Checked::Dict(entries) => {
                let pair =
                    |(key, value)| Checked::Pair(Box::new((Checked::Value(Value::String(key)), value)));
                entries.into_iter().map(pair).collect()
            }
            _ => return None,
        };
        Some(items.into_iter().filter_map(|item| T::take_from(&mut Some(item))).collect())
    }
}

impl<A: FromChecked, B: FromChecked> FromChecked for (A, B) {
    fn take_from(slot: &mut Option<Checked>) -> Option<Self> {
        let Checked::Pair(pair) = slot.take()? else { return None };
        let (first, second) = *pair;
        Some((A::take_from(&mut Some(first))?, B::take_from(&mut Some(second))?))
    }
}
