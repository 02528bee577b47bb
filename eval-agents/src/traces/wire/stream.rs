//! Walking through JSON as it is read: objects field by field, lists element by element.
//!
//! A value of an unexpected type is noted and skipped. Only requested parts are built, so a document of any size is read in the
//! memory of its largest element.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use eval_core::format::Value;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A reader of an object field by field, of a list element by element, or of either.
pub(super) trait Reads {
    /// Whether objects are read.
    const OBJECTS: bool = false;
    /// Whether lists are read.
    const LISTS: bool = false;

    /// Reads one field: takes its value from `access`.
    fn field<'de, A: MapAccess<'de>>(&mut self, _: &str, access: &mut A) -> Result<(), A::Error> {
        skip(access)
    }

    /// Reads one element.
    fn element<'de, D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<(), D::Error> {
        IgnoredAny::deserialize(deserializer).map(drop)
    }

    /// Handles a value of an unexpected type, which `found` describes.
    fn misfit(&mut self, found: &'static str);
}

/// The name of a field, borrowed without a copy if the text is in memory.
#[derive(Deserialize)]
struct Name<'n>(#[serde(borrow)] Cow<'n, str>);

/// A value that is skipped.
pub(super) fn skip<'de, A: MapAccess<'de>>(access: &mut A) -> Result<(), A::Error> {
    access.next_value::<IgnoredAny>().map(drop)
}

/// A value that is read as a whole.
pub(super) fn value<'de, A: MapAccess<'de>>(access: &mut A) -> Result<Value, A::Error> {
    access.next_value()
}

/// A seed that hands a value to its reader.
pub(super) struct Read<'a, T>(pub(super) &'a mut T);

impl<T: Reads> Read<'_, T> {
    #[expect(clippy::unnecessary_wraps, reason = "what a visitor returns")]
    fn misfit<E>(self, found: &'static str) -> Result<(), E> {
        self.0.misfit(found);
        Ok(())
    }
}

impl<'de, T: Reads> DeserializeSeed<'de> for Read<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Reads> Visitor<'de> for Read<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.misfit("null")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.misfit("a boolean")
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.misfit("a number")
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.misfit("a number")
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.misfit("a number")
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.misfit("a string")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        if !T::OBJECTS {
            self.0.misfit("an object");
        }
        let mut seen = BTreeSet::new();
        while let Some(Name(name)) = access.next_key()? {
            if !seen.insert(name.clone().into_owned()) {
                return Err(A::Error::custom(format_args!("key {name:?} stands twice in one object")));
            }
            self.0.field(&name, &mut access)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        if !T::LISTS {
            self.0.misfit("a list");
        }
        while access.next_element_seed(Element(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

/// One element of a list.
struct Element<'a, T>(&'a mut T);

impl<'de, T: Reads> DeserializeSeed<'de> for Element<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.element(deserializer)
    }
}

/// Reads a list, each element as a whole. `each` gets every element, or the type of a value that is no list.
pub(super) fn values<'de, A: MapAccess<'de>>(
    access: &mut A,
    each: impl FnMut(Result<Value, &'static str>),
) -> Result<(), A::Error> {
    access.next_value_seed(Read(&mut Values(each)))
}

struct Values<F>(F);

impl<F: FnMut(Result<Value, &'static str>)> Reads for Values<F> {
    const LISTS: bool = true;

    fn element<'de, D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<(), D::Error> {
        Value::deserialize(deserializer).map(|value| self.0(Ok(value)))
    }

    fn misfit(&mut self, found: &'static str) {
        self.0(Err(found));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The type of the value that was found.
    #[derive(Default)]
    struct Seen(Option<&'static str>);

    impl Reads for Seen {
        fn misfit(&mut self, found: &'static str) {
            self.0 = Some(found);
        }
    }

    #[derive(Default)]
    struct Either(Seen);

    impl Reads for Either {
        const OBJECTS: bool = true;
        const LISTS: bool = true;

        fn misfit(&mut self, found: &'static str) {
            self.0.misfit(found);
        }
    }

    fn read(mut to: impl Reads, text: &str) -> Result<(), serde_json::Error> {
        Read(&mut to).deserialize(&mut serde_json::Deserializer::from_str(text))
    }

    #[test]
    fn what_is_no_object_and_no_list_is_told_by_its_kind() {
        let found = |text: &str| {
            let mut seen = Seen::default();
            Read(&mut seen).deserialize(&mut serde_json::Deserializer::from_str(text)).unwrap();
            seen.0
        };
        for (text, kind) in [
            ("null", "null"),
            ("true", "a boolean"),
            ("-1", "a number"),
            ("1", "a number"),
            ("1.5", "a number"),
            (r#""x""#, "a string"),
            (r#"{"a": [1]}"#, "an object"),
            ("[{}, 2]", "a list"),
        ] {
            assert_eq!(found(text), Some(kind), "{text}");
        }
        let mut either = Either::default();
        for text in ["{}", "[]", r#"{"a": {"b": 1, "c": 1}}"#] {
            Read(&mut either).deserialize(&mut serde_json::Deserializer::from_str(text)).unwrap();
        }
        assert_eq!(either.0.0, None);
    }

    #[test]
    fn a_key_that_stands_twice_is_an_error() {
        let error = read(Either::default(), r#"{"a": 1, "b": 2, "a": 3}"#).unwrap_err().to_string();
        assert!(error.starts_with(r#"key "a" stands twice in one object"#), "{error}");
    }
}
