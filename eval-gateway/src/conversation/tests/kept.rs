//! Recordings that are written, and those that are kept because a conversation broke off.

use super::*;
use crate::cassette::PlannedRuns;

/// The recorded answers, by run.
fn answers_by_run(case: &Case) -> Vec<(usize, String)> {
    let recording = case.recording();
    let mut all: Vec<(usize, String)> = recording
        .exchanges
        .iter()
        .flat_map(|exchange| &exchange.answers)
        .map(|answer| (answer.run, got(Reply::Recorded(Box::new(answer.clone())))))
        .collect();
    all.sort();
    all
}

fn with_status(status: u16, text: &str) -> Answer {
    Answer { status, ..said(text) }
}

#[test]
fn an_error_of_the_provider_is_not_recorded_whatever_its_status() {
    for status in [400, 401, 404, 422, 500] {
        let case = Case::new();
        let conversation = case.opened(ModelMode::Record, 1);
        asks(&conversation, "a").answered(with_status(status, "no key"));
        let error = conversation.end(true).error.unwrap();
        let expected = format!(
            "1 call of a model had no answer, so nothing was recorded: the provider answered {status}: "
        );
        assert!(error.starts_with(&expected), "{error}");
        assert!(error.ends_with("(EVALSET_MODELS_FAILURES=keep records such answers)"), "{error}");
        // A good key records it.
        assert_eq!(case.record(1, &[("a", "1")]).error, None);
        assert_eq!(answers_by_run(&case), [(1, "1".to_owned())]);
    }
}

#[test]
fn failures_are_kept_and_replayed_in_their_order_if_the_variable_says_so() {
    let case = Case::new();
    let settings = Settings { keeps_failures: true, ..Settings::default() };
    let conversation = case.open(ModelMode::Record, 1, settings, "{}");
    for answer in [with_status(429, "slow"), with_status(400, "too long"), said("1")] {
        asks(&conversation, "a").answered(answer);
    }
    assert_eq!(conversation.end(true).error, None);
    let conversation = case.replay();
    let statuses = [(); 3].map(|()| match conversation.answer(asked(&conversation, "a")) {
        Reply::Recorded(answer) => answer.status,
        other => panic!("{other:?}"),
    });
    assert_eq!(statuses, [429, 400, 200]);
    assert_eq!(conversation.end(true).error, None);
}

#[test]
fn a_conversation_that_broke_off_writes_nothing() {
    let case = Case::new();
    let conversation = case.opened(ModelMode::Record, 1);
    asks(&conversation, "a").answered(said("1"));
    let ended = conversation.end(false);
    assert_eq!(ended.error, None);
    assert_eq!(ended.notes[1], "nothing was recorded, since the conversation broke off");
    assert!(!case.cassette("c").exists());
    // What was recorded before stays.
    case.record(1, &[("a", "1")]);
    let before = case.recording();
    let conversation = case.opened(ModelMode::Record, 1);
    assert_eq!(got(conversation.answer(asked(&conversation, "a"))), "1");
    asks(&conversation, "b").answered(said("2"));
    conversation.end(false);
    assert_eq!(case.recording(), before);
}

#[test]
fn a_run_that_breaks_after_a_whole_one_keeps_its_old_answers() {
    let case = Case::new();
    for run in 1..=3 {
        case.record(run, &[("a", &format!("old {run}"))]);
    }
    let plan = PlannedRuns { runs: Some(2), is_variant: false };
    let loaded = ModelsFolder::new(case.0.path().join("models"), "models").load("c").unwrap();
    let folder = ModelsFolder::new(case.0.path().join("models"), "models");
    let cassette = Arc::new(Cassette::new(folder, loaded).planned(plan));
    let open =
        |run| of_cassette(&cassette, ModelMode::RecordAll, run, Settings::default(), Faults::default());
    for (run, is_whole) in [(1, true), (2, false)] {
        let conversation = open(run);
        asks(&conversation, "a").answered(said("new"));
        assert_eq!(conversation.end(is_whole).error, None);
    }
    // The third run is not played any more.
    assert_eq!(answers_by_run(&case), [(1, "new".to_owned()), (2, "old 2".to_owned())]);
}

#[test]
fn a_recording_stays_if_no_call_comes_while_it_is_recorded_anew() {
    let case = Case::new();
    case.record(1, &[("a", "1")]);
    let path = case.0.path().join("models/c.json");
    // An agent that broke off, or that took no address, may have asked.
    case.opened(ModelMode::RecordAll, 1).end(false);
    let without = Conversation::new(
        case.cassette("c"),
        ModelMode::RecordAll,
        Settings::default(),
        Faults::default(),
        1,
        String::new(),
    );
    assert!(
        without
            .end(true)
            .error
            .unwrap()
            .starts_with("the agent took no address for its models, so its calls went past")
    );
    assert!(path.exists());
    let before = case.recording();
    let ended = case.opened(ModelMode::RecordAll, 1).end(true);
    assert_eq!(ended.notes, ["nothing was recorded, since no call of a model came to the gateway"]);
    let error = ended.error.unwrap();
    assert!(
        error.starts_with(
            "nothing was recorded, since no call of a model came to the gateway, and the recorded answers in `models/c.json` stay\n"
        ),
        "{error}"
    );
    assert!(error.ends_with("if the case asks no model any more, remove `models/c.json`"), "{error}");
    assert_eq!(case.recording(), before);
    // On purpose.
    std::fs::remove_file(path).unwrap();
    assert_eq!(case.opened(ModelMode::RecordAll, 1).end(true).error, None);
    assert_eq!(case.replay().end(true), Ended::default());
}

#[test]
fn a_rule_for_dates_holds_on_another_day_and_stays_when_a_case_is_recorded_anew() {
    let case = Case::new();
    let folder = case.0.path().join("models");
    std::fs::create_dir(&folder).unwrap();
    let rule = r#""models_mask": ["Today is \\d{4}-\\d\\d-\\d\\d"]"#;
    std::fs::write(folder.join("shared.json"), format!(r#"{{"model_recordings": 1, {rule}}}"#)).unwrap();
    let on = |conversation: &Conversation, day: &str| {
        let body = format!(
            r#"{{"model":"m","messages":[{{"role":"system","content":"Today is {day}."}},{{"role":"user","content":"Today is {day}?"}}]}}"#
        );
        conversation.read(&Incoming::chat(&body)).unwrap()
    };
    for (mode, day, answer) in
        [(ModelMode::Record, "2026-11-23", "1"), (ModelMode::RecordAll, "2026-12-24", "2")]
    {
        let conversation = case.opened(mode, 1);
        match conversation.answer(on(&conversation, day)) {
            Reply::Ask(call, None) => call.answered(said(answer)),
            other => panic!("{other:?}"),
        }
        assert_eq!(conversation.end(true).error, None);
        let shared = std::fs::read_to_string(folder.join("shared.json")).unwrap();
        assert!(shared.contains(r"Today is \\d{4}-\\d\\d-\\d\\d") && !shared.contains(day), "{shared}");
        let file = std::fs::read_to_string(folder.join("c.json")).unwrap();
        assert!(file.contains("(masked)?") && !file.contains(day), "{file}");
        let replay = case.replay();
        assert_eq!(got(replay.answer(on(&replay, "2027-01-01"))), answer);
        assert_eq!(replay.end(true).error, None);
        let other = case.replay();
        assert!(
            got(other.answer(on(&other, "Monday"))).contains("the system prompt and the messages changed")
        );
    }
}

#[test]
fn a_run_that_records_nothing_says_so() {
    let case = Case::new();
    for mode in [ModelMode::Record, ModelMode::RecordAll] {
        let ended = case.opened(mode, 1).end(true);
        assert_eq!(ended.error, None);
        assert_eq!(ended.notes, ["nothing was recorded, since no call of a model came to the gateway"]);
    }
    assert_eq!(case.record(1, &[("a", "1")]).notes.len(), 1);
    let conversation = case.opened(ModelMode::Record, 1);
    assert_eq!(got(conversation.answer(asked(&conversation, "a"))), "1");
    assert_eq!(conversation.end(true).notes.len(), 1, "it was recorded before");
}

#[test]
fn a_call_beside_a_failed_one_cures_nothing_and_a_retry_does() {
    let failure = || with_status(429, "slow down");
    let case = Case::new();
    let conversation = case.opened(ModelMode::Record, 1);
    let (one, other) = (asks(&conversation, "a"), asks(&conversation, "a"));
    one.answered(failure());
    other.answered(said("1"));
    let error = conversation.end(true).error.unwrap();
    assert!(error.starts_with("1 call of a model had no answer, so nothing was recorded: "), "{error}");

    let conversation = case.opened(ModelMode::Record, 1);
    let (one, other) = (asks(&conversation, "a"), asks(&conversation, "a"));
    one.answered(failure());
    other.answered(said("1"));
    asks(&conversation, "a").answered(said("2"));
    assert_eq!(conversation.end(true).error, None);
    let conversation = case.replay();
    let answers = [(); 2].map(|()| got(conversation.answer(asked(&conversation, "a"))));
    assert_eq!(answers, ["1", "2"]);
}

#[test]
fn after_a_miss_no_model_is_asked_and_limits_count_what_is_asked_alone() {
    let case = Case::new();
    case.record(1, &[("a", "1"), ("b", "2")]);
    let of_run = Limit { calls: Some(1), ..Limit::default() };
    let limits = Limits { of_run, ..Limits::default() };
    let conversation = case.open(ModelMode::Record, 1, Settings { limits, ..Settings::default() }, "{}");
    for (text, answer) in [("a", "1"), ("b", "2")] {
        assert_eq!(got(conversation.answer(asked(&conversation, text))), answer, "replayed, and not counted");
    }
    asks(&conversation, "c").answered(said("3"));
    let refused = got(conversation.answer(asked(&conversation, "d")));
    assert!(
        refused.starts_with("call 4 of a model was not sent: run 1 of case `c` had 1 call, and"),
        "{refused}"
    );
    for text in ["a", "e"] {
        let refused = got(conversation.answer(asked(&conversation, text)));
        assert!(
            refused.starts_with("the case `c` is an error already: call 4 of a model was not sent"),
            "{refused}"
        );
    }
    assert_eq!(conversation.misses().len(), 1);
}
