//! What can be rewritten without loss.

use std::path::Path;

use eval_format::{CheckedSet, EvalSet, Form, check_set};

use super::file::stem;
use crate::input::sessions_in;
use crate::modern::{form_name, modern, text_like};
use crate::words::{code_list, count};

/// What `--fix` does about a file, and whether it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fix {
    /// In words, as what is or would be rewritten.
    pub(super) what: String,
    pub(super) state: State,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// `--fix` would do it.
    Possible,
    Done,
    /// Left alone, for this reason.
    Kept(String),
}

impl Fix {
    pub(super) fn done(self) -> Self {
        Self { state: State::Done, ..self }
    }
}

/// What would be rewritten in a file without errors, and the text it would have; no text where it is left alone.
pub(super) fn of(checked: &CheckedSet, path: &Path) -> Option<(Fix, Option<String>)> {
    let set = checked.set.as_ref()?;
    let (what, text) = match checked.form {
        Form::EvalSet => {
            let (text, keys) = checked.respelled()?;
            (format!("{} in snake_case, as ADK reads {}", code_list(&keys), them(keys.len())), Ok(text))
        }
        form => (format!("from {} to an eval set", form_name(form)), in_todays_form(checked, path)),
    };
    let (text, state) = match text {
        Ok(text) if says_the_same(&text, set, checked.form) => (Some(text), State::Possible),
        Ok(_) => (None, State::Kept("rewritten, it would have errors or mean something else".to_owned())),
        Err(reason) => (None, State::Kept(reason)),
    };
    Some((Fix { what, state }, text))
}

fn them(number: usize) -> &'static str {
    if number == 1 { "it" } else { "them" }
}

/// The text of an old form as an eval set, or why it is left alone.
fn in_todays_form(checked: &CheckedSet, path: &Path) -> Result<String, String> {
    let lost = checked.unwritten();
    if let Some(first) = lost.first() {
        let more = match lost.len() {
            1 => String::new(),
            more => format!(" (and {})", count(more - 1, "more thing")),
        };
        return Err(format!("`{}` would be lost{more}", first.path));
    }
    let sessions = sessions_in(path.parent().unwrap_or(Path::new("")));
    if let (Form::TestFile, Some(session)) = (checked.form, sessions.first()) {
        return Err(format!(
            "`{session}` beside it may belong to it; `cargo evalset migrate --session` takes both"
        ));
    }
    let set = modern(checked, &stem(path)).ok_or("it has errors")?;
    Ok(text_like(&set, &checked.text))
}

/// Whether a new text reads as the set did. A timestamp that was not read may be from now on; the ids of old forms
/// were made up.
fn says_the_same(text: &str, before: &EvalSet, form: Form) -> bool {
    let Some(mut after) = check_set("", text.as_bytes(), None).set else { return false };
    after.creation_timestamp = before.creation_timestamp;
    if form != Form::EvalSet {
        after.eval_set_id.clone_from(&before.eval_set_id);
        after.name.clone_from(&before.name);
    }
    after == *before
}
