//! Insertions into a text, which may nest.

use std::ops::Range;

/// A text in place of a range, or around it.
pub(crate) enum Edit {
    /// This text in place of the range.
    Replace(Range<usize>, String),
    /// These texts before and after the range.
    Wrap(Range<usize>, String, &'static str),
}

/// Edits, the outer before the inner.
#[derive(Default)]
pub(crate) struct Edits(Vec<Edit>);

impl Edits {
    pub(crate) fn insert(&mut self, at: usize, text: String) {
        self.0.push(Edit::Replace(at..at, text));
    }

    pub(crate) fn extend(&mut self, edits: Vec<Edit>) {
        self.0.extend(edits);
    }

    /// The text with the edits. What ends at a place comes before what begins there; the inner ends first, and the outer begins first.
    pub(crate) fn applied_to(self, source: &str) -> String {
        let mut pieces = Vec::new();
        for (order, edit) in (0_isize..).zip(&self.0) {
            match edit {
                Edit::Replace(range, text) => {
                    pieces.push(((range.start, 1, 0, order), range.end, text.as_str()));
                }
                Edit::Wrap(range, before, after) => {
                    let by_start = -range.start.cast_signed();
                    let by_end = -range.end.cast_signed();
                    pieces.push(((range.end, 0, by_start, -order), range.end, *after));
                    pieces.push(((range.start, 2, by_end, order), range.start, before.as_str()));
                }
            }
        }
        pieces.sort_unstable_by_key(|(key, ..)| *key);
        let mut text = String::new();
        let mut done = 0;
        for ((at, ..), until, piece) in pieces {
            text.push_str(&source[done..at]);
            text.push_str(piece);
            done = until;
        }
        text.push_str(&source[done..]);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_edits_keep_their_order() {
        let wrap = |range, name: &str| Edit::Wrap(range, format!("{name}("), ")");
        let mut edits = Edits::default();
        edits.extend(vec![
            wrap(0..11, "outer"),
            wrap(0..6, "same"),
            wrap(0..6, "left"),
            wrap(10..11, "right"),
        ]);
        edits.extend(vec![Edit::Replace(7..9, ",".to_owned())]);
        assert_eq!(edits.applied_to("a == b && c"), "outer(same(left(a == b)) , right(c))");
    }
}
