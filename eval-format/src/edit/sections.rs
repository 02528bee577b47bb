//! A text cut at the elements of one of its arrays or objects.

use std::ops::Range;

use crate::syntax::parse;

/// A text cut at the elements of an array, or the entries of an object. Put together again it is the same text.
#[derive(Clone, Debug)]
pub(super) struct Sections<T> {
    /// The text up to the opening bracket, and that bracket.
    pub(super) head: String,
    pub(super) items: Vec<Item<T>>,
    /// The closing bracket and the text after it. Without elements, it begins with the white space before the
    /// bracket.
    pub(super) tail: String,
}

/// An element with the white space around it. Two elements are separated by a comma.
#[derive(Clone, Debug)]
pub(super) struct Item<T> {
    pub(super) before: String,
    pub(super) text: String,
    pub(super) after: String,
    /// The meaning of the element.
    pub(super) meaning: T,
}

impl<T> Sections<T> {
    /// Cuts a text at the elements of the array or object at `outer`. Each element is given with its place and its
    /// meaning.
    pub(super) fn cut(text: &str, outer: &Range<usize>, elements: Vec<(Range<usize>, T)>) -> Self {
        let (open, close) = (outer.start + 1, outer.end - 1);
        let starts: Vec<usize> = elements.iter().map(|(range, _)| range.start).collect();
        let mut items = Vec::with_capacity(elements.len());
        let mut seen = open;
        for (at, (range, meaning)) in elements.into_iter().enumerate() {
            let next = starts.get(at + 1).copied().unwrap_or(close);
            let comma = range.end + text[range.end..next].find(',').unwrap_or(next - range.end);
            items.push(Item {
                before: text[seen..range.start].to_owned(),
                after: text[range.end..comma].to_owned(),
                text: text[range].to_owned(),
                meaning,
            });
            seen = comma + 1;
        }
        let tail = if items.is_empty() { open } else { close };
        Self { head: text[..open].to_owned(), items, tail: text[tail..].to_owned() }
    }

    /// The whole text as one element. No other element can be added.
    pub(super) fn whole(text: &str, meaning: T) -> Self {
        let item = Item { before: String::new(), text: text.to_owned(), after: String::new(), meaning };
        Self { head: String::new(), items: vec![item], tail: String::new() }
    }

    pub(super) fn text(&self) -> String {
        let own = |item: &Item<T>| item.before.len() + item.text.len() + item.after.len() + 1;
        let length = self.head.len() + self.tail.len() + self.items.iter().map(own).sum::<usize>();
        let mut text = String::with_capacity(length);
        text.push_str(&self.head);
        for (at, item) in self.items.iter().enumerate() {
            text.push_str(if at > 0 { "," } else { "" });
            text.push_str(&item.before);
            text.push_str(&item.text);
            text.push_str(&item.after);
        }
        text.push_str(&self.tail);
        text
    }

    /// Takes an element out, with one comma and the white space that belongs to it.
    pub(super) fn remove(&mut self, at: usize) -> T {
        let removed = self.items.remove(at);
        if at == 0 {
            // The new first element keeps the place of the old one.
            if let Some(first) = self.items.first_mut() {
                first.before = removed.before;
            }
        } else if at == self.items.len() {
            // The closing bracket keeps its place.
            self.items[at - 1].after = removed.after;
        }
        removed.meaning
    }
}

/// The text of an object without one of its keys, with one comma and the white space that belongs to it.
pub(super) fn without(text: &str, key: &str) -> Option<String> {
    let root = parse(text, &mut Vec::new()).ok()?;
    let entries = root.object()?;
    let at = entries.iter().position(|entry| entry.key == key)?;
    let whole = entries.iter().map(|entry| (entry.key_range.start..entry.value.range.end, ()));
    let mut sections = Sections::cut(text, &root.range, whole.collect());
    sections.remove(at);
    Some(sections.text())
}
