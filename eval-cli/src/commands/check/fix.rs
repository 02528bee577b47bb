//! Rewriting of files without loss.

use std::fmt;
use std::path::Path;

use eval_format::EvalSet;
use eval_format::conventions::file_stem;
use eval_format::problem::JsonPath;
use eval_format::reader::{CheckedSet, SetFormat, check_set};
use eval_support::command;
use eval_support::words::{code_list, count, them};
use serde::{Serialize, Serializer};

use crate::files::{form_name, modern, sessions_in, text_like};

/// A rewriting by `--fix`, and its outcome.
#[derive(Debug)]
pub(super) struct Fix {
    /// A description of the rewriting.
    pub(super) what: String,
    pub(super) state: FixState,
}

#[derive(Debug)]
pub(super) enum FixState {
    /// `--fix` would do it.
    Possible,
    Done,
    /// The rewriting would lose something, so the file is not changed.
    Kept(KeptReason),
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

/// The reason why a file that could have another form is not changed.
#[derive(Debug)]
pub(super) enum KeptReason {
    /// The set would have errors in its new form, or mean something else.
    MeansSomethingElse,
    /// The first thing that the new form cannot hold, and how many more there are.
    Loses { first: JsonPath, more: usize },
    /// A session file of this name may belong to the set.
    MayHaveSession(String),
}

impl fmt::Display for KeptReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MeansSomethingElse => f.write_str("rewritten, it would have errors or mean something else"),
            Self::Loses { first, more: 0 } => write!(f, "`{first}` would be lost"),
            Self::Loses { first, more } => {
                write!(f, "`{first}` would be lost (and {})", count(*more, "more thing"))
            }
            Self::MayHaveSession(session) => write!(
                f,
                "`{session}` beside it may belong to it; `{} migrate --session` converts both",
                command::name()
            ),
        }
    }
}

impl Fix {
    pub(super) fn done(self) -> Self {
        Self { state: FixState::Done, ..self }
    }
}

/// The rewriting of a file without errors, and its new text. The text is `None` if the file is not to be changed.
pub(super) fn rewrite(checked: &CheckedSet, path: &Path) -> Option<(Fix, Option<String>)> {
    let set = checked.set.as_ref()?;
    let (what, text) = match checked.form {
        SetFormat::EvalSet => {
            let (text, keys) = checked.respelled()?;
            let keys_in_snake_case =
                format!("{} in snake_case, as ADK reads {}", code_list(&keys), them(keys.len()));
            (keys_in_snake_case, Ok(text))
        }
        form => (format!("from {} to an eval set", form_name(form)), in_todays_form(checked, set, path)),
    };
    let (text, state) = match text {
        Ok(text) if says_the_same(&text, set, checked.form) => (Some(text), FixState::Possible),
        Ok(_) => (None, FixState::Kept(KeptReason::MeansSomethingElse)),
        Err(reason) => (None, FixState::Kept(reason)),
    };
    Some((Fix { what, state }, text))
}

/// The text of a set in an old form, written as an eval set.
fn in_todays_form(checked: &CheckedSet, set: &EvalSet, path: &Path) -> Result<String, KeptReason> {
    let lost = checked.unwritten();
    if let Some((first, more)) = lost.split_first() {
        return Err(KeptReason::Loses { first: first.path.clone(), more: more.len() });
    }
    let sessions = sessions_in(path.parent().unwrap_or(Path::new("")));
    if let (SetFormat::TestFile, Some(session)) = (checked.form, sessions.into_iter().next()) {
        return Err(KeptReason::MayHaveSession(session));
    }
    let set = modern(set, checked.form, file_stem(&path.to_string_lossy()));
    Ok(text_like(&set, &checked.text))
}

/// Whether a new text means the same as the set before. Two differences are allowed: a timestamp whose old
/// spelling was not read, and the id and name of an old form, which the old text does not contain.
fn says_the_same(text: &str, before: &EvalSet, form: SetFormat) -> bool {
    let Some(mut after) = check_set("", text.as_bytes(), None).set else { return false };
    after.creation_timestamp = before.creation_timestamp;
    if form != SetFormat::EvalSet {
        after.eval_set_id.clone_from(&before.eval_set_id);
        after.name.clone_from(&before.name);
    }
    after == *before
}
