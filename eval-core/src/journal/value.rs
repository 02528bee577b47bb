//! Values from outside: what agents and their tools sent, without loss.
//!
//! JSON has no `NaN` and no infinities, and readers of JSON round integers of more than 64 bits. Such a number is an object with one
//! key: `{"$evalset::number":"NaN"}`.

use serde_core::ser::SerializeMap as _;
use serde_core::{Deserialize as _, Deserializer, Serialize, Serializer};

use eval_format::{Map, Number, Value};

use super::field::Field;
use super::serializer::OUTSIDE;

/// The reader takes 127 levels, of which a record needs a dozen. Values below this level are replaced by a remark.
pub(super) const DEEPEST: usize = 100;

const TOO_DEEP: &str = "(nested too deep to be recorded)";

/// The key of a number that is no number in JSON. An object from outside that has it alone has one more `$` in the record.
const NUMBER: &str = "$evalset::number";

/// A value at a level of another one.
struct At<'a>(&'a Value, usize);

impl Serialize for At<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(value, depth) = *self;
        match value {
            Value::Null => to.serialize_unit(),
            Value::Bool(flag) => to.serialize_bool(*flag),
            Value::Number(number) => write_number(number, to),
            Value::String(text) => to.serialize_str(text),
            Value::Array(_) | Value::Object(_) if depth >= DEEPEST => to.serialize_str(TOO_DEEP),
            Value::Array(items) => to.collect_seq(items.iter().map(|item| At(item, depth + 1))),
            Value::Object(map) => write_map(map, depth, to),
        }
    }
}

fn write_map<S: Serializer>(map: &Map, depth: usize, to: S) -> Result<S::Ok, S::Error> {
    let mut out = to.serialize_map(Some(map.len()))?;
    for (key, item) in map {
        if map.len() == 1 && is_number_key(key) {
            out.serialize_key(&format!("${key}"))?;
        } else {
            out.serialize_key(key)?;
        }
        out.serialize_value(&At(item, depth + 1))?;
    }
    out.end()
}

/// Whether a key is [`NUMBER`], with any number of `$` before it.
fn is_number_key(key: &str) -> bool {
    key.ends_with(NUMBER) && key.trim_start_matches('$').len() == NUMBER.len() - 1
}

fn write_number<S: Serializer>(number: &Number, to: S) -> Result<S::Ok, S::Error> {
    let float = number.as_f64();
    if let Some(integer) = number.as_i64() {
        return to.serialize_newtype_struct(OUTSIDE, &integer);
    }
    if !number.is_integer() && float.is_finite() {
        return to.serialize_newtype_struct(OUTSIDE, &float);
    }
    let text = match (number.is_integer(), float.is_nan(), float > 0.0) {
        (true, ..) => number.to_string(),
        (_, true, _) => "NaN".to_owned(),
        (_, _, true) => "Infinity".to_owned(),
        _ => "-Infinity".to_owned(),
    };
    to.collect_map([(NUMBER, text)])
}

/// Whether a value holds an object that is read as something else.
fn has_number_key(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_number_key),
        Value::Object(map) => map_has_number_key(map),
        _ => false,
    }
}

fn map_has_number_key(map: &Map) -> bool {
    map.iter().any(|(key, item)| map.len() == 1 && is_number_key(key) || has_number_key(item))
}

/// The value that was written like this.
fn restored(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(restored).collect()),
        Value::Object(map) => {
            let number = map.get(NUMBER).filter(|_| map.len() == 1).and_then(Value::as_str);
            match number.and_then(Number::parse) {
                Some(number) => Value::Number(number),
                None => Value::Object(restored_map(map)),
            }
        }
        other => other,
    }
}

fn restored_map(map: Map) -> Map {
    let is_only = map.len() == 1;
    let key = |key: String| {
        let stripped = key.strip_prefix('$').filter(|rest| is_only && is_number_key(rest)).map(str::to_owned);
        stripped.unwrap_or(key)
    };
    map.into_iter().map(|(name, item)| (key(name), restored(item))).collect()
}

impl Field for Value {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        At(self, 0).serialize(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Self::deserialize(from)?;
        Ok(if has_number_key(&value) { restored(value) } else { value })
    }
}

impl Field for Map {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        write_map(self, 0, to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::Object(map) if map_has_number_key(&map) => Ok(restored_map(map)),
            Value::Object(map) => Ok(map),
            other => Err(serde_core::de::Error::custom(format_args!(
                "{} stands where an object should",
                other.kind()
            ))),
        }
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }
}

#[cfg(test)]
mod tests {
    use super::super::field::tests::{again, text_of};
    use super::*;

    #[test]
    fn numbers_that_json_has_no_text_for_come_back() {
        for (text, written) in [
            ("0", "0"),
            ("-7", "-7"),
            ("1.0", "1.0"),
            ("9223372036854775808", r#"{"$evalset::number":"9223372036854775808"}"#),
            ("-1000000000000000000000000", r#"{"$evalset::number":"-1000000000000000000000000"}"#),
            ("-Infinity", r#"{"$evalset::number":"-Infinity"}"#),
            ("1e400", r#"{"$evalset::number":"Infinity"}"#),
            ("5e-324", "5e-324"),
        ] {
            let number = Value::Number(Number::parse(text).unwrap());
            assert_eq!(text_of(&number), written);
            assert_eq!(again(&number), number, "{text}");
        }
        let nan = Map::from([("k", Value::from(vec![f64::NAN]))]);
        assert!(again(&nan)["k"][0].as_f64().unwrap().is_nan());
    }

    #[test]
    fn an_object_that_looks_like_such_a_number_stays_an_object() {
        for key in ["$evalset::number", "$$evalset::number", "evalset::number", "$$$$evalset::number"] {
            for inside in [Value::from("NaN"), Value::from(Map::from([(key, "7")])), Value::Null] {
                let map = Map::from([(key, inside)]);
                assert_eq!(again(&map), map);
                let list = Value::from(vec![Value::from(map)]);
                assert_eq!(again(&list), list);
            }
            let two = Map::from([(key, "NaN"), ("other", "x")]);
            assert_eq!(again(&two), two);
        }
    }

    #[test]
    fn a_record_is_readable_however_deep_its_values_are() {
        let lists = |levels| (0..levels).fold(Value::from(f64::NAN), |value, _| Value::Array(vec![value]));
        let maps = |levels| {
            (0..levels).fold(Value::from(u64::MAX), |value, _| Value::from(Map::from([("k", value)])))
        };
        assert_eq!(again(&maps(DEEPEST)), maps(DEEPEST));
        assert_eq!(format!("{:?}", again(&lists(DEEPEST))), format!("{:?}", lists(DEEPEST)));
        for cut in [again(&lists(1000)), again(&maps(1000))] {
            assert!(cut.to_string().contains("nested too deep"));
        }
    }
}
