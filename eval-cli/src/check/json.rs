//! The report for programs.

use eval_format::Form;
use serde::Serialize;

use super::Report;
use super::file::File;
use super::fix::State;
use crate::answer::Outcome;
use crate::input::Kind;
use crate::problem_json::{self, ProblemEntry};

/// What `--format json` prints. Fields may be added; none goes away or changes its meaning.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    command: &'static str,
    outcome: Outcome,
    files: Vec<FileEntry>,
    not_checked: Vec<Failure>,
    summary: Summary,
}

#[derive(Debug, Serialize)]
struct Summary {
    files: usize,
    cases: usize,
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
struct Failure {
    file: Option<String>,
    message: String,
    help: String,
}

impl From<&Report> for Document {
    fn from(report: &Report) -> Self {
        let failures =
            report.files.iter().filter_map(|file| Some((Some(&file.shown), file.failure.as_ref()?)));
        let refusals = report.refusals.iter().map(|refusal| (None, refusal));
        Self {
            command: "check",
            outcome: report.outcome(),
            files: report.files.iter().map(FileEntry::from).collect(),
            not_checked: failures
                .chain(refusals)
                .map(|(file, refusal)| Failure {
                    file: file.cloned(),
                    message: refusal.message.clone(),
                    help: refusal.help.clone(),
                })
                .collect(),
            summary: Summary {
                files: report.files.len(),
                cases: report.cases(),
                errors: report.errors(),
                warnings: report.warnings(),
                not_checked: report.unread(),
            },
        }
    }
}

impl From<&File> for FileEntry {
    fn from(file: &File) -> Self {
        Self {
            file: file.shown.clone(),
            kind: match file.kind {
                Kind::Config => "config",
                Kind::Session => "session",
                Kind::Recording => "recording",
                Kind::Set | Kind::Unknown => "set",
            },
            form: file.form.map(form),
            cases: file.cases,
            fix: file.fix.as_ref().map(|fix| {
                let (state, reason) = match &fix.state {
                    State::Possible => ("possible", None),
                    State::Done => ("done", None),
                    State::Kept(reason) => ("kept", Some(reason.clone())),
                };
                FixEntry { state, what: fix.what.clone(), reason }
            }),
            problems: problem_json::entries(&file.text, &file.problems),
        }
    }
}

fn form(form: Form) -> &'static str {
    match form {
        Form::EvalSet => "eval_set",
        Form::TestFile => "old_test_file",
        Form::OldEvalSet => "old_eval_set",
    }
}
