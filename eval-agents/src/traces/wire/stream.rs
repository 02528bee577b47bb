//! Walking through JSON as it is read: objects field by field, lists element by element.
//!
//! What stands at a place where something else should is noted and skipped. Nothing is built that is not asked for, so a
//! document of any size is read in the memory of its largest element.

use std::borrow::Cow;
use std::fmt;

use eval_core::format::Value;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// What reads an object.
pub(super) trait Fields {
    /// Reads one field: takes its value from `access`.
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, access: &mut A) -> Result<(), A::Error>;

    /// There is something else in the place of the object.
    fn not_an_object(&mut self, found: &'static str);
}

/// The name of a field: not copied where the text is in memory.
struct Name<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameVisitor)
    }
}

struct NameVisitor;

impl<'de> Visitor<'de> for NameVisitor {
    type Value = Name<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Name<'de>, E> {
        Ok(Name(Cow::Borrowed(name)))
    }

    fn visit_str<E>(self, name: &str) -> Result<Name<'de>, E> {
        Ok(Name(Cow::Owned(name.to_owned())))
    }
}

/// What reads a list.
pub(super) trait Elements {
    /// Reads one element.
    fn element<'de, D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<(), D::Error>;

    /// There is something else in the place of the list.
    fn not_a_list(&mut self, found: &'static str);
}

/// An object that is read so.
pub(super) struct Object<'a, T>(pub(super) &'a mut T);

/// A list that is read so.
pub(super) struct List<'a, T>(pub(super) &'a mut T);

/// A value that is skipped.
pub(super) fn skip<'de, A: MapAccess<'de>>(access: &mut A) -> Result<(), A::Error> {
    access.next_value::<IgnoredAny>().map(|_| ())
}

/// A value that is read as a whole.
pub(super) fn value<'de, A: MapAccess<'de>>(access: &mut A) -> Result<Value, A::Error> {
    access.next_value()
}

macro_rules! misfits {
    ($misfit:ident) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("JSON")
        }

        fn visit_unit<E>(self) -> Result<(), E> {
            self.0.$misfit("null");
            Ok(())
        }

        fn visit_bool<E>(self, _: bool) -> Result<(), E> {
            self.0.$misfit("a boolean");
            Ok(())
        }

        fn visit_i64<E>(self, _: i64) -> Result<(), E> {
            self.0.$misfit("a number");
            Ok(())
        }

        fn visit_u64<E>(self, _: u64) -> Result<(), E> {
            self.0.$misfit("a number");
            Ok(())
        }

        fn visit_f64<E>(self, _: f64) -> Result<(), E> {
            self.0.$misfit("a number");
            Ok(())
        }

        fn visit_str<E>(self, _: &str) -> Result<(), E> {
            self.0.$misfit("a string");
            Ok(())
        }
    };
}

impl<'de, T: Fields> DeserializeSeed<'de> for Object<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Fields> Visitor<'de> for Object<'_, T> {
    type Value = ();

    misfits!(not_an_object);

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        while let Some(Name(name)) = access.next_key()? {
            self.0.field(&name, &mut access)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        self.0.not_an_object("a list");
        while access.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

impl<'de, T: Elements> DeserializeSeed<'de> for List<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Elements> Visitor<'de> for List<'_, T> {
    type Value = ();

    misfits!(not_a_list);

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let reader = self.0;
        while access.next_element_seed(One(reader))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        self.0.not_a_list("an object");
        while access.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// One element of a list.
struct One<'a, T>(&'a mut T);

impl<'de, T: Elements> DeserializeSeed<'de> for One<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.element(deserializer)
    }
}

/// A list whose elements are read as wholes, one after the other. Returns what stands in its place, if it is none.
pub(super) fn values<'de, A: MapAccess<'de>>(
    access: &mut A,
    each: impl FnMut(Value),
) -> Result<Option<&'static str>, A::Error> {
    let mut values = Values { each, misfit: None };
    access.next_value_seed(List(&mut values))?;
    Ok(values.misfit)
}

struct Values<F> {
    each: F,
    misfit: Option<&'static str>,
}

impl<F: FnMut(Value)> Elements for Values<F> {
    fn element<'de, D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<(), D::Error> {
        Value::deserialize(deserializer).map(&mut self.each)
    }

    fn not_a_list(&mut self, found: &'static str) {
        self.misfit = Some(found);
    }
}

/// An object or a list, whichever there is.
pub(super) struct Either<'a, T>(pub(super) &'a mut T);

impl<'de, T: Fields + Elements> Visitor<'de> for Either<'_, T> {
    type Value = ();

    misfits!(not_an_object);

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<(), A::Error> {
        Object(self.0).visit_map(access)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<(), A::Error> {
        List(self.0).visit_seq(access)
    }
}
