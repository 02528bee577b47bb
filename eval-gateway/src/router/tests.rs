//! Owners of calls among conversations of one program.

use std::sync::Arc;
use std::time::Duration;

use eval_format::__private::parse_value;

use super::*;
use crate::cassette::Cassette;
use crate::faults::Faults;
use crate::handler::got;
use crate::recording::{Answer, Body};
use crate::store::ModelsFolder;

/// A folder of recordings, and a router.
struct Program {
    folder: tempfile::TempDir,
    router: Router,
}

/// A request: the texts of the user so far, with an id of an earlier answer.
fn body(texts: &[&str], id: Option<&str>) -> String {
    let messages: Vec<String> =
        texts.iter().map(|text| format!(r#"{{"role":"user","content":"{text}"}}"#)).collect();
    let call = id.map(|id| format!(r#",{{"role":"tool","tool_call_id":"{id}","content":"ok"}}"#));
    format!(r#"{{"model":"m","messages":[{}{}]}}"#, messages.join(","), call.unwrap_or_default())
}

fn answer(said: &str, id: &str) -> Answer {
    let json = format!(r#"{{"id":"{id}","said":"{said}"}}"#);
    Answer { run: 1, status: 200, headers: Vec::new(), body: Body::Json(parse_value(&json).unwrap()) }
}

fn open(cassette: &Arc<Cassette>, mode: ModelMode, run: usize, faults: &str) -> Conversation {
    let faults = Faults::read(&parse_value(faults).unwrap()).unwrap();
    let record = "EVALSET_MODELS=record run".to_owned();
    Conversation::new(Arc::clone(cassette), mode, Settings::default(), faults, run, record)
}

impl Program {
    fn new(mode: ModelMode) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), router: Router::open(mode).unwrap() }
    }

    fn cassette(&self, case: &str) -> Arc<Cassette> {
        let folder = ModelsFolder::new(self.folder.path().join("models"), "models");
        let loaded = folder.load(case).unwrap();
        Arc::new(Cassette::new(folder, loaded))
    }

    /// Records the calls of a run, with the texts of each and its answer.
    fn record(&self, case: &str, run: usize, calls: &[(&[&str], &str)]) {
        let conversation = open(&self.cassette(case), ModelMode::Record, run, "{}");
        conversation.redirects();
        for (texts, said) in calls {
            let body = body(texts, None);
            match conversation.answer(conversation.read(&Incoming::chat(&body)).unwrap()) {
                Reply::Ask(call, None) => call.answered(answer(said, &format!("id of {case} {said}"))),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(conversation.end(true).error, None);
    }

    /// A conversation of a case in a turn, with its place.
    async fn lease(&self, case: &str, texts: &[&str]) -> (Conversation, Lease) {
        let conversation = open(&self.cassette(case), self.router.0.mode, 1, "{}");
        let lease = self.router.lease(&conversation).await;
        for text in texts {
            conversation.begin_turn(text);
        }
        (conversation, lease)
    }

    fn ask(&self, texts: &[&str], id: Option<&str>) -> String {
        match self.router.reply(&Incoming::chat(&body(texts, id))) {
            Ok((_, reply)) => got(reply),
            Err(NoWire(why)) => why,
        }
    }
}

/// Whether a future ends soon.
async fn ends(work: impl Future) -> bool {
    tokio::time::timeout(Duration::from_millis(50), work).await.is_ok()
}

#[tokio::test]
async fn a_case_without_a_recording_is_alone_so_that_it_gets_no_answer_of_another() {
    let program = Program::new(ModelMode::Replay);
    program.record("a", 1, &[(&["hi"], "of a")]);
    let (a, lease) = program.lease("a", &["hi"]).await;
    let b = open(&program.cassette("b"), ModelMode::Replay, 1, "{}");
    assert!(!ends(program.router.lease(&b)).await, "it waits until it is alone");
    assert!(b.waited().0 > Duration::ZERO);
    assert_eq!(program.ask(&["hi"], None), "of a");
    a.end_turn();
    drop(lease);
    let lease = program.router.lease(&b).await;
    b.begin_turn("hi");
    let again = open(&program.cassette("a"), ModelMode::Replay, 1, "{}");
    assert!(!ends(program.router.lease(&again)).await);
    let missed = program.ask(&["hi"], None);
    assert!(missed.contains("is not recorded: there is no recording `models/b.json`"), "{missed}");
    assert_eq!((a.end(true).error, b.misses().len()), (None, 1));
    b.end_turn();
    drop(lease);
    assert!(ends(program.router.lease(&again)).await);
}

#[tokio::test]
async fn each_case_gets_its_own_answer_by_its_text_or_by_an_id() {
    let program = Program::new(ModelMode::Replay);
    for case in ["one", "two"] {
        let follows: &[&str] = &["hi", case];
        program.record(case, 1, &[(&["hi"], "same"), (follows, case), (&["sub"], &format!("sub of {case}"))]);
    }
    let (one, _lease) = program.lease("one", &["hi"]).await;
    let (two, _other) = program.lease("two", &["hi"]).await;
    // Both have the same answer to the same words.
    assert_eq!([program.ask(&["hi"], None), program.ask(&["hi"], None)], ["same", "same"]);
    for (case, conversation) in [("one", &one), ("two", &two)] {
        conversation.begin_turn(case);
    }
    assert_eq!(program.ask(&["hi", "two"], None), "two");
    assert_eq!(program.ask(&["hi", "one"], None), "one");
    // A request of a part of the agent holds no text of the user: the id says whose it is.
    let missed = program.ask(&["sub"], Some("id of two two"));
    assert!(missed.contains("is not recorded"), "{missed}");
    assert_eq!((one.misses().len(), two.misses().len()), (0, 1));
}

#[tokio::test]
async fn equal_calls_with_other_answers_are_an_error_of_both_and_no_answer_is_given() {
    let program = Program::new(ModelMode::Replay);
    for case in ["one", "two"] {
        program.record(case, 1, &[(&["hi"], case)]);
    }
    let (one, _lease) = program.lease("one", &["hi"]).await;
    let (two, _other) = program.lease("two", &["hi"]).await;
    let refused = program.ask(&["hi"], None);
    let expected = "a call of a model (openai chat, m) may be of any of the cases `one` and `two`, which use one program at the \
                    same time and do not all have the same answer to it; run one case at a time: ";
    assert!(refused.starts_with(expected), "{refused}");
    assert_eq!((one.misses().len(), two.misses().len()), (1, 1));
}

#[tokio::test]
async fn a_case_with_the_same_words_and_no_answer_to_them_is_not_guessed() {
    let program = Program::new(ModelMode::Replay);
    program.record("one", 1, &[(&["hi"], "one")]);
    program.record("two", 1, &[(&["hello"], "two")]);
    let (one, _lease) = program.lease("one", &["hi"]).await;
    let (two, other) = program.lease("two", &["hi"]).await;
    assert!(program.ask(&["hi"], None).contains("may be of any of the cases `one` and `two`"));
    assert_eq!((one.misses().len(), two.misses().len()), (1, 1));
    drop((two, other));
    // Words that one of them says alone are its own, also if another has the answer.
    let program = Program::new(ModelMode::Replay);
    program.record("one", 1, &[(&["hi"], "one")]);
    program.record("two", 1, &[(&["hello"], "two")]);
    let (one, _lease) = program.lease("one", &["hello"]).await;
    let (two, _other) = program.lease("two", &["hello there"]).await;
    let missed = program.ask(&["hello"], None);
    assert!(missed.contains("nearest recorded call"), "{missed}");
    assert_eq!((one.misses().len(), two.misses().len()), (1, 0));
}

#[tokio::test]
async fn a_case_that_asks_again_is_not_told_from_another_that_asks_first() {
    for (answers, is_told) in [(["same", "same"], true), (["one", "two"], false)] {
        let program = Program::new(ModelMode::Replay);
        for (case, said) in ["one", "two"].into_iter().zip(answers) {
            program.record(case, 1, &[(&["hi"], said)]);
        }
        let (one, _lease) = program.lease("one", &["hi"]).await;
        assert_eq!(program.ask(&["hi"], None), answers[0]);
        let (two, _other) = program.lease("two", &["hi"]).await;
        let got = program.ask(&["hi"], None);
        if is_told {
            assert_eq!(got, answers[1]);
            continue;
        }
        assert!(got.contains("may be of any of the cases `two` and `one`"), "{got}");
        assert_eq!((one.misses().len(), two.misses().len()), (1, 1));
    }
}

#[tokio::test]
async fn a_miss_is_of_the_case_whose_messages_the_call_holds() {
    let program = Program::new(ModelMode::Replay);
    for case in ["one", "two"] {
        program.record(case, 1, &[(&[case], "same"), (&[case, "more"], case)]);
    }
    let (one, _lease) = program.lease("one", &["one", "more"]).await;
    let (two, _other) = program.lease("two", &["two", "more"]).await;
    assert!(program.ask(&["two", "changed", "more"], None).contains("is not recorded"));
    assert_eq!((one.misses().len(), two.misses().len()), (0, 1));
    // A call that says nothing of either is an error of both.
    assert!(program.ask(&["more"], None).contains("is an error already"));
    assert_eq!((one.misses().len(), two.misses().len()), (1, 1));
}

#[tokio::test]
async fn a_case_with_faults_is_alone_so_that_they_happen_to_no_other() {
    let program = Program::new(ModelMode::Replay);
    for case in ["one", "two"] {
        program.record(case, 1, &[(&["hi"], "same")]);
    }
    let faults = r#"{"faults": [{"at": {"turn": 1, "call": 1}, "fault": {"status": 500}}]}"#;
    let one = open(&program.cassette("one"), ModelMode::Replay, 1, faults);
    let lease = program.router.lease(&one).await;
    one.begin_turn("hi");
    let two = open(&program.cassette("two"), ModelMode::Replay, 1, "{}");
    assert!(!ends(program.router.lease(&two)).await);
    assert_eq!([program.ask(&["hi"], None), program.ask(&["hi"], None)], ["Failed(500)", "same"]);
    one.end_turn();
    drop(lease);
    let _lease = program.router.lease(&two).await;
    two.begin_turn("hi");
    assert_eq!(program.ask(&["hi"], None), "same");
}

/// The notes of a conversation that ends here, after its place.
fn ended((conversation, lease): (Conversation, Lease)) -> Vec<String> {
    conversation.end_turn();
    drop(lease);
    let ended = conversation.end(true);
    assert_eq!(ended.error, None);
    ended.notes
}

#[tokio::test]
async fn equal_answers_are_charged_to_the_cases_that_asked_for_them_in_any_order() {
    // The turns of three cases: the numbers are the cases, `0` is the first call and `1` the end, with a second call before it.
    let orders = [
        [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)],
        [(1, 0), (1, 1), (0, 0), (2, 0), (2, 1), (0, 1)],
        [(2, 0), (2, 1), (1, 0), (1, 1), (0, 0), (0, 1)],
        [(1, 0), (2, 0), (1, 1), (2, 1), (0, 0), (0, 1)],
        [(2, 0), (1, 0), (2, 1), (0, 0), (0, 1), (1, 1)],
    ];
    let cases = ["one", "two", "three"];
    for order in orders {
        let program = Program::new(ModelMode::Replay);
        for case in cases {
            program.record(case, 1, &[(&["hi"], "same"), (&["hi", case], case)]);
        }
        let mut leases = Vec::new();
        for case in cases {
            leases.push(Some(program.lease(case, &["hi"]).await));
        }
        for (at, step) in order {
            if step == 0 {
                assert_eq!(program.ask(&["hi"], None), "same", "{order:?}");
                continue;
            }
            let lease = leases[at].take().unwrap();
            lease.0.begin_turn(cases[at]);
            assert_eq!(program.ask(&["hi", cases[at]], None), cases[at], "{order:?}");
            assert_eq!(ended(lease), ["2 calls of models replayed, recorded: 0 tokens"], "{order:?}");
        }
    }
}

#[tokio::test]
async fn cases_that_are_over_do_not_keep_an_answer_from_one_that_asks_late() {
    let program = Program::new(ModelMode::Replay);
    for case in ["one", "two", "three", "late"] {
        program.record(case, 1, &[(&["hi"], "same")]);
    }
    let one = program.lease("one", &["hi"]).await;
    let two = program.lease("two", &["hi"]).await;
    // The call of `two` is charged to `one`, and the call of `three` to `two`.
    assert_eq!(program.ask(&["hi"], None), "same");
    let (three, _lease) = program.lease("three", &["hi"]).await;
    assert_eq!(program.ask(&["hi"], None), "same");
    for conversation in [&two.0, &three] {
        conversation.begin_turn("more");
    }
    // The call of `one` is charged to `late`.
    let (late, _other) = program.lease("late", &["hi"]).await;
    assert_eq!(program.ask(&["hi"], None), "same");
    ended(two);
    ended(one);
    assert_eq!(program.ask(&["hi"], None), "same", "`three` has the answer that is left");
    assert!(late.misses().is_empty());
}

#[tokio::test]
async fn ids_of_an_answer_that_either_may_have_got_name_none_of_them() {
    let program = Program::new(ModelMode::Replay);
    for case in ["one", "two"] {
        program.record(case, 1, &[(&["hi"], "same")]);
    }
    let (one, _lease) = program.lease("one", &["hi"]).await;
    let (two, _other) = program.lease("two", &["hi"]).await;
    assert_eq!([program.ask(&["hi"], None), program.ask(&["hi"], None)], ["same", "same"]);
    one.begin_turn("first");
    two.begin_turn("second");
    // The answer of the first case may have gone to the second one, whose next message this is.
    assert!(program.ask(&["hi", "second"], Some("id of one same")).contains("is not recorded"));
    assert_eq!((one.misses().len(), two.misses().len()), (0, 1));
}

#[tokio::test]
async fn the_runs_of_a_case_are_played_one_after_the_other_and_each_gets_its_own() {
    let program = Program::new(ModelMode::Replay);
    for run in 1..=2 {
        program.record("a", run, &[(&["hi"], &format!("run {run}"))]);
    }
    let cassette = program.cassette("a");
    let first = open(&cassette, ModelMode::Replay, 1, "{}");
    let second = open(&cassette, ModelMode::Replay, 2, "{}");
    let lease = program.router.lease(&first).await;
    assert!(!ends(program.router.lease(&second)).await);
    first.begin_turn("hi");
    assert_eq!(program.ask(&["hi"], None), "run 1");
    first.end_turn();
    drop(lease);
    let _lease = program.router.lease(&second).await;
    second.begin_turn("hi");
    assert_eq!(program.ask(&["hi"], None), "run 2");
}

#[tokio::test]
async fn calls_of_a_turn_that_was_left_reach_no_other_case() {
    for mode in [ModelMode::Replay, ModelMode::Record] {
        let program = Program::new(mode);
        for case in ["one", "two"] {
            program.record(case, 1, &[(&[case], case)]);
        }
        let (one, lease) = program.lease("one", &["one"]).await;
        assert_eq!(program.ask(&["one"], None), "one");
        // The turn ran out of time: it was not ended.
        drop(lease);
        let expected = "the call is of a turn of the case `one` that was left";
        assert_eq!(program.ask(&["one"], None), expected);
        let (two, _other) = program.lease("two", &["two"]).await;
        assert_eq!(program.ask(&["one"], None), expected);
        assert_eq!(program.ask(&["sub"], Some("id of one one")), expected);
        assert_eq!(program.ask(&["two"], None), "two");
        assert_eq!((one.end(true).error, two.misses().len()), (None, 0));
        // A call that may be of either is not paid for.
        let refused = program.ask(&["sub"], None);
        assert!(refused.contains("`two` and `one`") || refused.contains("is not recorded"), "{refused}");
        assert_eq!(two.misses().len(), 1);
    }
}

#[tokio::test]
async fn a_case_that_is_recorded_is_alone_and_a_turn_that_ended_is_forgotten() {
    let program = Program::new(ModelMode::Record);
    let (one, lease) = program.lease("one", &["hi"]).await;
    let two = open(&program.cassette("two"), ModelMode::Record, 1, "{}");
    assert!(!ends(program.router.lease(&two)).await);
    one.end_turn();
    drop(lease);
    let _lease = program.router.lease(&two).await;
    two.begin_turn("hi");
    assert!(program.ask(&["hi"], None).starts_with("Ask("));
}

#[tokio::test]
async fn mistakes_before_the_first_case_are_its_error_and_later_ones_a_remark() {
    let program = Program::new(ModelMode::Replay);
    program.record("one", 1, &[(&["hi"], "one")]);
    assert!(program.ask(&["hi"], None).starts_with("no case is in progress"));
    program.router.miss("a client asked `api.openai.com` itself");
    let (one, lease) = program.lease("one", &["hi"]).await;
    assert_eq!(one.misses()[0].message, "a client asked `api.openai.com` itself");
    one.end_turn();
    drop(lease);
    program.router.miss("a client asked `api.anthropic.com` itself");
    let (again, _lease) = program.lease("one", &["hi"]).await;
    assert!(again.misses().is_empty());
    assert_eq!(program.ask(&["hi"], None), "one");
    assert_eq!(again.end(true).notes[0], "between two cases: a client asked `api.anthropic.com` itself");
}

#[tokio::test]
async fn a_program_that_may_reach_no_host_reaches_none_between_its_cases() {
    let shared = |mode, is_offline| {
        Router(Arc::new(Shared {
            mode,
            is_offline,
            token: Mutex::default(),
            state: Mutex::default(),
            attributions: Mutex::default(),
            program: Arc::default(),
        }))
    };
    assert!(shared(ModelMode::Replay, true).is_offline());
    assert!(!shared(ModelMode::Replay, false).is_offline());
    assert!(!shared(ModelMode::Record, true).is_offline());
}
