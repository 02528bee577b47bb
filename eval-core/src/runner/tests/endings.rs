//! The end of a conversation, and agents that are made in other ways than by hand.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use eval_format::{
    Content, EvalCase, FunctionCall, IntermediateData, Invocation, InvocationEvent, Map, Part,
};
use serde_json::json;

use super::{case, run};
use crate::EvalRunner;
use crate::agent::{Agent, BoxError, LocalAgent, Replay, Session, Turn, agent_fn, local};

/// The calls of the agent, in order.
type Steps = Arc<Mutex<Vec<&'static str>>>;

/// Does as the user asks, and ends as `how` says.
struct Ending {
    how: &'static str,
    steps: Steps,
    session: Option<Session>,
}

impl Agent for Ending {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        self.steps.lock().unwrap().push("start");
        self.session = Some(session.clone());
        if self.how == "does not start" { Err("no room".into()) } else { Ok(()) }
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        self.steps.lock().unwrap().push("turn");
        match &*turn.text() {
            "fail" => return Err("no model".into()),
            "panic" => panic!("index out of bounds"),
            "hang" => std::future::pending().await,
            text => turn.recorder().text(text),
        }
        Ok(())
    }

    async fn state(&mut self) -> Result<Option<Map>, BoxError> {
        self.steps.lock().unwrap().push("state");
        if self.how == "has no state" { Err("lost".into()) } else { Ok(None) }
    }

    async fn end(&mut self) -> Result<(), BoxError> {
        tokio::task::yield_now().await;
        self.steps.lock().unwrap().push("end");
        match self.how {
            "fails" => Err("the socket is gone".into()),
            "panics" => panic!("twice closed"),
            "hangs" => std::future::pending().await,
            "records" => {
                self.session.take().unwrap().recorder().text("bye");
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.steps.lock().unwrap().push("drop");
    }
}

#[test]
fn a_conversation_is_ended_once_however_it_went_and_a_bad_end_is_an_error() {
    let whole = ["start", "turn", "turn", "state", "end", "drop"];
    let broken = ["start", "turn", "turn", "end", "drop"];
    for (asked, how, error, expected) in [
        ("hi", "ends", None, &whole[..]),
        ("fail", "ends", Some("agent error in turn 2: no model"), &broken),
        ("panic", "ends", Some("agent error in turn 2: panicked: index out of bounds"), &broken),
        (
            "hang",
            "ends",
            Some("agent error in turn 2: timed out after 250ms (`timeout` sets the limit)"),
            &broken,
        ),
        (
            "hi",
            "does not start",
            Some("agent error: opening the session: no room"),
            &["start", "end", "drop"],
        ),
        ("hi", "has no state", Some("agent error: reading the session state: lost"), &whole),
        ("hi", "fails", Some("agent error: ending the conversation: the socket is gone"), &whole),
        ("hi", "panics", Some("agent error: ending the conversation: panicked: twice closed"), &whole),
        (
            "hi",
            "hangs",
            Some("agent error: ending the conversation: timed out after 250ms (`timeout` sets the limit)"),
            &whole,
        ),
        ("hi", "records", Some("agent error: 1 event recorded through `session.recorder()`"), &whole),
        (
            "fail",
            "fails",
            Some("agent error in turn 2: no model (then, ending the conversation: the socket is gone)"),
            &broken,
        ),
    ] {
        let case = case("c", &[("hello", "hello"), (asked, asked)]);
        let steps = Steps::default();
        let setup = || Ending { how, steps: Arc::clone(&steps), session: None };
        let runner = EvalRunner::new().timeout(Duration::from_millis(250));
        let report = run(runner.run_case(&case, setup_of(setup))).unwrap();
        let seen = report.runs[0].error.as_ref().map(ToString::to_string);
        let fits = match (error, &seen) {
            (None, None) => report.verdict.passed(),
            (Some(error), Some(seen)) => seen.starts_with(error) && report.verdict.fails(),
            _ => false,
        };
        assert!(fits, "{asked}, {how}: {seen:?}");
        assert_eq!(*steps.lock().unwrap(), expected, "{asked}, {how}");
    }
}

/// Makes the type of a setup function known to the compiler.
fn setup_of<A: Agent + 'static>(make: impl Fn() -> A + Sync) -> impl Fn() -> A + Sync {
    make
}

#[test]
fn chunks_of_a_stream_are_scored_as_one_answer() {
    let case = case("c", &[("Paris?", "It is sunny in Paris.")]);
    let streams = |whole: &'static str| {
        move || {
            agent_fn(move |_, recorder| async move {
                for chunk in ["It is ", "sunny ", "in Paris."] {
                    recorder.chunk(chunk);
                }
                if !whole.is_empty() {
                    recorder.text(whole);
                }
            })
        }
    };
    for (whole, answer, passes) in [
        ("", "It is sunny in Paris.", true),
        ("It is sunny in Paris.", "It is sunny in Paris.", true),
        ("Something else.", "Something else.", false),
    ] {
        let report = run(EvalRunner::new().run_case(&case, streams(whole))).unwrap();
        assert_eq!(report.runs[0].transcript.turns[0].invocation.response_text(), answer);
        assert_eq!(report.verdict.passed(), passes, "{whole}");
    }
}

#[test]
fn an_image_that_a_closure_of_text_would_not_see_is_an_error_of_the_case() {
    let image = json!({ "file_uri": "gs://photos/sky.png", "mime_type": "image/png" });
    let parts = vec![Part::text("What is this?"), Part::default().with_other("file_data", image)];
    let turn = Invocation::new(Content::new("user", parts)).response("What is this?");
    let case = EvalCase::new("c").turn(turn);
    let report = run(EvalRunner::new().run_case(&case, || agent_fn(|text, _| async move { text }))).unwrap();
    let error = report.runs[0].error.as_ref().unwrap().to_string();
    assert!(error.starts_with("agent error in turn 1: the user's message has a part `file_data`"), "{error}");
    let sees_all = || crate::turn_fn(|turn| async move { turn.text() });
    assert!(run(EvalRunner::new().run_case(&case, sees_all)).unwrap().verdict.passed());
}

#[test]
fn a_replay_of_a_case_does_what_the_case_expects() {
    let call = |name: &str| FunctionCall::new(name, json!({ "x": 1 }));
    let event = |part| InvocationEvent::new("sub").with_content(Content::new("model", vec![part]));
    let events = vec![event(Part::text("One moment.")), event(Part::call(call("g")))];
    let case = EvalCase::new("c")
        .turn(Invocation::user("a").call(call("f")).response("done"))
        .turn(
            Invocation::user("b")
                .with_intermediate_data(IntermediateData::Events(events))
                .response("done too"),
        )
        .final_state(Map::from([("k", 1)]));
    let report = run(EvalRunner::new().run_case(&case, |case: &EvalCase| Replay::from(case))).unwrap();
    assert!(report.verdict.passed(), "{:?}", report.verdict);
    assert_eq!(report.metric("final_session_state_match").map(|metric| metric.scored), Some(1));
    let turns = &report.runs[0].transcript.turns;
    assert_eq!(turns[1].invocation.events()[0].author, "sub");
}

/// Not `Send`.
struct Counting(std::rc::Rc<std::cell::Cell<usize>>);

impl LocalAgent for Counting {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        if turn.text() == "block" {
            std::thread::sleep(Duration::from_millis(800));
        }
        self.0.set(self.0.get() + 1);
        turn.recorder().text(self.0.get().to_string());
        Ok(())
    }
}

#[test]
fn agents_that_are_not_send_run_and_block_nobody_else() {
    let set = eval_format::EvalSet::new("s")
        .case(case("counts", &[("a", "1"), ("b", "2")]))
        .case(case("blocks", &[("block", "1")]));
    let runner = EvalRunner::new().timeout(Duration::from_millis(500));
    let report = run(runner.run_set(&set, || local(|| Counting(std::rc::Rc::default())), 2)).unwrap();
    assert!(report.cases[0].verdict.passed(), "{:?}", report.cases[0].verdict);
    let error = report.cases[1].runs[0].error.as_ref().map(ToString::to_string);
    assert_eq!(
        error.as_deref(),
        Some("agent error in turn 1: timed out after 500ms (`timeout` sets the limit)")
    );
}
