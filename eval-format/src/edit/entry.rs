//! Taking a key out of the text of an object.

use super::sections::Sections;
use crate::syntax::parse;

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
