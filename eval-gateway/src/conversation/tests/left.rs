//! Answers that no call asked for, calls that went past the gateway, and answers that are not of the run itself.

use super::*;
use crate::cassette::PlannedRuns;

impl Case {
    fn folder(&self) -> ModelsFolder {
        ModelsFolder::new(self.0.path().join("models"), "models")
    }

    fn planned(&self, runs: usize, is_variant: bool) -> Arc<Cassette> {
        let loaded = self.folder().load("c").unwrap();
        Arc::new(Cassette::new(self.folder(), loaded).planned(PlannedRuns { runs: Some(runs), is_variant }))
    }

    /// Adds keys to `shared.json`, as a person does.
    fn by_hand(&self, keys: &str) {
        let path = self.folder().path().join("shared.json");
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.replacen("\"parts\"", &format!("{keys},\n  \"parts\""), 1);
        std::fs::write(&path, text).unwrap();
    }
}

fn replayed(cassette: &Arc<Cassette>, run: usize) -> Conversation {
    of_cassette(cassette, ModelMode::Replay, run, Settings::default(), Faults::default())
}

/// A request with a prompt of its own, as a variant of the agent sends it.
fn asked_with(conversation: &Conversation, system: &str, text: &str) -> Asked {
    let body = format!(
        r#"{{"model":"m","messages":[{{"role":"system","content":"{system}"}},{{"role":"user","content":"{text}"}}]}}"#
    );
    conversation.read(&Incoming::chat(&body)).unwrap()
}

#[test]
fn answers_of_other_variants_are_not_missed_and_those_of_the_own_prompt_are() {
    let case = Case::new();
    let conversation = case.opened(ModelMode::Record, 1);
    for (system, text) in [("short", "a"), ("short", "b"), ("long", "a"), ("long", "b")] {
        match conversation.answer(asked_with(&conversation, system, text)) {
            Reply::Ask(call, None) => call.answered(said(text)),
            other => panic!("{other:?}"),
        }
    }
    conversation.end(true);
    for (is_variant, texts, expected) in [
        (true, &["a", "b"][..], None),
        (
            true,
            &["a"],
            Some("1 recorded answer was in `models/c.json` never asked for: turn 1, openai chat, m: "),
        ),
        (false, &["a", "b"], Some("2 recorded answers were in `models/c.json` never asked for: ")),
    ] {
        let conversation = replayed(&case.planned(1, is_variant), 1);
        for text in texts {
            got(conversation.answer(asked_with(&conversation, "short", text)));
        }
        let ended = conversation.end(true);
        let note = ended.notes.get(1).map(String::as_str);
        assert!(
            expected.map_or(note.is_none(), |expected| note.is_some_and(|note| note.starts_with(expected))),
            "{note:?}"
        );
    }
}

#[test]
fn answers_of_runs_that_are_no_longer_played_are_named_once() {
    let case = Case::new();
    for run in 1..=3 {
        case.record(run, &[("a", "1"), ("b", "2")]);
    }
    for (runs, run, expected) in [
        (
            1,
            1,
            Some("4 recorded answers were in `models/c.json` never asked for: 4 answers of runs after run 1"),
        ),
        (2, 2, None),
        (3, 1, None),
    ] {
        let conversation = replayed(&case.planned(runs, false), run);
        for text in ["a", "b"] {
            got(conversation.answer(asked(&conversation, text)));
        }
        let notes = conversation.end(true).notes;
        let note = notes.get(1).map(String::as_str);
        assert!(
            expected.map_or(note.is_none(), |expected| note.is_some_and(|note| note.starts_with(expected))),
            "{note:?}"
        );
    }
}

#[test]
fn a_replay_whose_agent_took_no_address_is_an_error_if_its_calls_are_recorded() {
    let case = Case::new();
    let open = |mode| {
        let (settings, faults) = (Settings::default(), Faults::default());
        Conversation::new(case.cassette("c"), mode, settings, faults, 1, String::new())
    };
    let text = "the agent took no address for its models, so calls, if it makes any, went past the recording";
    for mode in [ModelMode::Replay, ModelMode::Record] {
        let ended = open(mode).end(true);
        assert_eq!(ended.error, None);
        assert!(ended.notes[0].starts_with(text), "{:?}", ended.notes);
    }
    case.record(1, &[("a", "1")]);
    let ended = open(ModelMode::Replay).end(true);
    let expected =
        "the agent took no address for its models, so its calls went past the recording `models/c.json`: ";
    assert!(ended.error.unwrap().starts_with(expected));
    assert_eq!(open(ModelMode::Replay).end(false).error, None, "the agent has an error of its own");
    assert_eq!(open(ModelMode::Record).end(true).error, None);
}

#[test]
fn a_replay_that_is_asked_nothing_is_an_error_if_answers_of_the_run_are_recorded() {
    let case = Case::new();
    assert_eq!(case.replay().end(true), Ended::default());
    case.record(1, &[("a", "1")]);
    let ended = case.replay().end(true);
    let error = ended.error.unwrap();
    let expected = "none of the recorded answers in `models/c.json` was asked for, as no call of a model came to the gateway";
    assert_eq!(error.lines().next(), Some(expected));
    for word in ["EVALSET_MODELS=live lets it ask", "remove `models/c.json`", "EVALSET_MODELS=record-all run"]
    {
        assert!(error.contains(word), "{word}: {error}");
    }
    assert_eq!(case.replay().end(false).error, None, "the agent has an error of its own");
    assert_eq!(case.opened(ModelMode::Record, 1).end(true).error, None);
    assert_eq!(replayed(&case.planned(2, false), 2).end(true).error, None, "nothing of run 2 is recorded");
    // Of the variants of an agent, one may ask no model.
    let ended = replayed(&case.planned(1, true), 1).end(true);
    assert!(ended.error.is_none() && ended.notes[0].starts_with(expected), "{ended:?}");
}

#[test]
fn one_run_is_played_by_all_if_the_set_says_so_and_the_others_are_copies() {
    let case = Case::new();
    case.record(1, &[("a", "1")]);
    case.by_hand(r#""models_runs": "one""#);
    let cassette = case.planned(3, false);
    for run in 1..=3 {
        let conversation = replayed(&cassette, run);
        assert_eq!(got(conversation.answer(asked(&conversation, "a"))), "1");
        let ended = conversation.end(true);
        assert_eq!(ended.error, None);
        let copy = ended.notes.iter().find(|note| note.contains("is a copy"));
        let expected =
            format!("run {run} is a copy: `models_runs` lets it play the recorded answers of run 1");
        assert_eq!(copy, (run > 1).then_some(&expected), "{:?}", ended.notes);
    }
    // A copy is not recorded: it asks what the first run has not recorded yet, and what that one has is replayed.
    let cassette = case.planned(2, false);
    let copy = of_cassette(&cassette, ModelMode::RecordAll, 2, Settings::default(), Faults::default());
    asks(&copy, "a").answered(said("2"));
    copy.end(true);
    assert_eq!(case.recording().answers(), 1);
    let first = of_cassette(&cassette, ModelMode::RecordAll, 1, Settings::default(), Faults::default());
    asks(&first, "a").answered(said("new"));
    first.end(true);
    let copy = of_cassette(&cassette, ModelMode::RecordAll, 2, Settings::default(), Faults::default());
    assert_eq!(got(copy.answer(asked(&copy, "a"))), "new");
    copy.end(true);
    assert_eq!((case.recording().answers(), case.recording().runs()), (1, 1));
    assert!(case.folder().shared().unwrap().is_one_run, "what a person wrote stays");
}

#[test]
fn an_answer_that_a_person_made_is_given_to_all_cases_each_time() {
    let case = Case::new();
    case.record(1, &[("a", "1")]);
    case.by_hand(
        r#""by_hand": [{"wire": "openai chat", "model": "m", "messages": [{"content": "b", "role": "user"}],
            "answers": [{"body": {"said": "made"}}]}]"#,
    );
    for mode in [ModelMode::Replay, ModelMode::Record] {
        let conversation = case.opened(mode, 1);
        let answers = ["b", "a", "b"].map(|text| got(conversation.answer(asked(&conversation, text))));
        assert_eq!(answers, ["made", "1", "made"]);
        assert_eq!(conversation.end(true).error, None);
    }
    assert_eq!(case.recording().answers(), 1, "it is of no case");
    case.record(2, &[("c", "3")]);
    assert_eq!(case.folder().shared().unwrap().by_hand().len(), 1, "what a person wrote stays");
    for (keys, expected) in [
        (r#""models_runs": "two""#, "`models_runs` has to be \"one\" or \"each\""),
        (r#""by_hand": [{"wire": "smoke"}]"#, "entry 1 of `by_hand` has the wire `smoke`"),
        (r#""by_hand": [{"wire": "models"}]"#, "entry 1 of `by_hand` has to have one answer"),
        (r#""by_hand": [{"wire": "models", "after": 1}]"#, "entry 1 of `by_hand` has `after`"),
    ] {
        let text = format!(r#"{{"model_recordings": 1, {keys}}}"#);
        let shared = crate::recording::Shared::parse(&text);
        let error = shared.and_then(|shared| crate::recording::by_hand(&shared)).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}
