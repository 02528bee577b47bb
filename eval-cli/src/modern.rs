//! The old forms as eval sets of today.

use eval_format::{CheckedSet, EvalSet, Form};

/// What a form is called.
pub(crate) fn form_name(form: Form) -> &'static str {
    match form {
        Form::EvalSet => "an eval set",
        Form::TestFile => "an old test file",
        Form::OldEvalSet => "an old eval set",
    }
}

/// The set as ADK would save it, unless it has errors.
///
/// The id of an old form, which ADK draws at random or takes from its caller, is the stem of the file that will hold
/// it: ADK finds an eval set by the name of its file.
pub(crate) fn modern(checked: &CheckedSet, stem: &str) -> Option<EvalSet> {
    let set = checked.set.clone()?;
    Some(match checked.form {
        Form::EvalSet => set,
        Form::TestFile | Form::OldEvalSet => {
            EvalSet { eval_set_id: stem.to_owned(), name: Some(stem.to_owned()), ..set }
        }
    })
}

/// The text of a set as ADK saves it; the line break that may end a file is kept as it was.
pub(crate) fn text_like(set: &EvalSet, before: &str) -> String {
    let mut text = set.to_json();
    if before.ends_with('\n') {
        text.push('\n');
    }
    text
}
