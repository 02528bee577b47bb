//! Events of agents: too late, too many, or not scored.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use eval_format::{Content, FunctionCall, Part, UsageMetadata};

use super::*;
use crate::agent::{MAX_EVENTS, Recorder, Session};

/// An agent that says what the user says, after it did something with the recorder.
struct Doing<F>(F);

impl<F: FnMut(&Turn<'_>) + Send> Agent for Doing<F> {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        (self.0)(turn);
        turn.recorder().text(turn.text());
        Ok(())
    }
}

fn two_turns() -> EvalCase {
    case("c", &[("one", "one"), ("two", "two")])
}

fn delete_account(recorder: &Recorder) {
    recorder.call(FunctionCall::new("delete_account", json!({})));
}

/// The verdict must be this error of the agent.
#[track_caller]
fn is_error(report: &CaseReport, begin: &str) {
    let Verdict::Error { role: Role::Agent, message } = &report.verdict else { panic!("{report}") };
    assert!(message.starts_with(begin), "{message}");
}

const FIRST: &str = "recorded after the turn had ended, the first: the call `delete_account()`";

#[test]
fn a_recorder_that_is_kept_from_an_earlier_turn_is_an_error() {
    let setup = || {
        let mut kept: Option<Recorder> = None;
        Doing(move |turn: &Turn<'_>| {
            let recorder = kept.get_or_insert_with(|| turn.recorder().clone());
            if turn.text() == "two" {
                delete_account(recorder);
            }
        })
    };
    let report = run(EvalRunner::new().run_case(&two_turns(), setup)).unwrap();
    is_error(&report, &format!("agent error in turn 1: 1 event {FIRST}"));
    assert_eq!(report.runs[0].transcript.error, report.runs[0].error, "whoever scores it again sees it too");
}

/// Long enough for a turn to end, and well within what a run waits for those who still hold a recorder.
const AFTER_THE_TURN: Duration = Duration::from_millis(10);

/// The number of times that a thread may miss that time.
const CHANCES: usize = 10;

#[test]
fn a_task_that_outlives_its_turn_is_an_error_wherever_it_runs() {
    type Spawn = fn(Recorder);
    let table: [(&str, usize, Spawn); 3] = [
        ("a task", 1, |recorder| {
            tokio::spawn(async move { delete_account(&recorder) });
        }),
        ("a blocking task", CHANCES, |recorder| {
            tokio::task::spawn_blocking(move || {
                std::thread::sleep(AFTER_THE_TURN);
                delete_account(&recorder);
            });
        }),
        ("a thread", CHANCES, |recorder| {
            std::thread::spawn(move || {
                std::thread::sleep(AFTER_THE_TURN);
                delete_account(&recorder);
            });
        }),
    ];
    for (what, chances, spawn) in table {
        // In the last turn too, after which nothing is awaited any more.
        for last in ["one", "two"] {
            let case = case("c", &[("one", "one"), ("two", "two")][..if last == "one" { 1 } else { 2 }]);
            let setup = || {
                Doing(move |turn: &Turn<'_>| {
                    if turn.text() == last {
                        spawn(turn.recorder().clone());
                    }
                })
            };
            let attempt = || run(EvalRunner::new().run_case(&case, setup)).unwrap();
            let is_agent_error =
                |report: &CaseReport| matches!(report.verdict, Verdict::Error { role: Role::Agent, .. });
            // On a busy machine a thread may get its time within the turn, or when all is over.
            let found = (0..chances).map(|_| attempt()).find(is_agent_error);
            let report = found.unwrap_or_else(|| panic!("{what}: {}", attempt()));
            let turn = if last == "one" { 1 } else { 2 };
            is_error(&report, &format!("agent error in turn {turn}: 1 event {FIRST}"));
        }
    }
}

#[test]
fn what_is_recorded_during_a_later_run_is_an_error_of_its_own_run() {
    let kept: Arc<OnceLock<Recorder>> = Arc::default();
    let count = Arc::new(Mutex::new(0));
    let setup = || {
        let (kept, count) = (Arc::clone(&kept), Arc::clone(&count));
        Doing(move |turn: &Turn<'_>| {
            let recorder = kept.get_or_init(|| turn.recorder().clone());
            let mut count = count.lock().unwrap();
            *count += 1;
            if *count == 2 {
                delete_account(recorder);
            }
        })
    };
    let runner = EvalRunner::new().runs(2);
    let report = run(runner.run_case(&case("c", &[("one", "one")]), setup)).unwrap();
    is_error(&report, &format!("run 1 of 2: agent error in turn 1: 1 event {FIRST}"));
}

#[test]
fn what_is_recorded_while_the_run_is_scored_is_an_error() {
    struct Slow(Arc<OnceLock<Recorder>>);
    impl Metric for Slow {
        async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
            delete_account(self.0.get().ok_or("no recorder")?);
            Ok(input.actual.iter().map(|_| Score::from(1.0)).collect())
        }
    }
    let kept: Arc<OnceLock<Recorder>> = Arc::default();
    let setup = || {
        let kept = Arc::clone(&kept);
        Doing(move |turn: &Turn<'_>| {
            kept.get_or_init(|| turn.recorder().clone());
        })
    };
    let runner = EvalRunner::new().metric("slow", Slow(Arc::clone(&kept)));
    let report = run(runner.run_case(&case("c", &[("one", "one")]), setup)).unwrap();
    is_error(&report, &format!("agent error in turn 1: 1 event {FIRST}"));
}

#[test]
fn what_an_agent_records_while_it_is_dropped_is_an_error() {
    struct Leaving(Option<Recorder>);
    impl Agent for Leaving {
        async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
            turn.recorder().text(turn.text());
            self.0 = Some(turn.recorder().clone());
            Ok(())
        }
    }
    impl Drop for Leaving {
        fn drop(&mut self) {
            self.0.iter().for_each(delete_account);
        }
    }
    let report = run(EvalRunner::new().run_case(&two_turns(), || Leaving(None))).unwrap();
    is_error(&report, &format!("agent error in turn 2: 1 event {FIRST}"));
}

/// An agent with a tool that it builds when the conversation opens.
struct Built {
    tool: Option<Recorder>,
    calls_in_start: bool,
}

impl Agent for Built {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        let tool = session.recorder().author("tools");
        if self.calls_in_start {
            delete_account(&tool);
        }
        self.tool = Some(tool);
        Ok(())
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let tool = self.tool.as_ref().ok_or("not open")?;
        tool.tool("look_up", json!({ "what": turn.text() }), async { Ok::<_, BoxError>(1) }).await?;
        turn.recorder().text(turn.text());
        Ok(())
    }
}

#[test]
fn tools_that_are_built_once_record_into_the_turn_in_progress() {
    let turn = |text: &str| {
        Invocation::user(text).response(text).call(FunctionCall::new("look_up", json!({ "what": text })))
    };
    let case = EvalCase::new("c").turn(turn("one")).turn(turn("two"));
    let setup = |calls_in_start| move || Built { tool: None, calls_in_start };
    let report = run(EvalRunner::new().run_case(&case, setup(false))).unwrap();
    assert_eq!(report.verdict, Verdict::Passed, "{report}");

    let report = run(EvalRunner::new().run_case(&case, setup(true))).unwrap();
    let begin = "agent error: 1 event recorded through `session.recorder()` while no turn was in progress, the \
                 first: the call `delete_account()`";
    is_error(&report, begin);
}

#[test]
fn a_flood_of_events_ends_the_turn_and_is_said() {
    let text: &str = String::leak("x".repeat(1 << 20));
    for (flood, message, kept) in [
        ("events", "more than 100000 events recorded, the rest is lost; is it a loop?", MAX_EVENTS),
        ("bytes", "more than 64 MiB recorded in the conversation, the rest is lost; is it a loop?", 63),
    ] {
        let setup = || {
            Doing(move |turn: &Turn<'_>| {
                loop {
                    match flood {
                        "events" => turn.recorder().usage(UsageMetadata::default()),
                        _ => turn.recorder().text(text),
                    }
                }
            })
        };
        let report = run(EvalRunner::new().run_case(&case("c", &[("hi", "hi")]), setup)).unwrap();
        is_error(&report, &format!("agent error in turn 1: {message}"));
        assert_eq!(report.runs[0].transcript.turns[0].events.len(), kept);
    }
}

#[test]
fn an_agent_that_catches_the_end_of_its_turn_does_not_pass() {
    let setup = || {
        Doing(|turn: &Turn<'_>| {
            let flood = || (0..=MAX_EVENTS).for_each(|_| turn.recorder().usage(UsageMetadata::default()));
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(flood)).is_err());
        })
    };
    let report = run(EvalRunner::new().run_case(&case("c", &[("hi", "hi")]), setup)).unwrap();
    is_error(&report, "agent error in turn 1: more than 100000 events recorded");
}

#[test]
fn a_loop_of_tools_that_never_wait_ends_with_its_time() {
    struct Looping;
    impl Agent for Looping {
        async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
            loop {
                // The limit of events is far away, and a busy machine lets all calls between two yields end in time.
                std::thread::sleep(Duration::from_micros(100));
                turn.recorder().tool("f", json!({}), async { Ok::<_, BoxError>(1) }).await?;
            }
        }
    }
    let runner = EvalRunner::new().timeout(Duration::from_secs(2));
    let begun = Instant::now();
    let report = run(runner.run_case(&case("c", &[("hi", "hi")]), || Looping)).unwrap();
    is_error(&report, "agent error in turn 1: timed out after 2s (`timeout` sets the limit)");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_call_that_no_metric_would_see_is_an_error() {
    let call = || Content::new("model", vec![Part::call(FunctionCall::new("delete_account", json!({})))]);
    for (event, message) in [
        (
            Event::new("user", call()),
            "the call `delete_account()` was recorded for the author `user`, whose events are not scored",
        ),
        (
            Event::new("agent", call()).with_partial(true),
            "the call `delete_account()` was recorded in a fragment of a stream (`partial`), and no whole event",
        ),
    ] {
        let setup = || Replay::new([vec![event.clone(), Event::from("hi")]]);
        let report = run(EvalRunner::new().run_case(&case("c", &[("hi", "hi")]), setup)).unwrap();
        is_error(&report, &format!("agent error in turn 1: {message}"));
    }
}

#[test]
fn fragments_of_a_stream_are_not_scored_beside_the_whole_call() {
    let call =
        || Event::new("agent", Content::new("model", vec![Part::call(FunctionCall::new("f", json!({})))]));
    let setup = || {
        let fragments = [call().with_partial(true), Event::from("h").with_partial(true)];
        Replay::new([[&fragments[..], &[call(), Event::from("hi")]].concat()])
    };
    let turn = Invocation::user("hi").response("hi").call(FunctionCall::new("f", json!({})));
    let report = run(EvalRunner::new().run_case(&EvalCase::new("c").turn(turn), setup)).unwrap();
    assert_eq!(report.verdict, Verdict::Passed, "{report}");
}
