use serde_json::json;

use crate::error::ReadError;
use crate::model::{EvalSet, FunctionCall, IntermediateData, Part};
use crate::problem::{Problem, ProblemCode, Severity};
use crate::reader::slice::read_case;
use crate::reader::{CheckedSet, SetFormat, check_set};
use crate::value::Value;

fn checked(file: &str, text: &str) -> CheckedSet {
    check_set(file, text.as_bytes(), None)
}

/// Code, path and marked text of each problem, errors with an exclamation mark.
fn found(checked: &CheckedSet) -> Vec<String> {
    let line = |problem: &Problem| {
        let mark = if problem.severity == Severity::Error { "!" } else { "" };
        format!("{}{mark} {} {}", problem.code, problem.path, &checked.text[problem.range.clone()])
    };
    checked.problems.iter().map(line).collect()
}

fn check(text: &str, problems: &[&str]) {
    assert_eq!(found(&checked("s.evalset.json", text)), problems, "{text}");
}

/// A set of cases.
fn set(cases: &str) -> String {
    format!(r#"{{"eval_set_id": "s", "eval_cases": [{cases}]}}"#)
}

const TURNS: &str = r#""conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}]"#;

#[test]
fn the_keys_of_a_set_may_be_written_as_other_writers_do() {
    let case = format!(r#"{{"evalId": "c", {TURNS}}}"#);
    for (text, id, timestamp) in [
        (format!(r#"{{"evalSetId": "s", "evalCases": [{case}], "creationTimestamp": 5}}"#), "s", 5.0),
        (format!(r#"{{"eval_set_id": "s", "evalCases": [{case}], "creationTimestamp": 5}}"#), "s", 5.0),
        (
            format!(r#"{{"id": "s", "eval_cases": [{{"id": "c", {TURNS}}}], "creation_timestamp": 5}}"#),
            "s",
            5.0,
        ),
        // What ADK reads, it reads in its own way: it ignores the others.
        (
            format!(
                r#"{{"eval_set_id": "s", "evalSetId": "t", "eval_cases": [{case}], "creationTimestamp": 5}}"#
            ),
            "s",
            0.0,
        ),
        (format!(r#"{{"eval_set_id": "s", "id": "t", "eval_cases": [{case}]}}"#), "s", 0.0),
    ] {
        let set = EvalSet::parse(&text).unwrap();
        assert_eq!((set.eval_set_id.as_str(), set.creation_timestamp), (id, timestamp), "{text}");
        assert_eq!(set.eval_cases[0].eval_id, "c", "{text}");
    }
    check(
        &format!(
            r#"{{"eval_set_id": "s", "eval_cases": [{case}], "creationTimestamp": 5, "author": "me", "_a": 1}}"#
        ),
        &["ignored-key creationTimestamp \"creationTimestamp\"", "ignored-key author \"author\""],
    );
    check(
        &format!(r#"{{"eval_set_id": "s", "eval_cases": [{case}], "desciption": "d"}}"#),
        &["misspelt-key! desciption \"desciption\""],
    );
}

#[test]
fn an_id_beside_eval_id_is_a_key_of_ones_own() {
    let checked = checked("s.json", &set(&format!(r#"{{"id": 7, "eval_id": "c", {TURNS}}}"#)));
    let case = &checked.set.unwrap().eval_cases[0];
    assert_eq!((case.eval_id.as_str(), case.extra.get("id")), ("c", Some(&Value::from(7_i64))));
    assert!(checked.problems.is_empty(), "{:?}", checked.problems);
}

#[test]
fn a_set_or_a_case_that_tests_nothing_is_an_error() {
    check(&set(""), &["no-cases! eval_cases []"]);
    check(
        &set(r#"{"eval_id": "c", "conversation": []}"#),
        &["empty-conversation! eval_cases[0].conversation []"],
    );
    check(&set(r#"{"eval_id": "c"}"#), &["conversation-or-scenario! eval_cases[0] {"]);
    for nothing in [
        r#""conversation": null"#,
        r#""conversation_scenario": null"#,
        r#""conversationScenario": null"#,
        r#""conversation": null, "conversationScenario": null"#,
        r#""_conversation": [{"user_content": {}}]"#,
        r#""_conversation_scenario": {}"#,
    ] {
        let case = format!(r#"{{"eval_id": "c", {nothing}}}"#);
        check(&set(&case), &["conversation-or-scenario! eval_cases[0] {"]);
    }
    check(
        &set(r#"{"eval_id": "c", "conversatoin": []}"#),
        &["misspelt-key! eval_cases[0].conversatoin \"conversatoin\""],
    );
    let scenario = r#""conversationScenario": {"startingPrompt": "a", "conversationPlan": "b"}"#;
    check(
        &set(&format!(r#"{{"eval_id": "c", {TURNS}, {scenario}}}"#)),
        &["conversation-or-scenario! eval_cases[0].conversationScenario \"conversationScenario\""],
    );
    check(&set(&format!(r#"{{"eval_id": "c", {scenario}}}, {{"eval_id": "d", {TURNS}}}"#)), &[]);
    let empty = r#""conversation_scenario": {"starting_prompt": "", "conversation_plan": ""}"#;
    check(
        &set(&format!(r#"{{"eval_id": "c", {empty}}}"#)),
        &[
            "empty-conversation eval_cases[0].conversation_scenario.starting_prompt \"\"",
            "empty-conversation eval_cases[0].conversation_scenario.conversation_plan \"\"",
        ],
    );
}

#[test]
fn templates_in_a_persona_are_held_to_what_is_filled_in() {
    let persona = |instruction: &str| {
        set(&format!(
            r#"{{"eval_id": "c", "conversation_scenario": {{"starting_prompt": "a", "conversation_plan": "b {{% x %}}",
            "user_persona": {{"id": "i", "description": "{{{{ raw }}}}", "behaviors": [{{"name": "n", "description": "d",
            "behavior_instructions": ["say", "{instruction}"], "violation_rubrics": []}}]}}}}}}"#
        ))
    };
    check(&persona("end with {{ stop_signal }}"), &[]);
    check(
        &persona("{% if x %}"),
        &[
            "wrong-type! eval_cases[0].conversation_scenario.user_persona.behaviors[0].behavior_instructions[1] \
           \"{% if x %}\"",
        ],
    );
}

#[test]
fn each_repeated_id_points_to_the_first() {
    let case = |id: &str| format!(r#"{{"eval_id": "{id}", {TURNS}}}"#);
    let text = set(&[case("a"), case("b"), case("a"), case("a")].join(", "));
    let checked = checked("s.json", &text);
    assert_eq!(
        found(&checked),
        ["duplicate-eval-id! eval_cases[2] \"a\"", "duplicate-eval-id! eval_cases[3] \"a\""]
    );
    let first = text.find("\"a\"").unwrap();
    assert!(checked.problems.iter().all(|problem| problem.related[0].0 == (first..first + 3)));
}

#[test]
fn cases_are_placed_whatever_else_is_wrong() {
    let text = "{\n \"eval_set_id\": 1,\n \"eval_cases\": [{\"eval_id\": \"é\", \"x\": 1}, {\"evalId\": \"b\"}, {}, 3]}";
    let checked = checked("s.json", text);
    let places: Vec<_> = checked
        .cases
        .iter()
        .map(|case| (case.eval_id.as_str(), &text[case.id_range.clone()], case.line, case.column))
        .collect();
    assert_eq!(places, [("é", "\"é\"", 3, 17), ("b", "\"b\"", 3, 43)]);
    assert!(checked.set.is_none());
}

const OLD_TURNS: &str = r#"[
  {"query": "q1", "expected_tool_use": [{"tool_name": "f", "tool_input": {"a": 1}, "mock_tool_output": "x"}],
   "expected_intermediate_agent_responses": [{"author": "a", "text": "t"}], "reference": "r1"},
  {"query": "q2", "reference": null},
  {"query": null}
]"#;

#[test]
fn an_old_test_file_is_one_case_named_after_the_file() {
    let checked = checked("a/trip.test.json", OLD_TURNS);
    assert_eq!((checked.form, found(&checked)), (SetFormat::TestFile, vec![]));
    let set = checked.set.unwrap();
    let [case] = set.eval_cases.as_slice() else { panic!("{set:?}") };
    assert_eq!((case.eval_id.as_str(), checked.cases[0].eval_id.as_str()), ("trip", "trip"));
    assert_eq!(checked.cases[0].range, 0..OLD_TURNS.len());
    let [first, second, third] = case.conversation.as_slice() else { panic!("{case:?}") };
    assert_eq!((first.user_text().as_str(), first.response_text().as_str()), ("q1", "r1"));
    assert_eq!(first.user_content.role.as_deref(), Some("user"));
    let Some(IntermediateData::Tools { tool_uses, intermediate_responses, .. }) = &first.intermediate_data
    else {
        panic!("{first:?}")
    };
    assert_eq!(tool_uses, &[FunctionCall::new("f", json!({ "a": 1 }))]);
    assert_eq!(intermediate_responses, &[("a".to_owned(), vec![Part::text("t")])]);
    // `null` is a part without text, an absent reference the empty text.
    assert_eq!(second.final_response.as_ref().unwrap().parts(), &[Part::default()]);
    assert_eq!(third.final_response.as_ref().unwrap().parts(), &[Part::text("")]);
    assert_eq!(third.user_content.parts(), &[Part::default()]);
}

#[test]
fn ids_that_adk_draws_are_derived_from_the_text() {
    let ids = |file: &str, text: &str| {
        let set = checked(file, text).set.unwrap();
        let turns = set.eval_cases.into_iter().flat_map(|case| case.conversation);
        (set.eval_set_id, turns.map(|turn| turn.invocation_id).collect::<Vec<_>>())
    };
    let twice = r#"[{"query": "q"}, {"query": "q"}]"#;
    let (set_id, turn_ids) = ids("a.json", twice);
    assert_eq!(ids("b.json", twice), (set_id.clone(), turn_ids.clone()));
    assert_eq!(set_id.len(), 16);
    assert_ne!(turn_ids[0], turn_ids[1]);
    assert_ne!(ids("a.json", r#"[{"query": "q"}, {"query": "r"}]"#).0, set_id);
    // A case alone has the ids that it has within its file.
    let old_set = format!(r#"[{{"name": "x", "data": {twice}}}, {{"name": "y", "data": {twice}}}]"#);
    let checked = checked("old.json", &old_set);
    let set = checked.set.unwrap();
    assert_eq!(set.eval_set_id, "old");
    for (case, place) in set.eval_cases.iter().zip(&checked.cases) {
        let alone = read_case(SetFormat::OldEvalSet, &old_set[place.range.clone()], "", None).unwrap();
        assert_eq!(&alone, case);
    }
}

#[test]
fn a_repeated_id_is_named_on_one_line() {
    let case = format!(r#"{{"eval_id": "a\nb", {TURNS}}}"#);
    let problems = checked("s.evalset.json", &set(&format!("{case}, {case}"))).problems;
    assert_eq!(problems[0].message, r"two cases have the id `a\nb`");
}

#[test]
fn problems_of_the_old_formats() {
    check(r"[]", &["no-cases! the document []"]);
    check(
        r#"[{"query": "q", "expected_tool_use": ["f"], "referense": "r"}]"#,
        &["wrong-type! [0].expected_tool_use[0] \"f\"", "misspelt-key! [0].referense \"referense\""],
    );
    check(r#"[{"query": "q"}, {"reference": "r"}, 3]"#, &["missing-key! [1] {", "wrong-type! [2] 3"]);
    check(
        r#"[{"name": "a", "data": []}, {"name": "a", "data": [{"query": "q", "expected_tool_use": null}]}, {"data": 1}]"#,
        &[
            "empty-conversation! [0].data []",
            "duplicate-eval-id! [1] \"a\"",
            "wrong-type! [1].data[0].expected_tool_use null",
            "missing-key! [2] {",
            "wrong-type! [2].data 1",
        ],
    );
}

/// The rewriter refuses a set with mistakes, so the way out of one is not the rewriter alone.
#[test]
fn a_key_of_ours_in_an_old_set_is_taken_out_before_the_set_is_rewritten() {
    for (key, value) in [
        ("_expect", r#"{"1": {"order": "any"}}"#),
        ("_criteria", "{}"),
        ("_tools", r#"{"1": {"f#1": "never"}}"#),
    ] {
        let text =
            format!(r#"[{{"name": "a", "data": [{{"query": "q", "reference": "r"}}], "{key}": {value}}}]"#);
        check(&text, &[&format!("ignored-key! [0].{key} \"{key}\"")]);
        let checked = check_set("s.evalset.json", text.as_bytes(), None);
        assert!(
            checked.problems[0].help.as_ref().is_some_and(|help| help.starts_with("take it out, let")),
            "{key}"
        );
    }
}

#[test]
fn old_lists_may_be_any_empty_container_as_in_adk() {
    for empty in ["[]", "{}", r#""""#] {
        let text = format!(
            r#"[{{"query": "q", "expected_tool_use": {empty}, "expected_intermediate_agent_responses": {empty}}}]"#
        );
        check(&text, &[]);
    }
    check(r#"[{"query": "q", "expected_tool_use": {"a": 1}}]"#, &["wrong-type! [0].expected_tool_use {"]);
}

#[test]
fn a_session_file_goes_with_an_old_test_file_only() {
    let session = br#"{"id": "1", "app_name": "a", "state": {"k": null}, "events": []}"#;
    let with =
        |text: &str, session: &[u8]| check_set("s.test.json", text.as_bytes(), Some(("s.json", session)));
    let old = with(OLD_TURNS, session);
    let input = old.set.unwrap().eval_cases.remove(0).session_input.unwrap();
    assert_eq!((input.app_name.as_str(), input.user_id.as_str(), input.state.len()), ("a", "", 1));
    let alone = read_case(SetFormat::TestFile, OLD_TURNS, "s", std::str::from_utf8(session).ok()).unwrap();
    assert_eq!(alone.session_input, Some(input));

    let new = set(&format!(r#"{{"eval_id": "c", {TURNS}}}"#));
    let old_set = r#"[{"name": "a", "data": [{"query": "q"}]}]"#;
    for text in [new.as_str(), old_set] {
        let refused = with(text, session);
        assert!(refused.set.is_none() && refused.problems.is_empty(), "{text}");
        let [problem] = refused.session_problems.as_slice() else { panic!("{refused:?}") };
        assert_eq!((problem.code, problem.range.clone()), (ProblemCode::SessionFile, 0..1));
        // An empty session says nothing, as in ADK.
        assert!(with(text, b"{}").set.is_some(), "{text}");
    }
    for (session, code) in [
        (&b"{"[..], ProblemCode::Syntax),
        (b"[1]", ProblemCode::WrongType),
        (br#"{"state": null}"#, ProblemCode::WrongType),
        (br#"{"app_nmae": "a"}"#, ProblemCode::MisspeltKey),
        (b"\xff", ProblemCode::Encoding),
    ] {
        let refused = with(OLD_TURNS, session);
        let codes: Vec<_> = refused.session_problems.iter().map(|problem| problem.code).collect();
        assert_eq!((refused.set, codes), (None, vec![code]), "{session:?}");
    }
}

#[test]
fn an_old_initial_session_counts_unless_it_is_empty() {
    let session = |text: &str| {
        let text = format!(r#"[{{"name": "a", "data": [{{"query": "q"}}], "initial_session": {text}}}]"#);
        checked("s.json", &text).set.unwrap().eval_cases.remove(0).session_input
    };
    // Python loops over an empty array and an empty string as over an empty object.
    for empty in ["{}", "[]", r#""""#] {
        assert_eq!(session(empty), None, "{empty}");
    }
    let input = session(r#"{"user_id": "u"}"#).unwrap();
    assert_eq!((input.app_name.as_str(), input.user_id.as_str()), ("", "u"));
}

#[test]
fn serde_says_what_the_reader_says() {
    let good = set(&format!(r#"{{"eval_id": "c", {TURNS}, "n": [1, 1.0]}}"#));
    let read: EvalSet = serde_json::from_str(&good).unwrap();
    assert_eq!(read, EvalSet::parse(&good).unwrap());
    assert_eq!(serde_json::to_string(&read).unwrap(), read.to_value().to_string());
    let error = serde_json::from_str::<EvalSet>(&set(r#"{"eval_id": 5}"#)).unwrap_err().to_string();
    assert!(error.contains("`eval_id` must be a string, not a number"), "{error}");
}

#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let error = EvalSet::read("no/such/file.evalset.json").unwrap_err();
    assert!(
        matches!(error, ReadError::Io { .. }) && error.to_string().contains("file.evalset.json"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn what_has_no_end_is_not_read() {
    let set = EvalSet::read("/dev/zero").unwrap_err();
    let config = crate::EvalConfig::read("/dev/zero").unwrap_err();
    for error in [set, config] {
        let expected =
            "cannot read `/dev/zero`: it is no regular file: a device, a pipe or a socket may have no end";
        assert_eq!(error.to_string(), expected);
    }
}
