//! One file, and what became of it.

use std::path::Path;

use eval_format::Problem;
use eval_format::problem::Severity;
use eval_format::reader::{CheckedSet, Form, check_set};
use eval_support::untrusted::one_line;

use crate::files::{FoundProblems, form_name, read, replace, text_like};
use crate::output::{CommandError, Outcome};

/// A file after it was formatted, or not.
#[derive(Debug)]
pub(super) struct FormattedFile {
    /// Its path, as messages show it.
    pub(super) shown: String,
    pub(super) state: FileState,
}

#[derive(Debug)]
pub(super) enum FileState {
    Unchanged,
    /// It was written.
    Formatted,
    /// It would be written, were it not for `--check`.
    NotFormatted,
    /// It has errors or would lose something. The problems point into the text.
    Kept(FoundProblems),
    /// It has a form that ADK does not write any more.
    OldForm(CommandError),
    /// It could not be read or written.
    Unmeasurable(CommandError),
}

impl FormattedFile {
    /// Reads a file. Writes it in ADK's form, unless `only_check` is true.
    pub(super) fn of(path: &Path, only_check: bool) -> Self {
        let shown = path.display().to_string();
        let state = FileState::of(path, &shown, only_check).unwrap_or_else(FileState::Unmeasurable);
        Self { shown, state }
    }
}

impl FileState {
    fn of(path: &Path, shown: &str, only_check: bool) -> Result<Self, CommandError> {
        let bytes = read(path)?;
        let text = match canonical(check_set(shown, &bytes, None)) {
            Ok(text) => text,
            Err(state) => return Ok(state),
        };
        if text.as_bytes() == bytes {
            return Ok(Self::Unchanged);
        }
        if only_check {
            return Ok(Self::NotFormatted);
        }
        replace(path, &text).map_err(|error| {
            let help = "give this user permission to write it, or use `--check`";
            CommandError::new(format!("cannot write `{shown}`: {error}"), help)
        })?;
        Ok(Self::Formatted)
    }

    pub(super) fn outcome(&self) -> Outcome {
        match self {
            Self::Unchanged | Self::Formatted => Outcome::Passed,
            Self::NotFormatted | Self::Kept(_) | Self::OldForm(_) => Outcome::Failed,
            Self::Unmeasurable(_) => Outcome::Unmeasurable,
        }
    }

    pub(super) fn error(&self) -> Option<&CommandError> {
        match self {
            Self::OldForm(error) | Self::Unmeasurable(error) => Some(error),
            _ => None,
        }
    }

    /// The name of the state in JSON.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Formatted => "formatted",
            Self::NotFormatted => "not_formatted",
            Self::Kept(_) | Self::OldForm(_) => "kept",
            Self::Unmeasurable(_) => "unmeasurable",
        }
    }
}

/// The text of a set as ADK saves it. The error is the state of a file that is not to be changed.
fn canonical(checked: CheckedSet) -> Result<String, FileState> {
    let Some(set) = &checked.set else {
        let problems = checked.problems.into_iter().filter(Problem::is_error).collect();
        return Err(FileState::Kept(FoundProblems { text: checked.text, problems }));
    };
    if checked.form != Form::EvalSet {
        let file = one_line(&checked.file);
        return Err(FileState::OldForm(CommandError::new(
            format!("`{file}` is {}, a form that ADK does not write any more", form_name(checked.form)),
            format!(
                "`cargo evalset check --fix {file}` or `cargo evalset migrate` converts it to an eval set"
            ),
        )));
    }
    let mut lost = checked.unwritten();
    if !lost.is_empty() {
        // Warnings elsewhere; here they stop the file from being written.
        for problem in &mut lost {
            problem.severity = Severity::Error;
        }
        return Err(FileState::Kept(FoundProblems { text: checked.text, problems: lost }));
    }
    Ok(text_like(set, &checked.text))
}
