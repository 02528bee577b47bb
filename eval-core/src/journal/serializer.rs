//! Writing into a [`Line`] with serde, so that each string loses its secrets on the way.

use std::fmt;

use serde_core::ser::{Error as _, Impossible, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple};
use serde_core::{Serialize, Serializer};

use super::line::Line;

/// The name of a newtype whose text is a word of ours: no secrets are looked for in it.
pub(super) const WORD: &str = "$evalset::word";
/// The name of a newtype whose number comes from outside: it can be a secret.
pub(super) const OUTSIDE: &str = "$evalset::outside";

/// Writes one value into a line.
pub(super) struct LineSerializer<'a> {
    line: &'a mut Line,
    content: Content,
}

/// What a value is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    /// Texts from anywhere, and numbers of ours.
    Usual,
    Word,
    OutsideNumber,
}

impl<'a> LineSerializer<'a> {
    pub(super) fn new(line: &'a mut Line) -> Self {
        Self { line, content: Content::Usual }
    }
}

/// Why a value cannot be written. No record holds such a value.
#[derive(Debug)]
pub(super) struct Unwritable(String);

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unwritable {}

impl serde_core::ser::Error for Unwritable {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

type Written = Result<(), Unwritable>;

/// A type that no record holds.
fn unused<T>() -> Result<T, Unwritable> {
    Err(Unwritable::custom("no record holds this type"))
}

/// Numbers that are written as wider ones.
macro_rules! wider {
    ($($name:ident($kind:ty))* => $wide:ident) => {
        $(fn $name(self, number: $kind) -> Written {
            self.$wide(number.into())
        })*
    };
}

impl<'a> Serializer for LineSerializer<'a> {
    type Ok = ();
    type Error = Unwritable;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Impossible<(), Unwritable>;
    type SerializeTupleVariant = Impossible<(), Unwritable>;
    type SerializeMap = Items<'a>;
    type SerializeStruct = Items<'a>;
    type SerializeStructVariant = Impossible<(), Unwritable>;

    fn serialize_bool(self, flag: bool) -> Written {
        self.line.add(if flag { "true" } else { "false" });
        Ok(())
    }

    wider! { serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) => serialize_i64 }
    wider! { serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) => serialize_u64 }
    wider! { serialize_f32(f32) => serialize_f64 }

    fn serialize_i64(self, integer: i64) -> Written {
        match u64::try_from(integer) {
            Ok(integer) => self.serialize_u64(integer),
            Err(_) => {
                self.digits(&integer.to_string());
                Ok(())
            }
        }
    }

    fn serialize_u64(self, integer: u64) -> Written {
        // Most have one digit, and formatting takes longer in builds without optimisation.
        if integer < 10 {
            self.line.digit(integer);
            return Ok(());
        }
        self.digits(&integer.to_string());
        Ok(())
    }

    fn serialize_f64(self, float: f64) -> Written {
        if !float.is_finite() {
            return Err(Unwritable::custom("JSON has no number for what is not finite"));
        }
        // Most scores are 1 or 0.
        match float.to_bits() {
            ONE => self.line.add("1.0"),
            0 => self.line.add("0.0"),
            _ => self.digits(&format!("{float:?}")),
        }
        Ok(())
    }

    fn serialize_char(self, char: char) -> Written {
        self.serialize_str(char.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Written {
        if self.content == Content::Word {
            self.line.word(text);
        } else {
            self.line.text(text);
        }
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Written {
        unused()
    }

    fn serialize_none(self) -> Written {
        self.serialize_unit()
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written {
        self.line.add("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Written {
        unused()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, word: &'static str) -> Written {
        self.line.word(word);
        Ok(())
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, name: &'static str, value: &T) -> Written {
        let content = match name {
            WORD => Content::Word,
            OUTSIDE => Content::OutsideNumber,
            _ => self.content,
        };
        value.serialize(Self { content, ..self })
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Written {
        unused()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a>, Unwritable> {
        Ok(Items::open(self.line, b'['))
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'a>, Unwritable> {
        Ok(Items::open(self.line, b'['))
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Unwritable> {
        unused()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Unwritable> {
        unused()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Items<'a>, Unwritable> {
        Ok(Items::open(self.line, b'{'))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Items<'a>, Unwritable> {
        Ok(Items::open(self.line, b'{'))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Unwritable> {
        unused()
    }
}

const ONE: u64 = 1_f64.to_bits();

impl LineSerializer<'_> {
    fn digits(self, digits: &str) {
        if self.content == Content::OutsideNumber { self.line.number(digits) } else { self.line.add(digits) }
    }
}

/// An array or an object that is being written.
pub(super) struct Items<'a> {
    line: &'a mut Line,
    is_first: bool,
}

impl<'a> Items<'a> {
    fn open(line: &'a mut Line, bracket: u8) -> Self {
        line.push(bracket);
        Self { line, is_first: true }
    }

    fn next(&mut self) {
        if !std::mem::replace(&mut self.is_first, false) {
            self.line.push(b',');
        }
    }

    fn item<T: ?Sized + Serialize>(&mut self, item: &T) -> Written {
        self.next();
        item.serialize(LineSerializer::new(self.line))
    }
}

macro_rules! arrays {
    ($($array:ident)*) => {
        $(impl $array for Items<'_> {
            type Ok = ();
            type Error = Unwritable;

            fn serialize_element<T: ?Sized + Serialize>(&mut self, item: &T) -> Written {
                self.item(item)
            }

            fn end(self) -> Written {
                self.line.push(b']');
                Ok(())
            }
        })*
    };
}
arrays!(SerializeSeq SerializeTuple);

/// The keys come from outside, so they lose their secrets too.
impl SerializeMap for Items<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Written {
        self.item(key)
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Written {
        self.line.push(b':');
        value.serialize(LineSerializer::new(self.line))
    }

    fn end(self) -> Written {
        self.line.push(b'}');
        Ok(())
    }
}

/// The keys are names of ours.
impl SerializeStruct for Items<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, name: &'static str, value: &T) -> Written {
        self.next();
        self.line.word(name);
        self.line.push(b':');
        value.serialize(LineSerializer::new(self.line))
    }

    fn end(self) -> Written {
        self.line.push(b'}');
        Ok(())
    }
}
