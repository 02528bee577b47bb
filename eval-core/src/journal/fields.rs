//! Macros for the types of records: structs with their fields, enums with their words.

/// Implements `Field` for a struct: an object with the named fields. Fields in the first braces are always
/// written, and required. The others are not written if they are [absent](super::line::Field::absent).
///
/// Fields in the third braces are not recorded, and read as their default.
///
/// `fields!(Content from default { .. })` reads into the `Default` of the struct, and requires no field.
/// `in invocation { .. }` adds fields of a nested struct, and `then` names a function that completes the
/// value.
macro_rules! fields {
    ($kind:ident from default { $($field:ident),* $(,)? } $(in $inside:ident { $($inner:ident),* $(,)? })? $(then $complete:path)?) => {
        impl $crate::journal::line::Field for $kind {
            fn write(&self, line: &mut $crate::journal::line::Line) {
                line.add("{");
                $(line.optional_field(stringify!($field), &self.$field);)*
                $($(line.optional_field(stringify!($inner), &self.$inside.$inner);)*)?
                line.add("}");
            }

            $crate::journal::fields::read!($kind, map {
                let mut read = $kind::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        $(stringify!($field) => read.$field = field::value(&mut map)?,)*
                        $($(stringify!($inner) => read.$inside.$inner = field::value(&mut map)?,)*)?
                        _ => field::pass_over(&mut map)?,
                    }
                }
                $($complete(&mut read);)?
                Ok(read)
            });
        }
    };
    ($kind:ident $(= $name:literal)? { $($needed:ident),* $(,)? } { $($field:ident),* $(,)? } $({ $($unrecorded:ident),* })?) => {
        impl $crate::journal::line::Field for $kind {
            fn write(&self, line: &mut $crate::journal::line::Line) {
                line.add(concat!("{" $(, "\"record\":\"", $name, "\"")?));
                $(line.field(stringify!($needed), &self.$needed);)*
                $(line.optional_field(stringify!($field), &self.$field);)*
                line.add("}");
            }

            $crate::journal::fields::read!($kind, map {
                $(let mut $needed = None;)*
                $(let mut $field = None;)*
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        $(stringify!($needed) => $needed = Some(field::value(&mut map)?),)*
                        $(stringify!($field) => $field = Some(field::value(&mut map)?),)*
                        _ => field::pass_over(&mut map)?,
                    }
                }
                Ok($kind {
                    $($needed: field::needed($needed, stringify!($needed))?,)*
                    $($field: field::needed($field.or_else($crate::journal::line::Field::absent), stringify!($field))?,)*
                    $($($unrecorded: Default::default(),)*)?
                })
            });
        }
    };
}

/// Reads an object field by field. Unknown fields belong to later versions, and are no error.
macro_rules! read {
    ($kind:ident, $map:ident $body:block) => {
        fn read<'de, D: serde_core::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            use serde_core::de::{MapAccess, Visitor};
            use $crate::journal::field;

            struct Fields;
            impl<'de> Visitor<'de> for Fields {
                type Value = $kind;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }

                fn visit_map<A: MapAccess<'de>>(self, mut $map: A) -> Result<$kind, A::Error> $body
            }
            from.deserialize_map(Fields)
        }
    };
}

/// A record: a struct whose line begins with its kind, and that serde reads.
macro_rules! record {
    ($kind:ident = $name:literal $needed:tt $field:tt) => {
        $crate::journal::fields::fields!($kind = $name $needed $field);

        impl<'de> serde_core::Deserialize<'de> for $kind {
            fn deserialize<D: serde_core::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::journal::line::Field::read(from)
            }
        }
    };
}

/// Implements `Field` for an enum without data, with the word for each variant.
macro_rules! words {
    ($kind:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        impl $crate::journal::line::Field for $kind {
            fn write(&self, line: &mut $crate::journal::line::Line) {
                line.word(match self { $(Self::$variant => $word,)* });
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

pub(super) use {fields, read, record, words};

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use crate::journal::field::Of;
    use crate::journal::field::tests::{again, text_of};
    use crate::journal::line::Field;
    use crate::judge_outcome::JudgeErrorKind;
    use crate::verdict::{Role, TurnVerdict};

    /// Checks the words of an enum. Journals that are written already have them.
    fn check<T: Field + PartialEq + Debug>(words: &[(T, &str)]) {
        for (value, word) in words {
            assert_eq!(text_of(value), format!("\"{word}\""));
            assert_eq!(again(value), *value);
        }
        let error = serde_json::from_str::<Of<T>>("\"Other\"").err().unwrap().to_string();
        let all: Vec<_> = words.iter().map(|(_, word)| format!("`{word}`")).collect();
        let expected = format!("unknown variant `Other`, expected one of {}", all.join(", "));
        assert!(error.starts_with(&expected), "{error}");
    }

    #[test]
    fn the_words_of_journals_stay_and_an_error_lists_them() {
        check(&[
            (Role::Agent, "agent"),
            (Role::Setup, "setup"),
            (Role::Body, "body"),
            (Role::Tools, "tools"),
            (Role::Recording, "recording"),
            (Role::Metric, "metric"),
            (Role::Judge, "judge"),
            (Role::Simulator, "simulator"),
            (Role::Harness, "harness"),
        ]);
        check(&[
            (JudgeErrorKind::NoJudge, "no_judge"),
            (JudgeErrorKind::NotRecorded, "not_recorded"),
            (JudgeErrorKind::Refused, "refused"),
            (JudgeErrorKind::Unreadable, "unreadable"),
            (JudgeErrorKind::Timeout, "timeout"),
            (JudgeErrorKind::Failed, "failed"),
        ]);
        check(&[
            (TurnVerdict::Passed, "passed"),
            (TurnVerdict::Failed, "failed"),
            (TurnVerdict::NotEvaluated, "not_evaluated"),
            (TurnVerdict::Informational, "informational"),
        ]);
    }
}
