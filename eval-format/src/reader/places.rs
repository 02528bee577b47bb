//! From byte ranges to lines and columns, in one pass over the text.

use std::ops::Range;

use super::checked::CaseSpan;
use crate::problem::Position;

/// The places of cases given in the order of the text.
pub(super) fn places(text: &str, cases: Vec<(String, Range<usize>, Range<usize>)>) -> Vec<CaseSpan> {
    let (mut seen, mut position) = (0, Position::START);
    let mut spans = Vec::with_capacity(cases.len());
    for (eval_id, id_range, range) in cases {
        position = position.after(&text[seen..range.start]);
        seen = range.start;
        let Position { line, column } = position;
        spans.push(CaseSpan { eval_id, id_range, range, line, column });
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let text = "ä{\n  天{ {";
        let at = |needle: &str, from: usize| text[from..].find(needle).unwrap() + from;
        let first = at("{", 0);
        let second = at("{", first + 1);
        let third = at("{", second + 1);
        let cases = [first, second, third].map(|start| (String::new(), start..start + 1, start..start + 1));
        let found: Vec<_> =
            places(text, cases.into()).iter().map(|place| (place.line, place.column)).collect();
        assert_eq!(found, [(1, 2), (2, 4), (2, 6)]);
    }
}
