//! ADK's old forms as eval sets.

use eval_format::EvalSet;
use eval_format::reader::Form;

/// The name of a form, with its article.
pub(crate) fn form_name(form: Form) -> &'static str {
    match form {
        Form::EvalSet => "an eval set",
        Form::TestFile => "an old test file",
        Form::OldEvalSet => "an old eval set",
    }
}

/// A set that was read from a file of this form, as ADK would save it.
///
/// ADK draws the id of an old form at random or takes it from its caller. Here it is the stem of the file that will hold
/// the set, since ADK finds an eval set by the name of its file.
pub(crate) fn modern(set: &EvalSet, form: Form, stem: &str) -> EvalSet {
    match form {
        Form::EvalSet => set.clone(),
        Form::TestFile | Form::OldEvalSet => {
            let mut named = set.clone().with_name(stem);
            stem.clone_into(&mut named.eval_set_id);
            named
        }
    }
}

/// The text of a set as ADK saves it. It ends with a line break if `before` does. Its lines end as all lines of `before` do:
/// on Windows, git may check files out with `\r\n`.
pub(crate) fn text_like(set: &EvalSet, before: &str) -> String {
    let mut text = set.to_json();
    if before.ends_with('\n') {
        text.push('\n');
    }
    let (all, with_return) = (before.matches('\n').count(), before.matches("\r\n").count());
    if all > 0 && all == with_return { text.replace('\n', "\r\n") } else { text }
}
