//! Lines and columns of many places at once.

use std::collections::HashMap;

use eval_format::Problem;

/// The lines and columns of all places that the problems of a file name.
///
/// One pass over the text for all of them: a file of one line may have as many problems as characters.
#[derive(Debug)]
pub(crate) struct Places(HashMap<usize, (usize, usize)>);

impl Places {
    pub(crate) fn of(text: &str, problems: &[Problem]) -> Self {
        let ranges = problems.iter().flat_map(|problem| {
            let related = problem.related.iter().map(|(range, _)| range);
            std::iter::once(&problem.range).chain(related)
        });
        let mut offsets: Vec<usize> = ranges.flat_map(|range| [range.start, range.end]).collect();
        offsets.sort_unstable();
        offsets.dedup();
        Self(lines_and_columns(text, &offsets))
    }

    /// The line and the column of a byte offset, from 1, the column in characters.
    pub(crate) fn get(&self, offset: usize) -> (usize, usize) {
        self.0.get(&offset).copied().unwrap_or((1, 1))
    }
}

/// The places of offsets in ascending order.
fn lines_and_columns(text: &str, offsets: &[usize]) -> HashMap<usize, (usize, usize)> {
    let (mut seen, mut line, mut column) = (0, 1, 1);
    let mut places = HashMap::with_capacity(offsets.len());
    for &offset in offsets {
        let at = text.floor_char_boundary(offset);
        for char in text[seen..at].chars() {
            (line, column) = if char == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        seen = at;
        places.insert(offset, (line, column));
    }
    places
}

#[cfg(test)]
mod tests {
    use eval_format::line_column;

    use super::*;

    #[test]
    fn many_places_are_those_of_each() {
        let text = "{\n  \"é\": 1,\r\n\n  \"天🎉\": [2]\n}";
        let offsets: Vec<usize> = (0..text.len() + 3).collect();
        let places = lines_and_columns(text, &offsets);
        for offset in offsets {
            let (line, column) = line_column(text, offset);
            // A line break ends its line for the renderer too, but `\r` before it is not shown.
            assert_eq!(places[&offset], (line, column), "{offset}");
        }
    }
}
