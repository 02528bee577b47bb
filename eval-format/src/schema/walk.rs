//! Checks of a node against a type, which find all its problems.

use eval_support::key_case::camel;
use eval_support::spelling::{is_misspelling, suggest};

use super::place::Place;
use super::record::{Checked, Record};
use super::table::{Extra, Field, Model, Spelling, Type, is_camel_of};
use super::wording;
use crate::coerce;
use crate::problem::Problem;
use crate::syntax::{Entry, Kind, Node, to_map};
use crate::value::{Map, Value};

/// The largest number of fields of a model. The walker keeps a slot for each on the stack.
pub(super) const MAX_FIELDS: usize = 17;

/// A comment that editors read: it names the JSON Schema of the file, which `cargo evalset schema` writes.
pub(crate) const EDITORS_KEY: &str = "$schema";

/// Walks nodes and collects all problems.
pub(crate) struct Walker<'p> {
    pub(crate) problems: &'p mut Vec<Problem>,
}

impl Walker<'_> {
    /// Checks an object; `None` if the node is not one.
    pub(crate) fn record(
        &mut self,
        node: &Node<'_>,
        model: &'static Model,
        place: &Place<'_>,
    ) -> Option<Record> {
        let Some(entries) = node.object() else {
            self.problems.push(wording::wrong_type(node, &Type::Model(model), "", place));
            return None;
        };
        Some(self.object(node, entries, model, place))
    }

    /// Checks an array of objects; `None` if the node is not an array or an element is not an object.
    pub(crate) fn records(
        &mut self,
        node: &Node<'_>,
        model: &'static Model,
        place: &Place<'_>,
    ) -> Option<Vec<Record>> {
        let Some(items) = node.array() else {
            self.problems.push(wording::wrong_type(node, &Type::List(&Type::Any), "", place));
            return None;
        };
        let mut records = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            records.extend(self.record(item, model, &Place::Index(place, at)));
        }
        (records.len() == items.len()).then_some(records)
    }

    fn object<'n>(
        &mut self,
        node: &Node<'_>,
        entries: &'n [Entry<'n>],
        model: &'static Model,
        place: &Place<'_>,
    ) -> Record {
        let mut slots = Slots::default();
        let mut strays = Vec::new();
        for entry in entries {
            match model.find(&entry.key) {
                Some((at, spelling)) => strays.extend(slots.put(at, spelling, entry)),
                None => strays.push(entry),
            }
        }
        let mut fields = Vec::with_capacity(entries.len().min(model.fields.len()));
        for (field, slot) in model.fields.iter().zip(&slots.0) {
            if let Some((_, entry)) = slot
                && let Some(value) = self.field(entry, field, place)
            {
                fields.push((field.name, Some(value)));
            }
        }
        let mut extra = Map::new();
        let mut meant = Vec::new();
        if !strays.is_empty() {
            (extra, meant) = self.strays(&strays, model, &slots, place);
        }
        for (at, field) in model.fields.iter().enumerate() {
            if field.required && slots.is_free(at) && !meant.contains(&at) {
                self.problems.push(wording::missing(node, field, model, place));
            }
        }
        Record { model, fields, extra }
    }

    /// The value of a known key; `None` if it is `null` or counts as absent.
    fn field(&mut self, entry: &Entry<'_>, field: &Field, place: &Place<'_>) -> Option<Checked> {
        if field.nullable && entry.value.is_null() {
            return None;
        }
        let place = Place::Key(place, &entry.key);
        if entry.value.is_null() {
            self.problems.push(wording::null(entry, field, &place));
            return None;
        }
        if let Type::EmptyOr(_) = field.kind
            && is_empty(&entry.value)
        {
            return None;
        }
        Some(self.value(&entry.value, &field.kind, field.example, &place))
    }

    /// Checks the entries that do not count for a field. Returns the entries that ADK keeps, and the
    /// positions of the fields whose keys are probably misspelt.
    #[cold]
    fn strays(
        &mut self,
        strays: &[&Entry<'_>],
        model: &Model,
        slots: &Slots<'_>,
        place: &Place<'_>,
    ) -> (Map, Vec<usize>) {
        let mut kept = Vec::new();
        let mut meant = Vec::new();
        for entry in strays {
            let twin = match model.find(&entry.key) {
                Some((at, Spelling::Snake)) => slots.0[at],
                _ => None,
            };
            if let Some((_, winner)) = twin {
                self.problems.push(wording::both_spellings(entry, winner, model, place));
                continue;
            }
            let key = || entry.key.clone().into_owned();
            if let Some(ours) = model.ours.iter().find(|ours| ours.name == entry.key) {
                kept.extend(self.field(entry, ours, place).map(|checked| (key(), checked.into_value())));
                continue;
            }
            meant.extend(self.unknown(entry, model, slots, place));
            if matches!(model.extra, Extra::Kept | Extra::Refused) && !entry.value.is_null() {
                kept.push((key(), entry.value.to_value()));
            }
        }
        (Map::from_unique(kept), meant)
    }

    /// Checks a key that the model does not know. Returns the position of the field that the key probably
    /// misspells.
    fn unknown(
        &mut self,
        entry: &Entry<'_>,
        model: &Model,
        slots: &Slots<'_>,
        place: &Place<'_>,
    ) -> Option<usize> {
        let is_comment = entry.key.starts_with('_') || entry.key == EDITORS_KEY;
        let is_comment = is_comment && !model.extra.is_forbidden();
        if is_comment {
            return None;
        }
        let place = &Place::Key(place, &entry.key);
        let meant = meant(entry, model, slots);
        let misspelt = meant.filter(|at| !is_ignored_camel(&entry.key, &model.fields[*at], model));
        let problem = match (model.extra, misspelt) {
            (Extra::Forbidden | Extra::Unknown, _) => wording::unknown_key(entry, model, meant, place),
            (_, Some(at)) => wording::misspelt_key(entry, model, &model.fields[at], place),
            (Extra::Refused, None) => wording::unread_key(entry, model, place),
            (Extra::Ignored, None) => wording::ignored_key(entry, model, place),
            (Extra::Kept | Extra::IgnoredOnPurpose, None) => return None,
        };
        self.problems.push(problem);
        misspelt
    }

    fn value(&mut self, node: &Node<'_>, kind: &Type, example: &str, place: &Place<'_>) -> Checked {
        let found = match (kind, &node.kind) {
            (Type::EmptyOr(inner), _) => return self.value(node, inner, example, place),
            (Type::Any, _) => Some(Checked::Value(node.to_value())),
            (Type::Object, Kind::Object(entries)) => Some(Checked::Value(Value::Object(to_map(entries)))),
            (Type::Model(model) | Type::Named(model, _), Kind::Object(entries)) => {
                Some(Checked::Record(self.object(node, entries, model, place)))
            }
            (Type::List(item), Kind::Array(items)) => {
                Some(each(items, place, &mut |item_node, place| self.value(item_node, item, "", place)))
            }
            (Type::Models(model), Kind::Array(items)) => {
                Some(each(items, place, &mut |item, place| self.value(item, &Type::Model(model), "", place)))
            }
            (Type::AuthorsAndParts(model), Kind::Array(items)) => {
                Some(each(items, place, &mut |item, place| self.author_and_parts(item, model, place)))
            }
            (Type::Dict(model), Kind::Object(entries)) => Some(self.dict(entries, model, place)),
            (Type::Either(first, second), Kind::Object(entries)) => {
                Some(self.either(node, entries, first, second, place))
            }
            (Type::Named(_, names), Kind::String(name)) => {
                names.contains(&name.as_ref()).then(|| Checked::Value(Value::from(name.as_ref())))
            }
            _ => scalar(node, kind).map(Checked::Value),
        };
        found.unwrap_or_else(|| {
            self.problems.push(wording::wrong_type(node, kind, example, place));
            Checked::Value(Value::Null)
        })
    }

    fn dict(&mut self, entries: &[Entry<'_>], model: &'static Model, place: &Place<'_>) -> Checked {
        let mut checked = Vec::with_capacity(entries.len());
        for entry in entries {
            let place = Place::Key(place, &entry.key);
            let value = self.value(&entry.value, &Type::Model(model), "", &place);
            checked.push((entry.key.clone().into_owned(), value));
        }
        Checked::Dict(checked)
    }

    fn author_and_parts(&mut self, node: &Node<'_>, model: &'static Model, place: &Place<'_>) -> Checked {
        let Some([author, parts]) = node.array() else {
            self.problems.push(wording::not_a_pair(node, place));
            return Checked::Value(Value::Null);
        };
        Checked::Pair(Box::new((
            self.value(author, &Type::String, "", &Place::Index(place, 0)),
            self.value(parts, &Type::Models(model), "", &Place::Index(place, 1)),
        )))
    }

    /// Chooses the model by the keys of the object, so that problems are about the intended form.
    fn either(
        &mut self,
        node: &Node<'_>,
        entries: &[Entry<'_>],
        first: &'static Model,
        second: &'static Model,
        place: &Place<'_>,
    ) -> Checked {
        let of = |model: &Model| entries.iter().find(|entry| model.find(&entry.key).is_some());
        let model = match (of(first), of(second)) {
            (Some(one), Some(two)) => {
                self.problems.push(wording::both_forms(one, two, place));
                return Checked::Value(Value::Null);
            }
            (None, Some(_)) => second,
            (Some(_), None) => first,
            (None, None) => nearer(entries, first, second),
        };
        Checked::Record(self.object(node, entries, model, place))
    }
}

/// The absent field that an unknown key probably means.
fn meant(entry: &Entry<'_>, model: &Model, slots: &Slots<'_>) -> Option<usize> {
    let key = entry.key.as_ref();
    let mut spellings = Vec::new();
    for (at, field) in model.fields.iter().enumerate() {
        if slots.is_free(at) {
            if is_camel_of(key, field.name) {
                return Some(at);
            }
            spellings.push((at, field.name.to_owned()));
            spellings.push((at, camel(field.name)));
        }
    }
    let found = if model.extra.is_forbidden() {
        let name = suggest(key, spellings.iter().map(|(_, name)| name.as_str()))?;
        spellings.iter().find(|(_, known)| known == name)
    } else {
        spellings.iter().find(|(_, name)| is_misspelling(key, name))
    };
    found.map(|(at, _)| *at)
}

/// The model for an object that has no key of either model: the second if the object misspells keys of it
/// alone, else the first.
fn nearer(entries: &[Entry<'_>], first: &'static Model, second: &'static Model) -> &'static Model {
    let none = Slots::default();
    let near = |model| entries.iter().any(|entry| meant(entry, model, &none).is_some());
    if !near(first) && near(second) { second } else { first }
}

/// Whether ADK ignores a key because it is the camelCase spelling of an optional `snake_case` key.
fn is_ignored_camel(key: &str, field: &Field, model: &Model) -> bool {
    !model.camel && !field.required && is_camel_of(key, field.name)
}

fn each<'n>(
    items: &'n [Node<'n>],
    place: &Place<'_>,
    check: &mut dyn FnMut(&'n Node<'n>, &Place<'_>) -> Checked,
) -> Checked {
    let mut checked = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        checked.push(check(item, &Place::Index(place, at)));
    }
    Checked::List(checked)
}

/// Whether a Python loop over the value would end at once.
fn is_empty(node: &Node<'_>) -> bool {
    match &node.kind {
        Kind::String(text) => text.is_empty(),
        Kind::Array(items) => items.is_empty(),
        Kind::Object(entries) => entries.is_empty(),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) => false,
    }
}

fn scalar(node: &Node<'_>, kind: &Type) -> Option<Value> {
    match kind {
        Type::String => node.string().map(Value::from),
        Type::Float => coerce::float(node).map(Value::from),
        Type::PythonFloat => coerce::python_float(node).map(Value::from),
        Type::Int => coerce::int(node).map(Value::Number),
        Type::Bool => coerce::bool(node).map(Value::Bool),
        Type::Bytes => coerce::base64_text(node.string()?).map(Value::String),
        Type::Enum(members) => node.string().map(|text| {
            let member = members.iter().find(|member| member.eq_ignore_ascii_case(text));
            Value::from(*member.unwrap_or(&text))
        }),
        Type::Choice { values, numbered } => coerce::choice(node, values, *numbered).map(Value::from),
        Type::Literal(text) => (node.string() == Some(*text)).then(|| Value::from(*text)),
        _ => None,
    }
}

/// For each field of a model, the entry that counts for it.
#[derive(Default)]
struct Slots<'n>([Option<(Spelling, &'n Entry<'n>)>; MAX_FIELDS]);

impl<'n> Slots<'n> {
    /// Puts an entry into a slot. Returns the entry that does not count, if the slot was taken.
    fn put(&mut self, at: usize, spelling: Spelling, entry: &'n Entry<'n>) -> Option<&'n Entry<'n>> {
        let slot = &mut self.0[at];
        match slot {
            Some((better, _)) if *better > spelling => Some(entry),
            _ => slot.replace((spelling, entry)).map(|(_, loser)| loser),
        }
    }

    fn is_free(&self, at: usize) -> bool {
        self.0[at].is_none()
    }
}
