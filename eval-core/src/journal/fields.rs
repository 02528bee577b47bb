//! Types whose form in a record is a list: of fields, or of words.

/// A struct is an object with a field for each of these, under the field's name. Those in the first braces are always written,
/// and must be there. The others are left out if they are [absent](super::field::Field::is_absent).
///
/// Fields in the third braces are not recorded, and read as their default.
///
/// A struct of another crate is read into its `Default`: `fields!(Content from default { .. })`. `in invocation { .. }` adds the
/// fields of a struct in it, and `then` names a function that completes what was read.
macro_rules! fields {
    ($kind:ident from default { $($field:ident),* $(,)? } $(in $inside:ident { $($inner:ident),* $(,)? })? $(then $complete:path)?) => {
        impl $crate::journal::field::Field for $kind {
            fn write<S: serde_core::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                use serde_core::ser::SerializeStruct as _;
                // Some fields are left out. The number is a hint.
                let mut out = to.serialize_struct(stringify!($kind), 1)?;
                $($crate::journal::fields::field!(out, self.$field, $field);)*
                $($($crate::journal::fields::field!(out, self.$inside.$inner, $inner);)*)?
                out.end()
            }

            fn read<'de, D: serde_core::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::journal::field::read_object(from)
            }
        }

        impl $crate::journal::field::Object for $kind {
            fn read_fields<'de, A: serde_core::de::MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
                use $crate::journal::field;
                let mut read = Self::default();
                while let Some(field::Key(key)) = map.next_key()? {
                    match &*key {
                        $(stringify!($field) => read.$field = field::value(&mut map)?,)*
                        $($(stringify!($inner) => read.$inside.$inner = field::value(&mut map)?,)*)?
                        _ => field::pass_over(&mut map)?,
                    }
                }
                $($complete(&mut read);)?
                Ok(read)
            }
        }
    };
    ($kind:ident { $($needed:ident),* $(,)? } { $($field:ident),* $(,)? } $({ $($unrecorded:ident),* })?) => {
        impl $crate::journal::field::Field for $kind {
            fn write<S: serde_core::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                use serde_core::ser::SerializeStruct as _;
                let mut out = to.serialize_struct(stringify!($kind), 1)?;
                $(out.serialize_field(stringify!($needed), &$crate::journal::field::As(&self.$needed))?;)*
                $($crate::journal::fields::field!(out, self.$field, $field);)*
                out.end()
            }

            fn read<'de, D: serde_core::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::journal::field::read_object(from)
            }
        }

        impl $crate::journal::field::Object for $kind {
            fn read_fields<'de, A: serde_core::de::MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
                use $crate::journal::field;
                $(let mut $needed = None;)*
                $(let mut $field = None;)*
                while let Some(field::Key(key)) = map.next_key()? {
                    match &*key {
                        $(stringify!($needed) => $needed = Some(field::value(&mut map)?),)*
                        $(stringify!($field) => $field = Some(field::value(&mut map)?),)*
                        _ => field::pass_over(&mut map)?,
                    }
                }
                Ok(Self {
                    $($needed: field::needed($needed, stringify!($needed))?,)*
                    $($field: field::needed($field.or_else(field::Field::absent), stringify!($field))?,)*
                    $($($unrecorded: Default::default(),)*)?
                })
            }
        }
    };
}

/// Writes a field, unless it is absent.
macro_rules! field {
    ($out:ident, $value:expr, $name:ident) => {
        if !$crate::journal::field::Field::is_absent(&$value) {
            $out.serialize_field(stringify!($name), &$crate::journal::field::As(&$value))?;
        }
    };
}

/// An enum without data is one of these words.
macro_rules! words {
    ($kind:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        impl $crate::journal::field::Field for $kind {
            fn write<S: serde_core::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                serde_core::Serialize::serialize(&$crate::journal::field::Word(match self { $(Self::$variant => $word,)* }), to)
            }

            fn read<'de, D: serde_core::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let word = <String as serde_core::Deserialize>::deserialize(from)?;
                match word.as_str() {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(serde_core::de::Error::unknown_variant(&word, &[$($word),*])),
                }
            }
        }
    };
}

/// A record: a struct that serde writes and reads too, and the kind that its line begins with.
macro_rules! record {
    ($kind:ident = $name:literal { $($needed:ident),* $(,)? } { $($field:ident),* $(,)? }) => {
        $crate::journal::fields::fields!($kind { $($needed),* } { $($field),* });

        impl $crate::journal::fields::Kind for $kind {
            const NAME: &'static str = $name;
        }

        impl serde_core::Serialize for $kind {
            fn serialize<S: serde_core::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $crate::journal::field::Field::write(self, to)
            }
        }

        impl<'de> serde_core::Deserialize<'de> for $kind {
            fn deserialize<D: serde_core::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::journal::field::Field::read(from)
            }
        }
    };
}

/// A kind of record.
pub trait Kind: super::field::Field {
    /// What `record` says in its line.
    const NAME: &'static str;
}

pub(super) use {field, fields, record, words};
