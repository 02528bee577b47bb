//! Whatever the bytes, the reader answers, and points into the file.

use std::ops::Range;

use eval_format::__private::read_case;
use eval_format::problem::ProblemCode;
use eval_format::reader::{CheckedSet, check_set};
use eval_format::{EvalSet, Problem};
use proptest::prelude::*;

/// A set that uses every kind of value.
const SET: &str = r#"{
  "eval_set_id": "s", "name": null, "creation_timestamp": 1.5,
  "eval_cases": [
    {"eval_id": "één", "conversation": [{
      "invocation_id": "1", "user_content": {"parts": [{"text": "天气?"}], "role": "user"},
      "finalResponse": {"parts": [{"text": "ok", "thought": false}]},
      "intermediate_data": {"tool_uses": [{"name": "f", "args": {"n": 1000000000000000000000000000000}}],
        "tool_responses": [{"name": "f", "response": {"a": [1, 2.5, null]}}],
        "intermediate_responses": [["a", [{"inline_data": {"data": "aGVsbG8="}}]]]},
      "app_details": {"agent_details": {"a": {"name": "a", "tool_declarations": [{}]}}}}],
      "session_input": {"app_name": "a", "user_id": "u", "state": {"k": {"v": []}}},
      "rubrics": [{"rubric_id": "r", "rubric_content": {"text_property": "p"}, "type": "TOOL_USE_QUALITY"}], "extra": 1},
    {"eval_id": "two", "conversation": [{"user_content": {},
      "intermediate_data": {"invocation_events": [{"author": "a", "invocationIndex": 3,
        "usage_metadata": {"prompt_token_count": 5}, "content": {"parts": [{"functionCall": {"name": "g"}}]}}]}}]}
  ]
}"#;

const TEST_FILE: &str = r#"[{"query": "q", "expected_tool_use": [{"tool_name": "f", "tool_input": {}}],
  "expected_intermediate_agent_responses": [{"author": "a", "text": "t"}], "reference": "r"}]"#;

const OLD_SET: &str = r#"[{"name": "n", "data": [{"query": "q", "reference": null}],
  "initial_session": {"state": {"k": 1}, "app_name": "a"}}]"#;

/// Pieces that turn one document into another that is nearly right.
const PIECES: &[&str] = &[
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "1e400",
    "NaN",
    "-Infinity",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\ud800",
    "\u{feff}",
    "\u{0}",
    "é",
    "🎉",
    "\"eval_id\":",
    "\"evalId\":\"x\",",
    "\"conversaton\":1,",
    "\"text\":{},",
    "[[[[",
    "0000",
    "\n\r\t",
    "\"a\":1,\"a\":2,",
];

/// Properties of every answer.
fn examine(checked: &CheckedSet) {
    let text = &checked.text;
    let lies_in = |range: &Range<usize>| text.get(range.clone()).is_some();
    for problem in &checked.problems {
        assert!(lies_in(&problem.range), "{problem:?}");
        assert!(problem.related.iter().all(|(range, _)| lies_in(range)), "{problem:?}");
        assert!(!problem.message.is_empty() && !problem.message.contains('\n'), "{problem:?}");
        assert!(problem.help.as_ref().is_some_and(|help| !help.contains('\n')), "{problem:?}");
    }
    let has_error = checked.problems.iter().any(Problem::is_error);
    assert_ne!(checked.set.is_some(), has_error, "{checked:?}");
    assert!(checked.problems.is_sorted_by_key(|problem| problem.range.start));
    for place in &checked.cases {
        assert!(lies_in(&place.range) && lies_in(&place.id_range), "{place:?}");
    }
    if let Some(set) = &checked.set {
        assert_eq!(set.eval_cases.len(), checked.cases.len());
        for (case, place) in set.eval_cases.iter().zip(&checked.cases) {
            let alone = read_case(checked.form, &text[place.range.clone()], &place.eval_id, None)
                .unwrap_or_else(|problems| panic!("{problems}"));
            assert_eq!(alone.to_value().to_string(), case.to_value().to_string());
            assert_eq!(case.eval_id, place.eval_id);
        }
    }
}

fn check(bytes: &[u8]) -> CheckedSet {
    let checked = check_set("s.evalset.json", bytes, None);
    examine(&checked);
    checked
}

fn codes(bytes: &[u8]) -> Vec<ProblemCode> {
    check(bytes).problems.iter().map(|problem| problem.code).collect()
}

/// A set of one case whose tool gets these arguments.
fn with_args(args: &str) -> String {
    format!(
        r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "conversation": [{{"user_content": {{}},
           "intermediate_data": {{"tool_uses": [{{"name": "f", "args": {{"a": {args}}}}}]}}}}]}}]}}"#
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nearly_right_documents(
        base in prop::sample::select(vec![SET, TEST_FILE, OLD_SET]),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..40_usize, prop::option::of(prop::sample::select(PIECES))), 1..4),
    ) {
        let mut text = base.to_owned();
        for (at, cut, piece) in edits {
            let start = boundary(&text, at.index(text.len() + 1));
            let end = boundary(&text, (start + cut).min(text.len()));
            text.replace_range(start..end, piece.unwrap_or(""));
        }
        check(text.as_bytes());
        if let Err(problems) = EvalSet::parse(&text) {
            prop_assert!(!problems.to_string().is_empty());
        }
    }

    #[test]
    fn broken_bytes(at in any::<prop::sample::Index>(), bytes in prop::collection::vec(any::<u8>(), 1..6)) {
        let mut text = SET.as_bytes().to_vec();
        let start = at.index(text.len());
        text.splice(start..(start + bytes.len()).min(SET.len()), bytes);
        check(&text);
    }

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&bytes);
    }

    #[test]
    fn random_sessions(bytes in prop::collection::vec(any::<u8>(), 0..60), piece in prop::sample::select(PIECES)) {
        for session in [&bytes[..], format!(r#"{{"state": {piece}}}"#).as_bytes()] {
            let checked = check_set("s.test.json", TEST_FILE.as_bytes(), Some(("s.session.json", session)));
            prop_assert_eq!(checked.set.is_some(), !checked.session_problems.iter().any(Problem::is_error));
        }
    }
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[test]
fn the_documents_that_are_edited_are_right() {
    for text in [SET, TEST_FILE, OLD_SET] {
        let set = check(text.as_bytes()).set.expect("a set");
        let again = EvalSet::parse(&set.to_json()).expect("what was saved");
        assert_eq!(again, set);
        assert_eq!(again.to_json(), set.to_json());
    }
}

#[test]
fn nesting() {
    let nested = |depth: usize| with_args(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    assert_eq!(codes(nested(150).as_bytes()), []);
    assert_eq!(codes(nested(10_000).as_bytes()), [ProblemCode::TooDeep]);
    assert_eq!(codes("[".repeat(1_000_000).as_bytes()), [ProblemCode::TooDeep]);
    assert_eq!(codes(r#"{"a":"#.repeat(100_000).as_bytes()), [ProblemCode::TooDeep]);
}

#[test]
fn a_string_of_twenty_megabytes() {
    let long = "天".repeat(20_000_000 / 3);
    let set = check(with_args(&format!("{long:?}")).as_bytes()).set.expect("a set");
    assert!(set.to_json().contains(&long));
    // As a key, as a value of the wrong type, and cut off.
    let keyed = format!(
        r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "conversation": [{{"{long}": 1}}]}}]}}"#
    );
    let checked = check(keyed.as_bytes());
    assert_eq!(checked.problems.len(), 2);
    assert!(checked.problems.iter().all(|p| p.message.len() < 400 && p.path.to_string().len() < 400));
    assert_eq!(
        codes(format!(r#"{{"eval_set_id": "s", "eval_cases": "{long}"}}"#).as_bytes()),
        [ProblemCode::WrongType]
    );
    assert_eq!(codes(format!("\"{long}").as_bytes()), [ProblemCode::Syntax]);
}

#[test]
fn encodings() {
    let utf16: Vec<u8> =
        std::iter::once(0xfeff).chain(SET.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(codes(&utf16), [ProblemCode::Encoding]);
    assert_eq!(codes(&utf16[2..]), [ProblemCode::Encoding]);
    assert_eq!(codes(&utf16[..utf16.len() - 1]), [ProblemCode::Encoding]);
    assert_eq!(codes(format!("\u{feff}{SET}").as_bytes()), [ProblemCode::Encoding]);
    assert_eq!(codes(&SET.chars().map(|c| c as u8).collect::<Vec<_>>()), [ProblemCode::Encoding]);
    assert_eq!(codes(with_args(r#""\ud800""#).as_bytes()), [ProblemCode::Syntax]);
    assert_eq!(codes(with_args(r#""\ud83c\udf89""#).as_bytes()), []);
}

#[test]
fn numbers() {
    let saved = |args: &str| {
        let set = check(with_args(args).as_bytes()).set.expect("a set");
        let call = set.eval_cases[0].conversation[0].tool_calls().next().expect("a call").clone();
        call.args.expect("arguments").get("a").expect("the argument").to_string()
    };
    for (text, shown) in [
        ("1000000000000000000000000000000", "1000000000000000000000000000000"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("1e400", "null"),
        ("NaN", "null"),
        ("-Infinity", "null"),
        ("1.0", "1.0"),
        ("1E-7", "1e-7"),
    ] {
        assert_eq!(saved(text), shown, "{text}");
    }
}

#[test]
fn cost_grows_with_size_only() {
    // Each of these takes minutes when a step is quadratic.
    let objects = format!("[{}1]", r#"{"x": 1, "x": 2}, "#.repeat(30_000));
    assert_eq!(check(with_args(&objects).as_bytes()).problems.len(), 30_000);
    let keys = (0..30_000).map(|at| format!(r#""k{at}": 1, "#)).collect::<Vec<_>>().concat();
    let set = |case: &str| format!(r#"{{"eval_set_id": "s", "eval_cases": [{case}]}}"#);
    let case = r#""eval_id": "c", "conversation": [{"user_content": {}}]"#;
    check(set(&format!("{{{keys}{case}}}")).as_bytes());
    check(
        set(&format!(r#"{{"eval_id": "c", "conversation": [{{{keys}"user_content": {{}}}}]}}"#)).as_bytes(),
    );
    let cases = (0..30_000).map(|_| format!("{{{case}}}, ")).collect::<Vec<_>>().concat();
    assert_eq!(check(set(&format!("{cases}{{{case}}}")).as_bytes()).problems.len(), 30_000);
    let details = format!(r#""{}": {{{keys}"name": "a"}}"#, "long".repeat(10_000));
    check(set(&format!(
        r#"{{"eval_id": "c", "conversation": [{{"user_content": {{}}, "app_details": {{"agent_details": {{{details}}}}}}}]}}"#
    )).as_bytes());
}
