//! What a record can hold: types that write and read themselves with serde, each in one form.
//!
//! The types of other crates have serde forms of their own, or none, so this trait is implemented for them in place of serde's.
//! [`fields!`](super::fields) implements it for structs, and [`words!`](super::fields) for enums without data.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use serde_core::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

use super::serializer::WORD;

/// A value in a record.
pub trait Field: Sized {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error>;

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error>;

    /// Whether a field with this value is left out. A reader takes a missing field for this value.
    fn is_absent(&self) -> bool {
        false
    }

    /// The value of a field that is missing; `None` if the field must not be missing.
    fn absent() -> Option<Self> {
        None
    }
}

/// An object whose fields are read one by one. Unknown fields are those of later versions, and no error.
pub(crate) trait Object: Sized {
    fn read_fields<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error>;
}

/// A field as serde writes it.
pub(crate) struct As<'a, T>(pub(crate) &'a T);

impl<T: Field> Serialize for As<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.write(to)
    }
}

/// A field as serde reads it.
pub(crate) struct Of<T>(pub(crate) T);

impl<'de, T: Field> Deserialize<'de> for Of<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::read(from).map(Self)
    }
}

/// A list without a copy of it.
pub(crate) struct ListOf<'a, T>(pub(crate) &'a [T]);

impl<T: Field> Serialize for ListOf<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(As))
    }
}

/// A word of ours, such as the name of a verdict: no secrets are looked for in it.
pub(crate) struct Word<'a>(pub(crate) &'a str);

impl Serialize for Word<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_newtype_struct(WORD, self.0)
    }
}

/// The name of a field, while an object is read.
pub(crate) struct Key<'de>(pub(crate) Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Name;
        impl<'de> Visitor<'de> for Name {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a field")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(name.to_owned())))
            }
        }
        from.deserialize_identifier(Name)
    }
}

/// Reads an object.
pub(crate) fn read_object<'de, T: Object, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    struct Fields<T>(PhantomData<T>);
    impl<'de, T: Object> Visitor<'de> for Fields<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::read_fields(map)
        }
    }
    from.deserialize_map(Fields(PhantomData))
}

/// Reads the value of the field whose name was read.
pub(crate) fn value<'de, T: Field, A: MapAccess<'de>>(map: &mut A) -> Result<T, A::Error> {
    map.next_value::<Of<T>>().map(|of| of.0)
}

/// Passes over the value of a field.
pub(crate) fn pass_over<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(drop)
}

/// The value of a field that always has one. It is not taken for `""` or 0 if it is missing.
pub(crate) fn needed<T, E: serde_core::de::Error>(found: Option<T>, name: &'static str) -> Result<T, E> {
    found.ok_or_else(|| E::custom(format_args!("{name} is missing")))
}

impl Field for bool {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bool(*self)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::deserialize(from)
    }

    fn is_absent(&self) -> bool {
        !self
    }

    fn absent() -> Option<Self> {
        Some(false)
    }
}

macro_rules! integers {
    ($($kind:ty)*) => {
        $(impl Field for $kind {
            fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.serialize(to)
            }

            fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Self::deserialize(from)
            }

            fn is_absent(&self) -> bool {
                *self == 0
            }

            fn absent() -> Option<Self> {
                Some(0)
            }
        })*
    };
}
integers!(i64 u32 usize);

impl Field for String {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::deserialize(from)
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }
}

impl Field for Arc<str> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::from)
    }
}

impl<T: Field> Field for Arc<T> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        T::write(self, to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::read(from).map(Self::new)
    }

    fn is_absent(&self) -> bool {
        T::is_absent(self)
    }

    fn absent() -> Option<Self> {
        T::absent().map(Self::new)
    }
}

impl<T: Field> Field for Option<T> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Some(value) => value.write(to),
            None => to.serialize_unit(),
        }
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Option::<Of<T>>::deserialize(from).map(|read| read.map(|of| of.0))
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Field> Field for Vec<T> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        ListOf(self).serialize(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::<Of<T>>::deserialize(from).map(|read| read.into_iter().map(|of| of.0).collect())
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }
}

/// A pair is an array of two.
impl<T: Field> Field for (String, T) {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (&self.0, As(&self.1)).serialize(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <(String, Of<T>)>::deserialize(from).map(|(name, of)| (name, of.0))
    }
}

impl Field for BTreeMap<String, String> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::deserialize(from)
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }
}

/// JSON has no `NaN` and no infinities: these are texts.
impl Field for f64 {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.is_finite() { to.serialize_f64(*self) } else { Word(&format!("{self:?}")).serialize(to) }
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Float;
        impl Visitor<'_> for Float {
            type Value = f64;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_f64<E>(self, float: f64) -> Result<f64, E> {
                Ok(float)
            }

            #[expect(clippy::cast_precision_loss, reason = "what is written as a float has a fraction")]
            fn visit_u64<E>(self, integer: u64) -> Result<f64, E> {
                Ok(integer as f64)
            }

            #[expect(clippy::cast_precision_loss, reason = "what is written as a float has a fraction")]
            fn visit_i64<E>(self, integer: i64) -> Result<f64, E> {
                Ok(integer as f64)
            }

            fn visit_str<E: serde_core::de::Error>(self, text: &str) -> Result<f64, E> {
                match text {
                    "NaN" => Ok(f64::NAN),
                    "inf" => Ok(f64::INFINITY),
                    "-inf" => Ok(f64::NEG_INFINITY),
                    _ => Err(E::invalid_value(serde_core::de::Unexpected::Str(text), &self)),
                }
            }
        }
        from.deserialize_any(Float)
    }
}

/// Seconds. They are exact to the nanosecond for a hundred days.
impl Field for Duration {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(self.as_secs_f64())
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let seconds = f64::read(from)?;
        if seconds.is_nan() {
            return Err(D::Error::custom("a duration is a number of seconds"));
        }
        Ok(Self::try_from_secs_f64(seconds).unwrap_or(if seconds > 0.0 { Self::MAX } else { Self::ZERO }))
    }

    fn is_absent(&self) -> bool {
        self.is_zero()
    }

    fn absent() -> Option<Self> {
        Some(Self::ZERO)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::line::Line;
    use super::super::serializer::LineSerializer;
    use super::*;

    pub(in super::super) fn text_of<T: Field>(value: &T) -> String {
        let mut line = Line::new();
        value.write(LineSerializer::new(&mut line)).unwrap();
        String::from_utf8(line.into_bytes()).unwrap()
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
        fn check<T: Field + PartialEq + fmt::Debug>(absent: T, present: &T) {
            assert!(absent.is_absent() && !present.is_absent(), "{present:?}");
            assert_eq!(T::absent(), Some(absent));
        }
        check(false, &true);
        check(0_u32, &1);
        check(String::new(), &"x".to_owned());
        check(BTreeMap::new(), &[("k".to_owned(), String::new())].into());
        check(eval_format::Map::new(), &eval_format::Map::from([("k", ())]));
        check(Duration::ZERO, &Duration::from_nanos(1));
        check(None, &Some(0_u32));
        check(Vec::new(), &vec![0_u32]);
        check(Arc::new(0_u32), &Arc::new(1));
        assert!(!0.0_f64.is_absent() && f64::absent().is_none(), "a score of 0 is no missing score");
    }
}
