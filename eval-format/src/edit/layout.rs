//! The layout of a file, derived from its text.

use crate::syntax::{Entry, Node, parse};
use crate::value::{Layout, Lines};

/// The indentation of a level if the file shows none, as in the files that ADK saves.
const UNIT: &str = "  ";

/// The layout of a new case, and the white space around it.
pub(super) struct Slot {
    /// The white space between the case before it and the comma.
    pub(super) after_last: String,
    /// The white space before the case.
    pub(super) before: String,
    pub(super) layout: Layout,
}

/// The slot after the last case, with the layout of that case. `between` is the white space before and after
/// the comma in front of that case; `None` if it is the only case.
pub(super) fn after(between: Option<(&str, &str)>, before: &str, last: &str) -> Slot {
    let root = parse(last, &mut Vec::new()).ok();
    let mut layout = root.as_ref().map_or_else(on_one_line, |root| of_object(last, root));
    let (after_last, before) = match between {
        Some((after, before)) => (after, before),
        None if before.contains('\n') => ("", before),
        None if layout.lines.is_some() => ("", " "),
        None => ("", layout.gap.as_str()),
    };
    let (after_last, before) = (after_last.to_owned(), before.to_owned());
    if let (Some(lines), Some((_, base))) = (&mut layout.lines, before.rsplit_once('\n')) {
        base.clone_into(&mut lines.base);
    }
    Slot { after_last, before, layout }
}

/// The slot in an empty array of cases, and the white space after it.
pub(super) fn first(text: &str, root: &Node<'_>, cases: &Entry<'_>) -> (Slot, String) {
    let mut layout = of_object(text, root);
    let (mut before, mut after) = (String::new(), String::new());
    if let Some(lines) = &mut layout.lines {
        let key = indentation(&text[..cases.key_range.start]);
        after = format!("{}{key}", lines.end);
        lines.base = format!("{key}{}", lines.unit);
        before = format!("{}{}", lines.end, lines.base);
    }
    (Slot { after_last: String::new(), before, layout }, after)
}

/// The layout of an object, which is a node of the text.
pub(super) fn of_object(text: &str, node: &Node<'_>) -> Layout {
    let mut layout = on_one_line();
    let Some([first, rest @ ..]) = node.object() else { return layout };
    let colon = &text[first.key_range.end..first.value.range.start];
    if !colon.contains(['\n', '\r']) {
        colon.clone_into(&mut layout.colon);
    }
    let whole = &text[node.range.clone()];
    if whole.contains('\n') {
        let end = if whole.contains("\r\n") { "\r\n" } else { "\n" };
        let closing = &text[..node.range.end - 1];
        let base = indentation(closing);
        let inner = indentation(&text[..first.key_range.start]);
        let unit = inner.strip_prefix(base).filter(|unit| !unit.is_empty()).unwrap_or(UNIT);
        layout.lines = Some(Lines { end, base: base.to_owned(), unit: unit.to_owned() });
    } else if let Some(second) = rest.first() {
        let between = &text[first.value.range.end..second.key_range.start];
        between.split_once(',').map_or(" ", |(_, gap)| gap).clone_into(&mut layout.gap);
    } else if layout.colon == ":" {
        layout.gap.clear();
    }
    layout
}

/// The layout of Python's `json.dumps`.
pub(super) fn on_one_line() -> Layout {
    Layout { lines: None, colon: ": ".to_owned(), gap: " ".to_owned(), is_for_people: false }
}

/// The white space at the beginning of the last line of a text.
pub(super) fn indentation(text: &str) -> &str {
    let line = text.rsplit_once('\n').map_or(text, |(_, line)| line);
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
