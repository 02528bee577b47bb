//! Edits of files in every layout.

use serde_json::json;

use super::{EditError, SetEditor};
use crate::model::{EvalCase, EvalSet, FunctionCall, IntermediateData, Invocation, SessionInput};
use crate::problem::ProblemCode;
use crate::reader::SetFormat;
use crate::value::{Map, Value};

fn hi(id: &str) -> EvalCase {
    EvalCase::new(id).turn(Invocation::user("Hi"))
}

fn draft(id: &str) -> EvalCase {
    hi(id).with_draft(Map::from([("from", "chat")]))
}

fn added(text: &str, case: &EvalCase) -> String {
    let mut editor = SetEditor::new(text).unwrap_or_else(|problems| panic!("{text}\n{problems}"));
    editor.add_case(case).unwrap_or_else(|error| panic!("{text}\n{error}"));
    editor.into_text()
}

#[test]
fn a_new_case_is_laid_out_as_the_one_before_it() {
    let turn = r#"[{"user_content": {"parts": [{"text": "Hi"}], "role": "user"}}]"#;
    let spread = |unit: &str, end: &str| {
        let line = |level: usize, text: &str| format!("{end}{}{text}", unit.repeat(level));
        [
            line(2, "{"),
            line(3, r#""eval_id": "b","#),
            line(3, r#""conversation": ["#),
            line(4, "{"),
            line(5, r#""user_content": {"#),
            line(6, r#""parts": ["#),
            line(7, "{"),
            line(8, r#""text": "Hi""#),
            line(7, "}"),
            line(6, "],"),
            line(6, r#""role": "user""#),
            line(5, "}"),
            line(4, "}"),
            line(3, "]"),
            line(2, "}"),
        ]
        .concat()
    };
    for (unit, end) in [("  ", "\n"), ("    ", "\n"), ("\t", "\n"), ("  ", "\r\n"), ("\t", "\r\n")] {
        let before = [
            format!("{{{end}{unit}\"eval_set_id\": \"s\",{end}{unit}\"eval_cases\": ["),
            spread(unit, end).replace("\"b\"", "\"a\""),
        ]
        .concat();
        for after in [format!("{end}{unit}]{end}}}"), format!("{end}{unit}]{end}}}{end}")] {
            let expected = format!("{before},{}{after}", spread(unit, end));
            assert_eq!(added(&format!("{before}{after}"), &hi("b")), expected, "{unit:?} {end:?}");
        }
        // The first case of a set.
        for inner in ["", " ", &format!("{end}{unit}")] {
            let head = format!("{{{end}{unit}\"eval_set_id\": \"s\",{end}{unit}\"eval_cases\": [");
            let empty = format!("{head}{inner}]{end}}}{end}");
            let expected = format!("{head}{}{end}{unit}]{end}}}{end}", spread(unit, end));
            assert_eq!(added(&empty, &hi("b")), expected, "{unit:?} {end:?} {inner:?}");
        }
    }
    let dense = turn.replace(": ", ":").replace(", ", ",");
    for (before, new, after) in [
        // On one line, as Python and as JavaScript write it.
        (
            format!(r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "a", "conversation": {turn}}}"#),
            format!(r#", {{"eval_id": "b", "conversation": {turn}}}"#),
            r#"], "name": "n"}"#,
        ),
        (
            format!(r#"{{"eval_set_id":"s","eval_cases":[{{"eval_id":"a","conversation":{dense}}}"#),
            format!(r#",{{"eval_id":"b","conversation":{dense}}}"#),
            "]}\n",
        ),
        (
            r#"{"eval_set_id": "s", "eval_cases": ["#.to_owned(),
            format!(r#"{{"eval_id": "b", "conversation": {turn}}}"#),
            "]}",
        ),
        // A line for each case.
        (
            format!(
                "{{\"eval_set_id\": \"s\", \"eval_cases\": [\n {{\"eval_id\": \"a\", \"conversation\": {turn}}}"
            ),
            format!(",\n {{\"eval_id\": \"b\", \"conversation\": {turn}}}"),
            "\n]}",
        ),
        // Commas at the beginning of lines, an empty line between two cases.
        (
            format!(
                "{{\"eval_set_id\": \"s\", \"eval_cases\": [\n  {{\"eval_id\": \"a\", \"conversation\": {turn}}}\n\n  , \
                 {{\"eval_id\": \"c\", \"conversation\": {turn}}}"
            ),
            format!("\n\n  , {{\"eval_id\": \"b\", \"conversation\": {turn}}}"),
            "\n]}",
        ),
    ] {
        assert_eq!(added(&format!("{before}{after}"), &hi("b")), format!("{before}{new}{after}"));
    }
}

#[test]
fn brackets_on_one_line_stay_together() {
    let text = "{\n  \"eval_set_id\": \"s\",\n  \"eval_cases\": [{\n    \"eval_id\": \"a\",\n    \"conversation\": [{\"user_content\": {}}]\n  }]\n}";
    let text = added(text, &hi("b"));
    assert!(text.contains("\n  }, {\n    \"eval_id\": \"b\",\n    \"conversation\": [\n      {\n"), "{text}");
    assert!(text.ends_with("\n    ]\n  }]\n}"), "{text}");
}

#[test]
fn a_new_case_is_spelt_as_the_one_before_it() {
    let call = FunctionCall::new("get_weather", json!({ "city_name": { "user_content": 1 } }));
    let answer = Invocation::user("Hi").response("Hello!").call(call).with_creation_timestamp(1.5);
    let flat = IntermediateData::Tools {
        tool_uses: Vec::new(),
        tool_responses: Vec::new(),
        intermediate_responses: vec![("my_clerk".to_owned(), vec![])],
    };
    let case = EvalCase::new("b")
        .turn(answer)
        .turn(Invocation::user("Bye").with_intermediate_data(flat))
        .with_session_input(SessionInput::new("my_app", "u").with_state(Map::from([("last_city", "Paris")])))
        .with_extra("my_owner", "anna");
    let camel =
        r#"{"evalSetId": "s", "evalCases": [{"evalId": "a", "conversation": [{"userContent": {}}]}]}"#;
    let empty = r#"{"evalSetId": "s", "evalCases": []}"#;
    for text in [camel, empty] {
        let text = added(text, &case);
        let read = EvalSet::parse(&text).unwrap();
        let mut expected = case.clone();
        expected.conversation[0]
            .intermediate_data
            .clone_from(&read.eval_cases.last().unwrap().conversation[0].intermediate_data);
        assert_eq!(read.eval_cases.last(), Some(&expected), "{text}");
        for key in [
            "evalId",
            "userContent",
            "finalResponse",
            "creationTimestamp",
            "appName",
            "city_name",
            "last_city",
            "my_owner",
        ] {
            assert!(text.contains(&format!("\"{key}\": ")), "{key}: {text}");
        }
        let new = &text[text.find("\"b\"").unwrap()..];
        assert!(!new.contains("eval_id") && !new.contains("final_response"), "{text}");
        assert_eq!(
            new.matches("user_content").count(),
            1,
            "what a tool is called with is no key of ours: {text}"
        );
    }
    let short = r#"{"id": "s", "eval_cases": [{"id": "a", "conversation": [{"user_content": {}}]}]}"#;
    let text = added(short, &case);
    assert!(text.contains(r#"{"id": "b", "conversation""#), "{text}");
    assert_eq!(EvalSet::parse(&text).unwrap().eval_cases[1].eval_id, "b");
    // Where the short name is taken by a key of the user's, the long one is written.
    let text = added(short, &case.with_extra("id", 7_i64));
    assert_eq!(EvalSet::parse(&text).unwrap().eval_cases[1].eval_id, "b");
}

/// Cases on lines of their own, with keys that only people read.
const THREE: &str = "{\r\n\t\"_comment\" : \"keep  me\",\r\n\t\"eval_cases\": [\r\n\
    \t\t{ \"eval_id\":\"a\", \"conversation\": [{\"user_content\": {}}] } ,\r\n\r\n\
    \t\t{ \"_draft\": {\"from\": \"x\"}, \"eval_id\": \"\\u0062\", \"conversation\": [{\"user_content\": {}}]},\r\n\
    \t\t{\"conversation\": [{\"user_content\": {\"parts\": [{\"text\": \"1.50e0\"}]}}], \"eval_id\": \"c\", \"_draft\": 1.50 }\r\n\
    \t],\r\n\t\"eval_set_id\": \"s\"\r\n}";

#[test]
fn taking_a_case_out_leaves_the_others_where_they_stand() {
    for (id, gone) in [
        ("a", "{ \"eval_id\":\"a\", \"conversation\": [{\"user_content\": {}}] } ,\r\n\r\n\t\t"),
        (
            "b",
            "\r\n\r\n\t\t{ \"_draft\": {\"from\": \"x\"}, \"eval_id\": \"\\u0062\", \"conversation\": [{\"user_content\": {}}]},",
        ),
        (
            "c",
            ",\r\n\t\t{\"conversation\": [{\"user_content\": {\"parts\": [{\"text\": \"1.50e0\"}]}}], \"eval_id\": \"c\", \"_draft\": 1.50 }",
        ),
    ] {
        let mut editor = SetEditor::new(THREE).unwrap();
        assert_eq!(editor.text(), THREE);
        assert_eq!(editor.remove_case(id).unwrap().eval_id, id);
        assert_eq!(editor.text(), THREE.replacen(gone, "", 1), "{id}");
    }
    let mut editor = SetEditor::new(THREE).unwrap();
    for id in ["b", "a", "c"] {
        editor.remove_case(id).unwrap();
    }
    let text =
        "{\r\n\t\"_comment\" : \"keep  me\",\r\n\t\"eval_cases\": [],\r\n\t\"eval_set_id\": \"s\"\r\n}";
    assert_eq!(editor.text(), text);
    assert_eq!(SetEditor::new(text).unwrap().eval_set_id(), "s");
}

#[test]
fn a_new_id_replaces_the_old_one_alone() {
    for (id, old, new) in [
        ("a", "\"eval_id\":\"a\"", "\"eval_id\":\"z \\\"é\\\"\""),
        ("b", "\"eval_id\": \"\\u0062\"", "\"eval_id\": \"z \\\"é\\\"\""),
    ] {
        let mut editor = SetEditor::new(THREE).unwrap();
        editor.rename_case(id, "z \"é\"").unwrap();
        assert_eq!(editor.text(), THREE.replacen(old, new, 1));
        // The old id is free again.
        editor.rename_case("c", id).unwrap();
        assert_eq!(editor.case("z \"é\"").unwrap().eval_id, "z \"é\"");
    }
    let mut editor = SetEditor::new(THREE).unwrap();
    editor.rename_case("a", "a").unwrap();
    assert!(matches!(editor.rename_case("a", ""), Err(EditError::EmptyId)));
    assert!(matches!(editor.rename_case("a", "c"), Err(EditError::DuplicateId { .. })));
    assert_eq!(editor.rename_case("d", "e").unwrap_err().to_string(), "the set has no case `d`");
    assert_eq!(editor.text(), THREE);
}

#[test]
fn an_accepted_draft_loses_its_mark_alone() {
    let mut editor = SetEditor::new(THREE).unwrap();
    assert_eq!(editor.drafts().collect::<Vec<_>>(), ["b", "c"]);
    assert_eq!(editor.accept("a").unwrap_err().to_string(), "the case `a` is no draft");
    editor.accept("c").unwrap();
    let text = THREE.replacen(", \"_draft\": 1.50", "", 1);
    assert_eq!(editor.text(), text);
    editor.accept("b").unwrap();
    assert_eq!(editor.text(), text.replacen("\"_draft\": {\"from\": \"x\"}, ", "", 1));
    assert_eq!(editor.drafts().count(), 0);
    assert!(editor.accept("b").is_err(), "once");

    let text = added("{\n  \"eval_set_id\": \"s\",\n  \"eval_cases\": []\n}\n", &draft("a"));
    let mut editor = SetEditor::new(&text).unwrap();
    editor.accept("a").unwrap();
    assert_eq!(editor.text(), EvalSet::new("s").case(hi("a")).to_json() + "\n");
}

#[test]
fn only_a_mark_that_says_something_makes_a_draft() {
    for (mark, is_draft) in [("null", false), ("{}", true), ("false", true), ("\"\"", true), ("[1]", true)] {
        let text =
            format!(r#"{{"eval_id": "a", "conversation": [{{"user_content": {{}}}}], "_draft": {mark}}}"#);
        assert_eq!(EvalCase::parse(&text).unwrap().draft().is_some(), is_draft, "{mark}");
    }
}

#[test]
fn what_cannot_be_added_is_refused_and_nothing_changes() {
    let mut editor = SetEditor::new(THREE).unwrap();
    let taken = editor.add_case(&hi("b")).unwrap_err();
    assert_eq!(taken.to_string(), "the set has a case `b` already; the id `b_2` is free");
    for (case, code) in [
        (EvalCase::new("d"), ProblemCode::EmptyConversation),
        (hi(""), ProblemCode::MissingKey),
        (hi("d").with_extra("final_session_stat", 1_i64), ProblemCode::MisspeltKey),
    ] {
        let Err(EditError::Case(problems)) = editor.add_case(&case) else { panic!("{case:?} is taken") };
        assert_eq!(problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), [code]);
    }
    assert_eq!(editor.text(), THREE);
    // A time that is no number means nothing, and there is no text for it.
    editor.add_case(&hi("d").with_creation_timestamp(f64::NAN)).unwrap();
    assert_eq!(editor.case("d"), Some(&hi("d")));
}

#[test]
fn what_the_reader_refuses_is_refused() {
    let doubled = THREE.replacen("\"_comment\"", "\"eval_set_id\"", 1);
    let marked = format!("\u{feff}{THREE}");
    let same = THREE.replacen("\\u0062", "a", 1);
    for text in [
        "",
        "{",
        "[]",
        "3",
        "{}",
        r#"{"eval_set_id": "s", "eval_cases": [], "evalCases": 3, "eval_cases": []}"#,
        &doubled,
        &marked,
        &same,
    ] {
        let (ours, readers) = (SetEditor::new(text).err(), EvalSet::parse(text).err());
        assert_eq!(ours.map(|it| it.to_string()), readers.map(|it| it.to_string()), "{text}");
        assert!(SetEditor::new(text).is_err(), "{text}");
    }
}

#[test]
fn old_forms_are_edited_as_far_as_they_hold_it() {
    let old = r#"[ {"name": "a", "data": [{"query": "Hi"}]} , {"name": "b", "data": [{"query": "Bye"}]} ]"#;
    let mut editor = SetEditor::new(old).unwrap();
    assert_eq!(
        (editor.form(), editor.case_ids().collect::<Vec<_>>()),
        (SetFormat::OldEvalSet, vec!["a", "b"])
    );
    let refused = editor.add_case(&hi("c")).unwrap_err().to_string();
    assert!(refused.contains("cargo evalset migrate"), "{refused}");
    editor.rename_case("b", "c").unwrap();
    editor.remove_case("a").unwrap();
    assert!(matches!(editor.remove_case("c"), Err(EditError::OldForm { .. })), "the last one");
    assert_eq!(editor.into_text(), r#"[ {"name": "c", "data": [{"query": "Bye"}]} ]"#);

    let turns = "\n[{\"query\": \"Hi\"}]\n";
    let mut editor = SetEditor::of_file("evals/trip.test.json", turns.as_bytes()).unwrap();
    assert_eq!(editor.case_ids().collect::<Vec<_>>(), ["trip"]);
    for error in [
        editor.add_case(&hi("c")).unwrap_err(),
        editor.rename_case("trip", "c").unwrap_err(),
        editor.remove_case("trip").unwrap_err(),
    ] {
        assert!(
            matches!(&error, EditError::OldForm { file, .. } if file == "evals/trip.test.json"),
            "{error}"
        );
    }
    assert_eq!(editor.text(), turns);
}

#[test]
fn a_free_id_is_found_among_many() {
    let mut editor = SetEditor::create("s");
    for at in 0..40 {
        let id = editor.free_id("hi");
        assert_eq!(id, if at == 0 { "hi".to_owned() } else { format!("hi_{}", at + 1) });
        editor.add_case(&hi(&id)).unwrap();
    }
    let read = EvalSet::parse(&editor.text()).unwrap();
    assert_eq!(read.eval_cases.iter().collect::<Vec<_>>(), editor.cases().collect::<Vec<_>>());
}

#[test]
fn a_set_is_created_and_filled() {
    for id in ["s", "", "quo\"te\n", "é天"] {
        let mut editor = SetEditor::create(id);
        assert_eq!(SetEditor::new(&editor.text()).unwrap().eval_set_id(), id);
        editor.add_case(&hi("a")).unwrap();
        assert_eq!(editor.text(), EvalSet::new(id).case(hi("a")).to_json() + "\n");
        assert_eq!(Value::parse(&editor.text()).unwrap()["eval_set_id"].as_str(), Some(id));
    }
}

/// A set with one case, whose first turn has these fields after the message of the user.
fn one_turn(fields: &str, after: &str) -> String {
    format!(
        r#"{{
  "eval_set_id": "s", "eval_cases": [
    {{
      "eval_id": "a",   "_note": "ours",
      "conversation": [
        {{
          "user_content": {{ "parts": [{{ "text": "Hi" }}] }}{fields}
        }}
      ]{after}
    }}
  ]
}}"#
    )
}

type Change = Box<dyn Fn(Invocation) -> Invocation>;

#[test]
fn other_expectations_change_their_own_bytes_alone() {
    let call = |name: &str, city: &str| FunctionCall::new(name, json!({ "city": city }));
    let data = |calls: Vec<FunctionCall>| IntermediateData::Tools {
        tool_uses: calls,
        tool_responses: Vec::new(),
        intermediate_responses: Vec::new(),
    };
    let answered = |turn: Invocation, text: &str| {
        let mut turn = turn.response(text);
        turn.final_response.as_mut().expect("an answer").role = None;
        turn
    };
    let oslo = r#"{ "name": "f", "args": { "city": "Oslo" } }"#;
    let table: Vec<(&str, String, Change)> = vec![
        (
            r#",
          "final_response": { "parts": [{ "text": "Hello!" }] }"#,
            r#",
          "final_response": { "parts": [{ "text": "Good day!" }] }"#
                .to_owned(),
            Box::new(move |turn| answered(turn, "Good day!")),
        ),
        (
            r#", "final_response": { "role": null, "parts": [{ "text": "Hello!", "thought": null }] }"#,
            r#", "final_response": { "role": null, "parts": [{ "text": "Good day!", "thought": null }] }"#
                .to_owned(),
            Box::new(move |turn| answered(turn, "Good day!")),
        ),
        (
            r#",
          "intermediate_data": { "tool_uses": [{ "name": "f", "args": { "city": "Oslo" } }] }"#,
            format!(
                r#",
          "intermediate_data": {{ "tool_uses": [{oslo}, {{"name": "g", "args": {{"city": "Rome"}}}}] }}"#
            ),
            Box::new(move |turn| {
                turn.with_intermediate_data(data(vec![call("f", "Oslo"), call("g", "Rome")]))
            }),
        ),
        (
            r#", "intermediate_data": { "tool_uses": [{ "name": "g", "args": {} }, { "name": "f", "args": { "city": "Oslo" } }] }"#,
            format!(r#", "intermediate_data": {{ "tool_uses": [{oslo}] }}"#),
            Box::new(move |turn| turn.with_intermediate_data(data(vec![call("f", "Oslo")]))),
        ),
        (
            r#", "intermediate_data": { "tool_uses": [{ "name": "f", "args": { "city": "Rome" } }] }"#,
            format!(r#", "intermediate_data": {{ "tool_uses": [{oslo}] }}"#),
            Box::new(move |turn| turn.with_intermediate_data(data(vec![call("f", "Oslo")]))),
        ),
        (
            "",
            r#",
          "final_response": {
            "parts": [
              {
                "text": "Good day!"
              }
            ]
          }"#
            .to_owned(),
            Box::new(move |turn| answered(turn, "Good day!")),
        ),
        (
            r#", "finalResponse": { "parts": [{ "text": "Hello!" }] }, "invocation_id": "e-1""#,
            r#", "invocation_id": "e-1""#.to_owned(),
            Box::new(|mut turn| {
                turn.final_response = None;
                turn
            }),
        ),
    ];
    for (old, new, change) in table {
        let mut editor = SetEditor::new(&one_turn(old, "")).unwrap_or_else(|error| panic!("{old}\n{error}"));
        let mut case = editor.case("a").expect("it is there").clone().with_draft(Map::from([("from", "r")]));
        case.conversation[0] = change(case.conversation[0].clone());
        editor.redraft(&case).unwrap_or_else(|error| panic!("{old}\n{error}"));
        let mark = ",\n      \"_draft\": {\n        \"from\": \"r\"\n      }";
        assert_eq!(editor.text(), one_turn(&new, mark));
        assert_eq!(editor.case("a"), Some(&case), "{old}");
        editor.accept("a").expect("it is a draft");
        assert_eq!(editor.text(), one_turn(&new, ""));
        SetEditor::new(&editor.text()).expect("it is a set");
    }
}

#[test]
fn other_expectations_take_the_spelling_of_the_file() {
    let text = r#"{"evalSetId":"s","evalCases":[{"evalId":"a","conversation":[{"userContent":{"parts":[{"text":"Hi"}]}}],"finalSessionState":{"n":null,"a_b":1}}]}"#;
    let mut editor = SetEditor::new(text).expect("a set");
    let mut case = editor.case("a").expect("it is there").clone().with_draft(Map::from([("from", "r")]));
    case.conversation[0].intermediate_data = Some(IntermediateData::Tools {
        tool_uses: vec![FunctionCall::new("f", json!({ "a_b": null }))],
        tool_responses: Vec::new(),
        intermediate_responses: Vec::new(),
    });
    case.final_session_state = Map::from([("a_b", 2)]);
    editor.redraft(&case).expect("it asks the same");
    let expected = r#"{"evalSetId":"s","evalCases":[{"evalId":"a","conversation":[{"userContent":{"parts":[{"text":"Hi"}]},"intermediateData":{"toolUses":[{"args":{"a_b":null},"name":"f"}]}}],"finalSessionState":{"a_b":2},"_draft":{"from":"r"}}]}"#;
    assert_eq!(editor.text(), expected);
}

#[test]
fn expectations_are_replaced_only_by_a_draft_that_asks_the_same() {
    let mut editor = SetEditor::new(&one_turn("", "")).expect("a set");
    let case = editor.case("a").expect("it is there").clone();
    let marked = case.clone().with_draft(Map::from([("from", "r")]));
    for other in [case, hi("a").turn(Invocation::user("And?")).with_draft(true), {
        let mut other = marked.clone();
        other.conversation[0] = Invocation::user("Bye");
        other
    }] {
        assert!(matches!(editor.redraft(&other), Err(EditError::NotTheSame { .. })), "{other:?}");
    }
    assert_eq!(editor.redraft(&draft("b")).unwrap_err().to_string(), "the set has no case `b`");
    assert_eq!(editor.text(), one_turn("", ""));
    let mut old = SetEditor::new(r#"[{"query": "Hi"}]"#).expect("a test file");
    assert!(matches!(old.redraft(&marked), Err(EditError::OldForm { .. })));
}

#[test]
fn an_edited_draft_keeps_all_bytes_but_those_of_what_was_edited() {
    let text = "{\"eval_set_id\":\"s\", \"_c\" : 1,\r\n \"evalCases\": [\r\n  {\"evalId\": \"a\", \"_draft\": {\"from\":  \"x\"},  \"conversation\": [\r\n    \
        {\"userContent\": {\"role\": null, \"parts\": [{\"text\":  \"Hi\"}]},\r\n     \"intermediateData\": {\"toolUses\": [{\"name\": \"f\",  \"args\": {\"n\": 1.0,  \"keep\":  2e0}}]},\r\n     \
        \"finalResponse\": {\"parts\": [{\"text\": \"\\u0041.\"}]}},\r\n    \
        {\"userContent\": {\"parts\": [{\"text\": \"\\u0042ye\"}]}}]},\r\n  {\"evalId\": \"b\",  \"conversation\": [{\"userContent\": {}}]} ]}";
    let mut editor = SetEditor::new(text).expect("a set");
    let draft = editor.case("a").expect("it is there").clone();
    editor.edit_draft(&draft).expect("nothing is edited");
    assert_eq!(editor.text(), text);

    let mut case = draft.clone();
    case.conversation[0].user_content.parts = Some(vec![crate::Part::text("Good \"day\"")]);
    let Some(IntermediateData::Tools { tool_uses, .. }) = &mut case.conversation[0].intermediate_data else {
        panic!("{case:?}")
    };
    tool_uses[0].args = Some(Map::from([("n", 7), ("keep", 2)]));
    editor.edit_draft(&case).expect("it is a draft");
    let edited =
        text.replacen("\"Hi\"", "\"Good \\\"day\\\"\"", 1).replacen("1.0", "7", 1).replacen("2e0", "2", 1);
    assert_eq!(editor.text(), edited);

    // A call that is added as its neighbours are written, and taken away again.
    let call = FunctionCall::new("g", serde_json::json!({ "a": "b" }));
    let mut more = case.clone();
    for turn in &mut more.conversation {
        let Some(IntermediateData::Tools { tool_uses, .. }) =
            Some(turn.intermediate_data.get_or_insert_default())
        else {
            panic!("{turn:?}")
        };
        tool_uses.push(call.clone());
    }
    editor.edit_draft(&more).expect("it is a draft");
    let added = "{\"args\": {\"a\": \"b\"}, \"name\": \"g\"}";
    // Beside another call, its keys have the order of that one.
    let beside = "{\"name\": \"g\",  \"args\": {\"a\": \"b\"}}";
    let with_calls =
        edited.replacen("\"keep\":  2}}]}", &format!("\"keep\":  2}}}},  {beside}]}}"), 1).replacen(
            "\\u0042ye\"}]}}",
            &format!("\\u0042ye\"}}]}}, \"intermediateData\": {{\"toolUses\": [{added}]}}}}"),
            1,
        );
    assert_eq!(editor.text(), with_calls);
    editor.edit_draft(&case).expect("it is a draft");
    assert_eq!(editor.text(), edited);

    let mut fewer = draft.clone();
    fewer.conversation.pop();
    assert!(matches!(editor.edit_draft(&fewer), Err(EditError::NotTheSame { .. })));
    let golden = editor.case("b").expect("it is there").clone();
    for other in [golden.clone(), golden.with_draft(true)] {
        assert!(matches!(editor.edit_draft(&other), Err(EditError::NotADraft { .. })), "{other:?}");
    }
    assert_eq!(editor.text(), edited);
}

/// A set in camelCase with keys of ours, whose own keys must keep their spelling.
const LOOSENED: &str = r#"{"evalSetId": "s", "evalCases": [
  {"evalId": "a", "conversation": [{"userContent": {"parts": [{"text": "Hi"}]},
    "intermediateData": {"toolUses": [{"name": "do_it", "args": {"a_b": 1.50}}]}}],
    "_expect": {"1": {"calls": {"do_it": {"a_b": {"within": 0.10}}}, "answer": {"max_words":   9}}},
    "_criteria": {"response_match_score": null}},
  {"evalId": "b", "conversation": [{"userContent": {"parts": [{"text": "Hi"}]}}]}
]}"#;

#[test]
fn rules_keep_every_byte_while_other_things_are_edited() {
    let mut editor = SetEditor::new(LOOSENED).expect("a set");
    editor.rename_case("a", "c").expect("it is there");
    editor.remove_case("b").expect("it is there");
    let text = editor.text();
    for kept in [
        r#""_expect": {"1": {"calls": {"do_it": {"a_b": {"within": 0.10}}}, "answer": {"max_words":   9}}},"#,
        r#""_criteria": {"response_match_score": null}}"#,
    ] {
        assert!(text.contains(kept), "{text}");
    }
}

#[test]
fn a_case_with_rules_is_added_as_it_is_and_refused_with_a_mistake() {
    let mut editor = SetEditor::new(LOOSENED).expect("a set");
    let mut case = editor.case("a").expect("it is there").clone();
    case.eval_id = "added".to_owned();
    editor.add_case(&case).expect("it has no mistakes");
    let added = EvalSet::parse(&editor.text()).expect("a set").eval_cases.remove(2);
    assert_eq!(added.extra, case.extra);
    assert_eq!(added.expect(), case.expect());

    let mut broken = case.with_extra(EvalCase::EXPECT_KEY, json!({ "2": {} }));
    broken.eval_id = "broken".to_owned();
    let error = editor.add_case(&broken).expect_err("there is no second turn");
    assert!(error.to_string().contains("there is no turn 2"), "{error}");
    // The golden value that a run brings may break a rule.
    let mut redrafted = editor.case("a").expect("it is there").clone().with_draft(Map::from([("from", "r")]));
    redrafted.conversation[0].intermediate_data = None;
    let error = editor.redraft(&redrafted).expect_err("the rule names a call that is gone");
    assert!(error.to_string().contains("no call of `do_it` is expected"), "{error}");
}

#[test]
fn adk_s_saved_form_has_the_rules() {
    let set = EvalSet::parse(LOOSENED).expect("a set");
    let saved = EvalSet::parse(&set.to_json()).expect("a set");
    assert_eq!(saved, set);
    assert!(set.to_json().contains("\"_expect\": {\n        \"1\": {"), "{}", set.to_json());
    assert_eq!(set.eval_cases[0].own_criteria().map(Map::len), Some(1));
}
