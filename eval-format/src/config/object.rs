//! One object of a config: its fields in either spelling, and the keys that are none of them.

use std::ops::Range;

use crate::problem::{Code, JsonPath, Problem, Severity};
use crate::suggest::is_misspelling;
use crate::syntax::{Entry, Kind, Node};

/// What ADK does with a key that it does not know.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Extra {
    Ignore,
    Keep,
    Forbid,
}

/// An object whose fields are asked for one by one; [`finish`](Self::finish) judges what is left.
pub(super) struct Object<'n, 'd> {
    node: &'n Node<'d>,
    entries: &'n [Entry<'d>],
    what: &'n str,
    extra: Extra,
    fields: Vec<Field<'n, 'd>>,
    pub(super) path: JsonPath,
}

/// A field that was asked for, and where it stands if it does.
struct Field<'n, 'd> {
    name: &'static str,
    camel: String,
    entry: Option<&'n Entry<'d>>,
    /// The `snake_case` spelling where the camelCase one stands too and counts.
    shadowed: Option<&'n Entry<'d>>,
    /// What to write where a required field is absent.
    example: Option<&'static str>,
}

impl<'n, 'd> Object<'n, 'd> {
    /// The object that a node holds, or a problem where it holds none. `what` names it in messages.
    pub(super) fn read(
        node: &'n Node<'d>,
        path: JsonPath,
        what: &'n str,
        extra: Extra,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let Some(entries) = node.object() else {
            problems.push(wrong_type(path, node, what, "an object"));
            return None;
        };
        Some(Self { node, entries, what, extra, fields: Vec::new(), path })
    }

    /// The entry of a field. Where both spellings stand, the camelCase one counts, as in ADK.
    pub(super) fn field(&mut self, name: &'static str) -> Option<&'n Entry<'d>> {
        self.ask(name, None)
    }

    /// The entry of a field that must be there, and what to write where it is not.
    pub(super) fn required(&mut self, name: &'static str, example: &'static str) -> Option<&'n Entry<'d>> {
        self.ask(name, Some(example))
    }

    fn ask(&mut self, name: &'static str, example: Option<&'static str>) -> Option<&'n Entry<'d>> {
        let camel = camel_case(name);
        let find = |key: &str| self.entries.iter().find(|entry| entry.key == key);
        let snake = find(name);
        let (entry, shadowed) = if camel == name {
            (snake, None)
        } else {
            match find(&camel) {
                Some(entry) => (Some(entry), snake),
                None => (snake, None),
            }
        };
        self.fields.push(Field { name, camel, entry, shadowed, example });
        entry
    }

    /// The entry of a field that was asked for.
    pub(super) fn taken(&self, name: &str) -> Option<&'n Entry<'d>> {
        self.fields.iter().find(|field| field.name == name)?.entry
    }

    /// Reports fields that are missing, misspelt, spelt twice or forbidden, and gives the entries
    /// that are none of the fields and yet are kept. Keys that begin with `_` are comments.
    pub(super) fn finish(&self, problems: &mut Vec<Problem>) -> Vec<&'n Entry<'d>> {
        let forbids = self.extra == Extra::Forbid;
        for field in &self.fields {
            if let (Some(counts), Some(shadowed)) = (field.entry, field.shadowed) {
                problems.push(self.both_spellings(counts, shadowed));
            }
            if let (None, Some(example)) = (field.entry, field.example)
                && !self.is_misspelt(field.name)
            {
                problems.push(self.missing(field.name, example));
            }
        }
        let mut kept = Vec::new();
        for entry in self.unknown() {
            if entry.key.starts_with('_') && !forbids {
                kept.push(entry);
            } else if let Some((_, spelling)) = self.meant(&entry.key) {
                problems.push(self.misspelt(entry, spelling));
            } else if forbids {
                problems.push(self.forbidden(entry));
            } else {
                kept.push(entry);
            }
        }
        if self.extra == Extra::Ignore {
            kept.clear();
        }
        kept
    }

    /// Whether a key stands here that looks like the misspelt name of a field, which is absent.
    pub(super) fn is_misspelt(&self, name: &str) -> bool {
        self.unknown().any(|entry| self.meant(&entry.key).is_some_and(|(field, _)| field.name == name))
    }

    /// The names that were asked for, as they are listed in a help.
    pub(super) fn known(&self) -> String {
        let names: Vec<_> = self.fields.iter().map(|field| format!("`{}`", field.name)).collect();
        names.join(", ")
    }

    fn unknown(&self) -> impl Iterator<Item = &'n Entry<'d>> {
        let known = |key: &str| self.fields.iter().any(|field| field.name == key || field.camel == key);
        self.entries.iter().filter(move |entry| !known(&entry.key))
    }

    /// The absent field that a key was probably meant to be, and the spelling that it is near to.
    fn meant(&self, key: &str) -> Option<(&Field<'n, 'd>, &str)> {
        self.fields.iter().filter(|field| field.entry.is_none()).find_map(|field| {
            let mut spellings = [field.name, &field.camel].into_iter();
            spellings.find(|spelling| is_misspelling(key, spelling)).map(|spelling| (field, spelling))
        })
    }

    fn at_key(&self, code: Code, entry: &Entry<'_>, message: String) -> Problem {
        Problem::error(code, self.path.key(&entry.key), entry.key_range.clone(), message)
    }

    /// What ADK does with a key that is not a field.
    fn fate(&self) -> &'static str {
        if self.extra == Extra::Forbid { "ADK rejects it" } else { "ADK ignores it" }
    }

    fn both_spellings(&self, counts: &Entry<'_>, shadowed: &Entry<'_>) -> Problem {
        let message = format!("`{}` stands beside `{}`, its other spelling", shadowed.key, counts.key);
        let mut problem = self.at_key(Code::BothSpellings, shadowed, message);
        if self.extra != Extra::Forbid {
            problem.severity = Severity::Warning;
        }
        problem
            .label(self.fate())
            .related(counts.key_range.clone(), "this one counts")
            .help("remove one of them")
    }

    fn missing(&self, name: &str, example: &str) -> Problem {
        let message = format!("{} has no `{name}`", self.what);
        Problem::error(Code::MissingKey, self.path.clone(), place(self.node), message)
            .label(format!("`{name}` is required here"))
            .help(format!("add `{example}`"))
    }

    fn misspelt(&self, entry: &Entry<'_>, spelling: &str) -> Problem {
        let message = format!("`{}` looks like a misspelt `{spelling}`", entry.key);
        self.at_key(Code::MisspeltKey, entry, message)
            .label(self.fate())
            .help(format!("did you mean `{spelling}`?"))
    }

    fn forbidden(&self, entry: &Entry<'_>) -> Problem {
        let message = format!("`{}` is not a key of {}", entry.key, self.what);
        self.at_key(Code::UnknownKey, entry, message)
            .label(self.fate())
            .help(format!("the keys are {}", self.known()))
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
