//! Values from Rust's own types.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::number::Number;
use super::tree::{Map, Value};

macro_rules! from {
    ($made:ty { $($($kind:ty),+ => |$given:pat_param| $value:expr,)+ }) => {
        $($(
            impl From<$kind> for $made {
                fn from($given: $kind) -> Self {
                    $value
                }
            }
        )+)+
    };
}

pub(super) use from;

from!(Number {
    i8, i16, i32, u8, u16, u32 => |int| Self::from(i64::from(int)),
    f32 => |float| Self::from(f64::from(float)),
    isize, usize, i128, u128 => |int| Self::of_any_size(int),
});

from!(Value {
    bool => |flag| Self::Bool(flag),
    &str => |text| Self::String(text.to_owned()),
    String => |text| Self::String(text),
    &String => |text| Self::String(text.clone()),
    Cow<'_, str> => |text| Self::String(text.into_owned()),
    i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64 =>
        |number| Self::Number(Number::from(number)),
    Number => |number| Self::Number(number),
    () => |()| Self::Null,
    Map => |map| Self::Object(map),
    &Value => |value| value.clone(),
});

/// `None` is `null`.
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>, const N: usize> From<[T; N]> for Value {
    fn from(items: [T; N]) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Clone + Into<Value>> From<&[T]> for Value {
    fn from(items: &[T]) -> Self {
        Self::Array(items.iter().cloned().map(Into::into).collect())
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<K: Into<String>, V: Into<Value>, const N: usize> From<[(K, V); N]> for Map {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K: Into<String>, V: Into<Value>> From<BTreeMap<K, V>> for Map {
    fn from(entries: BTreeMap<K, V>) -> Self {
        entries.into_iter().collect()
    }
}

/// A hash map has no order, so the keys are sorted.
impl<K: Into<String>, V: Into<Value>, S> From<HashMap<K, V, S>> for Map {
    fn from(entries: HashMap<K, V, S>) -> Self {
        let sorted: BTreeMap<String, V> =
            entries.into_iter().map(|(key, value)| (key.into(), value)).collect();
        sorted.into()
    }
}

impl<K: Into<String>, V: Into<Value>> From<BTreeMap<K, V>> for Value {
    fn from(entries: BTreeMap<K, V>) -> Self {
        Self::Object(entries.into())
    }
}

/// A hash map has no order, so the keys are sorted.
impl<K: Into<String>, V: Into<Value>, S> From<HashMap<K, V, S>> for Value {
    fn from(entries: HashMap<K, V, S>) -> Self {
        Self::Object(entries.into())
    }
}

impl PartialEq<str> for Value {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(*other)
    }
}

/// Equal to a value of the same kind: `1.0` is not `1`.
macro_rules! equal_to {
    ($($kind:ty),*) => {
        $(
            impl PartialEq<$kind> for Value {
                fn eq(&self, other: &$kind) -> bool {
                    let other = Self::from(*other);
                    *self == other
                }
            }
        )*
    };
}

equal_to!(bool, i32, i64, u64, usize, f64);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rusts_own_types_are_values() {
        for (value, text) in [
            (Value::from(-1_i8), "-1"),
            (Value::from(7), "7"),
            (Value::from(7_u32), "7"),
            (Value::from(usize::MAX), "18446744073709551615"),
            (Value::from(u64::MAX), "18446744073709551615"),
            (Value::from(u128::MAX), "340282366920938463463374607431768211455"),
            (Value::from(i128::MIN), "-170141183460469231731687303715884105728"),
            (Value::from(0.5_f32), "0.5"),
            (Value::from(0.1), "0.1"),
            (Value::from(Number::from(3_u8)), "3"),
            (Value::from(None::<bool>), "null"),
            (Value::from(Some("x")), r#""x""#),
            (Value::from(()), "null"),
            (Value::from(Cow::from("x")), r#""x""#),
            (Value::from(&"x".to_owned()), r#""x""#),
            (Value::from(vec![Some(1), None]), "[1,null]"),
            (Value::from(["a", "b"]), r#"["a","b"]"#),
            (Value::from([1_u16, 2].as_slice()), "[1,2]"),
            ((1..4).collect(), "[1,2,3]"),
            (Value::from(BTreeMap::from([("b", 1), ("a", 2)])), r#"{"a":2,"b":1}"#),
            (Value::from(HashMap::from([("b", 1), ("a", 2)])), r#"{"a":2,"b":1}"#),
            (Value::from(&Value::from(1)), "1"),
        ] {
            assert_eq!(value.to_string(), text);
        }
    }

    #[test]
    fn values_of_serde_json_go_both_ways_borrowed_too() {
        let theirs = json!({ "city": "Paris", "days": [1, 2.5, null] });
        let ours = Value::from(&theirs);
        assert_eq!(ours, Value::from(theirs.clone()));
        assert_eq!(serde_json::Value::from(&ours), theirs);
        let object = theirs.as_object().cloned().unwrap_or_default();
        let map = Map::from(object.clone());
        assert_eq!(ours.as_object(), Some(&map));
        assert_eq!(Map::from(&object), map);
        assert_eq!(serde_json::Map::from(map), object);
        assert_eq!(Value::from(object), ours);
        assert_eq!(ours, theirs);
        assert_eq!(theirs, ours);
        assert_eq!(ours["city"], "Paris");
        assert_eq!((&ours["days"][0], &ours["days"][1]), (&Value::from(1), &Value::from(2.5)));
        assert!(ours["days"][0] == 1 && ours["days"][1] == 2.5 && ours["days"][0] != 1.0);
        assert_ne!(ours, json!({ "city": "Oslo", "days": [1, 2.5, null] }));
    }
}
