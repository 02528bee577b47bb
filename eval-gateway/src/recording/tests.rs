//! Files of recordings: round trips, and edits that are noticed.

use eval_format::__private::parse_value;

use super::*;

fn json(text: &str) -> Value {
    parse_value(text).unwrap()
}

fn exchange(turn: usize, system: &str, messages: &[&str], answer: &str) -> Exchange {
    let parts = Parts {
        options: Map::from([("temperature", Value::from(1_i64))]),
        system: Some(Value::from(system)),
        tools: None,
        messages: messages.iter().map(|text| Value::from(*text)).collect(),
    };
    let mut exchange = Exchange::new(turn, Wire::OpenAiChat, "m", parts);
    exchange.answers.push(Answer {
        run: 1,
        status: 200,
        headers: Vec::new(),
        body: Body::Json(json(answer)),
    });
    exchange
}

fn recording() -> CaseRecording {
    let mut recording = CaseRecording::new("paris");
    recording.add(exchange(1, "Be brief.\nBe kind.", &["a"], r#"{"z":1,"a":[1.50]}"#));
    recording.add(exchange(
        2,
        "Be brief.\nBe kind.",
        &["a", "b", "c"],
        r#"{"n":123456789012345678901234567890}"#,
    ));
    let events = vec![
        Event { name: Some("e".to_owned()), data: Data::Json(json(r#"{"x":1}"#)) },
        Event { name: None, data: Data::Text("[DONE]".to_owned()) },
    ];
    let streamed = Answer {
        run: 2,
        status: 200,
        headers: vec![("retry-after".to_owned(), "1".to_owned())],
        body: Body::Events(events),
    };
    recording.exchanges[0].answers.push(streamed);
    recording.sort();
    recording
}

fn written(recording: &CaseRecording) -> (String, Shared) {
    let mut shared = Shared::default();
    let text = recording.to_json(&mut shared);
    (text, shared)
}

#[test]
fn what_is_written_is_read_again_and_a_history_is_not_repeated() {
    let recording = recording();
    let (text, shared) = written(&recording);
    assert_eq!(CaseRecording::parse(&text, &shared).unwrap(), recording);
    assert_eq!(Shared::parse(&shared.to_json()).unwrap(), shared);
    assert!(text.contains("\"after\": 1,\n      \"messages\": [\"b\",\"c\"]"), "{text}");
    assert!(shared.to_json().contains("\"Be kind.\""), "a line of a prompt is a line of the file");
    assert_eq!(text.matches("[DONE]").count(), 1);
    assert!(
        text.lines().any(|line| line.trim() == r#"{"event":"e","data":{"x":1}},"#),
        "an event is a line: {text}"
    );
}

#[test]
fn the_order_in_which_answers_came_does_not_matter() {
    let (expected, _) = written(&recording());
    let mut turned = recording();
    turned.exchanges.reverse();
    turned.sort();
    assert_eq!(written(&turned).0, expected);
}

#[test]
fn an_edit_of_an_answer_a_request_or_a_prompt_is_named() {
    let (text, shared) = written(&recording());
    for (from, to, expected) in [
        ("[1.5]", "[2.5]", "exchange 1 (turn 1) has an answer of run 1 that was edited"),
        (
            "\"temperature\":1",
            "\"temperature\":2",
            "exchange 1 (turn 1) was edited: its request has another `key`",
        ),
        ("[\"b\",\"c\"]", "[\"b\",\"d\"]", "exchange 2 (turn 2) was edited"),
        ("\"wire\": \"openai chat\"", "\"wire\": \"smoke\"", "exchange 1 has the wire `smoke`"),
        (
            "\"model_recordings\": 1",
            "\"model_recordings\": 9",
            "it has version 9, and this build reads version 1",
        ),
    ] {
        assert!(text.contains(from), "{from} is in {text}");
        let error = CaseRecording::parse(&text.replacen(from, to, 1), &shared).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    let error = CaseRecording::parse(&text, &Shared::default()).unwrap_err();
    assert!(error.contains("which `shared.json` does not have"), "{error}");
    let edited = shared.to_json().replace("Be kind.", "Be rude.");
    assert!(Shared::parse(&edited).unwrap_err().contains("was edited"), "{edited}");
}

#[test]
fn a_key_that_is_not_known_is_an_error_with_the_one_that_was_meant() {
    let (text, shared) = written(&recording());
    for (from, to, expected) in [
        ("\"eval_id\"", "\"evalid\"", "it has the key `evalid`, which is not known: did you mean `eval_id`?"),
        (
            "\"options\"",
            "\"optoins\"",
            "exchange 1 has the key `optoins`, which is not known: did you mean `options`?",
        ),
        ("\"headers\"", "\"header\"", "exchange 1 has an answer that has the key `header`"),
        ("\"turn\": 1", "\"turn\": \"1\"", "exchange 1 has a `turn` that is no whole number"),
        ("\"event\"", "\"evnt\"", "exchange 1 has an event that has the key `evnt`"),
    ] {
        assert!(text.contains(from), "{from} is in {text}");
        let error = CaseRecording::parse(&text.replacen(from, to, 1), &shared).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    for (key, expected) in [
        ("models_msk", "it has the key `models_msk`, which is not known: did you mean `models_mask`?"),
        ("byHand", "it has the key `byHand`, which is not known: did you mean `by_hand`?"),
        ("x", "it has the key `x`, which is not known: known are `model_recordings`, `models_mask`, "),
    ] {
        let text = format!("{{\"model_recordings\": 1, \"{key}\": []}}");
        let error = Shared::parse(&text).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_value_of_another_type_is_an_error() {
    for (answer, expected) in [
        (r#""run": "1", "text": "a""#, "has an answer that has a `run` that is no whole number"),
        (r#""status": "200", "text": "a""#, "has an answer that has a `status` that is no whole number"),
        (r#""body": {}, "events": []"#, "has an answer with several of `body`, `events` and `text`"),
        (
            r#""headers": {"content-length": "3"}, "text": "a""#,
            "has an answer with the header `content-length`, which is not recorded",
        ),
    ] {
        let entry = format!(r#"{{"wire": "openai chat", "model": "m", "answers": [{{{answer}}}]}}"#);
        let shared = Shared::parse(&format!(r#"{{"model_recordings": 1, "by_hand": [{entry}]}}"#)).unwrap();
        assert_eq!(by_hand(&shared).map(drop), Err(format!("entry 1 of `by_hand` {expected}")));
    }
    for (field, expected) in
        [(r#", "exchanges": {}"#, "it has `exchanges` that is no array"), ("", "it has no `exchanges`")]
    {
        let text = format!(r#"{{"model_recordings": 1, "eval_id": "c"{field}}}"#);
        assert_eq!(CaseRecording::parse(&text, &Shared::default()).map(drop), Err(expected.to_owned()));
    }
}

#[test]
fn a_file_that_is_cut_anywhere_is_an_error_and_no_panic() {
    let (text, shared) = written(&recording());
    for end in (0..text.trim_end().len()).filter(|end| text.is_char_boundary(*end)) {
        assert!(CaseRecording::parse(&text[..end], &shared).is_err());
    }
}

#[test]
fn results_that_were_recorded_in_another_order_are_found_in_the_order_of_their_calls() {
    use crate::canonical::Masks;
    use crate::wire::{Asked, Incoming};

    let call = |id: &str| format!(r#"{{"id":"{id}","type":"function"}}"#);
    let result = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"of {id}"}}"#);
    let calls = format!(r#"{{"role":"assistant","tool_calls":[{},{}]}}"#, call("#1"), call("#2"));
    let body = |results: [&str; 2], more: &str| {
        let [one, two] = results.map(result);
        format!(r#"{{"model":"m","messages":[{calls},{one},{two}{more}]}}"#)
    };
    let more = r#",{"role":"user","content":"go on"}"#;
    let asked = |body: &str| Asked::read(&Incoming::chat(body), &Masks::default(), &|_| None).unwrap();
    let mut recording = CaseRecording::new("paris");
    let mut before = Vec::new();
    for (turn, more) in [(1, ""), (2, more)] {
        let messages = json(&body(["#2", "#1"], more))["messages"].as_array().unwrap().to_vec();
        let sorted = asked(&body(["#1", "#2"], more)).parts.messages;
        let by_hand: Vec<Value> = [0, 2, 1, 3].into_iter().filter_map(|at| sorted.get(at).cloned()).collect();
        assert_eq!(messages.len(), by_hand.len());
        let mut exchange =
            Exchange::new(turn, Wire::OpenAiChat, "m", Parts { messages: by_hand, ..Parts::default() });
        exchange.answers = self::exchange(1, "", &[], r#"{"id":"a"}"#).answers;
        before.push(exchange.key.clone());
        recording.add(exchange);
    }
    // The history of this one is at the provider.
    let options = Map::from([("previous_response_id", Value::from(&*before[1]))]);
    let parts = Parts { options, messages: vec![Value::from("hi")], ..Parts::default() };
    let mut last = Exchange::new(3, Wire::OpenAiResponses, "m", parts);
    last.answers = exchange(1, "", &[], r#"{"id":"b"}"#).answers;
    recording.add(last);

    let (text, shared) = written(&recording);
    let read = CaseRecording::parse(&text, &shared).unwrap();
    for (at, more) in ["", more].into_iter().enumerate() {
        for order in [["#1", "#2"], ["#2", "#1"]] {
            assert_eq!(read.exchanges[at].key, asked(&body(order, more)).key, "{order:?}");
        }
        assert_ne!(read.exchanges[at].key, before[at]);
    }
    let previous = read.exchanges[2].parts.options.get("previous_response_id").and_then(Value::as_str);
    assert_eq!(previous, Some(&*read.exchanges[1].key));
    // Written anew, it is in order.
    let (text, shared) = written(&read);
    assert_eq!(CaseRecording::parse(&text, &shared).unwrap(), read);
    assert!(CaseRecording::parse(&text.replace("of #1", "of #3"), &shared).is_err(), "an edit is found");
}
