//! Sets that commands edit: which ones, and how they are written.

mod selection;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use eval_format::{Problem, Problems, SetEditor};
use eval_support::lock::{FolderLock, FolderLockError};
use eval_support::shell;
use eval_support::untrusted::one_line;
use eval_support::words::{count, short_code_list};
use serde::{Serialize, Serializer};

use crate::files::{has, read, replace};
use crate::output::style::{GOOD, styled};
use crate::output::{Answer, CommandError, Format, Outcome};

pub(crate) use selection::{SelectedSet, not_found, one_set, select};

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

/// Reads a set, without keeping others out.
pub(crate) fn open(path: &Path) -> Result<SetEditor, CommandError> {
    let shown = path.display().to_string();
    SetEditor::of_file(&shown, &read(path)?).map_err(|problems| has_errors(&shown, &problems))
}

/// Edits the file of a set. It is locked from the moment it is read until it is written, so that two who edit it at once
/// lose nothing. If the change is refused, or changes nothing, nothing is written.
pub(crate) fn edit<T>(
    path: &Path,
    change: impl FnOnce(&mut SetEditor) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let shown = path.display().to_string();
    let write_error = |error: &io::Error| {
        let help = "give this user permission to write the file and its folder";
        CommandError::new(format!("cannot write `{}`: {error}", one_line(&shown)), help)
    };
    // The file itself: two names of it must not be locked apart.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let lock = FolderLock::beside(&target).map_err(|error| match &error {
        FolderLockError::Held { .. } => CommandError::new(
            one_line(&error.to_string()),
            "wait until it has written, or end it, and try again",
        ),
        FolderLockError::Io { error, .. } if error.kind() == io::ErrorKind::NotFound => write_error(error),
        FolderLockError::Io { place, .. } => {
            let help = format!(
                "give this user permission to read and write `{}`",
                one_line(&place.display().to_string())
            );
            CommandError::new(one_line(&error.to_string()), help)
        }
    })?;
    let bytes = read(path)?;
    let mut editor = SetEditor::of_file(&shown, &bytes).map_err(|problems| has_errors(&shown, &problems))?;
    let result = change(&mut editor)?;
    let text = editor.into_text();
    if text.as_bytes() != bytes {
        replace(&target, &text).map_err(|error| write_error(&error))?;
    }
    drop(lock);
    Ok(result)
}

/// The error for an edit that the set refuses.
pub(crate) fn refused(path: &Path, error: &eval_format::EditError) -> CommandError {
    let shown = path.display().to_string();
    let help = match error {
        eval_format::EditError::DuplicateId { .. } => "rename one of the two cases".to_owned(),
        eval_format::EditError::OldForm { .. } => {
            let new = "NEW.evalset.json";
            return CommandError::new(
                format!("`{}` is in an old form of ADK, which cannot be edited so", one_line(&shown)),
                format!(
                    "write it as an eval set first: `cargo evalset migrate {} {new}`",
                    shell::word(&shown)
                ),
            );
        }
        _ => format!("`cargo evalset list {}` shows its cases", shell::word(&shown)),
    };
    CommandError::new(format!("`{}`: {}", one_line(&shown), one_line(&error.to_string())), help)
}

fn has_errors(shown: &str, problems: &Problems) -> CommandError {
    let errors = problems.iter().filter(|problem: &&Problem| problem.is_error()).count();
    has(shown, &count(errors, "error"))
}
