//! Tests of goldens whose expectations are revised: the bytes of the change, and no others.

use super::{EditError, SetEditor};
use crate::expect::{Expect, Matcher, Others, TurnExpect};
use crate::model::{EvalCase, FunctionCall, IntermediateData};
use crate::value::{Map, Value};

/// Cases on lines that they share, as a person lays them out.
const DESK: &str = r#"{
  "eval_set_id": "desk",
  "_owner": "anna",
  "eval_cases": [
    {"eval_id": "answer", "conversation": [{"user_content": {"parts": [{"text": "Weather in Paris?"}]},
      "final_response": {"parts": [{"text": "It is sunny in Paris."}]},
      "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": "Paris"}}]}}]},
    {"eval_id": "argument", "conversation": [{"user_content": {"parts": [{"text": "And in Oslo?"}]},
      "final_response": {"parts": [{"text": "It rains in Oslo."}]},
      "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": "Oslo", "day": "2026-11-22"}}]}}]},
    {"eval_id": "new_call", "conversation": [{"user_content": {"parts": [{"text": "Book Anna a table"}]},
      "final_response": {"parts": [{"text": "Booked."}]},
      "intermediate_data": {"tool_uses": [{"name": "find", "args": {"who": "Anna"}}, {"name": "book", "args": {"id": 7}}]}}]}
  ]
}
"#;

fn revised(text: &str, id: &str, change: impl Fn(&mut EvalCase)) -> String {
    let mut editor = SetEditor::new(text).expect("a set");
    let mut case = editor.case(id).expect("it is there").clone();
    change(&mut case);
    editor.revise(&case).expect("it asks the same");
    assert_eq!(editor.case(id), Some(&case), "it reads back as it was meant");
    editor.text()
}

fn with_calls(case: &mut EvalCase, change: impl Fn(&mut Vec<FunctionCall>)) {
    let Some(IntermediateData::Tools { tool_uses, .. }) = &mut case.conversation[0].intermediate_data else {
        panic!("the flat form")
    };
    change(tool_uses);
}

fn args(text: &str) -> Value {
    Value::parse(text).expect("JSON")
}

type Change = fn(&mut EvalCase);

/// Each change with the case, the bytes before and after.
const CHANGES: [(&str, Change, &str, &str); 6] = [
    (
        "answer",
        |case| {
            let turn = &mut case.conversation[0];
            let parts =
                turn.final_response.as_mut().and_then(|answer| answer.parts.as_mut()).expect("an answer");
            parts[0].text = Some("Paris has clear skies.".to_owned());
        },
        r#""It is sunny in Paris.""#,
        r#""Paris has clear skies.""#,
    ),
    (
        "argument",
        |case| {
            with_calls(case, |calls| {
                calls[0].args = args(r#"{"city": "Oslo", "day": "2026-11-23"}"#).as_object().cloned();
            });
        },
        r#""2026-11-22""#,
        r#""2026-11-23""#,
    ),
    (
        "argument",
        |case| with_calls(case, |calls| calls[0].args = Some(Map::from([("city", "Oslo")]))),
        r#", "day": "2026-11-22""#,
        "",
    ),
    (
        "new_call",
        |case| {
            with_calls(case, |calls| {
                calls.insert(1, FunctionCall::new("check_calendar", args(r#"{"id": 7}"#)));
            });
        },
        r#"{"name": "book""#,
        r#"{"name": "check_calendar", "args": {"id": 7}}, {"name": "book""#,
    ),
    (
        "new_call",
        |case| with_calls(case, |calls| drop(calls.remove(0))),
        r#"{"name": "find", "args": {"who": "Anna"}}, "#,
        "",
    ),
    (
        "argument",
        |case| {
            let turn = TurnExpect::default().arg("get_weather", "day", Matcher::Date);
            *case = case.clone().with_expect(Expect::default().turn(1, turn));
        },
        r#""day": "2026-11-22"}}]}}]}"#,
        r#""day": "2026-11-22"}}]}}], "_expect": {"1": {"calls": {"get_weather": {"day": "date"}}}}}"#,
    ),
];

/// The set laid out and spelt in other ways. The edits are spelt in the same way.
fn layouts() -> Vec<fn(&str) -> String> {
    fn camel(text: &str) -> String {
        let keys = [
            "eval_set_id",
            "eval_cases",
            "eval_id",
            "user_content",
            "final_response",
            "intermediate_data",
            "tool_uses",
        ];
        keys.iter().fold(text.to_owned(), |text, key| {
            text.replace(&format!("\"{key}\""), &format!("\"{}\"", eval_support::key_case::camel(key)))
        })
    }
    vec![
        str::to_owned,
        |text| text.replace('\n', "\r\n"),
        |text| text.replace("      ", "\t\t\t").replace("    ", "\t\t"),
        |text| text.replace("\n      ", " ").replace("\n    ", " ").replace("\n  ", " ").replace('\n', ""),
        camel,
    ]
}

#[test]
fn a_revised_golden_changes_the_bytes_of_what_it_expects_alone() {
    for layout in layouts() {
        let desk = layout(DESK);
        for (id, change, before, after) in CHANGES {
            let (before, after) = (layout(before), layout(after));
            assert_eq!(desk.matches(&before).count(), 1, "{before}");
            assert_eq!(revised(&desk, id, change), desk.replace(&before, &after));
        }
    }
}

#[test]
fn rules_and_criteria_are_added_changed_and_removed_in_their_place() {
    let rules = r#""_expect": {"1": {"calls": {"get_weather": {"city":  "any"}}}},"#;
    let text = DESK.replace(r#""eval_id": "argument","#, &format!(r#""eval_id": "argument", {rules}"#));
    let others = |case: &mut EvalCase| {
        let mut expect = case.expect().expect("it has rules");
        expect.turns[0].1.others = Some(Others::Tools(vec!["log".to_owned()]));
        *case = case.clone().with_expect(expect);
    };
    let longer = rules.replace("}}}},", r#"}}, "others": ["log"]}},"#);
    assert_eq!(revised(&text, "argument", others), text.replace(rules, &longer));
    let none = |case: &mut EvalCase| drop(case.extra.remove(EvalCase::EXPECT_KEY));
    assert_eq!(revised(&text, "argument", none), DESK);
    let criteria =
        |case: &mut EvalCase| *case = case.clone().with_criterion("response_match_score", Value::Null);
    let added = r#""day": "2026-11-22"}}]}}], "_criteria": {"response_match_score": null}}"#;
    assert_eq!(revised(DESK, "argument", criteria), DESK.replace(r#""day": "2026-11-22"}}]}}]}"#, added));
}

#[test]
fn drafts_and_other_questions_are_not_revised() {
    let mut editor = SetEditor::new(DESK).expect("a set");
    let mut case = editor.case("answer").expect("it is there").clone();
    let draft = case.clone().with_draft(Map::from([("from", "run 7")]));
    assert!(matches!(editor.revise(&draft), Err(EditError::NotTheSame { .. })));
    case.conversation[0].user_content = crate::model::Content::user("Weather in Rome?");
    assert!(matches!(editor.revise(&case), Err(EditError::NotTheSame { .. })));
    assert_eq!(editor.text(), DESK);
}
