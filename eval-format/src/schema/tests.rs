use eval_support::key_case::camel;

use super::table::is_camel_of;
use super::walk::MAX_FIELDS;
use super::*;
use crate::model::{EvalCase, Invocation};
use crate::problem::Problems;
use crate::problem::{Problem, ProblemCode, Severity};
use crate::reader::check_set;

/// The problems of a case with these entries beside its id.
fn problems(entries: &str) -> (String, Vec<Problem>) {
    let text = format!(r#"{{"eval_id": "c", {entries}}}"#);
    let found = EvalCase::parse(&text).err().map(|problems: Problems| problems.iter().cloned().collect());
    (text, found.unwrap_or_default())
}

/// Holds that there is one problem: its code, path, marked text, headline and help.
fn check(entries: &str, code: ProblemCode, path: &str, marked: &str, message: &str, help: &str) {
    let (text, found) = problems(entries);
    let [problem] = found.as_slice() else { panic!("{text}: {found:#?}") };
    assert_eq!((problem.code, problem.path.to_string().as_str()), (code, path), "{text}");
    assert_eq!(&text[problem.range.clone()], marked, "{text}");
    assert_eq!((problem.message.as_str(), problem.help.as_deref()), (message, Some(help)), "{text}");
}

/// Holds that there is one problem in the one turn of the case.
fn check_turn(turn: &str, code: ProblemCode, path: &str, marked: &str, message: &str, help: &str) {
    let path = format!("conversation[0]{path}");
    check(&format!(r#""conversation": [{turn}]"#), code, &path, marked, message, help);
}

/// Holds that there is one problem in the intermediate data of the turn.
fn check_data(data: &str, code: ProblemCode, path: &str, marked: &str, message: &str, help: &str) {
    let turn = format!(r#"{{"user_content": {{}}, "intermediate_data": {data}}}"#);
    check_turn(&turn, code, &format!(".intermediate_data{path}"), marked, message, help);
}

const TURNS: &str = r#""conversation": [{"user_content": {}}]"#;

#[test]
fn camel_case_follows_from_snake_case() {
    for (snake, spelling) in [
        ("eval_id", "evalId"),
        ("google_maps_widget_context_token", "googleMapsWidgetContextToken"),
        ("parts", "parts"),
    ] {
        assert_eq!(camel(snake), spelling);
        assert_eq!(is_camel_of(spelling, snake), snake.contains('_'), "{snake}");
        assert!(!is_camel_of(&format!("{spelling}s"), snake));
        assert!(!is_camel_of(&spelling[..spelling.len() - 1], snake));
    }
}

#[test]
fn no_model_has_more_fields_than_the_walker_has_slots() {
    fn visit(kind: &Type, seen: &mut Vec<*const Model>) {
        let models: &[&Model] = match kind {
            Type::Model(model)
            | Type::Models(model)
            | Type::Dict(model)
            | Type::AuthorsAndParts(model)
            | Type::Named(model, _) => &[model],
            Type::Either(first, second) => &[first, second],
            Type::List(item) => return visit(item, seen),
            _ => &[],
        };
        for model in models {
            if !seen.contains(&std::ptr::from_ref(*model)) {
                seen.push(*model);
                assert!(model.fields.len() <= MAX_FIELDS, "{}", model.what);
                model.fields.iter().for_each(|field| visit(&field.kind, seen));
            }
        }
    }
    let mut seen = Vec::new();
    for model in [&EVAL_SET, &EVAL_SET_ANY_CASE, &OLD_CASE, &OLD_TURN, &OLD_SESSION] {
        visit(&Type::Model(model), &mut seen);
    }
    assert!(seen.len() > 50, "{} models", seen.len());
}

#[test]
fn absent_keys_are_named_with_what_to_write() {
    check_turn(
        "{}",
        ProblemCode::MissingKey,
        "",
        "{",
        "the invocation has no `user_content`",
        r#"add `"user_content": {"parts": [{"text": "..."}]}`"#,
    );
    check(
        &format!(r#"{TURNS}, "session_input": {{"user_id": "u"}}"#),
        ProblemCode::MissingKey,
        "session_input",
        "{",
        "the session input has no `app_name`",
        r#"add `"app_name": "my_app"`"#,
    );
}

#[test]
fn unknown_keys_are_errors_where_adk_forbids_them() {
    check_turn(
        r#"{"user_contents": {}}"#,
        ProblemCode::UnknownKey,
        ".user_contents",
        "\"user_contents\"",
        "unknown key `user_contents` in an invocation",
        "did you mean `user_content`?",
    );
    check_turn(
        r#"{"userContents": {}}"#,
        ProblemCode::UnknownKey,
        ".userContents",
        "\"userContents\"",
        "unknown key `userContents` in an invocation",
        "did you mean `userContent`?",
    );
    check_turn(
        r#"{"user_content": {}, "reference": "r"}"#,
        ProblemCode::UnknownKey,
        ".reference",
        "\"reference\"",
        "unknown key `reference` in an invocation",
        r#"write `"final_response": {"parts": [{"text": "..."}]}`"#,
    );
    check_turn(
        r#"{"user_content": {"_note": 1}}"#,
        ProblemCode::UnknownKey,
        ".user_content._note",
        "\"_note\"",
        "unknown key `_note` in a content object",
        "a content object takes no other keys, comments neither; in a case and in a criterion a key that begins with `_` is one",
    );
    check_data(
        r#"{"tool_uses": [{"tool_name": "f"}]}"#,
        ProblemCode::UnknownKey,
        ".tool_uses[0].tool_name",
        "\"tool_name\"",
        "unknown key `tool_name` in a function call",
        "write `name`",
    );
}

#[test]
fn misspelt_keys_are_errors_where_adk_would_keep_or_ignore_them() {
    check(
        r#""conversaton": []"#,
        ProblemCode::MisspeltKey,
        "conversaton",
        "\"conversaton\"",
        "unknown key `conversaton` in an eval case",
        "did you mean `conversation`? (a key of your own can begin with `_`)",
    );
    check(
        &format!(r#"{TURNS}, "finalSesionState": {{}}"#),
        ProblemCode::MisspeltKey,
        "finalSesionState",
        "\"finalSesionState\"",
        "unknown key `finalSesionState` in an eval case",
        "did you mean `finalSessionState`? (a key of your own can begin with `_`)",
    );
    check_data(
        r#"{"invocation_events": [{"auhtor": "a"}]}"#,
        ProblemCode::MisspeltKey,
        ".invocation_events[0].auhtor",
        "\"auhtor\"",
        "unknown key `auhtor` in an event",
        "did you mean `author`? (a key of your own can begin with `_`)",
    );
}

#[test]
fn keys_of_ones_own_are_no_problem_where_adk_takes_them() {
    for entries in [
        format!(r#"{TURNS}, "labels": [1], "_conversation": 1, "evaluator": null"#),
        // `conversation` is there, so `conversations` is not it.
        format!(r#"{TURNS}, "conversations": []"#),
        format!(r#"{TURNS}, "final_session_state": {{"conversaton": 1}}"#),
        format!(
            r#"{TURNS}, "session_input": {{"app_name": "", "user_id": "", "stats": 1, "state": {{"user_ids": 1}}}}"#
        ),
        r#""conversation": [{"user_content": {}, "intermediate_data":
            {"invocation_events": [{"author": "a", "invocationIndex": 1, "id": "x"}]}}]"#
            .to_owned(),
    ] {
        let (text, found) = problems(&entries);
        assert!(found.is_empty(), "{text}: {found:#?}");
    }
}

#[test]
fn wrong_types_say_what_was_expected_and_seen() {
    check_turn(
        r#"{"user_content": "Hi"}"#,
        ProblemCode::WrongType,
        ".user_content",
        "\"Hi\"",
        "`user_content` must be an object, not a string",
        r#"write `{"parts": [{"text": "..."}]}`"#,
    );
    check_turn(
        r#"{"user_content": {"parts": ["Hi"]}}"#,
        ProblemCode::WrongType,
        ".user_content.parts[0]",
        "\"Hi\"",
        "`conversation[0].user_content.parts[0]` must be an object, not a string",
        r#"write `{"text": "..."}`"#,
    );
    check_turn(
        r#"{"user_content": {"parts": [{"text": 5}]}}"#,
        ProblemCode::WrongType,
        ".user_content.parts[0].text",
        "5",
        "`text` must be a string, not a number",
        r#"put it in quotes: `"5"`"#,
    );
    check_turn(
        r#"{"user_content": {"parts": [{"thought": "maybe", "text": "t"}]}}"#,
        ProblemCode::WrongType,
        ".user_content.parts[0].thought",
        "\"maybe\"",
        "`thought` is not a boolean",
        "write `true` or `false`",
    );
    check_turn(
        r#"{"user_content": {}, "creation_timestamp": null}"#,
        ProblemCode::WrongType,
        ".creation_timestamp",
        "null",
        "`creation_timestamp` must be a number, not null",
        "remove the key; `creation_timestamp` may be absent, but not null",
    );
    check_turn(
        r#"{"user_content": null}"#,
        ProblemCode::WrongType,
        ".user_content",
        "null",
        "`user_content` must be an object, not null",
        r#"write `"user_content": {"parts": [{"text": "..."}]}`"#,
    );
    check_data(
        r#"{"tool_responses": [{"name": "f", "response": "sunny"}]}"#,
        ProblemCode::WrongType,
        ".tool_responses[0].response",
        "\"sunny\"",
        "`response` must be an object, not a string",
        r#"write `{"result": ...}`"#,
    );
    check_data(
        r#"{"intermediate_responses": [{"author": "a", "text": "t"}]}"#,
        ProblemCode::WrongType,
        ".intermediate_responses[0]",
        "{",
        "`conversation[0].intermediate_data.intermediate_responses[0]` must be an array of an author and an array \
         of parts, not an object",
        r#"write `["my_agent", [{"text": "..."}]]`"#,
    );
    check_data(
        r#"{"invocation_events": [{"author": "a", "usage_metadata": {"prompt_token_count": 5.5}}]}"#,
        ProblemCode::WrongType,
        ".invocation_events[0].usage_metadata.prompt_token_count",
        "5.5",
        "`prompt_token_count` is not an integer",
        "write a whole number like `1`",
    );
}

/// google.genai's models reject what ADK's own take as an infinity.
#[test]
fn integers_beyond_floats() {
    let beyond = format!("1{}", "0".repeat(400));
    let turn = |keys: &str| Invocation::parse(&format!(r#"{{"user_content": {{}}, {keys}}}"#));
    for key in ["creation_timestamp", "duration", "model_duration"] {
        assert!(turn(&format!(r#""{key}": {beyond}"#)).is_ok(), "{key}");
    }
    let answer = |part: &str| turn(&format!(r#""final_response": {{"parts": [{part}]}}"#));
    assert!(answer(&format!(r#"{{"function_call": {{"args": {{"x": {beyond}}}}}}}"#)).is_ok());
    let refused = answer(&format!(r#"{{"video_metadata": {{"fps": {beyond}}}}}"#)).unwrap_err();
    assert_eq!(refused.iter().map(|problem| problem.code).collect::<Vec<_>>(), [ProblemCode::WrongType]);
}

#[test]
fn one_key_in_two_spellings() {
    check_turn(
        r#"{"user_content": {}, "userContent": {}}"#,
        ProblemCode::BothSpellings,
        ".user_content",
        "\"user_content\"",
        "`userContent` and `user_content` are one key in two spellings",
        "remove one of them",
    );
    check_turn(
        r#"{"user_content": null, "userContent": {}}"#,
        ProblemCode::BothSpellings,
        ".user_content",
        "\"user_content\"",
        "`userContent` and `user_content` are one key in two spellings",
        "remove one of them",
    );
    // google.genai takes some of these where they are `null`.
    for (part, accepted) in [
        (r#"{"functionCall": {}, "function_call": null}"#, true),
        (r#"{"function_call": null, "functionCall": null}"#, true),
        (r#"{"functionCall": null, "function_call": {}}"#, false),
        (r#"{"toolCall": {}, "tool_call": null}"#, false),
    ] {
        let turn = format!(r#"{{"user_content": {{"parts": [{part}]}}}}"#);
        assert_eq!(Invocation::parse(&turn).is_ok(), accepted, "{part}");
    }
    // ADK keeps these, and reads the other one. It does no harm where it says the same, or nothing.
    for (lost, severity) in
        [(r#""d""#, Severity::Warning), ("null", Severity::Warning), (r#""c""#, Severity::Error)]
    {
        let case = format!(r#"{{"eval_id": {lost}, "evalId": "d", {TURNS}}}"#);
        let text = format!(r#"{{"eval_set_id": "s", "eval_cases": [{case}]}}"#);
        let checked = check_set("s.json", text.as_bytes(), None);
        let [problem] = checked.problems.as_slice() else { panic!("{:#?}", checked.problems) };
        assert_eq!((problem.code, problem.severity), (ProblemCode::BothSpellings, severity), "{lost}");
        let id = checked.set.map(|set| set.eval_cases[0].eval_id.clone());
        assert_eq!(id.as_deref(), (severity == Severity::Warning).then_some("d"));
    }
}

#[test]
fn the_two_forms_of_intermediate_data_are_told_apart_by_their_keys() {
    check_data(
        r#"{"tool_uses": [], "invocation_events": []}"#,
        ProblemCode::UnknownKey,
        "",
        "\"invocation_events\"",
        "`tool_uses` and `invocation_events` exclude each other",
        "keep one form: the flat lists, or `invocation_events` alone",
    );
    check_data(
        r#"{"invocation_event": [{"author": "a"}]}"#,
        ProblemCode::UnknownKey,
        ".invocation_event",
        "\"invocation_event\"",
        "unknown key `invocation_event` in an invocation events object",
        "did you mean `invocation_events`?",
    );
}

#[test]
fn personas_are_named_or_written_out() {
    let scenario = |persona: &str| {
        format!(
            r#""conversation_scenario": {{"starting_prompt": "a", "conversation_plan": "b", "user_persona": {persona}}}"#
        )
    };
    let codes = |persona: &str| -> Vec<ProblemCode> {
        problems(&scenario(persona)).1.iter().map(|problem| problem.code).collect()
    };
    assert_eq!(codes(r#""EXPERT""#), []);
    assert_eq!(codes(r#""expert""#), [ProblemCode::WrongType]);
    assert_eq!(codes(r#"{"id": "x", "description": "d", "behaviors": []}"#), []);
    let camel = r#"{"id": "x", "description": "d", "behaviors": [{"name": "n", "description": "d",
        "behaviorInstructions": [], "violation_rubrics": []}]}"#;
    assert_eq!(codes(camel), [ProblemCode::MisspeltKey]);
}

#[test]
fn every_problem_of_every_turn_is_found() {
    let (_, found) = problems(
        r#""conversation": [{"user_content": 1, "x": 1}, 2, {"user_content": {"parts": [{"text": 3}, {"text": 4}]}}]"#,
    );
    let paths: Vec<_> = found.iter().map(|problem| problem.path.to_string()).collect();
    assert_eq!(
        paths,
        [
            "conversation[0].user_content",
            "conversation[0].x",
            "conversation[1]",
            "conversation[2].user_content.parts[0].text",
            "conversation[2].user_content.parts[1].text",
        ]
    );
}
