//! Reading what [`to_json`](super::to_json) wrote.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use eval_format::{Map, Value};

/// Why a value cannot be read: what is wrong, behind the path to it.
pub(super) type Misread = String;

/// What can be read from a record.
pub(super) trait FromJson: Sized {
    fn read(value: Value) -> Result<Self, Misread>;

    /// The value of a field that is missing; `None` if the field must not be missing.
    fn absent() -> Option<Self> {
        None
    }
}

/// The fields of an object that is being read. Unknown fields are those of later versions, and no error.
pub(super) struct Fields(Map);

impl Fields {
    pub(super) fn of(value: Value) -> Result<Self, Misread> {
        match value {
            Value::Object(map) => Ok(Self(map)),
            other => Err(misread("an object", &other)),
        }
    }

    /// Fails if one of these is missing. A field that always has a value is not taken for `""` or 0.
    pub(super) fn having(self, needed: &[&str]) -> Result<Self, Misread> {
        match needed.iter().find(|name| self.0.get(name).is_none()) {
            Some(missing) => Err(format!("{missing} is missing")),
            None => Ok(self),
        }
    }

    pub(super) fn take<T: FromJson>(&mut self, name: &str) -> Result<T, Misread> {
        match self.0.remove(name) {
            Some(value) => T::read(value).map_err(|why| format!("{name}: {why}")),
            None => T::absent().ok_or_else(|| format!("{name} is missing")),
        }
    }
}

pub(super) fn misread(expected: &str, found: &Value) -> Misread {
    format!("{} stands where {expected} should", found.kind())
}

impl FromJson for Value {
    fn read(value: Value) -> Result<Self, Misread> {
        Ok(value)
    }
}

impl FromJson for Map {
    fn read(value: Value) -> Result<Self, Misread> {
        match value {
            Value::Object(map) => Ok(map),
            other => Err(misread("an object", &other)),
        }
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }
}

impl FromJson for BTreeMap<String, String> {
    fn read(value: Value) -> Result<Self, Misread> {
        let map = Map::read(value)?;
        map.into_iter().map(|(key, value)| Ok((key, String::read(value)?))).collect()
    }
}

impl<T: FromJson> FromJson for Arc<T> {
    fn read(value: Value) -> Result<Self, Misread> {
        T::read(value).map(Self::new)
    }

    fn absent() -> Option<Self> {
        T::absent().map(Self::new)
    }
}

impl FromJson for Arc<str> {
    fn read(value: Value) -> Result<Self, Misread> {
        String::read(value).map(Self::from)
    }
}

impl FromJson for String {
    fn read(value: Value) -> Result<Self, Misread> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(misread("a string", &other)),
        }
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }
}

impl FromJson for bool {
    fn read(value: Value) -> Result<Self, Misread> {
        value.as_bool().ok_or_else(|| misread("a boolean", &value))
    }

    fn absent() -> Option<Self> {
        Some(false)
    }
}

impl FromJson for f64 {
    fn read(value: Value) -> Result<Self, Misread> {
        value.as_f64().ok_or_else(|| misread("a number", &value))
    }
}

macro_rules! integers {
    ($($kind:ty),*) => {
        $(impl FromJson for $kind {
            fn read(value: Value) -> Result<Self, Misread> {
                let integer = value.as_i64().and_then(|number| Self::try_from(number).ok());
                integer.ok_or_else(|| misread("an integer in range", &value))
            }

            fn absent() -> Option<Self> {
                Some(0)
            }
        })*
    };
}
integers!(i64, u32, usize);

impl FromJson for Duration {
    fn read(value: Value) -> Result<Self, Misread> {
        let seconds = f64::read(value)?;
        Ok(Self::try_from_secs_f64(seconds).unwrap_or(if seconds > 0.0 { Self::MAX } else { Self::ZERO }))
    }

    fn absent() -> Option<Self> {
        Some(Self::ZERO)
    }
}

impl<T: FromJson> FromJson for Option<T> {
    fn read(value: Value) -> Result<Self, Misread> {
        if value.is_null() { Ok(None) } else { T::read(value).map(Some) }
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    fn read(value: Value) -> Result<Self, Misread> {
        let Value::Array(items) = value else { return Err(misread("an array", &value)) };
        let numbered = items.into_iter().enumerate();
        numbered.map(|(at, item)| T::read(item).map_err(|why| format!("[{at}]: {why}"))).collect()
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }
}

impl<T: FromJson> FromJson for (String, T) {
    fn read(value: Value) -> Result<Self, Misread> {
        match value {
            Value::Array(items) => match <[Value; 2]>::try_from(items) {
                Ok([first, second]) => Ok((String::read(first)?, T::read(second)?)),
                Err(items) => Err(format!("an array of {} stands where a pair should", items.len())),
            },
            other => Err(misread("a pair", &other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use eval_format::Number;

    use super::super::line::Line;
    use super::super::to_json::{DEEPEST, ToJson};
    use super::*;

    fn again<T: ToJson + FromJson>(value: &T) -> T {
        let mut line = Line::new();
        value.write(&mut line);
        let line = String::from_utf8(line.into_bytes()).unwrap();
        assert!(!line.contains('\n'), "{line}");
        T::read(Value::parse(&line).unwrap()).unwrap()
    }

    #[test]
    fn numbers_that_json_has_no_text_for_come_back() {
        for number in [f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324, 1e300, 0.1] {
            assert_eq!(again(&number).to_bits(), number.to_bits());
            assert_eq!(again(&Value::from(number)), Value::from(number), "an integer stays one, a float too");
        }
        assert!(again(&f64::NAN).is_nan());
        let big = Number::parse("-1000000000000000000000000").unwrap();
        assert_eq!(again(&Value::Number(big.clone())), Value::Number(big));
    }

    #[test]
    fn any_string_stays_on_its_line() {
        let long = "a text that is longer than sixteen bytes ";
        for text in [
            "",
            long,
            &format!("{long}\n{long}\"{long}é{long}\u{1}"),
            "q\"b\\s/",
            "\u{0}\u{8}\r\n\t\u{1f}\u{7f}",
            "é\u{2028}🎉",
        ] {
            assert_eq!(again(&text.to_owned()), text);
        }
    }

    #[test]
    fn times_come_back_to_the_nanosecond() {
        for nanos in [1, 999_999_999, 1_234_567_891, 86_400_000_000_007] {
            let time = Duration::from_nanos(nanos);
            assert_eq!(again(&time), time);
        }
        assert_eq!(again(&Duration::MAX), Duration::MAX);
    }

    #[test]
    fn a_record_is_readable_however_deep_its_values_are() {
        let deep = |levels| (0..levels).fold(Value::Null, |value, _| Value::Array(vec![value]));
        assert_eq!(again(&deep(DEEPEST)), deep(DEEPEST));
        let maps = |levels| {
            let around = |value, _| Value::Object(Map::from_iter([("k".to_owned(), value)]));
            (0..levels).fold(Value::Null, around)
        };
        assert_eq!(again(&maps(DEEPEST)), maps(DEEPEST));
        for cut in [again(&deep(1000)), again(&maps(1000))] {
            assert!(cut.to_string().contains("nested too deep"));
        }
    }

    #[test]
    fn a_misread_field_is_named() {
        let value = Value::parse(r#"{"a": [1, "x"]}"#).unwrap();
        let mut fields = Fields::of(value).unwrap();
        let why = fields.take::<Vec<u32>>("a").unwrap_err();
        assert_eq!(why, "a: [1]: a string stands where an integer in range should");
        assert_eq!(fields.take::<f64>("b").unwrap_err(), "b is missing");
    }

    #[test]
    fn a_field_is_left_out_if_it_has_the_value_that_a_missing_one_is_read_as() {
        fn check<T: ToJson + FromJson + PartialEq + std::fmt::Debug>(absent: T, present: &T) {
            assert!(absent.is_absent() && !present.is_absent(), "{present:?}");
            assert_eq!(T::absent(), Some(absent));
        }
        check(false, &true);
        check(0_u32, &1);
        check(String::new(), &"x".to_owned());
        check(Map::new(), &Map::from_iter([("k".to_owned(), Value::Null)]));
        check(Duration::ZERO, &Duration::from_nanos(1));
        check(None, &Some(0_u32));
        check(Vec::new(), &vec![0_u32]);
        assert!(!0.0_f64.is_absent() && f64::absent().is_none(), "a score of 0 is no missing score");
    }
}
