//! Values that agents and their tools sent, recorded without loss.
//!
//! JSON has no `NaN` and no infinities, and readers of JSON round integers of more than 64 bits. Such a number is an object with one
//! key: `{"$evalset::number":"NaN"}`.

use serde_core::{Deserialize as _, Deserializer};

use eval_format::{Map, Number, Value};

use super::line::{Field, Line};

/// The reader takes 127 levels, of which a record needs a dozen. Values below this level are replaced by a remark.
pub(super) const DEEPEST: usize = 100;

const TOO_DEEP: &str = "(nested too deep to be recorded)";

/// The key of an object for a number that JSON cannot express. If it is the only key of an object from
/// outside, it is escaped: the record has one more `$`.
const NUMBER: &str = "$evalset::number";

/// Whether a key is [`NUMBER`], with any number of `$` before it.
fn is_number_key(key: &str) -> bool {
    key.ends_with(NUMBER) && key.trim_start_matches('$').len() == NUMBER.len() - 1
}

fn write(value: &Value, depth: usize, line: &mut Line) {
    match value {
        Value::Null => line.add("null"),
        Value::Bool(flag) => flag.write(line),
        Value::Number(number) => write_number(number, line),
        Value::String(text) => line.text(text),
        Value::Array(_) | Value::Object(_) if depth >= DEEPEST => line.word(TOO_DEEP),
        Value::Array(items) => line.list(items, |item, line| write(item, depth + 1, line)),
        Value::Object(map) => write_map(map, depth, line),
    }
}

fn write_map(map: &Map, depth: usize, line: &mut Line) {
    line.add("{");
    for (key, item) in map {
        if map.len() == 1 && is_number_key(key) {
            line.entry(&format!("${key}"));
        } else {
            line.entry(key);
        }
        write(item, depth + 1, line);
    }
    line.add("}");
}

fn write_number(number: &Number, line: &mut Line) {
    let float = number.as_f64();
    if let Some(integer) = number.as_i64() {
        return line.number(&integer.to_string());
    }
    if !number.is_integer() && float.is_finite() {
        return line.number(&format!("{float:?}"));
    }
    let text = match (number.is_integer(), float.is_nan(), float > 0.0) {
        (true, ..) => number.to_string(),
        (_, true, _) => "NaN".to_owned(),
        (_, _, true) => "Infinity".to_owned(),
        _ => "-Infinity".to_owned(),
    };
    line.add("{");
    line.entry(NUMBER);
    line.text(&text);
    line.add("}");
}

pub(super) fn restored(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(restored).collect()),
        Value::Object(map) => {
            let is_only = map.len() == 1;
            let number = map.get(NUMBER).filter(|_| is_only).and_then(Value::as_str);
            if let Some(number) = number.and_then(Number::parse) {
                return Value::Number(number);
            }
            let key = |key: String| match key.strip_prefix('$') {
                Some(rest) if is_only && is_number_key(rest) => rest.to_owned(),
                _ => key,
            };
            Value::Object(map.into_iter().map(|(name, item)| (key(name), restored(item))).collect())
        }
        other => other,
    }
}

impl Field for Value {
    fn write(&self, line: &mut Line) {
        write(self, 0, line);
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::deserialize(from).map(restored)
    }
}

impl Field for Map {
    fn write(&self, line: &mut Line) {
        write_map(self, 0, line);
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::read(from)? {
            Value::Object(map) => Ok(map),
            other => Err(serde_core::de::Error::custom(format_args!(
                "{} where an object is expected",
                other.kind()
            ))),
        }
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
