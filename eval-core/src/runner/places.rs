//! Where the cases of a set stand in its file.

use std::collections::HashMap;
use std::path::Path;

use eval_format::reader::CheckedSet;

use crate::report::Location;

/// Where the cases of a set stand; empty for a set that comes from no file.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The whole path of the file.
    path: Option<String>,
    /// By the id of the case.
    cases: HashMap<String, Location>,
}

impl Places {
    /// The cases of a file that was read.
    pub(super) fn of(path: &Path, checked: &CheckedSet) -> Self {
        let file = path.display().to_string();
        let cases = checked.cases.iter().map(|span| {
            let location = Location { file: file.clone(), line: span.line, column: span.column };
            (span.eval_id.clone(), location)
        });
        let path = std::path::absolute(path).ok().and_then(|path| Some(path.to_str()?.to_owned()));
        Self { path, cases: cases.collect() }
    }

    /// Where a case stands.
    pub(super) fn location(&self, eval_id: &str) -> Option<&Location> {
        self.cases.get(eval_id)
    }

    /// The whole path of the file.
    pub(super) fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }
}
