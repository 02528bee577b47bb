//! A set of a plan.

use super::directory::Found;

/// A set, and which of its cases are meant; `None` for all.
pub(super) struct Selected {
    pub(super) found: Found,
    pub(super) ids: Option<Vec<String>>,
}

impl Selected {
    pub(super) fn whole(found: Found) -> Self {
        Self { found, ids: None }
    }

    /// Selects more of its cases.
    pub(super) fn select(&mut self, ids: Option<Vec<String>>) {
        match (&mut self.ids, ids) {
            (Some(known), Some(more)) => known.extend(more),
            (known, _) => *known = None,
        }
    }
}
