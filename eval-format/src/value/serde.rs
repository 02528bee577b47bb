//! Values to and from serde and `serde_json`.

use std::collections::HashSet;
use std::fmt;

use serde_core::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde_core::ser::{SerializeMap, SerializeSeq};
use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

use super::convert::from;
use super::number::Number;
use super::tree::{Map, Value};

impl Serialize for Value {
    /// Integers beyond 128 bits become floats: serde has no type for them.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| seq.serialize_element(item))?;
                seq.end()
            }
            Self::Object(map) => map.serialize(serializer),
        }
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(Some(self.len()))?;
        self.iter().try_for_each(|(key, value)| out.serialize_entry(key, value))?;
        out.end()
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(int) = self.as_i64() {
            return serializer.serialize_i64(int);
        }
        if self.is_integer() {
            let text = self.to_string();
            if let Ok(int) = text.parse() {
                return serializer.serialize_u64(int);
            }
            if let Ok(int) = text.parse() {
                return serializer.serialize_i128(int);
            }
        }
        serializer.serialize_f64(self.as_f64())
    }
}

/// A duplicate key of an object is an error, as in [`Value::parse`].
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, int: i64) -> Result<Value, E> {
        Ok(Value::from(int))
    }

    fn visit_u64<E>(self, int: u64) -> Result<Value, E> {
        Ok(Value::Number(Number::from(int)))
    }

    fn visit_f64<E>(self, float: f64) -> Result<Value, E> {
        Ok(Value::from(float))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut entries: Vec<(String, Value)> = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        let mut seen = HashSet::with_capacity(entries.len());
        if let Some((key, _)) = entries.iter().find(|(key, _)| !seen.insert(key.as_str())) {
            return Err(A::Error::custom(format_args!("key {key:?} is repeated in one object")));
        }
        Ok(Value::Object(Map::from_unique(entries)))
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(flag) => Self::Bool(flag),
            serde_json::Value::Number(number) => {
                Number::parse(&number.to_string()).map_or(Self::Null, Self::Number)
            }
            serde_json::Value::String(text) => Self::String(text),
            serde_json::Value::Array(items) => Self::Array(items.into_iter().map(Into::into).collect()),
            serde_json::Value::Object(map) => Self::Object(map.into()),
        }
    }
}

from!(Value {
    &serde_json::Value => |value| value.clone().into(),
    serde_json::Map<String, serde_json::Value> => |map| Self::Object(map.into()),
});
from!(Map {
    &serde_json::Map<String, serde_json::Value> => |map| map.clone().into(),
});
from!(serde_json::Value {
    &Value => |value| value.clone().into(),
    Map => |map| Self::Object(map.into()),
});

impl From<serde_json::Map<String, serde_json::Value>> for Map {
    fn from(map: serde_json::Map<String, serde_json::Value>) -> Self {
        Self::from_unique(map.into_iter().map(|(key, value)| (key, value.into())).collect())
    }
}

impl From<Map> for serde_json::Map<String, serde_json::Value> {
    /// Numbers that `serde_json` cannot hold are changed as in the conversion to a [`serde_json::Value`].
    fn from(map: Map) -> Self {
        map.into_iter().map(|(key, value)| (key, value.into())).collect()
    }
}

/// Equal if the conversion of this value to `serde_json` gives the other value.
impl PartialEq<serde_json::Value> for Value {
    fn eq(&self, other: &serde_json::Value) -> bool {
        use serde_json::Value as Theirs;
        match (self, other) {
            (Self::Null, Theirs::Null) => true,
            (Self::Bool(ours), Theirs::Bool(theirs)) => ours == theirs,
            (Self::Number(ours), _) => number_to_serde(ours) == *other,
            (Self::String(ours), Theirs::String(theirs)) => ours == theirs,
            (Self::Array(ours), Theirs::Array(theirs)) => ours == theirs,
            (Self::Object(ours), Theirs::Object(theirs)) => {
                let is_there =
                    |(key, ours): (&str, &Self)| theirs.get(key).is_some_and(|theirs| ours == theirs);
                ours.len() == theirs.len() && ours.iter().all(is_there)
            }
            _ => false,
        }
    }
}

impl PartialEq<Value> for serde_json::Value {
    fn eq(&self, other: &Value) -> bool {
        other == self
    }
}

impl From<Value> for serde_json::Value {
    /// Integers beyond 64 bits become floats. `NaN` and the infinities become `null`. `serde_json` cannot
    /// hold them without features that would leak into every user of it.
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(flag),
            Value::Number(number) => number_to_serde(&number),
            Value::String(text) => Self::String(text),
            Value::Array(items) => Self::Array(items.into_iter().map(Into::into).collect()),
            Value::Object(map) => Self::Object(map.into()),
        }
    }
}

fn number_to_serde(number: &Number) -> serde_json::Value {
    if let Some(int) = number.as_i64() {
        return int.into();
    }
    if number.is_integer()
        && let Ok(int) = number.to_string().parse::<u64>()
    {
        return int.into();
    }
    serde_json::Number::from_f64(number.as_f64()).map_or(serde_json::Value::Null, serde_json::Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serde_round_trip_keeps_kinds() {
        let text = r#"{"a":1,"b":1.0,"c":[null,true,"x"],"d":18446744073709551615}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(value.to_string(), text);
        assert_eq!(serde_json::to_string(&value).unwrap(), text);
        let there: serde_json::Value = value.clone().into();
        assert_eq!(Value::from(there), value);
    }

    #[test]
    fn a_value_equals_what_it_is_converted_to_and_nothing_else() {
        let texts = [
            "null",
            "true",
            "false",
            "1",
            "1.0",
            "1e400",
            "NaN",
            "-7",
            "18446744073709551615",
            "1e30",
            "100000000000000000000",
            r#""""#,
            r#""1""#,
            "[]",
            "[null]",
            "[1,[2]]",
            "[1,[3]]",
            "{}",
            r#"{"a":null}"#,
            r#"{"a":1,"b":[{}]}"#,
            r#"{"b":[{}],"a":1}"#,
            r#"{"a":1,"c":[{}]}"#,
            r#"{"a":1}"#,
        ];
        let values = texts.map(|text| Value::parse(text).unwrap());
        let theirs = values.clone().map(serde_json::Value::from);
        for (value, converted) in values.iter().zip(&theirs) {
            for theirs in &theirs {
                assert_eq!(value == theirs, converted == theirs, "{value} {theirs}");
            }
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_an_error_in_small_objects_and_in_large_ones() {
        for others in [0, 1, 14, 16, 100] {
            let others: Vec<String> =
                (0..others).map(|number| format!("\"k{number}\": {number}, ")).collect();
            let others = others.concat();
            let once = format!("{{\"a\": 1, {others}\"b\": 2}}");
            let read: Value = serde_json::from_str(&once).unwrap();
            assert_eq!(Some(read), Value::parse(&once).ok());
            let error =
                serde_json::from_str::<Value>(&format!("{{\"a\": 1, {others}\"a\": 2}}")).unwrap_err();
            assert!(error.to_string().starts_with("key \"a\" is repeated in one object"), "{error}");
        }
    }
}
