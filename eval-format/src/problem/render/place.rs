//! The place of a range: its line, its column.

use std::ops::Range;

/// The line and the column of a byte offset, both counted from 1, the column in characters.
///
/// ```
/// use eval_format::problem::line_column;
///
/// assert_eq!(line_column("{\n  \"é\": 1\n}", 8), (2, 6));
/// ```
///
/// An offset beyond the end is taken as the end, one inside a character as its start.
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let place = Place::new(text, &(offset..offset));
    (place.line, place.column)
}

pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
    /// The line without its end, in bytes of the text.
    pub(super) line_range: Range<usize>,
    /// The part of the range that lies in this line, in bytes of the text.
    pub(super) mark: Range<usize>,
}

impl Place {
    pub(super) fn new(text: &str, range: &Range<usize>) -> Self {
        let from = text.floor_char_boundary(range.start);
        let start = text[..from].rfind('\n').map_or(0, |at| at + 1);
        let end = text[from..].find('\n').map_or(text.len(), |at| from + at);
        let end = start + text[start..end].trim_end_matches('\r').len();
        let to = text.floor_char_boundary(range.end);
        Self {
            line: text[..start].matches('\n').count() + 1,
            column: text[start..from].chars().count() + 1,
            line_range: start..end,
            mark: from.min(end)..to.clamp(from.min(end), end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        for (text, offset, expected) in [
            ("", 0, (1, 1)),
            ("", 9, (1, 1)),
            ("ab\ncd", 0, (1, 1)),
            ("ab\ncd", 2, (1, 3)),
            ("ab\ncd", 3, (2, 1)),
            ("ab\ncd", 99, (2, 3)),
            ("ab\n", 3, (2, 1)),
            ("a\r\nb", 3, (2, 1)),
            ("a\rb", 2, (1, 3)),
            ("天気x", 6, (1, 3)),
            ("天気x", 4, (1, 2)),
            ("\tx", 1, (1, 2)),
            ("🎉e\u{301}x", 7, (1, 4)),
        ] {
            assert_eq!(line_column(text, offset), expected, "{text:?} at {offset}");
        }
    }
}
