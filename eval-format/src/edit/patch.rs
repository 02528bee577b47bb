//! A changed value in the text of the old one, with as few changed bytes as possible.

use std::ops::Range;

use super::layout::{indentation, of_object, on_one_line};
use super::sections::{Item, Sections};
use crate::syntax::{Entry, Node};
use crate::value::{Layout, Value, print};

/// Whether a key whose value is `null` is as good as none: in ADK's models it is, in maps of users it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nulls {
    Absent,
    Values,
}

impl Nulls {
    /// The rule below a key.
    fn below(self, key: &str) -> Self {
        if matches!(key, "args" | "response") { Self::Values } else { self }
    }
}

/// The text of a node after its value became `new`. Parts with equal values keep their bytes: white space, the order and
/// the spelling of keys, absent values that are written as `null`.
pub(super) fn patched(text: &str, node: &Node<'_>, new: &Value, nulls: Nulls) -> String {
    if is_same(node, new, nulls) {
        return text[node.range.clone()].to_owned();
    }
    match (node.object(), node.array(), new) {
        (Some(entries), _, Value::Object(map)) if !entries.is_empty() => {
            let kept = |entry: &Entry<'_>| match map.get(&entry.key) {
                Some(new) => Some(with_value(text, entry, new, nulls.below(&entry.key))),
                None => (entry.value.is_null() && nulls == Nulls::Absent).then(|| unchanged(text, entry)),
            };
            let is_added = |(key, value): &(&str, &Value)| {
                !(value.is_null() && nulls == Nulls::Absent) && node.get(key).is_none()
            };
            rebuilt(text, node, kept, map.iter().filter(is_added))
        }
        (_, Some(items), Value::Array(new)) if !items.is_empty() => of_list(text, node, items, new, nulls),
        _ => print(new, &on_one_line()),
    }
}

/// An object whose entries are those that `kept` returns for the old ones, and then new ones.
pub(super) fn rebuilt<'v>(
    text: &str,
    node: &Node<'_>,
    kept: impl Fn(&Entry<'_>) -> Option<String>,
    added: impl IntoIterator<Item = (&'v str, &'v Value)>,
) -> String {
    let entries = node.object().unwrap_or_default();
    let mut layout = of_object(text, node);
    let is_open = |first: &Entry<'_>| text[node.range.start..first.key_range.start].contains('\n');
    if !entries.first().is_some_and(is_open) {
        // Entries that share their lines stay so, although the value of one takes several.
        layout.lines = None;
    }
    if let Some(lines) = &mut layout.lines {
        lines.base.push_str(&lines.unit);
    }
    let mut sections = sections(text, node, entries.iter().map(whole));
    let mut at = 0;
    for entry in entries {
        if let Some(text) = kept(entry) {
            sections.items[at].text = text;
            at += 1;
        } else {
            sections.remove(at);
        }
    }
    for (key, value) in added {
        let text = format!("{}{}{}", Value::from(key), layout.colon, print(value, &layout));
        let end = sections.items.len();
        insert(&mut sections, end, text, &layout);
    }
    sections.text()
}

/// The text of a list whose items `changed` rewrites.
pub(super) fn each(text: &str, node: &Node<'_>, changed: impl Fn(usize, &Node<'_>) -> String) -> String {
    let items = node.array().unwrap_or_default();
    let mut sections = sections(text, node, items.iter().map(|item| item.range.clone()));
    for (at, item) in items.iter().enumerate() {
        sections.items[at].text = changed(at, item);
    }
    sections.text()
}

/// The text of an entry with another value.
pub(super) fn with_value(text: &str, entry: &Entry<'_>, new: &Value, nulls: Nulls) -> String {
    with_text(text, entry, &patched(text, &entry.value, new, nulls))
}

/// The text of an entry with this text in place of its value.
pub(super) fn with_text(text: &str, entry: &Entry<'_>, value: &str) -> String {
    format!("{}{value}", &text[entry.key_range.start..entry.value.range.start])
}

/// The text of an entry.
pub(super) fn unchanged(text: &str, entry: &Entry<'_>) -> String {
    text[whole(entry)].to_owned()
}

/// Equal items at the beginning and the end stay. Those between are changed one by one.
fn of_list(text: &str, node: &Node<'_>, items: &[Node<'_>], new: &[Value], nulls: Nulls) -> String {
    let same = |(node, new): &(&Node<'_>, &Value)| is_same(node, new, nulls);
    let before = items.iter().zip(new).take_while(same).count();
    let (old, new) = (&items[before..], &new[before..]);
    let after = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let (old, new) = (&old[..old.len() - after], &new[..new.len() - after]);
    let mut sections = sections(text, node, items.iter().map(|item| item.range.clone()));
    let layout = layout_of_items(text, items);
    for (at, new) in new.iter().enumerate() {
        match old.get(at) {
            Some(old) => sections.items[before + at].text = patched(text, old, new, nulls),
            None => insert(&mut sections, before + at, print(&as_beside(items, new), &layout), &layout),
        }
    }
    for _ in new.len()..old.len() {
        sections.remove(before + new.len());
    }
    sections.text()
}

/// The first item of a list that is an object with entries.
fn first_object<'n, 'a>(items: &'n [Node<'a>]) -> Option<&'n Node<'a>> {
    items.iter().find(|item| item.object().is_some_and(|entries| !entries.is_empty()))
}

/// A further item of a list, with its keys in the order of the item beside it.
fn as_beside(items: &[Node<'_>], new: &Value) -> Value {
    let (Some(beside), Value::Object(map)) = (first_object(items), new) else { return new.clone() };
    let place = |key: &str| beside.object().and_then(|entries| entries.iter().position(|it| it.key == key));
    let mut entries: Vec<(&str, &Value)> = map.iter().collect();
    entries.sort_by_key(|(key, _)| place(key).unwrap_or(usize::MAX));
    Value::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value.clone())).collect())
}

/// The layout of a further item of a list.
fn layout_of_items(text: &str, items: &[Node<'_>]) -> Layout {
    let of_item = first_object(items);
    let mut layout = of_item.map_or_else(on_one_line, |item| of_object(text, item));
    if let (Some(lines), Some(first)) = (&mut layout.lines, items.first()) {
        indentation(&text[..first.range.start]).clone_into(&mut lines.base);
    }
    layout
}

/// Puts an element before the one at `at`, with the white space that its neighbours have.
fn insert(sections: &mut Sections<()>, at: usize, text: String, layout: &Layout) {
    let items = &mut sections.items;
    let mut item = Item { before: String::new(), text, after: String::new(), meaning: () };
    let between = match items.as_slice() {
        [] => return items.push(item),
        [first, ..] if first.before.contains('\n') => first.before.clone(),
        [_, second, ..] => second.before.clone(),
        [_] => layout.gap.clone(),
    };
    item.before.clone_from(&between);
    if at == 0 {
        item.before = std::mem::replace(&mut items[0].before, between);
    } else if at == items.len() {
        item.after = std::mem::take(&mut items[at - 1].after);
    }
    items.insert(at, item);
}

/// The text of a node, cut at its elements.
fn sections(text: &str, node: &Node<'_>, elements: impl Iterator<Item = Range<usize>>) -> Sections<()> {
    let from = node.range.start;
    let moved = elements.map(|range| (range.start - from..range.end - from, ()));
    Sections::cut(&text[node.range.clone()], &(0..node.range.len()), moved.collect())
}

fn whole(entry: &Entry<'_>) -> Range<usize> {
    entry.key_range.start..entry.value.range.end
}

fn is_same(node: &Node<'_>, new: &Value, nulls: Nulls) -> bool {
    match (node.object(), node.array(), new) {
        (Some(entries), _, Value::Object(map)) => {
            let counts = |is_null: bool| !is_null || nulls == Nulls::Values;
            let there = entries.iter().filter(|entry| counts(entry.value.is_null())).count();
            let mut wanted = map.iter().filter(|(_, value)| counts(value.is_null()));
            let is_there = |(key, value): (&str, &Value)| {
                node.get(key).is_some_and(|entry| is_same(&entry.value, value, nulls.below(key)))
            };
            there == wanted.clone().count() && wanted.all(is_there)
        }
        (_, Some(items), Value::Array(new)) => {
            items.len() == new.len() && items.iter().zip(new).all(|(item, new)| is_same(item, new, nulls))
        }
        _ => node.to_value() == *new,
    }
}
