//! Replies to calls, without a network.

mod kept;
mod left;
mod rebinding;
mod wires;

use std::sync::Arc;

use eval_format::__private::parse_value;
use eval_format::Value;

use super::*;
use crate::handler::{Call, Reply, got};
use crate::limits::{Limit, Limits};
use crate::recording::{Body, CaseRecording};
use crate::store::ModelsFolder;

fn body(text: &str) -> String {
    format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{text}"}}]}}"#)
}

fn asked(conversation: &Conversation, text: &str) -> Asked {
    let body = body(text);
    conversation.read(&Incoming::chat(&body)).unwrap()
}

fn said(text: &str) -> Answer {
    let json = format!(
        r#"{{"id":"id {text}","said":"{text}","usage":{{"prompt_tokens":10,"completion_tokens":5}}}}"#
    );
    Answer { run: 1, status: 200, headers: Vec::new(), body: Body::Json(parse_value(&json).unwrap()) }
}

/// A case with a folder that lasts as long as the first value.
struct Case(tempfile::TempDir);

impl Case {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn cassette(&self, eval_id: &str) -> Arc<Cassette> {
        let folder = ModelsFolder::new(self.0.path().join("models"), "models");
        let loaded = folder.load(eval_id).unwrap();
        Arc::new(Cassette::new(folder, loaded))
    }

    fn open(&self, mode: ModelMode, run: usize, settings: Settings, faults: &str) -> Conversation {
        let faults = Faults::read(&parse_value(faults).unwrap()).unwrap();
        of_cassette(&self.cassette("c"), mode, run, settings, faults)
    }

    /// A conversation in which the agent has an address.
    fn opened(&self, mode: ModelMode, run: usize) -> Conversation {
        of_cassette(&self.cassette("c"), mode, run, Settings::default(), Faults::default())
    }

    fn replay(&self) -> Conversation {
        self.open(ModelMode::Replay, 1, Settings::default(), "{}")
    }

    /// Records these calls, each with its answer.
    fn record(&self, run: usize, calls: &[(&str, &str)]) -> Ended {
        let conversation = self.open(ModelMode::Record, run, Settings::default(), "{}");
        for (text, answer) in calls {
            match conversation.answer(asked(&conversation, text)) {
                Reply::Ask(call, None) => call.answered(said(answer)),
                other => panic!("{other:?}"),
            }
        }
        conversation.end(true)
    }

    fn recording(&self) -> CaseRecording {
        ModelsFolder::new(self.0.path().join("models"), "models").case("c").unwrap().unwrap()
    }
}

/// A conversation whose agent has an address, in its first turn.
fn of_cassette(
    cassette: &Arc<Cassette>,
    mode: ModelMode,
    run: usize,
    settings: Settings,
    faults: Faults,
) -> Conversation {
    let record = "EVALSET_MODELS=record run".to_owned();
    let conversation = Conversation::new(Arc::clone(cassette), mode, settings, faults, run, record);
    conversation.redirects();
    conversation.begin_turn("hi");
    conversation
}

/// The words in an order that the number decides.
fn shuffled<'w>(words: &[&'w str], mut number: usize) -> Vec<&'w str> {
    let mut left = words.to_vec();
    let mut order = Vec::new();
    while !left.is_empty() {
        // A step that is prime to most lengths, so that neighbours are parted.
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.push(left.remove((number >> 33) % left.len()));
    }
    order
}

#[test]
fn requests_in_any_order_get_their_own_answers_and_equal_ones_each_of_theirs_once() {
    let case = Case::new();
    let words = ["same", "same", "same", "same", "same", "a", "b", "c", "d", "e"];
    let recorded: Vec<(&str, String)> =
        words.iter().enumerate().map(|(at, text)| (*text, at.to_string())).collect();
    let calls: Vec<(&str, &str)> = recorded.iter().map(|(text, said)| (*text, &**said)).collect();
    case.record(1, &calls);
    let mut expected = recorded.clone();
    expected.sort();
    let mut orders = HashSet::new();
    for number in 0..100 {
        let conversation = case.replay();
        let order = shuffled(&words, number);
        let mut answers: Vec<(&str, String)> =
            order.iter().map(|text| (*text, got(conversation.answer(asked(&conversation, text))))).collect();
        answers.sort();
        assert_eq!(answers, expected);
        let ended = conversation.end(true);
        assert_eq!(ended.error, None);
        assert_eq!(ended.notes, ["10 calls of models replayed, recorded: 150 tokens"]);
        orders.insert(order);
    }
    assert!(orders.len() > 90, "{} orders", orders.len());
    let conversation = case.replay();
    assert_eq!(got(conversation.answer(asked(&conversation, "b"))), "6");
    assert!(got(conversation.answer(asked(&conversation, "b"))).contains("and all were given"));
    assert_eq!(conversation.misses()[0].turn, 1);
}

#[test]
fn each_run_has_its_own_answers_and_a_further_run_is_a_miss() {
    let case = Case::new();
    for run in 1..=3 {
        assert_eq!(case.record(run, &[("a", &run.to_string())]).error, None);
    }
    for run in 1..=3 {
        let conversation = case.open(ModelMode::Replay, run, Settings::default(), "{}");
        assert_eq!(got(conversation.answer(asked(&conversation, "a"))), run.to_string());
    }
    let fourth = case.open(ModelMode::Replay, 4, Settings::default(), "{}");
    assert!(got(fourth.answer(asked(&fourth, "a"))).contains("has 3 runs; was `runs` raised?"));
}

#[test]
fn answers_that_were_never_asked_for_are_named_and_can_be_an_error() {
    let case = Case::new();
    case.record(1, &[("a", "1"), ("b", "2")]);
    let settings = Settings { unused_is_error: true, ..Settings::default() };
    for (settings, is_error) in [(Settings::default(), false), (settings, true)] {
        let conversation = case.open(ModelMode::Replay, 1, settings, "{}");
        got(conversation.answer(asked(&conversation, "a")));
        let ended = conversation.end(true);
        let text = if is_error { ended.error.unwrap() } else { ended.notes[1].clone() };
        assert!(
            text.starts_with(
                "1 recorded answer was in `models/c.json` never asked for: turn 1, openai chat, m:"
            ),
            "{text}"
        );
        assert!(text.ends_with("EVALSET_MODELS=record-all run"), "{text}");
    }
}

#[test]
fn failures_that_a_retry_cured_are_not_recorded_and_others_keep_the_case_from_being_written() {
    let case = Case::new();
    let failure = || Answer { status: 429, ..said("slow down") };
    let conversation = case.open(ModelMode::Record, 1, Settings::default(), "{}");
    for answer in [failure(), failure(), said("1")] {
        match conversation.answer(asked(&conversation, "a")) {
            Reply::Ask(call, None) => call.answered(answer),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(conversation.end(true).error, None);
    assert_eq!(case.recording().answers(), 1);
    let before = case.recording();
    let conversation = case.open(ModelMode::Record, 1, Settings::default(), "{}");
    for (text, answer) in [("b", Some(said("2"))), ("c", Some(failure())), ("d", None)] {
        match (conversation.answer(asked(&conversation, text)), answer) {
            (Reply::Ask(call, None), Some(answer)) => call.answered(answer),
            // The agent leaves before there is an answer.
            (Reply::Ask(call, None), None) => drop(call),
            (other, _) => panic!("{other:?}"),
        }
    }
    let error = conversation.end(true).error.unwrap();
    assert!(error.starts_with("2 calls of a model had no answer, so nothing was recorded: "), "{error}");
    assert_eq!(case.recording(), before);
}

#[test]
fn the_end_has_the_calls_and_the_tokens_of_each_model() {
    let case = Case::new();
    case.record(1, &[("a", "1")]);
    let conversation = case.open(ModelMode::Record, 1, Settings::default(), "{}");
    assert_eq!(got(conversation.answer(asked(&conversation, "a"))), "1");
    for model in ["m", "other"] {
        let body = body("new").replace("\"m\"", &format!("\"{model}\""));
        match conversation.answer(conversation.read(&Incoming::chat(&body)).unwrap()) {
            Reply::Ask(call, None) => call.answered(said("2")),
            other => panic!("{other:?}"),
        }
    }
    let models = conversation.end(true).models;
    let counts = models.iter().map(|it| (&*it.model, it.calls, it.asked, it.usage.input, it.usage.output));
    assert_eq!(counts.collect::<Vec<_>>(), [("m", 2, 1, 20, 10), ("other", 1, 1, 10, 5)]);
}

#[test]
fn limits_hold_before_a_call_is_sent() {
    let limited = |calls, tokens| {
        let of_run = Limit { calls, tokens, cost: None };
        Settings { limits: Limits { of_run, ..Limits::default() }, ..Settings::default() }
    };
    for (settings, expected) in [
        (
            limited(Some(2), None),
            "call 3 of a model was not sent: run 1 of case `c` had 2 calls, and `EVALSET_MODELS_CALLS` allows 2",
        ),
        (
            limited(None, Some(30)),
            "call 3 of a model was not sent: run 1 of case `c` had 30 tokens, and `EVALSET_MODELS_TOKENS` allows 30",
        ),
    ] {
        let case = Case::new();
        let conversation = case.open(ModelMode::Live, 1, settings, "{}");
        for _ in 0..2 {
            match conversation.answer(asked(&conversation, "a")) {
                Reply::Ask(call, None) => call.answered(said("1")),
                other => panic!("{other:?}"),
            }
        }
        let refused = got(conversation.answer(asked(&conversation, "a")));
        assert!(refused.starts_with(expected), "{refused}");
        assert_eq!(conversation.misses().len(), 1);
    }
}

#[test]
fn a_limit_of_all_cases_holds_over_the_conversations_of_several_and_no_further_call_is_sent() {
    let of_all = Limit { tokens: Some(30), ..Limit::default() };
    let settings = Settings { limits: Limits { of_all, ..Limits::default() }, ..Settings::default() };
    let case = Case::new();
    case.record(1, &[("known", "0")]);
    let open = |eval_id| {
        let (mode, settings) = (ModelMode::Record, settings.clone());
        of_cassette(&case.cassette(eval_id), mode, 1, settings, Faults::default())
    };
    for eval_id in ["a", "b"] {
        let conversation = open(eval_id);
        match conversation.answer(asked(&conversation, "a")) {
            Reply::Ask(call, None) => call.answered(said("1")),
            other => panic!("{other:?}"),
        }
    }
    let last = open("c");
    assert_eq!(got(last.answer(asked(&last, "known"))), "0", "what is replayed takes nothing");
    let refused = got(last.answer(asked(&last, "new")));
    let expected = "call 2 of a model was not sent in run 1 of case `c`: all cases together had 30 tokens, and \
                    `EVALSET_MODELS_TOTAL_TOKENS` allows 30; a higher limit lets them go on: EVALSET_MODELS_TOTAL_TOKENS=60";
    assert_eq!(refused, expected);
    assert_eq!(last.misses().len(), 1);
}

#[test]
fn a_fault_takes_no_answer_and_one_that_is_not_reached_is_an_error() {
    let case = Case::new();
    case.record(1, &[("a", "1")]);
    let faults = r#"{"faults": [{"at": {"turn": 1, "call": 1}, "fault": {"status": 429}},
        {"at": {"turn": 1, "call": 2}, "fault": "reset"}]}"#;
    let conversation = case.open(ModelMode::Replay, 1, Settings::default(), faults);
    let replies: Vec<String> = (0..3).map(|_| got(conversation.answer(asked(&conversation, "a")))).collect();
    assert_eq!(replies, ["Failed(429)", "Reset(0ns)", "1"]);
    let ended = conversation.end(true);
    assert_eq!(
        (ended.notes, ended.error),
        (vec!["1 call of models replayed, recorded: 15 tokens".to_owned()], None)
    );
    let late = r#"{"faults": [{"at": {"turn": 1, "call": 9}, "fault": "reset"}]}"#;
    let conversation = case.open(ModelMode::Replay, 1, Settings::default(), late);
    got(conversation.answer(asked(&conversation, "a")));
    let error = conversation.end(true).error.unwrap();
    assert!(error.starts_with("the fault `\"reset\"` at turn 1, call 9 was not reached"), "{error}");
}

#[test]
fn answers_are_put_under_requests_that_changed_and_stay_marked() {
    let case = Case::new();
    case.record(1, &[("a", "1"), ("b", "2")]);
    let conversation = case.open(ModelMode::Rebind, 1, Settings::default(), "{}");
    let replies = ["a", "B"].map(|text| got(conversation.answer(asked(&conversation, text))));
    assert_eq!(replies, ["1", "2"]);
    let ended = conversation.end(true);
    assert_eq!(ended.error, None);
    let expected = [
        "2 calls of models replayed, recorded: 30 tokens",
        "1 answer in `models/c.json` is to an older request",
    ];
    assert_eq!(ended.notes, expected);
    let recording = case.recording();
    assert_eq!((recording.answers(), recording.rebound()), (2, 1));
    let conversation = case.replay();
    for (text, answer) in [("a", "1"), ("B", "2")] {
        assert_eq!(got(conversation.answer(asked(&conversation, text))), answer);
    }
    let notes = conversation.end(true).notes;
    assert_eq!(notes[1], "1 answer in `models/c.json` is to an older request");
}

#[test]
fn a_case_that_is_recorded_anew_keeps_nothing_and_one_run_at_a_time_is_added() {
    let case = Case::new();
    case.record(1, &[("a", "old"), ("b", "old")]);
    let cassette = case.cassette("c");
    for run in 1..=2 {
        let settings = Settings::default();
        let conversation = Conversation::new(
            Arc::clone(&cassette),
            ModelMode::RecordAll,
            settings,
            Faults::default(),
            run,
            String::new(),
        );
        conversation.begin_turn("hi");
        match conversation.answer(asked(&conversation, "a")) {
            Reply::Ask(call, None) => call.answered(said("new")),
            other => panic!("{other:?}"),
        }
        assert_eq!(conversation.end(true).error, None);
    }
    let recording = case.recording();
    assert_eq!((recording.exchanges.len(), recording.answers(), recording.runs()), (1, 2, 2));
    let said = |answer: &Answer| match &answer.body {
        Body::Json(value) => value["said"].clone(),
        _ => Value::Null,
    };
    assert!(recording.exchanges[0].answers.iter().all(|answer| said(answer).as_str() == Some("new")));
}

/// A call that a model has to answer.
fn asks(conversation: &Conversation, text: &str) -> Box<dyn Call> {
    match conversation.answer(asked(conversation, text)) {
        Reply::Ask(call, None) => call,
        other => panic!("{other:?}"),
    }
}

#[test]
fn calls_in_flight_at_the_end_are_waited_for_and_one_that_does_not_end_is_an_error() {
    let case = Case::new();
    let conversation = case.open(ModelMode::Record, 1, Settings::default(), "{}");
    let call = asks(&conversation, "a");
    let answers = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        call.answered(said("1"));
    });
    assert_eq!(conversation.end(true).error, None);
    answers.join().unwrap();
    assert_eq!(case.recording().answers(), 1);

    let conversation = case.open(ModelMode::Record, 1, Settings::default(), "{}");
    asks(&conversation, "b").answered(said("2"));
    let call = asks(&conversation, "c");
    let error = conversation.end(true).error.unwrap();
    assert!(error.starts_with("1 call of a model had no answer, so nothing was recorded: "), "{error}");
    assert!(error.contains("had not ended"), "{error}");
    drop(call);
    assert_eq!(case.recording().answers(), 1);
}

#[test]
fn two_writers_of_one_case_keep_the_answers_of_both() {
    let case = Case::new();
    case.record(1, &[("a", "1")]);
    let open = || case.open(ModelMode::Record, 1, Settings::default(), "{}");
    let (one, other) = (open(), open());
    for (conversation, name) in [(&one, "one"), (&other, "other")] {
        asks(conversation, "both").answered(said(&format!("both, by {name}")));
        asks(conversation, name).answered(said(name));
    }
    assert_eq!((one.end(true).error, other.end(true).error), (None, None));
    assert_eq!(case.recording().answers(), 4);
    let conversation = case.replay();
    for (text, answer) in [("a", "1"), ("both", "both, by one"), ("one", "one"), ("other", "other")] {
        assert_eq!(got(conversation.answer(asked(&conversation, text))), answer);
    }
}

#[test]
fn a_case_that_breaks_while_it_is_recorded_anew_keeps_its_recording() {
    let case = Case::new();
    for run in 1..=2 {
        case.record(run, &[("a", "old"), ("b", "old")]);
    }
    let before = case.recording();
    let cassette = case.cassette("c");
    let open = |run| {
        let (mode, settings) = (ModelMode::RecordAll, Settings::default());
        Conversation::new(Arc::clone(&cassette), mode, settings, Faults::default(), run, String::new())
    };
    let broken = open(1);
    asks(&broken, "a").answered(said("new"));
    let ended = broken.end(false);
    assert_eq!(ended.notes[1], "nothing was recorded, since the conversation broke off");
    assert_eq!(case.recording(), before);
    let whole = open(2);
    asks(&whole, "a").answered(said("new"));
    assert_eq!(whole.end(true).error, None);
    let recording = case.recording();
    let answers = |run| recording.exchanges.iter().map(|it| it.answers_of(run).count()).sum::<usize>();
    assert_eq!((answers(1), answers(2)), (2, 1));
}
