//! Agents whose calls the case answers.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use eval_format::{FunctionCall, ToolSource};
use serde_core::de::DeserializeOwned;

use super::*;
use crate::agent::Recorder;
use crate::tools::GoldenError;

/// A turn that expects calls of `get_weather` by city, each with its answer.
fn turn(answers: &[(&str, serde_json::Value)]) -> Invocation {
    let (mut calls, mut responses) = (Vec::new(), Vec::new());
    for (id, (city, answer)) in answers.iter().enumerate() {
        calls.push(json!({"id": id.to_string(), "name": "get_weather", "args": {"city": city}}));
        responses.push(json!({"id": id.to_string(), "name": "get_weather", "response": answer}));
    }
    let data = json!({"tool_uses": calls, "tool_responses": responses});
    let parts = json!({"parts": [{"text": "go"}]});
    let turn = json!({"user_content": parts, "final_response": {"parts": [{"text": "done"}]}, "intermediate_data": data});
    Invocation::parse(&turn.to_string()).unwrap()
}

fn paris() -> EvalCase {
    EvalCase::new("c").turn(turn(&[("Paris", json!({"sky": "sunny"}))]))
}

#[derive(Clone, Default)]
struct Real(Arc<AtomicUsize>);

impl Real {
    fn calls(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// The tool itself.
    fn get_weather(self) -> impl Future<Output = Result<serde_json::Value, BoxError>> {
        poll_fn(move |_| {
            self.0.fetch_add(1, Ordering::Relaxed);
            Poll::Ready(Ok(json!({"sky": "REAL"})))
        })
    }
}

/// Plays a case with golden tools. The agent asks for the weather of each city, and hides every error.
fn played(case: &EvalCase, cities: &'static [&str], real: &Real) -> (CaseReport, Vec<String>) {
    let seen: Arc<std::sync::Mutex<Vec<String>>> = Arc::default();
    let (told, real) = (Arc::clone(&seen), real.clone());
    let report = with_golden_tools(case, move || {
        let (told, real) = (Arc::clone(&told), real.clone());
        agent_fn(move |_, recorder: Recorder| {
            let (told, real) = (Arc::clone(&told), real.clone());
            async move {
                for city in cities {
                    let args = json!({ "city": city });
                    let result = recorder.golden("get_weather", args, real.clone().get_weather()).await;
                    told.lock().unwrap().push(result.map_or_else(|e| e.to_string(), |it| it.to_string()));
                }
                "done".to_owned()
            }
        })
    });
    let seen = seen.lock().unwrap().clone();
    (report, seen)
}

fn with_golden_tools<A: Agent + 'static>(case: &EvalCase, agent: impl Fn() -> A + Sync) -> CaseReport {
    let runner = EvalRunner::new().tools(ToolSource::Golden).timeout(Duration::from_millis(300));
    run(runner.run_case(case, agent)).unwrap()
}

fn error(report: &CaseReport) -> String {
    let Verdict::Error { role: Role::Tools, message } = &report.verdict else { panic!("{report}") };
    message.strip_prefix("tools error in ").unwrap().to_owned()
}

#[test]
fn the_golden_answers_and_no_tool_runs() {
    let real = Real::default();
    let (report, seen) = played(&paris(), &["Paris"], &real);
    assert_eq!(report.verdict, Verdict::Passed, "{report}");
    assert_eq!(seen, [r#"{"sky":"sunny"}"#]);
    let turn = &report.runs[0].transcript.turns[0].invocation;
    let responses: Vec<_> = turn.tool_responses().collect();
    assert_eq!(responses[0].response.as_ref().unwrap()["sky"].as_str(), Some("sunny"));
    assert_eq!(real.calls(), 0);

    let case = paris();
    let agent = {
        let real = real.clone();
        move || {
            let real = real.clone();
            agent_fn(move |_, recorder: Recorder| {
                let real = real.clone();
                async move {
                    let args = json!({ "city": "Paris" });
                    let _ = recorder.golden("get_weather", args, real.get_weather()).await;
                    "done".to_owned()
                }
            })
        }
    };
    let report = run(EvalRunner::new().run_case(&case, agent)).unwrap();
    assert!(report.verdict.passed());
    assert_eq!(real.calls(), 1, "without golden tools the tool runs");
}

#[test]
fn a_miss_is_an_error_also_if_the_agent_hides_it() {
    let real = Real::default();
    let (report, seen) = played(&paris(), &["Paris", "Oslo"], &real);
    let miss =
        r#"no golden answers get_weather(city: "Oslo") in turn 1; used up: get_weather(city: "Paris")"#;
    assert_eq!(error(&report), format!("turn 1: {miss}"), "{report}");
    assert_eq!((seen[1].as_str(), real.calls()), (miss, 0));
}

#[test]
fn a_tool_that_would_run_ends_the_turn_before_it_does() {
    let real = Real::default();
    let report = with_golden_tools(&paris(), {
        let real = real.clone();
        move || {
            let real = real.clone();
            agent_fn(move |_, recorder: Recorder| {
                let real = real.clone();
                async move {
                    // A task of its own is not polled either.
                    let args = json!({ "city": "Paris" });
                    let tool = async move { recorder.tool("get_weather", args, real.get_weather()).await };
                    let _ = tokio::spawn(tool).await;
                    "done".to_owned()
                }
            })
        }
    });
    assert!(
        error(&report).starts_with("turn 1: `get_weather` was not run: `recorder.tool(..)` runs"),
        "{report}"
    );
    assert_eq!(real.calls(), 0);
}

#[test]
fn a_call_that_is_only_recorded_is_an_error_unless_its_golden_was_asked_for() {
    let agent = |asks: bool| {
        move || {
            agent_fn(move |_, recorder: Recorder| async move {
                let args = Map::from([("city", "Paris")]);
                let mut result = "sunny".into();
                if asks {
                    result = recorder.answer("get_weather", &args).await.unwrap().unwrap();
                }
                recorder.tool_call("get_weather", args, result);
                recorder.call(FunctionCall::new("transfer_to_agent", json!({})));
                recorder.response(eval_format::FunctionResponse::new("transfer_to_agent", json!({})));
                "done".to_owned()
            })
        }
    };
    let report = with_golden_tools(&paris(), agent(false));
    assert!(
        error(&report)
            .starts_with(r#"turn 1: get_weather(city: "Paris") was recorded, and no golden was asked"#),
        "{report}"
    );
    let report = with_golden_tools(&paris(), agent(true));
    assert_eq!(report.verdict, Verdict::Failed, "the transfer is a call too: {report}");
}

/// A tool whose value is of this type.
fn typed<T: serde_core::Serialize + DeserializeOwned + std::fmt::Debug + Send + 'static>(
    golden: serde_json::Value,
) -> (CaseReport, String) {
    let seen: Arc<std::sync::Mutex<String>> = Arc::default();
    let told = Arc::clone(&seen);
    let case = EvalCase::new("c").turn(turn(&[("Paris", golden)]));
    let report = with_golden_tools(&case, move || {
        let told = Arc::clone(&told);
        agent_fn(move |_, recorder: Recorder| {
            let told = Arc::clone(&told);
            async move {
                let never = std::future::pending::<Result<T, GoldenError>>();
                let result = recorder.golden("get_weather", json!({ "city": "Paris" }), never).await;
                *told.lock().unwrap() = match result {
                    Ok(value) => format!("{value:?}"),
                    Err(error) => format!("failed: {error}"),
                };
                "done".to_owned()
            }
        })
    });
    let seen = seen.lock().unwrap().clone();
    (report, seen)
}

#[test]
fn a_golden_is_the_value_or_the_failure_of_its_tool() {
    for (seen, expected) in [
        (typed::<String>(json!({"result": "sunny"})), "\"sunny\""),
        (typed::<Vec<u8>>(json!({"result": [1, 2]})), "[1, 2]"),
        (typed::<Option<u8>>(json!({"result": null})), "None"),
        (typed::<String>(json!({"error": "connection reset"})), "failed: connection reset"),
        (
            typed::<String>(json!({"error_code": 503, "error_message": "down"})),
            r#"failed: {"error_code":503,"error_message":"down"}"#,
        ),
        (
            typed::<std::collections::BTreeMap<String, String>>(json!({"error": "no such city"})),
            r#"{"error": "no such city"}"#,
        ),
    ] {
        assert_eq!((seen.1.as_str(), &seen.0.verdict), (expected, &Verdict::Passed), "{}", seen.0);
    }
    let (report, _) = typed::<u8>(json!({"sky": "sunny"}));
    let message = error(&report);
    assert!(
        message.starts_with(r#"turn 1: the golden answer of get_weather(city: "Paris") does not fit the type of the tool, `u8`: "#)
            && message.ends_with(r#": {"sky":"sunny"}"#),
        "{message}"
    );
}

#[test]
fn faults_are_played() {
    let with = |faults: serde_json::Value| paris().with_extra("_tools", json!({ "1": faults }));
    let real = Real::default();
    let down =
        with(json!({"get_weather#1": {"error": {"error_code": 503}}, "get_weather#2": {"raises": "reset"}}));
    let (report, seen) = played(&down, &["Paris", "Paris", "Paris"], &real);
    assert_eq!(seen, [r#"{"error_code":503}"#, "reset", r#"{"sky":"sunny"}"#]);
    assert_eq!(report.verdict, Verdict::Failed, "two calls more than expected: {report}");

    let (report, seen) = played(&with(json!({"get_weather#1": "never"})), &["Paris"], &real);
    let Verdict::Error { role: Role::Agent, message } = &report.verdict else { panic!("{report}") };
    assert!(
        message.ends_with(
            "(`timeout` sets the limit); the fault `get_weather#1` leaves its call without an answer"
        ),
        "{message}"
    );
    assert!(seen.is_empty());
    let (report, _) = played(&with(json!({"get_weather#1": {"after": 30}})), &["Paris"], &real);
    let Verdict::Error { role: Role::Agent, message } = &report.verdict else { panic!("{report}") };
    assert!(message.ends_with("; the fault `get_weather#1` keeps its answer back for 30s"), "{message}");

    let state = with(json!({"get_weather#1": {"state": {"last_city": "Paris"}}}));
    let state = state.final_state(Map::from([("last_city", "Paris")]));
    let (report, _) = played(&state, &["Paris"], &real);
    assert_eq!(report.verdict, Verdict::Passed, "{report}");
    assert_eq!(real.calls(), 0);
}

/// The golden is one call. A fault adds the call that fails, which the case allows.
#[test]
fn an_agent_that_tries_again_passes_and_one_that_gives_up_fails() {
    let down = json!({"1": {"get_weather#1": {"error": {"error_code": 503, "error_message": "down"}}}});
    let case = paris().with_extra("_tools", down);
    let rules = json!({"1": {"repeat": {"get_weather": 2}}});
    let agent = |tries: usize| {
        move || {
            agent_fn(move |_, recorder: Recorder| async move {
                for _ in 0..tries {
                    let args = json!({ "city": "Paris" });
                    let none = std::future::pending::<Result<serde_json::Value, BoxError>>();
                    let answer = recorder.golden("get_weather", args, none).await.unwrap_or_default();
                    if answer["error_code"].is_null() {
                        return "done".to_owned();
                    }
                }
                "The service is down.".to_owned()
            })
        }
    };
    let ruled = case.clone().with_extra(EvalCase::EXPECT_KEY, rules);
    assert_eq!(with_golden_tools(&ruled, agent(2)).verdict, Verdict::Passed);
    assert_eq!(with_golden_tools(&ruled, agent(1)).verdict, Verdict::Failed);
    assert_eq!(with_golden_tools(&case, agent(2)).verdict, Verdict::Failed, "two calls, and one is expected");
}

#[test]
fn a_call_after_the_last_turn_that_no_golden_answers_is_an_error() {
    for asks in ["state", "end"] {
        let report = with_golden_tools(&paris(), || AsksLate(asks, None));
        assert!(
            error(&report).starts_with(r#"turn 1: no golden answers get_weather(city: "Oslo") in turn 1"#),
            "{report}"
        );
        let mut talk = crate::testing::Conversation::new(AsksLate(asks, None)).with_golden_tools(&paris());
        let finished = run(async {
            talk.say("go").await.unwrap();
            talk.finish().await
        });
        assert!(finished.unwrap_err().to_string().contains("no golden answers"), "{asks}");
    }
}

/// Makes the expected call, and answers.
async fn expected_call(turn: &Turn<'_>) -> Result<(), BoxError> {
    let none = std::future::pending::<Result<serde_json::Value, BoxError>>();
    turn.recorder().golden("get_weather", json!({ "city": "Paris" }), none).await?;
    turn.recorder().text("done");
    Ok(())
}

/// An agent that asks for the weather in Oslo when its turns are over, and hides that there is none.
struct AsksLate(&'static str, Option<crate::tools::GoldenTools>);

impl AsksLate {
    fn ask(&self, here: &str) {
        if self.0 == here
            && let Some(tools) = &self.1
        {
            drop(tools.call("get_weather", &Map::from([("city", "Oslo")])));
        }
    }
}

impl Agent for AsksLate {
    async fn start(&mut self, session: &crate::agent::Session) -> Result<(), BoxError> {
        self.1 = session.recorder().golden_tools();
        Ok(())
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        expected_call(turn).await
    }

    async fn state(&mut self) -> Result<Option<Map>, BoxError> {
        self.ask("state");
        Ok(None)
    }

    async fn end(&mut self) -> Result<(), BoxError> {
        self.ask("end");
        Ok(())
    }
}

/// The metrics of these cases pass, so the fault alone decides.
#[test]
fn a_fault_that_no_call_reached_fails_its_case_unless_something_broke() {
    let faulty = paris().with_extra("_tools", json!({"1": {"get_weather#2": {"raises": "reset"}}}));
    let (report, _) = played(&faulty, &["Paris"], &Real::default());
    assert_eq!(report.verdict, Verdict::Failed);
    assert!(!report.metrics.iter().any(|metric| metric.verdict.fails()), "{report}");
    let why = "failed in turn 1: the fault `get_weather#2` was not reached: the agent called `get_weather` 1 time in the turn; \
               change the fault in turn 1 of `_tools`, or what the agent does";
    assert!(report.runs[0].error.as_ref().is_some_and(|error| error.to_string() == why), "{report}");
    let text = report.to_string();
    assert!(
        text.starts_with("Error: c: failed in turn 1: the fault `get_weather#2` was not reached"),
        "{text}"
    );

    // What was recorded is decided in the same way.
    let recorded = || report.runs.iter().map(|run| run.transcript.clone()).collect();
    let again = run(EvalRunner::new().tools(ToolSource::Golden).score_case(&faulty, recorded())).unwrap();
    assert_eq!(
        (again.verdict.clone(), again.metrics.len()),
        (Verdict::Failed, report.metrics.len()),
        "{again}"
    );

    for breaks in ["ends", "state"] {
        let broken = with_golden_tools(&faulty, || Breaks(breaks));
        let Verdict::Error { role: Role::Agent, message } = &broken.verdict else { panic!("{broken}") };
        assert!(message.contains("out of order"), "{message}");
    }
    let runner = EvalRunner::new().tools(ToolSource::Golden).runs(2).pass(PassRule::Any);
    let turns = AtomicUsize::new(0);
    let mixed = run(runner.run_case(&faulty, || {
        let calls = 1 + turns.fetch_add(1, Ordering::Relaxed);
        agent_fn(move |_, recorder: Recorder| async move {
            for _ in 0..calls {
                let args = Map::from([("city", "Paris")]);
                let _ = recorder.answer("get_weather", &args).await;
            }
            recorder.call(FunctionCall::new("get_weather", json!({"city": "Paris"})).with_id("1"));
            recorder.response(eval_format::FunctionResponse::new("get_weather", json!({})).with_id("1"));
            "done".to_owned()
        })
    }))
    .unwrap();
    assert_eq!((mixed.verdict.clone(), mixed.passed_runs), (Verdict::Passed, Some(1)), "{mixed}");
    assert!(mixed.notes.iter().any(|note| note.contains("run 1 of 2 does not count")), "{:?}", mixed.notes);
}

/// An agent that makes the expected call, and breaks where it says.
struct Breaks(&'static str);

impl Agent for Breaks {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        expected_call(turn).await
    }

    async fn state(&mut self) -> Result<Option<Map>, BoxError> {
        if self.0 == "state" { Err("out of order".into()) } else { Ok(None) }
    }

    async fn end(&mut self) -> Result<(), BoxError> {
        if self.0 == "ends" { Err("out of order".into()) } else { Ok(()) }
    }
}

#[test]
fn goldens_that_were_not_used_are_a_note() {
    let case = EvalCase::new("c").turn(turn(&[("Paris", json!({})), ("Oslo", json!({}))]));
    let (report, _) = played(&case, &["Paris"], &Real::default());
    assert_eq!(report.verdict, Verdict::Failed);
    let note = r#"turn 1 did not use 1 of 2 golden answers: get_weather(city: "Oslo")"#;
    assert!(report.notes.iter().any(|found| found == note), "{:?}", report.notes);
}

#[test]
fn cases_that_cannot_be_answered_and_faults_of_real_tools_are_refused() {
    let silent = EvalCase::new("c")
        .turn(Invocation::user("go").call(FunctionCall::new("get_weather", json!({}))).response("done"));
    let refused = |tools, case: &EvalCase| {
        let runner = EvalRunner::new().tools(tools);
        run(runner.run_case(case, || Replay::new([["done"]]))).unwrap_err().to_string()
    };
    let message = refused(ToolSource::Golden, &silent);
    assert!(message.contains("turn 1 has no response of `get_weather` to answer its call with"), "{message}");
    let faulty = paris().with_extra("_tools", json!({"1": {"get_weather#1": "never"}}));
    let message = refused(ToolSource::Real, &faulty);
    assert!(message.contains("nothing plays its fault `get_weather#1`"), "{message}");

    // A recorded run is scored without tools.
    let (report, _) = played(&paris(), &["Paris"], &Real::default());
    let runs = report.runs.into_iter().map(|run| run.transcript).collect();
    let scored = run(EvalRunner::new().score_case(&faulty, runs)).unwrap();
    assert_eq!(scored.verdict, Verdict::Passed, "{scored}");
}
