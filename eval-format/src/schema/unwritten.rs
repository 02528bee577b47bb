//! Parts of a checked document that writing its model would lose.

use super::place::Place;
use super::table::{Extra, Model, Type};
use crate::coerce;
use crate::problem::{Problem, ProblemCode, shown};
use crate::syntax::{Entry, Kind, Node};
use crate::value::Number;

/// Walks a node that was checked against the type, and finds the parts that are lost if it is written.
///
/// `null` under a key that nothing reads is no loss.
pub(crate) fn unwritten(node: &Node<'_>, kind: &Type, place: &Place<'_>, found: &mut Vec<Problem>) {
    match (kind, &node.kind) {
        (Type::EmptyOr(inner), _) => unwritten(node, inner, place, found),
        (Type::Model(model) | Type::Named(model, _), Kind::Object(entries)) => {
            object(entries, model, place, found);
        }
        (Type::List(item), Kind::Array(items)) => each(items, item, place, found),
        (Type::Models(model), Kind::Array(items)) => each(items, &Type::Model(model), place, found),
        (Type::AuthorsAndParts(model), Kind::Array(pairs)) => {
            for (at, pair) in pairs.iter().enumerate() {
                let place = Place::Index(place, at);
                if let Some([_, parts]) = pair.array() {
                    unwritten(parts, &Type::Models(model), &Place::Index(&place, 1), found);
                }
            }
        }
        (Type::Dict(model), Kind::Object(entries)) => {
            for entry in entries {
                unwritten(&entry.value, &Type::Model(model), &Place::Key(place, &entry.key), found);
            }
        }
        (Type::Either(first, second), Kind::Object(entries)) => {
            let model =
                if entries.iter().any(|entry| second.find(&entry.key).is_some()) { second } else { first };
            object(entries, model, place, found);
        }
        (Type::Float | Type::PythonFloat, _)
            if coerce::float(node).is_some_and(|float| !float.is_finite()) =>
        {
            found.push(no_number(node, place));
        }
        (Type::Any | Type::Object, _) => numbers(node, place, found),
        _ => {}
    }
}

fn each(items: &[Node<'_>], kind: &Type, place: &Place<'_>, found: &mut Vec<Problem>) {
    for (at, item) in items.iter().enumerate() {
        unwritten(item, kind, &Place::Index(place, at), found);
    }
}

fn object(entries: &[Entry<'_>], model: &Model, place: &Place<'_>, found: &mut Vec<Problem>) {
    for entry in entries.iter().filter(|entry| !entry.value.is_null()) {
        let inside = Place::Key(place, &entry.key);
        match model.find(&entry.key).map(|(at, _)| &model.fields[at]) {
            Some(field) => match model.entry(entries, field.name) {
                Some(winner) if winner.key_range == entry.key_range => {
                    unwritten(&entry.value, &field.kind, &inside, found);
                }
                // The same value in another spelling is no loss.
                Some(winner) if winner.value.to_value() == entry.value.to_value() => {}
                _ => found.push(no_place(entry, model, &inside)),
            },
            None if model.extra == Extra::Kept => numbers(&entry.value, &inside, found),
            _ => found.push(no_place(entry, model, &inside)),
        }
    }
}

/// Finds the numbers of free-form values that JSON has no text for.
fn numbers(node: &Node<'_>, place: &Place<'_>, found: &mut Vec<Problem>) {
    match &node.kind {
        Kind::Number(text) if Number::parse(text).is_some_and(|number| !number.as_f64().is_finite()) => {
            found.push(no_number(node, place));
        }
        Kind::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                numbers(item, &Place::Index(place, at), found);
            }
        }
        Kind::Object(entries) => {
            for entry in entries {
                numbers(&entry.value, &Place::Key(place, &entry.key), found);
            }
        }
        _ => {}
    }
}

fn no_place(entry: &Entry<'_>, model: &Model, place: &Place<'_>) -> Problem {
    let message = format!("key `{}` in {} has no place in ADK's saved form", shown(&entry.key), model.what);
    place
        .warning_at_key(ProblemCode::Unwritten, entry, message)
        .label("lost when the file is written")
        .help("remove it, or move it into the eval case, which keeps keys of your own")
}

fn no_number(node: &Node<'_>, place: &Place<'_>) -> Problem {
    let message = "a number that JSON has no text for becomes null in ADK's saved form";
    place
        .warning(ProblemCode::Unwritten, node.range.clone(), message)
        .label("lost when the file is written")
        .help("write it as text in quotes, or as a number that is finite")
}

#[cfg(test)]
mod tests {
    use crate::problem::ProblemCode;
    use crate::reader::check_set;

    fn check(text: &str, expected: &[&str]) {
        let checked = check_set("s.evalset.json", text.as_bytes(), None);
        assert!(checked.set.is_some(), "{:?}", checked.problems);
        let found = checked.unwritten();
        let paths: Vec<_> = found.iter().map(|problem| problem.path.to_string()).collect();
        assert_eq!(paths, expected, "{text}");
        assert!(found.iter().all(|problem| checked.text.get(problem.range.clone()).is_some()));
    }

    #[test]
    fn the_key_of_editors_is_no_part_of_a_set_and_is_lost_elsewhere() {
        let set = case("").replacen('{', r#"{"$schema": "../evalset.schema.json", "#, 1);
        check(&set, &[]);
        let other = case("").replacen('{', r#"{"$schemas": 1, "_why": 2, "#, 1);
        check(&other, &["[\"$schemas\"]", "_why"]);
    }

    fn case(fields: &str) -> String {
        let turn = r#"{"user_content": {"parts": [{"text": "Hi"}]}}"#;
        format!(
            r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "conversation": [{turn}]{fields}}}]}}"#
        )
    }

    fn event(fields: &str) -> String {
        format!(
            r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "conversation": [{{"user_content": {{}},
            "intermediate_data": {{"invocationEvents": [{{"author": "a"{fields}}}]}}}}]}}]}}"#
        )
    }

    #[test]
    fn keys_that_no_model_has_a_place_for_are_lost() {
        check(&case(""), &[]);
        check(
            r#"{"_note": 1, "name": null, "why": null, "id": "s", "evalCases": [{"id": "c", "conversation":
            [{"userContent": {}}]}]}"#,
            &["_note"],
        );
        check(
            &event(r#", "invocationIndex": 1, "content": {"parts": []}"#),
            &["eval_cases[0].conversation[0].intermediate_data.invocationEvents[0].invocationIndex"],
        );
    }

    #[test]
    fn personas_are_looked_into() {
        let scenario = |persona: &str| {
            format!(
                r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "conversation_scenario":
                {{"starting_prompt": "Hi", "conversation_plan": "Ask.", "user_persona": {persona}}}}}]}}"#
            )
        };
        check(&scenario(r#""NOVICE""#), &[]);
        check(
            &scenario(r#"{"id": "me", "description": "", "behaviors": [], "mood": "calm"}"#),
            &["eval_cases[0].conversation_scenario.user_persona.mood"],
        );
    }

    #[test]
    fn what_adk_keeps_is_not_lost() {
        check(&case(r#", "_note": {"a": [1, null]}, "owner": "me", "nothing": null, "rubrics": []"#), &[]);
        check(
            &case(r#", "session_input": {"app_name": "", "user_id": "", "state": {"a": null}, "b": 1}"#),
            &[],
        );
    }

    #[test]
    fn numbers_without_a_text_are_lost_wherever_they_stand() {
        check(
            &case(r#", "creation_timestamp": "inf", "final_session_state": {"a": [1e400, 1]}, "mine": NaN"#),
            &[
                "eval_cases[0].creation_timestamp",
                "eval_cases[0].final_session_state.a[0]",
                "eval_cases[0].mine",
            ],
        );
    }

    #[test]
    fn the_same_value_in_two_spellings_is_no_loss() {
        check(&case(r#", "finalSessionState": {"a": 1}, "final_session_state": {"a": 1}"#), &[]);
        check(&case(r#", "id": "another""#), &["eval_cases[0].id"]);
    }

    #[test]
    fn what_the_old_formats_carry_beside_turns_is_lost() {
        check(r#"[{"query": "Hi", "reference": "Hello", "expected_tool_use": []}]"#, &[]);
        check(
            r#"[{"query": "Hi", "mock": 1, "expected_tool_use": [{"tool_name": "f", "tool_input": {"x": NaN},
            "mock_tool_output": "o"}]}]"#,
            &[
                "[0].mock",
                "[0].expected_tool_use[0].tool_input.x",
                "[0].expected_tool_use[0].mock_tool_output",
            ],
        );
        check(
            r#"[{"name": "c", "data": [{"query": "Hi"}], "initial_session": {"state": {}, "events": []}}]"#,
            &["[0].initial_session.events"],
        );
    }

    #[test]
    fn a_file_that_cannot_be_used_loses_nothing() {
        let checked = check_set("s", br#"{"eval_set_id": "s", "eval_cases": [], "why": 1}"#, None);
        assert!(checked.unwritten().is_empty());
        assert_eq!(ProblemCode::Unwritten.as_str(), "unwritten");
    }
}
