//! One object of a config: its fields in either spelling, and the keys that are none of them.

use std::ops::Range;

use crate::problem::{Code, JsonPath, Problem};
use crate::suggest::is_misspelling;
use crate::syntax::{Entry, Kind, Node};

/// An object whose fields are taken one by one; what is left is unknown.
pub(super) struct Object<'n, 'd> {
    node: &'n Node<'d>,
    entries: &'n [Entry<'d>],
    pub(super) path: JsonPath,
    fields: Vec<Field<'n, 'd>>,
}

/// A field that was asked for, and where it stands if it does.
struct Field<'n, 'd> {
    name: &'static str,
    camel: String,
    entry: Option<&'n Entry<'d>>,
}

impl<'n, 'd> Object<'n, 'd> {
    /// The object that a node holds, or a problem where it holds none.
    pub(super) fn read(
        node: &'n Node<'d>,
        path: JsonPath,
        what: &str,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let Some(entries) = node.object() else {
            problems.push(wrong_type(path, node, what, "an object"));
            return None;
        };
        Some(Self { node, entries, path, fields: Vec::new() })
    }

    /// The entry of a field. Where both spellings stand, the camelCase one counts, as in ADK.
    pub(super) fn field(&mut self, name: &'static str, problems: &mut Vec<Problem>) -> Option<&'n Entry<'d>> {
        let camel = camel_case(name);
        let find = |key: &str| self.entries.iter().find(|entry| entry.key == key);
        let (in_camel, in_snake) = (find(&camel), find(name).filter(|_| camel != name));
        if let (Some(counts), Some(ignored)) = (in_camel, in_snake) {
            problems.push(both_spellings(&self.path, counts, ignored));
        }
        let entry = in_camel.or(in_snake).or_else(|| find(name));
        self.fields.push(Field { name, camel, entry });
        entry
    }

    /// The entry of a field that must be there. A misspelt one is reported as such and not as missing.
    pub(super) fn required(
        &mut self,
        name: &'static str,
        what: &str,
        problems: &mut Vec<Problem>,
    ) -> Option<&'n Entry<'d>> {
        let entry = self.field(name, problems);
        if entry.is_none() && !self.has_misspelt(name) {
            problems.push(
                Problem::error(
                    Code::MissingKey,
                    self.path.clone(),
                    place(self.node),
                    format!("{what} has no `{name}`"),
                )
                .label(format!("`{name}` is required here")),
            );
        }
        entry
    }

    /// The entry of a field that was asked for.
    pub(super) fn taken(&self, name: &str) -> Option<&'n Entry<'d>> {
        self.fields.iter().find(|field| field.name == name)?.entry
    }

    /// Whether a key stands here that looks like a misspelt `name`.
    pub(super) fn has_misspelt(&self, name: &str) -> bool {
        let camel = camel_case(name);
        self.entries
            .iter()
            .any(|entry| is_misspelling(&entry.key, name) || is_misspelling(&entry.key, &camel))
    }

    /// Reports each key that looks like a misspelt field that is absent, and gives the other unknown
    /// ones. Keys that begin with `_` are comments.
    pub(super) fn unknown(&self, problems: &mut Vec<Problem>) -> Vec<&'n Entry<'d>> {
        let mut unknown = Vec::new();
        for entry in self.entries.iter().filter(|entry| !entry.key.starts_with('_')) {
            if self.fields.iter().any(|field| field.name == entry.key || field.camel == entry.key) {
                continue;
            }
            match self.meant(&entry.key) {
                Some(known) => problems.push(misspelt(&self.path, entry, known)),
                None => unknown.push(entry),
            }
        }
        unknown
    }

    /// The names that were asked for, as they are listed in a help.
    pub(super) fn known(&self) -> String {
        let names: Vec<_> = self.fields.iter().map(|field| format!("`{}`", field.name)).collect();
        names.join(", ")
    }

    /// The absent field that a key was probably meant to be, in the spelling that is nearest.
    fn meant(&self, key: &str) -> Option<&str> {
        self.fields.iter().filter(|field| field.entry.is_none()).find_map(|field| {
            [field.name, &field.camel].into_iter().find(|spelling| is_misspelling(key, spelling))
        })
    }
}

/// `judge_model_options` as `judgeModelOptions`: pydantic's rule for names of lower-case words.
fn camel_case(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    for (at, word) in name.split('_').enumerate() {
        let (first, rest) = word.split_at(word.len().min(1));
        camel.push_str(if at > 0 { "" } else { first });
        if at > 0 {
            camel.push_str(&first.to_ascii_uppercase());
        }
        camel.push_str(rest);
    }
    camel
}

fn both_spellings(path: &JsonPath, counts: &Entry<'_>, ignored: &Entry<'_>) -> Problem {
    Problem::warning(
        Code::BothSpellings,
        path.key(&ignored.key),
        ignored.key_range.clone(),
        format!("`{}` stands beside `{}`, its other spelling", ignored.key, counts.key),
    )
    .label("ADK ignores this one")
    .related(counts.key_range.clone(), "this one counts")
    .help("remove one of them")
}

fn misspelt(path: &JsonPath, entry: &Entry<'_>, known: &str) -> Problem {
    Problem::error(
        Code::MisspeltKey,
        path.key(&entry.key),
        entry.key_range.clone(),
        format!("`{}` looks like a misspelt `{known}`", entry.key),
    )
    .label("ADK ignores this key")
    .help(format!("did you mean `{known}`? A key that is not meant for ADK begins with `_`"))
}

/// A value that is not what stands under that name: `` `threshold` must be a number, not null ``.
pub(super) fn wrong_type(path: JsonPath, node: &Node<'_>, what: &str, expected: &str) -> Problem {
    Problem::error(
        Code::WrongType,
        path,
        place(node),
        format!("{what} must be {expected}, not {}", shown(node)),
    )
    .label(format!("expected {expected}"))
}

/// The range that shows a value: all of a scalar, the opening bracket of an array or object.
pub(super) fn place(node: &Node<'_>) -> Range<usize> {
    match node.kind {
        Kind::Array(_) | Kind::Object(_) => node.range.start..node.range.start + 1,
        _ => node.range.clone(),
    }
}

/// A value in a sentence: short numbers and strings themselves, otherwise what it is.
fn shown(node: &Node<'_>) -> String {
    const SHORT: usize = 32;
    match node.kind {
        Kind::Number(_) | Kind::String(_) | Kind::Bool(_) if node.range.len() <= SHORT => {
            format!("`{}`", node.to_value())
        }
        _ => node.kind_name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn camel_case_is_pydantics() {
        for (snake, camel) in [
            ("criteria", "criteria"),
            ("match_type", "matchType"),
            ("include_intermediate_responses_in_final", "includeIntermediateResponsesInFinal"),
        ] {
            assert_eq!(camel_case(snake), camel);
        }
    }
}
