//! Two equal keys in one object: Python keeps the last value, and what the first one said would not be tested.

use eval_format::__private::check_case;
use eval_format::config::check_config;
use eval_format::problem::ProblemCode;
use eval_format::reader::{SetFormat, check_session, check_set};
use eval_format::recording::check_recording;
use eval_format::{EvalSet, Invocation, Problem, Value};

const TURN: &str = r#"{"user_content": {"parts": [{"text": "Hi"}]}}"#;

/// The path of the one problem, an error with both places.
fn path(text: &str, problems: &[Problem]) -> String {
    let [problem] = problems else { panic!("{text}: {problems:#?}") };
    assert!(problem.is_error() && problem.code == ProblemCode::DuplicateKey, "{text}: {problem:?}");
    let [(first, _)] = problem.related.as_slice() else { panic!("{text}: {problem:?}") };
    assert!(first.end <= problem.range.start, "{text}: {problem:?}");
    assert_eq!(text[first.clone()], text[problem.range.clone()], "{text}");
    assert!(problem.help.is_some(), "{text}");
    problem.path.to_string()
}

#[test]
fn equal_keys_are_errors_anywhere_in_a_set() {
    let case = |keys: &str| format!(r#"{{"eval_id": "c", {keys}}}"#);
    let turn = |keys: &str| {
        case(&format!(r#""conversation": [{{"user_content": {{"parts": [{{"text": "Hi"}}]}}, {keys}}}]"#))
    };
    let sound = case(&format!(r#""conversation": [{TURN}]"#));
    for (text, expected) in [
        (format!(r#"{{"eval_set_id": "s", "eval_cases": [], "eval_cases": [{sound}]}}"#), "eval_cases"),
        (
            format!(r#"{{"eval_set_id": "s", "eval_cases": [{sound}], "eval_cases": [{sound}]}}"#),
            "eval_cases",
        ),
        (
            set(&case(&format!(r#""conversation": [{TURN}, {TURN}], "conversation": [{TURN}]"#))),
            "eval_cases[0].conversation",
        ),
        (
            set(&case(&format!(r#""conversation": [{TURN}], "final_session_state": {{"a": 1, "a": 2}}"#))),
            "eval_cases[0].final_session_state.a",
        ),
        (
            set(&turn(r#""intermediate_data": {"tool_uses": [{"name": "f", "args": {"x": 1, "x": 2}}]}"#)),
            "eval_cases[0].conversation[0].intermediate_data.tool_uses[0].args.x",
        ),
        (
            set(&turn(
                r#""intermediate_data": {"tool_responses": [{"name": "f", "response": {"r": [{"x": 1, "x": 1}]}}]}"#,
            )),
            "eval_cases[0].conversation[0].intermediate_data.tool_responses[0].response.r[0].x",
        ),
        // A comment is no expectation, but which of the two is meant is as unclear.
        (
            set(&turn(r#""final_response": null, "final_response": null"#)),
            "eval_cases[0].conversation[0].final_response",
        ),
    ] {
        let checked = check_set("s.evalset.json", text.as_bytes(), None);
        assert!(checked.set.is_none(), "{text}");
        assert_eq!(path(&text, &checked.problems), expected);
        assert!(EvalSet::parse(&text).is_err());
    }
}

fn set(case: &str) -> String {
    format!(r#"{{"eval_set_id": "s", "eval_cases": [{case}]}}"#)
}

#[test]
fn equal_keys_are_errors_in_the_old_forms_and_in_every_other_file() {
    let old = r#"[{"query": "Hi", "reference": "Hello", "query": "Bye"}]"#;
    let checked = check_set("s.test.json", old.as_bytes(), None);
    assert_eq!(path(old, &checked.problems), "[0].query");

    let old = r#"[{"name": "c", "data": [{"query": "Hi"}], "data": [{"query": "Bye"}]}]"#;
    let checked = check_set("s.evalset.json", old.as_bytes(), None);
    assert_eq!(path(old, &checked.problems), "[0].data");

    let session = r#"{"state": {"city": "Oslo", "city": "Paris"}}"#;
    let problems = check_session(session.as_bytes(), SetFormat::TestFile).problems;
    assert_eq!(path(session, &problems), "state.city");

    let config = r#"{"criteria": {"safety_v1": 0.5, "safety_v1": 1}}"#;
    assert_eq!(path(config, &check_config("c.json", config.as_bytes(), &[]).problems), "criteria.safety_v1");

    let recording = r#"{"judge_recording": 2, "questions": [], "questions": []}"#;
    let checked = check_recording("r.json", recording.as_bytes());
    assert!(checked.recording.is_none());
    assert_eq!(checked.problems.iter().filter(|it| it.code == ProblemCode::DuplicateKey).count(), 1);
}

#[test]
fn equal_keys_are_errors_in_texts_of_their_own() {
    let case = format!(r#"{{"eval_id": "c", "conversation": [{TURN}], "eval_id": "d"}}"#);
    let problems = check_case(SetFormat::EvalSet, &case, "", None).unwrap_err();
    assert_eq!(path(&case, &problems.iter().cloned().collect::<Vec<_>>()), "eval_id");
    assert!(Invocation::parse(r#"{"user_content": {}, "user_content": {}}"#).is_err());
    assert!(Value::parse(r#"{"a": 1, "a": 1}"#).is_err());
    for text in [r#"{"a": 1, "a": 1}"#, r#"[{"b": {"a": 1, "c": 2, "a": 3}}]"#] {
        let error = serde_json::from_str::<Value>(text).unwrap_err().to_string();
        assert!(error.starts_with("key \"a\" is repeated in one object"), "{error}");
    }
    let twice = set(&format!(r#"{{"eval_id": "c", "conversation": [{TURN}], "conversation": []}}"#));
    assert!(serde_json::from_str::<EvalSet>(&twice).is_err());
}

#[test]
fn all_equal_keys_of_a_file_are_found_beside_its_other_problems() {
    let text = set(&format!(
        r#"{{"eval_id": "c", "eval_id": "d", "eval_id": "e", "conversaton": 1,
            "conversation": [{TURN}], "_x": {{"a": {{"b": 1, "b": 2}}}}}}"#
    ));
    let checked = check_set("s.evalset.json", text.as_bytes(), None);
    let found: Vec<_> = checked.problems.iter().map(|it| (it.code, it.path.to_string())).collect();
    assert_eq!(found.iter().filter(|(code, _)| *code == ProblemCode::DuplicateKey).count(), 3, "{found:#?}");
}
