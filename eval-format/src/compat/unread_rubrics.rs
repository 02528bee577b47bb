//! Rubrics of cases and turns that a metric of the config would have read, were they written right.
//!
//! ADK leaves them out without a word, or asks the judge about nothing. Where no metric of the config reads rubrics of
//! their type, they do no harm, and [`NotCompared`](super::NotCompared) counts them.

use eval_support::spelling::suggest;

use super::incompatibility::{Incompatibility, RubricPlace};
use crate::metric::{TRAJECTORY_QUALITY, rubric_types};
use crate::model::{EvalCase, Rubric};
use crate::problem::{Code, shown};

/// Finds rubrics that metrics with these types of rubrics would have read.
pub(super) fn check(kinds: &[&str], cases: &[EvalCase], incompatibilities: &mut Vec<Incompatibility>) {
    if kinds.is_empty() {
        return;
    }
    for (at, case) in cases.iter().enumerate() {
        let turns = case.conversation.iter().enumerate();
        let last = case.conversation.len().saturating_sub(1);
        let of_turns = turns.map(|(turn, it)| (Some(turn), turn == last, it.rubrics.as_deref()));
        for (turn, last, rubrics) in [(None, true, case.rubrics.as_deref())].into_iter().chain(of_turns) {
            for (position, rubric) in rubrics.unwrap_or_default().iter().enumerate() {
                let Some((message, help)) = unread(rubric, last, kinds) else { continue };
                let found = Incompatibility::of_case(at, case, Code::UnreadRubric, message, help);
                let rubric = Some(RubricPlace { turn, at: position });
                incompatibilities.push(Incompatibility { rubric, ..found });
            }
        }
    }
}

/// Why no metric reads a rubric that one of these types would have; and what to do about it.
fn unread(rubric: &Rubric, last: bool, kinds: &[&str]) -> Option<(String, String)> {
    let id = shown(&rubric.rubric_id);
    let Some(kind) = rubric.kind.as_deref() else {
        let types: Vec<String> = kinds.iter().map(|kind| format!("`\"type\": \"{kind}\"`")).collect();
        return Some((format!("the rubric `{id}` has no `type`"), format!("add {}", types.join(" or "))));
    };
    if !kinds.contains(&kind) {
        // Compared with all types, so that the right name of another metric is not taken for a misspelt one.
        let meant = suggest(kind, rubric_types().map(|(known, _)| known))?;
        let is_known = rubric_types().any(|(known, _)| known == kind);
        return (!is_known && kinds.contains(&meant)).then(|| {
            let message = format!("the rubric `{id}` has the type `{}`, which does not exist", shown(kind));
            (message, format!("did you mean `{meant}`?"))
        });
    }
    if kind == TRAJECTORY_QUALITY && !last {
        let message =
            format!("the rubric `{id}` is about the whole conversation and stands in an earlier turn");
        let help = "move it to the `rubrics` of the case; ADK reads those of the last turn only";
        return Some((message, help.to_owned()));
    }
    let says_something = rubric.text_property.as_deref().is_some_and(|text| !text.trim().is_empty());
    (!says_something).then(|| {
        let help = r#"write `"rubric_content": {"text_property": "The answer names a price."}`"#;
        (format!("the rubric `{id}` says nothing"), help.to_owned())
    })
}
