//! Drafts: adding new drafts to a set, and reviewing the drafts in a set.

mod added;
mod not_golden;
#[cfg(feature = "serve")]
pub(crate) mod revised;
mod shown;

#[cfg(feature = "serve")]
use std::path::Path;
use std::path::PathBuf;

pub(crate) use added::{Added, Destination, cannot_pass, to_review};
use eval_format::{EditError, EvalCase, Invocation, Map, SetEditor, Value};
#[cfg(feature = "serve")]
use eval_support::hash::content_hash;
use eval_support::untrusted::one_line;
pub(crate) use not_golden::{GoldenBy, NotGolden};
pub(crate) use shown::text as shown;
#[cfg(feature = "serve")]
pub(crate) use shown::{Part, parts};

use crate::edited::{after, edit, refused};
use crate::output::CommandError;

/// A draft of a set, as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) path: PathBuf,
    pub(crate) case: EvalCase,
}

/// The place of a draft on the page of drafts: the part of an address after `#`.
#[cfg(feature = "serve")]
pub(crate) fn anchor(set: &Path, eval_id: &str) -> String {
    // A name may have any characters, and be long.
    let name = format!("{}\n{eval_id}", set.display());
    format!("draft-{:016x}", content_hash(name.as_bytes()))
}

/// Removes the marks of drafts that are as they were shown. Each set is read and written once.
pub(crate) fn accept(drafts: &[Draft]) -> Result<(), CommandError> {
    let mut written = Vec::new();
    for of_set in drafts.chunk_by(|one, next| one.path == next.path) {
        let path = &of_set[0].path;
        let accepted = edit(path, |editor| {
            of_set.iter().try_for_each(|draft| {
                unchanged(draft, editor)?;
                editor.accept(&draft.case.eval_id).map_err(|error| refused(&draft.path, &error))
            })
        });
        accepted.map_err(|error| after(error, &written))?;
        written.push(path.display().to_string());
    }
    Ok(())
}

/// Writes a draft with other messages and expectations, if the case is still the one that was shown.
#[cfg(feature = "serve")]
pub(crate) fn revise(draft: &Draft, case: &EvalCase) -> Result<(), CommandError> {
    edit(&draft.path, |editor| {
        unchanged(draft, editor)?;
        editor.edit_draft(case).map_err(|error| refused(&draft.path, &error))
    })
}

/// Takes a draft out of its set, if the case is still the one that was shown. A golden that it replaces is put back.
#[cfg(feature = "serve")]
pub(crate) fn reject(draft: &Draft) -> Result<(), CommandError> {
    edit(&draft.path, |editor| {
        unchanged(draft, editor)?;
        take_out(editor, &draft.case.eval_id).map(drop).map_err(|error| refused(&draft.path, &error))
    })
}

/// Takes a case out of its set; of a draft that replaces a golden, puts the golden back. Returns whether it did.
pub(crate) fn take_out(editor: &mut SetEditor, id: &str) -> Result<bool, EditError> {
    match editor.case(id).and_then(golden_of) {
        Some(golden) => editor.redraft(&golden).and_then(|()| editor.accept(id)).map(|()| true),
        None => editor.remove_case(id).map(|_| false),
    }
}

/// The case with the expectations that the draft replaces, and with the draft's mark. `None` for a draft that replaces none.
pub(crate) fn golden_of(draft: &EvalCase) -> Option<EvalCase> {
    let replaced = draft.draft()?.as_object()?.get(eval_agents::draft::Draft::GOLDEN_KEY)?.as_array()?;
    let mut golden = draft.clone();
    for before in replaced {
        let before = before.as_object()?;
        if let Some(state) = before.get("final_session_state") {
            golden.final_session_state = state.as_object()?.clone();
            continue;
        }
        let at = usize::try_from(before.get("turn")?.as_i64()?).ok()?.checked_sub(1)?;
        let turn = golden.conversation.get_mut(at)?;
        let mut fields = Map::from([("user_content", Map::new())]);
        fields
            .extend(before.iter().filter(|(key, _)| *key != "turn").map(|(key, value)| (key, value.clone())));
        let read = Invocation::parse(&Value::Object(fields).to_string()).ok()?;
        if before.contains_key("intermediate_data") {
            turn.intermediate_data = read.intermediate_data;
        }
        if before.contains_key("final_response") {
            turn.final_response = read.final_response;
        }
    }
    Some(golden)
}

fn unchanged(draft: &Draft, editor: &SetEditor) -> Result<(), CommandError> {
    let id = &draft.case.eval_id;
    if editor.case(id).is_some_and(|now| *now != draft.case) {
        let shown = draft.path.display().to_string();
        let message = format!("`{}`: the case `{}` was changed meanwhile", one_line(&shown), one_line(id));
        return Err(CommandError::new(message, "look at it again"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::edited::open;

    #[test]
    fn a_draft_that_was_changed_since_it_was_shown_is_not_accepted() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.evalset.json");
        let text = r#"{"eval_set_id": "s", "eval_cases": [
            {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}], "_draft": {}}]}"#;
        fs::write(&path, text).expect("a set");
        let shown = open(&path).expect("a set").case("a").expect("it is there").clone();
        let draft = Draft { path: path.clone(), case: shown };
        let changed = text.replace("Hi", "Bye");
        fs::write(&path, &changed).expect("a set");
        let error = accept(std::slice::from_ref(&draft)).expect_err("it is another one");
        assert!(error.message.ends_with("the case `a` was changed meanwhile"), "{}", error.message);
        assert_eq!(fs::read_to_string(&path).expect("a set"), changed);
        fs::write(&path, text).expect("a set");
        accept(&[draft]).expect("it is the one that was shown");
        assert_eq!(fs::read_to_string(&path).expect("a set"), text.replace(r#", "_draft": {}"#, ""));
    }

    #[test]
    fn drafts_of_one_set_are_accepted_together_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.evalset.json");
        let case = |id: &str| {
            format!(
                r#"{{"eval_id": "{id}", "conversation": [{{"user_content": {{"parts": [{{"text": "{id}"}}]}}}}], "_draft": {{}}}}"#
            )
        };
        let text = format!(r#"{{"eval_set_id": "s", "eval_cases": [{}, {}]}}"#, case("a"), case("b"));
        fs::write(&path, &text).expect("a set");
        let editor = open(&path).expect("a set");
        let drafts: Vec<Draft> =
            editor.cases().map(|case| Draft { path: path.clone(), case: case.clone() }).collect();
        let changed = text.replace(r#""text": "b""#, r#""text": "c""#);
        fs::write(&path, &changed).expect("a set");
        accept(&drafts).expect_err("the second one is another one");
        assert_eq!(fs::read_to_string(&path).expect("a set"), changed, "the first one is a draft still");
        fs::write(&path, &text).expect("a set");
        accept(&drafts).expect("both are as they were shown");
        assert_eq!(fs::read_to_string(&path).expect("a set"), text.replace(r#", "_draft": {}"#, ""));
    }

    #[cfg(feature = "serve")]
    #[test]
    fn a_draft_that_is_rejected_puts_the_golden_back_that_it_replaces() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.evalset.json");
        let golden = r#"{"eval_set_id": "s", "eval_cases": [
            {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}, "final_response": {"parts": [{"text": "Old."}]}}], "_note": 1}]}"#;
        fs::write(&path, golden).expect("a set");
        edit(&path, |editor| {
            let mut case = editor.case("a").expect("it is there").clone();
            let before = r#"{"golden": [{"turn": 1, "final_response": {"parts": [{"text": "Old."}]}}]}"#;
            case = case.with_draft(Value::parse(before).expect("JSON"));
            case.conversation[0] = case.conversation[0].clone().response("New.");
            editor.redraft(&case).map_err(|error| refused(&path, &error))
        })
        .expect("it asks the same");
        let case = open(&path).expect("a set").case("a").expect("it is there").clone();
        assert_eq!(case.conversation[0].response_text(), "New.");
        reject(&Draft { path: path.clone(), case }).expect("it can be written");
        let put_back = open(&path).expect("a set").case("a").expect("it is there").clone();
        assert_eq!(put_back.conversation[0].response_text(), "Old.");
        assert!(put_back.draft().is_none() && put_back.extra.contains_key("_note"));
    }

    #[test]
    fn the_golden_is_made_of_the_mark_or_not_at_all() {
        let case = EvalCase::new("a").turn(Invocation::user("Hi").response("New."));
        let of = |mark: &str| golden_of(&case.clone().with_draft(Value::parse(mark).expect("JSON")));
        let golden = of(
            r#"{"golden": [{"turn": 1, "final_response": {"parts": [{"text": "Old."}]}, "intermediate_data": null},
                {"final_session_state": {"a": 1}}]}"#,
        );
        let golden = golden.expect("it is there");
        assert_eq!(golden.conversation[0].response_text(), "Old.");
        assert_eq!(golden.final_session_state, Map::from([("a", 1)]));
        for mark in [
            "{}",
            "true",
            r#"{"golden": {}}"#,
            r#"{"golden": [{"turn": 0}]}"#,
            r#"{"golden": [{"turn": 2, "final_response": null}]}"#,
            r#"{"golden": [{"turn": 1, "final_response": 7}]}"#,
            r#"{"golden": [{"final_session_state": 7}]}"#,
        ] {
            assert_eq!(of(mark), None, "{mark}");
        }
    }
}
