//! The results as JSON.

use std::collections::BTreeMap;

use eval_format::compat::NotCompared;
use eval_format::conventions::FileKind;
use eval_format::reader::Form;
use serde::{Serialize, Serializer};

use super::file::CheckedFile;
use super::fix::{Fix, FixState};
use super::results::{CheckResults, Counts};
use crate::output::CommandError;

/// What `--format json` prints. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
pub(super) struct Fields<'r> {
    files: &'r [CheckedFile],
    not_checked: Vec<NotChecked<'r>>,
    summary: Counts,
}

#[derive(Debug, Serialize)]
struct NotChecked<'r> {
    /// `None` for a path that stands for no file.
    file: Option<&'r str>,
    #[serde(flatten)]
    error: &'r CommandError,
}

impl<'r> Fields<'r> {
    pub(super) fn of(results: &'r CheckResults) -> Self {
        let not_checked = results.not_checked().map(|(file, error)| NotChecked { file, error });
        Self { files: &results.files, not_checked: not_checked.collect(), summary: results.counts() }
    }
}

impl Serialize for Fix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Entry<'f> {
            state: &'static str,
            what: &'f str,
            reason: Option<String>,
        }
        let (state, reason) = match &self.state {
            FixState::Possible => ("possible", None),
            FixState::Done => ("done", None),
            FixState::Kept(reason) => ("kept", Some(reason.to_string())),
        };
        Entry { state, what: &self.what, reason }.serialize(serializer)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
pub(super) fn kind<S: Serializer>(kind: &FileKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match kind {
        FileKind::Config => "config",
        FileKind::Session => "session",
        FileKind::Recording => "recording",
        _ => "set",
    })
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
pub(super) fn form<S: Serializer>(form: &Option<Form>, serializer: S) -> Result<S::Ok, S::Error> {
    let name = form.map(|form| match form {
        Form::EvalSet => "eval_set",
        Form::TestFile => "old_test_file",
        Form::OldEvalSet => "old_eval_set",
    });
    name.serialize(serializer)
}

/// How many of what a set expects and no metric reads: `tool_responses`, `rubrics` and so on.
pub(super) fn not_compared<S: Serializer>(of: &NotCompared, serializer: S) -> Result<S::Ok, S::Error> {
    of.counts().collect::<BTreeMap<_, _>>().serialize(serializer)
}
