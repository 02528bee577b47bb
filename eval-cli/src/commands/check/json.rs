//! The results as JSON.

use std::collections::BTreeMap;

use eval_format::compat::NotCompared;
use eval_format::conventions::FileKind;
use eval_format::reader::Form;
use serde::{Serialize, Serializer};

use super::fix::{Fix, FixState};

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
