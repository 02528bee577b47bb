//! The parts of a table: models, fields, types.

use crate::syntax::Entry;

/// One of ADK's models: an object with known keys.
pub(crate) struct Model {
    /// Its name with an article, as in messages: `an invocation`.
    pub(crate) what: &'static str,
    /// The fields in ADK's order of declaration, in which they are also written.
    pub(crate) fields: &'static [Field],
    pub(crate) extra: Extra,
    /// Keys that ADK does not know and keeps, and that have a meaning here. They stay among the other keys that are kept.
    pub(crate) ours: &'static [Field],
    /// Whether keys may be written in camelCase too.
    pub(crate) camel: bool,
    /// Keys that other writers use here, each with its remedy.
    pub(crate) foreign_keys: &'static [(&'static str, &'static str)],
    /// Keys that are allowed beside their camelCase spelling if they are `null`. ADK forbids other keys in two
    /// spellings.
    pub(crate) null_twins: &'static [&'static str],
    /// A small example, shown if the value is something else; empty if listing the keys is enough.
    pub(crate) sample: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extra {
    Forbidden,
    /// Forbidden in a format that is not ADK's.
    #[cfg_attr(not(feature = "recordings"), expect(dead_code, reason = "only recordings are such a format"))]
    Unknown,
    /// Kept and written back.
    Kept,
    /// ADK keeps them and never reads them. Here they are errors.
    Refused,
    /// ADK drops them silently. Here they are warnings.
    Ignored,
    /// Dropped without a warning: ADK's own tools add keys here.
    IgnoredOnPurpose,
}

impl Extra {
    pub(crate) fn is_forbidden(self) -> bool {
        matches!(self, Self::Forbidden | Self::Unknown)
    }
}

pub(crate) struct Field {
    /// In `snake_case`.
    pub(crate) name: &'static str,
    pub(crate) kind: Type,
    pub(crate) required: bool,
    pub(crate) nullable: bool,
    /// Another name that some writers use. It counts if neither spelling of the field is there.
    pub(crate) alias: Option<&'static str>,
    /// A value to write, shown if the key is absent or its value is of the wrong type.
    pub(crate) example: &'static str,
}

#[derive(Clone, Copy)]
pub(crate) enum Type {
    String,
    Float,
    /// A float that cannot be an integer beyond the largest float; see [`python_float`](crate::coerce::python_float).
    PythonFloat,
    Int,
    Bool,
    /// Base64 text.
    Bytes,
    /// Any string. One of these strings in any case becomes that string.
    Enum(&'static [&'static str]),
    /// One of these strings, in any case and with `-` or blanks for `_`, or its position.
    Choice {
        values: &'static [&'static str],
        numbered: bool,
    },
    /// This string and no other.
    Literal(&'static str),
    /// Any object, kept as it is.
    Object,
    /// Any value, kept as it is.
    Any,
    Model(&'static Model),
    /// An array of values of one type.
    List(&'static Type),
    /// An array of objects of one model.
    Models(&'static Model),
    /// An object of any keys with objects of one model.
    Dict(&'static Model),
    /// An array of pairs, each an array of a string and an array of objects of the model.
    AuthorsAndParts(&'static Model),
    /// One of two models, told apart by their keys; the first if the object is empty.
    Either(&'static Model, &'static Model),
    /// Values of the inner type. An empty array, object or string counts as absent, since Python loops over each of
    /// them alike.
    EmptyOr(&'static Type),
    /// A model, or one of these names of ready-made values.
    Named(&'static Model, &'static [&'static str]),
}

/// A model whose keys may be written in either spelling.
pub(super) const fn model(what: &'static str, extra: Extra, fields: &'static [Field]) -> Model {
    Model { what, fields, extra, ours: &[], camel: true, foreign_keys: &[], null_twins: &[], sample: "" }
}

/// A key that must be there and is not `null`; `example` shows its value.
pub(super) const fn required(name: &'static str, kind: Type, example: &'static str) -> Field {
    Field { required: true, nullable: false, example, ..optional(name, kind) }
}

/// A key that may be absent, but not `null`: it has a default.
pub(super) const fn defaulted(name: &'static str, kind: Type) -> Field {
    Field { nullable: false, ..optional(name, kind) }
}

/// A key that may be absent or `null`.
pub(super) const fn optional(name: &'static str, kind: Type) -> Field {
    Field { name, kind, required: false, nullable: true, alias: None, example: "" }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Spelling {
    Alias,
    Snake,
    Camel,
}

impl Field {
    fn spelling(&self, key: &str, camel: bool) -> Option<Spelling> {
        if key == self.name {
            Some(Spelling::Snake)
        } else if camel && is_camel_of(key, self.name) {
            Some(Spelling::Camel)
        } else {
            self.alias.is_some_and(|alias| alias == key).then_some(Spelling::Alias)
        }
    }
}

impl Model {
    /// The position of the field that a key names.
    pub(crate) fn find(&self, key: &str) -> Option<(usize, Spelling)> {
        self.fields
            .iter()
            .enumerate()
            .find_map(|(at, field)| field.spelling(key, self.camel).map(|spelling| (at, spelling)))
    }

    /// The position of the field with a name. Callers use it in `const`, so that an unknown name does not
    /// compile.
    pub(crate) const fn position(&self, name: &str) -> usize {
        let mut at = 0;
        while !is_equal(self.fields[at].name.as_bytes(), name.as_bytes()) {
            at += 1;
        }
        at
    }

    /// Whether a key is the name of a field, in either spelling. An alias does not count.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.find(key).is_some_and(|(_, spelling)| spelling != Spelling::Alias)
    }

    /// The entry that counts for a field: camelCase before `snake_case` before an alias.
    pub(crate) fn entry<'n, 'a>(&self, entries: &'n [Entry<'a>], name: &str) -> Option<&'n Entry<'a>> {
        let field = self.fields.iter().find(|field| field.name == name)?;
        entries
            .iter()
            .filter_map(|entry| Some((field.spelling(&entry.key, self.camel)?, entry)))
            .max_by_key(|(spelling, _)| *spelling)
            .map(|(_, entry)| entry)
    }
}

const fn is_equal(one: &[u8], other: &[u8]) -> bool {
    match (one, other) {
        ([], []) => true,
        ([a, one @ ..], [b, other @ ..]) => *a == *b && is_equal(one, other),
        _ => false,
    }
}

/// Whether `key` is the camelCase spelling of a `snake_case` name of more than one word.
pub(super) fn is_camel_of(key: &str, snake: &str) -> bool {
    let mut key = key.bytes();
    let mut upper = false;
    let mut words = 1;
    for byte in snake.bytes() {
        if byte == b'_' {
            upper = true;
            words += 1;
            continue;
        }
        let expected = if upper { byte.to_ascii_uppercase() } else { byte };
        upper = false;
        if key.next() != Some(expected) {
            return false;
        }
    }
    words > 1 && key.next().is_none()
}
