use proptest::prelude::*;
use serde_json::json;

use crate::model::UsageMetadata;
use crate::problem::{Problem, ProblemCode};
use crate::recording::{RecordedQuestion, Recording, check_recording};
use crate::value::{Map, Value};

fn question(prompt: &str) -> RecordedQuestion {
    RecordedQuestion::new("m", prompt)
}

#[test]
fn everything_comes_back_as_it_was_recorded() {
    let full = RecordedQuestion {
        cases: vec!["a b".to_owned(), "c".to_owned()],
        template: Some("final_response_match_v2/1".to_owned()),
        temperature: Some(0.25),
        config: Value::from(json!({ "top_p": 1, "seed": 7 })).as_object().unwrap().clone(),
        schema: Some(Value::from(json!({ "type": "object" }))),
        ..question("one\r\ntwo\n\n")
    };
    let usage = UsageMetadata { prompt_token_count: Some(3), ..UsageMetadata::default() };
    let full = full.reply(0, "{\n}", Some(usage)).reply(1, "", None);
    let mut recording = Recording::default();
    recording.add(full.clone());
    recording.add(question("").reply(4_294_967_295, "\u{1b}[1m", None));
    let text = recording.to_json();
    let checked = check_recording("x", text.as_bytes());
    assert!(checked.problems.is_empty(), "{:?}", checked.problems);
    assert_eq!(checked.recording.as_ref().unwrap().find(&full), Some(&full));
    for place in &checked.questions {
        let alone = RecordedQuestion::parse(&text[place.range.clone()]).unwrap();
        assert_eq!(checked.recording.as_ref().unwrap().find(&alone), Some(&alone));
        assert_eq!(alone.cases, place.cases);
    }
    assert_eq!(checked.recording.unwrap().to_json(), text);
}

#[test]
fn what_is_asked_tells_questions_apart_and_who_asks_does_not() {
    let mut recording = Recording::default();
    recording.add(question("p").case("a").reply(0, "first", None));
    let same = [question("p"), question("p").case("z"), question("p").reply(9, "x", None), {
        RecordedQuestion { template: Some("t/2".to_owned()), ..question("p") }
    }];
    for same in same {
        assert!(recording.find(&same).is_some(), "{same:?}");
    }
    let other = [
        RecordedQuestion::new("other", "p"),
        question("q"),
        RecordedQuestion { temperature: Some(0.0), ..question("p") },
        RecordedQuestion { schema: Some(Value::Null), ..question("p") },
        RecordedQuestion { config: Map::from([("seed", Value::from(1))]), ..question("p") },
    ];
    for other in other {
        assert!(recording.find(&other).is_none(), "{other:?}");
    }
    let map = |text: &str| Value::parse(text).unwrap().as_object().unwrap().clone();
    let one = RecordedQuestion { config: map(r#"{"a": 1, "b": {"c": 1, "d": 2}}"#), ..question("p") };
    let two = RecordedQuestion { config: map(r#"{"b": {"d": 2, "c": 1}, "a": 1}"#), ..question("p") };
    assert_eq!(one.key(), two.key());
}

#[test]
fn adding_keeps_what_is_there_and_the_order_of_adding_leaves_no_trace() {
    let parts = [
        question("p").case("b").reply(1, "one", None),
        question("q").case("a").reply(0, "q", None),
        question("p").case("a").reply(0, "zero", None),
        question("p").case("b").reply(1, "another one", None),
    ];
    let mut recording = Recording::default();
    for part in parts.clone() {
        recording.add(part);
    }
    let known = recording.find(&question("p")).unwrap();
    assert_eq!(known.sample(1).unwrap().text, "one");
    assert_eq!((known.cases.len(), known.replies.len()), (2, 2));
    let mut other = Recording::default();
    for at in [1, 2, 0] {
        other.add(parts[at].clone());
    }
    assert_eq!(other.to_json(), recording.to_json());
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let with = |question: &str| format!(r#"{{"judge_recording": 1, "questions": [{question}]}}"#);
    let sound = r#"{"model": "m", "prompt": "p", "replies": [{"sample": 0, "text": "t"}]}"#;
    for (text, code, path, message) in [
        ("", ProblemCode::Syntax, "the document", "the file is empty"),
        (
            "{\n<<<<<<< HEAD\n}",
            ProblemCode::Syntax,
            "the document",
            "the file holds the marks of a merge conflict",
        ),
        ("[]", ProblemCode::WrongType, "the document", ""),
        (
            r#"{"judge_recording": 2, "questions": []}"#,
            ProblemCode::WrongType,
            "judge_recording",
            "a recording of another version",
        ),
        (r#"{"questions": []}"#, ProblemCode::MissingKey, "the document", ""),
        (&with(r#"{"model": "m", "prompt": "p"}"#), ProblemCode::MissingKey, "questions[0]", ""),
        (
            &with(&sound.replace("\"p\"", "{}")),
            ProblemCode::WrongType,
            "questions[0].prompt",
            "a text is a string, or an array of its lines",
        ),
        (
            &with(&sound.replace("\"t\"", "[\"a\", 1]")),
            ProblemCode::WrongType,
            "questions[0].replies[0].text",
            "a text is a string, or an array of its lines",
        ),
        (
            &with(&sound.replace('0', "-1")),
            ProblemCode::WrongType,
            "questions[0].replies[0].sample",
            "the number of a sample is a whole number, from 0",
        ),
        (&with(&sound.replace("prompt", "promt")), ProblemCode::UnknownKey, "questions[0].promt", ""),
        (
            &with(&format!("{sound}, {sound}")),
            ProblemCode::DuplicateRecording,
            "questions[1]",
            "this question is recorded twice",
        ),
        (
            &with(&sound.replace("}]", "}, {\"sample\": 0, \"text\": \"u\"}]")),
            ProblemCode::DuplicateRecording,
            "questions[0]",
            "a sample of this question is answered twice",
        ),
    ] {
        let checked = check_recording("x.judge.json", text.as_bytes());
        assert!(checked.recording.is_none() && checked.questions.is_empty(), "{text}");
        let problem = &checked.problems[0];
        assert_eq!((problem.code, problem.path.to_string().as_str()), (code, path), "{text}: {problem:?}");
        assert!(message.is_empty() || problem.message == message, "{text}: {problem:?}");
    }
    assert!(check_recording("x", with(sound).as_bytes()).recording.is_some());
}

proptest! {
    #[test]
    fn any_text_survives(prompt: String, text: String, case: String) {
        let mut recording = Recording::default();
        recording.add(question(&prompt).case(case).reply(0, text, None));
        let read = Recording::parse(&recording.to_json()).unwrap();
        prop_assert_eq!(read.questions(), recording.questions());
    }

    #[test]
    fn nearly_right_recordings_are_read_or_refused(at: prop::sample::Index, cut in 0..30_usize, piece in "[\\[\\]{}\",:0-9a-z <\n]{0,4}") {
        let mut recording = Recording::default();
        recording.add(question("a\nb").case("one").case("two").reply(0, "yes", None).reply(1, "no\n", None));
        recording.add(question("c").case("one").reply(0, "", None));
        let mut text = recording.to_json();
        let start = at.index(text.len());
        let end = (start + cut).min(text.len());
        text.replace_range(start..end, &piece);
        let checked = check_recording("x", text.as_bytes());
        prop_assert_eq!(checked.recording.is_none(), checked.problems.iter().any(Problem::is_error));
        for problem in &checked.problems {
            prop_assert!(text.get(problem.range.clone()).is_some(), "{problem:?}");
        }
        for place in &checked.questions {
            prop_assert!(RecordedQuestion::parse(&text[place.range.clone()]).is_ok());
        }
        // No question has another answer than the one that was recorded, unless its checksum is gone.
        for question in recording.questions() {
            let read = checked.recording.as_ref().and_then(|recording| recording.find(question));
            for reply in read.map_or(&[][..], |read| &read.replies) {
                let is_recorded = question.sample(reply.sample).is_some_and(|it| it.text == reply.text);
                prop_assert!(is_recorded || text.matches("\"check\"").count() < 3, "{}", text);
            }
        }
    }
}

#[test]
fn an_edited_question_or_answer_is_found_and_named() {
    let mut recording = Recording::default();
    recording.add(RecordedQuestion::new("m", "Is it polite?").case("c").reply(0, "verdict: no", None));
    let text = recording.to_json();
    assert!(check_recording("r", text.as_bytes()).problems.is_empty());
    for (old, new) in [
        ("verdict: no", "verdict: yes"),
        ("polite", "rude"),
        ("\"model\": \"m\"", "\"model\": \"n\""),
        ("\"sample\": 0", "\"sample\": 1"),
    ] {
        let edited = text.replace(old, new);
        let checked = check_recording("r", edited.as_bytes());
        let [problem] = &checked.problems[..] else { panic!("{new}: {:?}", checked.problems) };
        assert_eq!(problem.path.to_string(), "questions[0].replies[0]");
        assert!(
            problem.is_error() && problem.message.ends_with("one of both was edited"),
            "{}",
            problem.message
        );
    }
    let cases = text.replace("\"c\"", "\"renamed\"");
    assert!(check_recording("r", cases.as_bytes()).problems.is_empty(), "a case may have another id");
    let by_hand = r#"{"judge_recording": 1, "questions": [{"model": "m", "prompt": "p", "replies": [{"sample": 0, "text": "x"}]}]}"#;
    assert!(
        check_recording("r", by_hand.as_bytes()).problems.is_empty(),
        "recordings of earlier versions have none"
    );
}
