//! Rewriting of files without loss.

use std::path::Path;

use eval_format::EvalSet;
use eval_format::conventions::file_stem;
use eval_format::reader::{CheckedSet, SetFormat, check_set};
use eval_support::command;
use eval_support::words::{code_list, count, them};
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::files::{form_name, modern, sessions_in, text_like};

#[derive(Debug)]
pub(super) struct Fix {
    pub(super) state: FixState,
    pub(super) what: String,
}

#[derive(Debug)]
pub(super) enum FixState {
    /// `--fix` would do it.
    Possible,
    Done,
    /// The rewriting would lose something, so the file is not changed. The text is the reason.
    Kept(String),
}

impl Serialize for Fix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (state, reason) = match &self.state {
            FixState::Possible => ("possible", None),
            FixState::Done => ("done", None),
            FixState::Kept(reason) => ("kept", Some(reason)),
        };
        let mut fields = serializer.serialize_struct("Fix", 3)?;
        fields.serialize_field("state", state)?;
        fields.serialize_field("what", &self.what)?;
        fields.serialize_field("reason", &reason)?;
        fields.end()
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
    let text = text.and_then(|text| {
        let is_same = says_the_same(&text, set, checked.form);
        is_same
            .then_some(text)
            .ok_or_else(|| "rewritten, it would have errors or mean something else".to_owned())
    });
    let (state, text) = match text {
        Ok(text) => (FixState::Possible, Some(text)),
        Err(reason) => (FixState::Kept(reason), None),
    };
    Some((Fix { state, what }, text))
}

/// The text of a set in an old form, written as an eval set. The error is the reason to keep the file.
fn in_todays_form(checked: &CheckedSet, set: &EvalSet, path: &Path) -> Result<String, String> {
    let lost = checked.unwritten();
    if let Some((first, more)) = lost.split_first() {
        let more = match more.len() {
            0 => String::new(),
            more => format!(" (and {})", count(more, "more thing")),
        };
        return Err(format!("`{}` would be lost{more}", first.path));
    }
    let sessions = sessions_in(path.parent().unwrap_or(Path::new("")));
    if let (SetFormat::TestFile, Some(session)) = (checked.form, sessions.into_iter().next()) {
        return Err(format!(
            "`{session}` beside it may belong to it; `{} migrate --session` converts both",
            command::name()
        ));
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
