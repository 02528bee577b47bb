//! The results as JSON.

use std::collections::BTreeMap;

use eval_format::conventions::FileKind;
use eval_format::reader::Form;
use serde::Serialize;

use super::file::CheckedFile;
use super::fix::{Fix, FixState};
use super::results::CheckResults;
use crate::files::{ProblemEntry, entries};
use crate::output::Outcome;

/// What `--format json` prints. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    command: &'static str,
    outcome: Outcome,
    files: Vec<FileEntry>,
    not_checked: Vec<NotChecked>,
    summary: Summary,
}

#[derive(Debug, Serialize)]
struct Summary {
    files: usize,
    cases: usize,
    drafts: usize,
    errors: usize,
    warnings: usize,
    not_checked: usize,
}

#[derive(Debug, Serialize)]
struct FileEntry {
    file: String,
    kind: &'static str,
    form: Option<&'static str>,
    cases: usize,
    /// How many of the cases are drafts.
    drafts: usize,
    /// How many of what a set expects and no metric reads: `tool_responses`, `rubrics` and so on.
    not_compared: BTreeMap<&'static str, usize>,
    fix: Option<FixEntry>,
    problems: Vec<ProblemEntry>,
}

#[derive(Debug, Serialize)]
struct FixEntry {
    state: &'static str,
    what: String,
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct NotChecked {
    /// `None` for a path that stands for no file.
    file: Option<String>,
    message: String,
    help: String,
}

impl Document {
    pub(super) fn of(results: &CheckResults) -> Self {
        let counts = results.counts();
        let not_checked = results.not_checked().map(|(file, error)| NotChecked {
            file: file.map(str::to_owned),
            message: error.message.clone(),
            help: error.help.clone(),
        });
        Self {
            command: "check",
            outcome: results.outcome(),
            files: results.files.iter().map(FileEntry::of).collect(),
            not_checked: not_checked.collect(),
            summary: Summary {
                files: counts.files,
                cases: counts.cases,
                drafts: counts.drafts,
                errors: counts.errors,
                warnings: counts.warnings,
                not_checked: counts.not_checked,
            },
        }
    }
}

impl FileEntry {
    fn of(file: &CheckedFile) -> Self {
        Self {
            file: file.shown.clone(),
            kind: match file.kind {
                FileKind::Config => "config",
                FileKind::Session => "session",
                FileKind::Recording => "recording",
                _ => "set",
            },
            form: file.form.map(form),
            cases: file.cases,
            drafts: file.drafts,
            not_compared: file.not_compared.counts().collect(),
            fix: file.fix.as_ref().map(FixEntry::of),
            problems: entries(&file.text, &file.problems),
        }
    }
}

impl FixEntry {
    fn of(fix: &Fix) -> Self {
        let (state, reason) = match &fix.state {
            FixState::Possible => ("possible", None),
            FixState::Done => ("done", None),
            FixState::Kept(reason) => ("kept", Some(reason.to_string())),
        };
        Self { state, what: fix.what.clone(), reason }
    }
}

fn form(form: Form) -> &'static str {
    match form {
        Form::EvalSet => "eval_set",
        Form::TestFile => "old_test_file",
        Form::OldEvalSet => "old_eval_set",
    }
}
