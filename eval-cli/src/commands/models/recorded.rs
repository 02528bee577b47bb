//! Sets with the folders of their recordings.

use eval_core::models::ModelsFolder;
use eval_support::untrusted::one_line;

use crate::edited::SelectedSet;
use crate::output::CommandError;

/// A set with the folder of its recordings.
pub(super) struct Recorded {
    pub(super) selected: SelectedSet,
    /// The ids of its cases, in order.
    pub(super) cases: Vec<String>,
    pub(super) folder: ModelsFolder,
}

impl Recorded {
    /// The cases that are meant.
    pub(super) fn meant(&self) -> impl Iterator<Item = &str> {
        let ids = self.selected.cases.as_ref();
        self.cases
            .iter()
            .map(String::as_str)
            .filter(move |id| ids.is_none_or(|ids| ids.iter().any(|it| it == id)))
    }
}

/// The error of a recording that cannot be read.
pub(super) fn unreadable(why: &str) -> CommandError {
    CommandError::new(one_line(why), "record the case again: `EVALSET_MODELS=record-all`")
}
