//! Checks of rubrics: each should have a text, an id of its own, and a metric that reads it.
//!
//! Only with the config is it known whether a metric would read a rubric. So [`compat`](crate::compat)
//! reports errors where this module warns.

use std::collections::HashMap;
use std::ops::Range;

use eval_support::spelling::suggest;

use crate::metric::{TRAJECTORY_QUALITY, rubric_types};
use crate::problem::{JsonPath, Problem, ProblemCode, shown};
use crate::schema::{EVAL_CASE, INVOCATION, Model, Place, RUBRIC, opening};
use crate::syntax::{Entry, Node};

/// A constructor of problems: of errors or of warnings.
type Severity = fn(ProblemCode, JsonPath, Range<usize>, String) -> Problem;

/// The first use of each id.
type Seen<'n> = HashMap<&'n str, Range<usize>>;

/// Checks the rubrics of a criterion; their type does not matter.
pub(crate) fn check_criterion(rubrics: &Node<'_>, place: &Place<'_>, problems: &mut Vec<Problem>) {
    let mut seen = Seen::new();
    for (at, rubric) in rubrics.array().unwrap_or_default().iter().enumerate() {
        let place = &Place::Index(place, at);
        check_id(rubric, &mut seen, &Seen::new(), place, problems);
        problems.extend(without_text(rubric, Problem::error, place));
    }
}

/// Checks the rubrics of a case and of its turns. ADK judges them together.
pub(crate) fn check_case(case: &Node<'_>, place: &Place<'_>, problems: &mut Vec<Problem>) {
    let mut of_case = Seen::new();
    if let Some(entry) = field(case, &EVAL_CASE, "rubrics") {
        check_all(entry, &mut of_case, &Seen::new(), true, place, problems);
    }
    let Some(turns) = field(case, &EVAL_CASE, "conversation") else { return };
    let items = turns.value.array().unwrap_or_default();
    let place = &Place::Key(place, &turns.key);
    for (at, turn) in items.iter().enumerate() {
        if let Some(entry) = field(turn, &INVOCATION, "rubrics") {
            let last = at + 1 == items.len();
            check_all(entry, &mut Seen::new(), &of_case, last, &Place::Index(place, at), problems);
        }
    }
}

fn check_all<'n>(
    rubrics: &'n Entry<'_>,
    seen: &mut Seen<'n>,
    above: &Seen<'n>,
    last: bool,
    place: &Place<'_>,
    problems: &mut Vec<Problem>,
) {
    let place = &Place::Key(place, &rubrics.key);
    for (at, rubric) in rubrics.value.array().unwrap_or_default().iter().enumerate() {
        let place = &Place::Index(place, at);
        check_id(rubric, seen, above, place, problems);
        problems.extend(without_text(rubric, Problem::warning, place));
        if rubric.object().is_some() {
            problems.extend(check_type(rubric, last, place));
        }
    }
}

/// Reports an id that an earlier rubric of this list or a rubric of the case has.
fn check_id<'n>(
    rubric: &'n Node<'_>,
    seen: &mut Seen<'n>,
    above: &Seen<'n>,
    place: &Place<'_>,
    problems: &mut Vec<Problem>,
) {
    let Some(entry) = field(rubric, &RUBRIC, "rubric_id") else { return };
    let Some(id) = entry.value.string() else { return };
    let here = entry.value.range.clone();
    if let Some(first) = seen.get(id).or_else(|| above.get(id)) {
        let message = format!("two rubrics that are judged together have the id `{}`", shown(id));
        problems.push(
            Place::Key(place, &entry.key)
                .error(ProblemCode::DuplicateRubricId, here, message)
                .label("used again here")
                .related(first.clone(), "first used here")
                .help("rename one of them; verdicts are told apart by the id, and ADK refuses to run this"),
        );
    } else {
        seen.insert(id, here);
    }
}

/// Finds a rubric without a text. ADK would ask the judge whether `None` holds.
fn without_text(rubric: &Node<'_>, severity: Severity, place: &Place<'_>) -> Option<Problem> {
    // The walker has reported a rubric without any content.
    let content = field(rubric, &RUBRIC, "rubric_content")?;
    let entries = content.value.object()?;
    let text = entries.iter().find(|entry| matches!(entry.key.as_ref(), "text_property" | "textProperty"));
    let is_text = |entry: &&Entry<'_>| !entry.value.is_null();
    let says_something = text
        .filter(is_text)
        .is_some_and(|entry| entry.value.string().is_none_or(|text| !text.trim().is_empty()));
    if says_something {
        return None;
    }
    let place = Place::Key(place, &content.key);
    let message = "the rubric says nothing".to_owned();
    let found = severity(ProblemCode::UnreadRubric, place.path(), opening(&content.value), message);
    let help = r#"write `"rubric_content": {"text_property": "The answer names a price."}`"#;
    Some(found.label("there is no text to judge by").help(help))
}

/// Finds a type that no metric reads, or that no metric reads in this place.
fn check_type(rubric: &Node<'_>, last: bool, place: &Place<'_>) -> Option<Problem> {
    let entry = field(rubric, &RUBRIC, "type").filter(|entry| !entry.value.is_null());
    let Some(entry) = entry else {
        let message = "the rubric has no `type`";
        let found = place.warning(ProblemCode::UnreadRubric, opening(rubric), message);
        return Some(found.label("ADK leaves it out without a word").help(format!(
            "add `\"type\": \"...\"` to say which metric reads it: {}; rubrics of a criterion need none",
            types()
        )));
    };
    // The walker has reported a type that is not a string.
    let kind = entry.value.string()?;
    let problem = |message: String| {
        let place = Place::Key(place, &entry.key);
        place.warning(ProblemCode::UnreadRubric, entry.value.range.clone(), message)
    };
    if kind == TRAJECTORY_QUALITY && !last {
        let message = format!("a rubric of type `{TRAJECTORY_QUALITY}` is in a turn that is not the last");
        let found = problem(message).label("it is about the whole conversation");
        return Some(
            found.help("move it to the `rubrics` of the case; ADK reads only the rubrics of the last turn"),
        );
    }
    if rubric_types().any(|(known, _)| known == kind) {
        return None;
    }
    if let Some(known) = suggest(kind, rubric_types().map(|(known, _)| known)) {
        let message = format!("there is no type of rubrics `{}`", shown(kind));
        let found = problem(message).label("ADK leaves it out without a word");
        return Some(found.help(format!("did you mean `{known}`?")));
    }
    let message = format!("no built-in metric reads rubrics of type `{}`", shown(kind));
    let found = problem(message).label("unknown type");
    Some(found.help(format!("unless a metric of your own reads it, write one of {}", types())))
}

fn types() -> String {
    let types = rubric_types().map(|(kind, metric)| format!("`{kind}` (`{}`)", metric.name));
    types.collect::<Vec<_>>().join(", ")
}

/// The entry that counts for a field of an object.
fn field<'n, 'a>(node: &'n Node<'a>, model: &Model, name: &str) -> Option<&'n Entry<'a>> {
    model.entry(node.object()?, name)
}

#[cfg(test)]
mod tests;
