//! Other expectations, and other messages of the user, in the text of a case.

use eval_support::key_case::camel;

use super::patch::{Nulls, each, rebuilt, unchanged, with_text, with_value};
use super::spelling::Style;
use crate::model::{DRAFT, EvalCase, Invocation};
use crate::schema::{EVAL_CASE, INVOCATION, Model};
use crate::syntax::{Entry, Node, parse};
use crate::value::Value;

/// The text of a case with the user's messages, the expectations, the rules and the mark of `new`. `None` if it has another number of turns.
pub(super) fn text(text: &str, old: &EvalCase, new: &EvalCase) -> Option<String> {
    if old.conversation.len() != new.conversation.len() {
        return None;
    }
    let root = parse(text, &mut Vec::new()).ok()?;
    let entries = root.object()?;
    let style = Style::of_keys(entries.iter().map(|entry| &*entry.key));
    let spelt = style.spell(new.to_value());
    let spelt = Spelt { style, value: &spelt };
    let is_same = old.final_session_state == new.final_session_state;
    let state = Field::new(&spelt, &root, &EVAL_CASE, "final_session_state", is_same);
    let turns = EVAL_CASE.entry(entries, "conversation");
    let is_marked_so = old.extra.get(DRAFT) == new.extra.get(DRAFT);
    let ours = [EvalCase::EXPECT_KEY, EvalCase::CRITERIA_KEY];
    let ours = ours.map(|key| (key, old.extra.get(key), new.extra.get(key)));
    let of_ours = |entry: &Entry<'_>| ours.iter().find(|(key, old, new)| entry.key == *key && old != new);
    let kept = |entry: &Entry<'_>| {
        if entry.key == DRAFT && !is_marked_so {
            None
        } else if let Some((.., new)) = of_ours(entry) {
            new.map(|new| with_value(text, entry, new, Nulls::Values))
        } else if turns.is_some_and(|turns| turns.key_range == entry.key_range) {
            let turn = |at: usize, node: &Node<'_>| {
                of_turn(text, node, &spelt, at, &old.conversation[at], &new.conversation[at])
            };
            Some(with_text(text, entry, &each(text, &entry.value, turn)))
        } else if state.is_at(entry) {
            state.value.map(|state| with_value(text, entry, state, Nulls::Values))
        } else {
            Some(unchanged(text, entry))
        }
    };
    let mark = new.extra.get(DRAFT).filter(|_| !is_marked_so);
    let new_ours = ours.iter().filter(|(_, old, _)| old.is_none());
    let new_ours = new_ours.filter_map(|(key, _, new)| Some((*key, (*new)?)));
    let added = state.added().into_iter().chain(new_ours).chain(mark.map(|mark| (DRAFT, mark)));
    Some(rebuilt(text, &root, kept, added))
}

fn of_turn(
    text: &str,
    node: &Node<'_>,
    spelt: &Spelt<'_>,
    at: usize,
    old: &Invocation,
    new: &Invocation,
) -> String {
    let turn = spelt.value.as_object().and_then(|case| case.get("conversation")?.as_array()?.get(at));
    let Some(turn) = turn else { return text[node.range.clone()].to_owned() };
    let spelt = Spelt { style: spelt.style, value: turn };
    let asked = old.user_content.parts == new.user_content.parts;
    let answer = old.final_response == new.final_response;
    let data = old.intermediate_data == new.intermediate_data;
    let fields = [
        Field::new(&spelt, node, &INVOCATION, "user_content", asked),
        Field::new(&spelt, node, &INVOCATION, "final_response", answer),
        Field::new(&spelt, node, &INVOCATION, "intermediate_data", data),
    ];
    let kept = |entry: &Entry<'_>| match fields.iter().find(|field| field.is_at(entry)) {
        Some(field) => field.value.map(|value| with_value(text, entry, value, Nulls::Absent)),
        None => Some(unchanged(text, entry)),
    };
    rebuilt(text, node, kept, fields.iter().filter_map(Field::added))
}

/// A case or a turn in the spelling of its file.
struct Spelt<'s> {
    style: Style,
    value: &'s Value,
}

/// A field that has another value. `at` is where its key begins in the text.
struct Field<'s> {
    name: String,
    at: Option<usize>,
    value: Option<&'s Value>,
    is_changed: bool,
}

impl<'s> Field<'s> {
    fn new(spelt: &Spelt<'s>, node: &Node<'_>, model: &Model, name: &str, is_same: bool) -> Self {
        let entry = node.object().and_then(|entries| model.entry(entries, name));
        let name = if spelt.style == Style::Camel { camel(name) } else { name.to_owned() };
        let value = spelt.value.as_object().and_then(|map| map.get(&name)).filter(|value| !value.is_null());
        Self { at: entry.map(|entry| entry.key_range.start), value, name, is_changed: !is_same }
    }

    /// Whether an entry holds the field, and its value is another one now.
    fn is_at(&self, entry: &Entry<'_>) -> bool {
        self.is_changed && self.at == Some(entry.key_range.start)
    }

    /// The field as a new entry, if there was none.
    fn added(&self) -> Option<(&str, &'s Value)> {
        let value = self.value.filter(|_| self.is_changed && self.at.is_none())?;
        Some((&self.name, value))
    }
}
