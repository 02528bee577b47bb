//! Types whose form in a record is a list: of fields, or of words.

/// The name of a field as [`Object`](super::to_json::Object) takes it.
macro_rules! key {
    ($name:expr) => {
        concat!(",\"", $name, "\":")
    };
}

/// A struct is an object with a field for each of these, under the field's name.
///
/// A missing field is read as the value that is left out when it is written. [`read_fields!`] names the fields that must be
/// there: `read_fields!(Started having [test] { test, .. })`.
///
/// A struct of another crate is read into its `Default`: `fields!(Content from default { .. })`.
macro_rules! fields {
    ($kind:ident { $($field:ident),* $(,)? }) => {
        $crate::journal::shape::write_fields!($kind { $($field),* });
        #[cfg(feature = "reports")]
        $crate::journal::shape::read_fields!($kind having [] { $($field),* });
    };
    ($kind:ident from default { $($field:ident),* $(,)? }) => {
        $crate::journal::shape::write_fields!($kind { $($field),* });

        #[cfg(feature = "reports")]
        impl $crate::journal::from_json::FromJson for $kind {
            fn read(value: eval_format::Value) -> Result<Self, $crate::journal::from_json::Misread> {
                let mut fields = $crate::journal::from_json::Fields::of(value)?;
                let mut read = Self::default();
                $(read.$field = fields.take(stringify!($field))?;)*
                Ok(read)
            }
        }
    };
}

macro_rules! write_fields {
    ($kind:ident { $($field:ident),* }) => {
        impl $crate::journal::to_json::ToJson for $kind {
            fn write(&self, out: &mut $crate::journal::line::Line) {
                let mut object = $crate::journal::to_json::Object::open(out);
                $(object.field($crate::journal::shape::key!(stringify!($field)), &self.$field);)*
                object.close();
            }
        }
    };
}

#[cfg(feature = "reports")]
macro_rules! read_fields {
    ($kind:ident having [$($needed:ident),*] { $($field:ident),* }) => {
        impl $crate::journal::from_json::FromJson for $kind {
            fn read(value: eval_format::Value) -> Result<Self, $crate::journal::from_json::Misread> {
                let fields = $crate::journal::from_json::Fields::of(value)?;
                let mut fields = fields.having(&[$(stringify!($needed)),*])?;
                Ok(Self { $($field: fields.take(stringify!($field))?,)* })
            }
        }
    };
}

/// An enum without data is one of these words.
macro_rules! words {
    ($kind:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        impl $crate::journal::to_json::ToJson for $kind {
            fn write(&self, out: &mut $crate::journal::line::Line) {
                out.add(match self { $(Self::$variant => concat!("\"", $word, "\""),)* });
            }
        }

        #[cfg(feature = "reports")]
        impl $crate::journal::from_json::FromJson for $kind {
            fn read(value: eval_format::Value) -> Result<Self, $crate::journal::from_json::Misread> {
                match value.as_str() {
                    $(Some($word) => Ok(Self::$variant),)*
                    _ => Err($crate::journal::from_json::misread(concat!("one of", $(" `", $word, "`"),*), &value)),
                }
            }
        }
    };
}

#[cfg(feature = "reports")]
pub(super) use read_fields;
pub(super) use {fields, key, words, write_fields};
