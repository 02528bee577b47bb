//! The plain values of records. [`fields!`](super::fields) is for structs, and [`words!`](super::fields) for enums without data.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use eval_format::Value;
use eval_format::matrix::Variant;
use serde_core::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde_core::{Deserialize, Deserializer};

use super::line::{Field, Line};

/// An adapter through which serde reads a [`Field`].
pub(crate) struct Of<T>(pub(crate) T);

impl<'de, T: Field> Deserialize<'de> for Of<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::read(from).map(Self)
    }
}

pub(crate) fn value<'de, T: Field, A: MapAccess<'de>>(map: &mut A) -> Result<T, A::Error> {
    map.next_value::<Of<T>>().map(|of| of.0)
}

pub(crate) fn pass_over<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(drop)
}

/// The value of a required field. A missing one is an error, not `""` or 0.
pub(crate) fn needed<T, E: serde_core::de::Error>(found: Option<T>, name: &'static str) -> Result<T, E> {
    found.ok_or_else(|| E::custom(format_args!("{name} is missing")))
}

/// Implements `Field` for types that serde reads in the recorded form. Their default is not written.
macro_rules! plain {
    ($($kind:ty, |$value:ident, $line:ident| $write:expr;)*) => {
        $(impl Field for $kind {
            fn write(&self, $line: &mut Line) {
                let $value = self;
                $write;
            }

            fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Self::deserialize(from)
            }

            fn absent() -> Option<Self> {
                Some(Self::default())
            }
        })*
    };
}

plain! {
    bool, |flag, line| line.add(if *flag { "true" } else { "false" });
    i64, |number, line| line.add(&number.to_string());
    u32, |number, line| line.add(&number.to_string());
    usize, |number, line| line.add(&number.to_string());
    String, |text, line| line.text(text);
    BTreeMap<String, String>, |map, line| {
        line.add("{");
        for (key, text) in map {
            line.entry(key);
            line.text(text);
        }
        line.add("}");
    };
}

/// An object with the value of each axis, in the order of the axes.
impl Field for Variant {
    fn write(&self, line: &mut Line) {
        line.add("{");
        for (axis, value) in &self.0 {
            line.entry(axis);
            line.text(value);
        }
        line.add("}");
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Values;
        impl<'de> Visitor<'de> for Values {
            type Value = Variant;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Variant, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = map.next_entry()? {
                    values.push(value);
                }
                Ok(Variant(values))
            }
        }
        from.deserialize_map(Values)
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }

    fn is_absent(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Field> Field for Arc<T> {
    fn write(&self, line: &mut Line) {
        T::write(self, line);
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::read(from).map(Self::new)
    }

    fn absent() -> Option<Self> {
        T::absent().map(Self::new)
    }
}

impl<T: Field> Field for Option<T> {
    fn write(&self, line: &mut Line) {
        match self {
            Some(value) => value.write(line),
            None => line.add("null"),
        }
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Option::<Of<T>>::deserialize(from).map(|read| read.map(|of| of.0))
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Field> Field for Vec<T> {
    fn write(&self, line: &mut Line) {
        line.list(self, T::write);
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::<Of<T>>::deserialize(from).map(|read| read.into_iter().map(|of| of.0).collect())
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

/// A pair is an array of two.
impl<T: Field> Field for (String, T) {
    fn write(&self, line: &mut Line) {
        line.add("[");
        line.text(&self.0);
        line.add(",");
        self.1.write(line);
        line.add("]");
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <(String, Of<T>)>::deserialize(from).map(|(name, of)| (name, of.0))
    }
}

/// JSON has no `NaN` and no infinities: these are texts.
impl Field for f64 {
    fn write(&self, line: &mut Line) {
        let digits = format!("{self:?}");
        if self.is_finite() { line.add(&digits) } else { line.word(&digits) }
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::Number(number) => Ok(number.as_f64()),
            Value::String(text) if text == "NaN" => Ok(Self::NAN),
            Value::String(text) if text == "inf" => Ok(Self::INFINITY),
            Value::String(text) if text == "-inf" => Ok(Self::NEG_INFINITY),
            other => {
                Err(D::Error::custom(format_args!("a number is expected, and this is {}", other.kind())))
            }
        }
    }
}

/// Seconds. They are exact to the nanosecond for a hundred days.
impl Field for Duration {
    fn write(&self, line: &mut Line) {
        self.as_secs_f64().write(line);
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let seconds = f64::read(from)?;
        if seconds.is_nan() {
            return Err(D::Error::custom("a duration is a number of seconds"));
        }
        Ok(Self::try_from_secs_f64(seconds).unwrap_or(if seconds > 0.0 { Self::MAX } else { Self::ZERO }))
    }

    fn absent() -> Option<Self> {
        Some(Self::ZERO)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn text_of<T: Field>(value: &T) -> String {
        Line::of(value, Arc::default())
    }

    pub(in super::super) fn again<T: Field>(value: &T) -> T {
        let text = text_of(value);
        assert!(!text.contains('\n'), "{text}");
        serde_json::from_str::<Of<T>>(&text).unwrap().0
    }

    #[test]
    fn numbers_that_json_has_no_text_for_come_back() {
        for number in [f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 1.0, 5e-324, 1e300, 1e16, 0.1, 2.0] {
            assert_eq!(again(&number).to_bits(), number.to_bits(), "{}", text_of(&number));
        }
        assert!(again(&f64::NAN).is_nan());
        assert_eq!(again(&i64::MIN), i64::MIN);
        assert_eq!(again(&vec![0, 9, 10, u32::MAX]), [0, 9, 10, u32::MAX]);
    }

    #[test]
    fn no_other_string_is_a_number() {
        for text in ["nan", "infinity", "Infinity", "-NaN", "+inf", "+1", "1e3", "1", ""] {
            let error = serde_json::from_str::<Of<f64>>(&format!("\"{text}\"")).err().unwrap().to_string();
            assert!(error.starts_with("a number is expected, and this is a string"), "{text}: {error}");
        }
        let error = serde_json::from_str::<Of<f64>>("[]").err().unwrap().to_string();
        assert!(error.starts_with("a number is expected, and this is an array"), "{error}");
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
    fn a_field_is_left_out_if_it_has_the_value_that_a_missing_one_is_read_as() {
        fn check<T: Field>(absent: &T, present: &T) {
            assert!(absent.is_absent() && !present.is_absent(), "{}", text_of(present));
            assert!(T::absent().as_ref() == Some(absent));
        }
        check(&false, &true);
        check(&0_u32, &1);
        check(&String::new(), &"x".to_owned());
        check(&BTreeMap::new(), &[("k".to_owned(), String::new())].into());
        check(&eval_format::Map::new(), &eval_format::Map::from([("k", ())]));
        check(&Duration::ZERO, &Duration::from_nanos(1));
        check(&None, &Some(0_u32));
        check(&Vec::new(), &vec![0_u32]);
        check(&Arc::new(0_u32), &Arc::new(1));
        assert!(f64::absent().is_none(), "a score of 0 is no missing score");
    }
}
