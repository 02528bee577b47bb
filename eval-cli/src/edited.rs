//! Sets that commands edit: which ones, and how they are written.

mod selection;
mod set_file;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use eval_support::untrusted::one_line;
use eval_support::words::{count, short_code_list};
pub(crate) use selection::{SelectedSet, not_found, one_set, select};
use serde::{Serialize, Serializer};
pub(crate) use set_file::{edit, open, refused};

use crate::output::style::{GOOD, styled};
use crate::output::{Answer, CommandError, Format, Outcome};

/// What became of the cases of a set. Fields may be added to its JSON; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
pub(crate) struct Change {
    #[serde(rename = "file", serialize_with = "shown")]
    pub(crate) path: PathBuf,
    /// The ids of the cases that were changed, as they are now.
    pub(crate) cases: Vec<String>,
}

fn shown<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// The answer of a command that edited sets. `did` is what it did, and where to: `removed`, `from`. `remark` is added for
/// people.
pub(crate) fn changed(
    command: &str,
    did: (&str, &str),
    changes: &[Change],
    remark: &str,
    format: Format,
) -> Result<Answer, CommandError> {
    if format == Format::Json {
        let files = HashMap::from([("files", changes)]);
        return Answer::results(command, Outcome::Passed, &files);
    }
    let mut text = String::new();
    for change in changes {
        let ids: Vec<String> = change.cases.iter().map(|id| one_line(id)).collect();
        let named = if ids.is_empty() { String::new() } else { format!(": {}", short_code_list(&ids)) };
        let shown = one_line(&change.path.display().to_string());
        let cases = count(change.cases.len(), "case");
        text.push_str(&format!("{} {cases} {} `{shown}`{named}\n", styled(GOOD, did.0), did.1));
    }
    Ok(Answer::new(Outcome::Passed, text + remark))
}
