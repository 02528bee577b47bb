//! Lines and columns of many byte offsets at once.

use std::collections::HashMap;

use super::finding::Problem;

/// A line and a column in a text, both from 1. The column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Position {
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    /// The position behind a text that begins here.
    pub(crate) fn after(self, text: &str) -> Self {
        // Line breaks are counted by bytes. Only the last line needs characters.
        let Some(newline) = text.bytes().rposition(|byte| byte == b'\n') else {
            return Self { column: self.column + text.chars().count(), ..self };
        };
        let breaks = text.bytes().filter(|byte| *byte == b'\n').count();
        Self { line: self.line + breaks, column: 1 + text[newline + 1..].chars().count() }
    }
}

/// The positions of all offsets in the problems of a file.
///
/// They are found in one pass over the text, since a file of one line may have as many problems as characters.
#[derive(Debug)]
pub struct Positions(HashMap<usize, Position>);

impl Positions {
    /// The positions of all places in these problems of a text.
    pub fn new(text: &str, problems: &[Problem]) -> Self {
        let ranges = problems.iter().flat_map(|problem| {
            let related = problem.related.iter().map(|(range, _)| range);
            std::iter::once(&problem.range).chain(related)
        });
        Self::from_offsets(text, ranges.flat_map(|range| [range.start, range.end]).collect())
    }

    /// The positions of these offsets, in any order.
    pub fn from_offsets(text: &str, mut offsets: Vec<usize>) -> Self {
        offsets.sort_unstable();
        offsets.dedup();
        let (mut seen, mut position) = (0, Position::START);
        let mut positions = HashMap::with_capacity(offsets.len());
        for offset in offsets {
            let end = text.floor_char_boundary(offset);
            position = position.after(&text[seen..end]);
            seen = end;
            positions.insert(offset, position);
        }
        Self(positions)
    }

    /// The position of one of the byte offsets; the start of the text for any other offset.
    pub fn get(&self, offset: usize) -> Position {
        self.0.get(&offset).copied().unwrap_or(Position::START)
    }
}

#[cfg(test)]
mod tests {
    use crate::problem::line_column;

    use super::*;

    #[test]
    fn many_positions_are_those_of_each() {
        let text = "{\n  \"é\": 1,\r\n\n  \"天🎉\": [2]\n}";
        let offsets: Vec<usize> = (0..text.len() + 3).collect();
        let positions = Positions::from_offsets(text, offsets.clone());
        for offset in offsets {
            let Position { line, column } = positions.get(offset);
            // A line break ends its line for the renderer too, but `\r` before it is not shown.
            assert_eq!((line, column), line_column(text, offset), "{offset}");
        }
    }
}
