//! What was left out while reading, counted by its reason.

use super::gap::{Gap, GapKind};

/// How many reasons are kept apart. A file with more is broken as a whole.
const MOST: usize = 100;

/// What was left out, each reason once with its count.
#[derive(Debug, Default)]
pub(super) struct Notes {
    counted: Vec<(Gap, usize)>,
    further: usize,
}

impl Notes {
    /// Something is not as the format says, and is left out.
    pub(super) fn malformed(&mut self, what: impl Into<String>) {
        self.add(Gap::new(GapKind::Malformed, what));
    }

    /// A place holds a value of another kind than it should. `null` is as good as nothing.
    pub(super) fn misfit(&mut self, what: &str, expected: &str, found: &str) {
        if found != "null" {
            self.malformed(format!("{what} should be {expected} and is {found}"));
        }
    }

    pub(super) fn add(&mut self, gap: Gap) {
        if let Some((_, count)) = self.counted.iter_mut().find(|(known, _)| *known == gap) {
            *count += 1;
        } else if self.counted.len() < MOST {
            self.counted.push((gap, 1));
        } else {
            self.further += 1;
        }
    }

    pub(super) fn extend(&mut self, gaps: Vec<Gap>) {
        for gap in gaps {
            self.add(gap);
        }
    }

    /// An SDK or an exporter says that it dropped so many of something, unless it is none.
    pub(super) fn dropped(&mut self, what: &str, count: Option<u64>) {
        if count.is_some_and(|count| count > 0) {
            self.add(Gap::new(
                GapKind::Dropped,
                format!("{what} were dropped by the limits of an SDK or an exporter"),
            ));
        }
    }

    pub(super) fn into_gaps(self) -> Vec<Gap> {
        let of = |(gap, count): (Gap, usize)| match count {
            1 => gap,
            count => Gap::new(gap.kind, format!("{} ({count} times)", gap.message)),
        };
        let mut gaps: Vec<Gap> = self.counted.into_iter().map(of).collect();
        if self.further > 0 {
            gaps.push(Gap::new(GapKind::Malformed, format!("{} further things are left out", self.further)));
        }
        gaps
    }
}
