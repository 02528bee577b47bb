//! The reader of eval sets and old test files.

use eval_format::__private::read_case;
use eval_format::problem::ProblemCode;
use eval_format::reader::{CheckedSet, check_set};
use eval_format::{EvalSet, Map, Problem};

use crate::{json, problems};

const FILE: &str = "fuzz.evalset.json";

/// Separates the set from its session file in an input.
const SESSION: &[u8] = b"\n=== session ===\n";

/// Reads a set, with a session file if the input holds one, and checks the rules for the result.
pub fn check(data: &[u8]) {
    let (bytes, session) = part(data);
    let checked = check_set(FILE, bytes, session.map(|bytes| ("fuzz.session.json", bytes)));
    let is_json = json::check(bytes);
    if let Some(session) = session {
        let text = String::from_utf8_lossy(session);
        if str::from_utf8(session).is_ok() {
            problems::check(&checked.session_problems, "fuzz.session.json", &text);
        }
    }
    problems::check(&checked.problems, FILE, &checked.text);
    agrees_on_json(&checked, is_json);
    let is_sound = !checked.problems.iter().chain(&checked.session_problems).any(Problem::is_error);
    assert_eq!(checked.set.is_some(), is_sound, "{checked:?}");
    for place in &checked.cases {
        problems::assert_lies_in(&place.range, &checked.text);
        problems::assert_lies_in(&place.id_range, &checked.text);
    }
    if let Some(set) = &checked.set {
        reads_each_case_alone(&checked, set, session);
        reads_what_it_wrote(set);
    }
}

fn part(data: &[u8]) -> (&[u8], Option<&[u8]>) {
    match data.windows(SESSION.len()).position(|window| window == SESSION) {
        Some(at) => (&data[..at], Some(&data[at + SESSION.len()..])),
        None => (data, None),
    }
}

/// A text that is not JSON is refused as such, or as a format that consists of several documents.
fn agrees_on_json(checked: &CheckedSet, is_json: bool) {
    let refused = checked.problems.iter().any(json::is_about_json);
    let is_foreign = matches!(&checked.problems[..], [one] if one.code == ProblemCode::ForeignSchema);
    assert!(is_json != refused || (!is_json && is_foreign), "{checked:?}");
}

/// A case reads the same alone, as a test reads it, and as part of the whole file.
fn reads_each_case_alone(checked: &CheckedSet, set: &EvalSet, session: Option<&[u8]>) {
    let session = session.and_then(|bytes| str::from_utf8(bytes).ok());
    assert_eq!(set.eval_cases.len(), checked.cases.len());
    for (case, place) in set.eval_cases.iter().zip(&checked.cases) {
        let alone = read_case(checked.form, &checked.text[place.range.clone()], &place.eval_id, session)
            .unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(alone.to_value().to_string(), case.to_value().to_string());
        assert_eq!(case.eval_id, place.eval_id);
    }
}

/// A set that is saved reads back equal.
///
/// There are three exceptions: numbers that JSON cannot represent (ADK writes `null`, and refuses it in place of a
/// number), keys with `null` that ADK drops, and old files that are too deep for the new form, which has more levels.
fn reads_what_it_wrote(set: &EvalSet) {
    let value = set.to_value();
    if !json::is_finite(&value) || !json::is_shallow(&value) {
        return;
    }
    let saved = set.to_json();
    let again = EvalSet::parse(&saved).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(again.to_json(), saved);
    assert_eq!(without_nulls(again), without_nulls(set.clone()));
}

fn without_nulls(mut set: EvalSet) -> EvalSet {
    for case in &mut set.eval_cases {
        drop_nulls(&mut case.extra);
        if let Some(session) = &mut case.session_input {
            drop_nulls(&mut session.extra);
        }
    }
    set
}

fn drop_nulls(map: &mut Map) {
    *map =
        map.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key, value.clone())).collect();
}
