use std::time::Duration;

use eval_format::{
    Bound, Criterion, EvalCase, EvalConfig, EvalSet, Invocation, Map, MatchType, PassRule, Similarity,
};
use serde_json::json;

use super::*;
use crate::EvalRunner;
use crate::agent::{Agent, BoxError, Event, Replay, Turn, agent_fn};
use crate::metric::{Metric, MetricInput, Score, Scores};
use crate::report::CaseReport;
use crate::verdict::{Role, Verdict};

#[cfg(feature = "judges")]
mod bookkeeping;
mod checked;
#[cfg(unix)]
mod commands;
mod endings;
mod expectations;
mod golden_tools;
mod isolation;
#[cfg(feature = "judges")]
mod judges;
mod programs;
mod recording;
mod retry;
#[cfg(feature = "judges")]
mod secrets;
mod state;
mod unseen;

fn case(id: &str, turns: &[(&str, &str)]) -> EvalCase {
    turns
        .iter()
        .fold(EvalCase::new(id), |case, (ask, answer)| case.turn(Invocation::user(*ask).response(*answer)))
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// An agent that answers the first turn and misbehaves in the second, as the user asks.
struct Moody;

impl Agent for Moody {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let recorder = turn.recorder();
        match turn.text().as_str() {
            "fail" => {
                recorder.tool("lookup", json!({ "id": 1 }), async { Ok::<_, BoxError>(1) }).await?;
                return Err("connection refused".into());
            }
            "panic" => panic!("index out of bounds"),
            "hang" => {
                recorder.text("let me think");
                std::future::pending::<()>().await;
            }
            "block" => std::thread::sleep(Duration::from_millis(300)),
            "nothing" => {
                recorder.tool("lookup", json!({}), async { Ok::<_, BoxError>(1) }).await.map(|_| ())?;
            }
            "error event" => {
                recorder.event(Event::error("model", "429", "slow down"));
                recorder.text("an answer all the same");
            }
            other => recorder.text(other),
        }
        Ok(())
    }
}

#[test]
fn what_goes_wrong_is_an_error_with_its_record_and_the_others_go_on() {
    let table = [
        ("fail", "agent error in turn 2: connection refused", 2),
        ("panic", "agent error in turn 2: panicked: index out of bounds", 0),
        ("hang", "agent error in turn 2: timed out after 200ms (`timeout` sets the limit)", 1),
        ("block", "agent error in turn 2: blocked its thread for", 0),
        (
            "nothing",
            "agent error in turn 2: the agent answered nothing (2 events and 1 tool call recorded",
            2,
        ),
        ("error event", "agent error in turn 2: `model` reported model error 429: slow down", 2),
    ];
    let bad = table.map(|(mood, ..)| case(mood, &[("hi", "hi"), (mood, mood)]));
    let set = bad
        .into_iter()
        .chain([case("good", &[("hi", "hi"), ("bye", "bye")])])
        .fold(EvalSet::new("s"), EvalSet::case);
    for concurrency in [1, 4] {
        let runner = EvalRunner::new().timeout(Duration::from_millis(200));
        let report = run(runner.run_set(&set, || Moody, concurrency)).unwrap();
        for ((mood, message, events), found) in table.iter().zip(&report.cases) {
            assert_eq!(found.eval_id(), *mood);
            let Verdict::Error { role: Role::Agent, message: seen } = &found.verdict else {
                panic!("{mood}: {:?}", found.verdict)
            };
            assert!(seen.starts_with(message), "{mood}: {seen}");
            let turns = &found.runs[0].transcript.turns;
            assert_eq!((turns.len(), turns[0].invocation.response_text().as_str()), (2, "hi"), "{mood}");
            assert_eq!(turns[1].events.len(), *events, "{mood}");
        }
        assert_eq!(report.cases[6].verdict, Verdict::Passed);
        let summary = report.summary();
        assert_eq!((summary.total, summary.passed, summary.failed, summary.errors), (7, 1, 0, 6));
    }
}

/// An agent that answers, and panics or blocks where one does not expect it.
struct Sly(&'static str);

impl Agent for Sly {
    fn turn(&mut self, turn: &Turn<'_>) -> impl Future<Output = Result<(), BoxError>> + Send {
        turn.recorder().text("hi");
        let how = if turn.text() == "again" { self.0 } else { "" };
        assert_ne!(how, "before its future");
        if how == "block before its future" {
            std::thread::sleep(Duration::from_millis(300));
        }
        let bomb = (how == "when cancelled").then(|| Sly("when dropped"));
        async move {
            if bomb.is_some() {
                std::future::pending::<()>().await;
            }
            Ok(())
        }
    }

    fn details(&self) -> eval_format::AppDetails {
        assert_ne!(self.0, "details");
        eval_format::AppDetails::default()
    }
}

impl Drop for Sly {
    fn drop(&mut self) {
        assert_ne!(self.0, "when dropped");
    }
}

#[test]
fn an_agent_is_fenced_in_wherever_its_code_runs() {
    let case = case("c", &[("once", "hi"), ("again", "hi")]);
    let runner = EvalRunner::new().timeout(Duration::from_millis(100));
    for (how, message, turns) in [
        ("before its future", "agent error in turn 2: panicked: ", 2),
        ("block before its future", "agent error in turn 2: blocked its thread for", 2),
        ("when cancelled", "agent error in turn 2: panicked: ", 2),
        ("when dropped", "agent error: dropping the agent: panicked: ", 2),
        ("details", "agent error in turn 1: reading the agent's details: panicked: ", 1),
    ] {
        let report = run(runner.run_case(&case, || Sly(how))).unwrap();
        let Verdict::Error { role: Role::Agent, message: seen } = &report.verdict else {
            panic!("{how}: {:?}", report.verdict)
        };
        assert!(seen.starts_with(message), "{how}: {seen}");
        let played = &report.runs[0].transcript.turns;
        assert_eq!(played.len(), turns, "{how}");
        assert!(played.iter().all(|turn| turn.events.len() == 1), "{how}: what was recorded is kept");
    }
}

#[test]
fn a_setup_that_fails_panics_or_hangs_is_an_error_of_the_setup() {
    let case = case("c", &[("hi", "hi")]);
    let runner = EvalRunner::new().timeout(Duration::from_millis(50));
    let message = |report: CaseReport| match report.verdict {
        Verdict::Error { role: Role::Setup, message } => message,
        other => panic!("{other:?}"),
    };
    let failed = run(runner.run_case(&case, || Err::<Replay, _>("no key"))).unwrap();
    assert_eq!(message(failed), "setup error: no key");
    let panicked = run(runner.run_case(&case, || -> Replay { panic!("boom") })).unwrap();
    assert_eq!(message(panicked), "setup error: panicked: boom");
    let hung = run(runner.run_case(&case, std::future::pending::<Replay>)).unwrap();
    assert_eq!(message(hung), "setup error: timed out after 50ms (`timeout` sets the limit)");
}

#[test]
fn state_is_seeded_kept_through_the_turns_and_compared() {
    struct Counter {
        count: i64,
    }
    impl Agent for Counter {
        async fn start(&mut self, session: &crate::agent::Session) -> Result<(), BoxError> {
            assert_eq!(
                (session.app_name.as_str(), session.user_id.as_str()),
                ("EvaluationGenerator", "test_user_id")
            );
            self.count = session.state.get("count").and_then(eval_format::Value::as_i64).ok_or("no count")?;
            Ok(())
        }
        async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
            self.count += 1;
            turn.recorder().state("count", self.count);
            turn.recorder().text(self.count.to_string());
            Ok(())
        }
    }
    let expecting = |state: i64| {
        case("c", &[("a", "41"), ("b", "42")])
            .state(Map::from([("count", 40_i64)]))
            .final_state(Map::from([("count", state)]))
    };
    let runner = EvalRunner::new().runs(2);
    let good = run(runner.run_case(&expecting(42), || Counter { count: 0 })).unwrap();
    assert_eq!(good.verdict, Verdict::Passed, "{good}");
    assert!(good.to_string().starts_with("c: passed\n  --> case `c`\n"), "{good}");
    let bad = run(runner.run_case(&expecting(7), || Counter { count: 0 })).unwrap();
    assert_eq!(bad.verdict, Verdict::Failed);
    let metric = bad.metric("final_session_state_match").unwrap();
    assert_eq!((metric.score, metric.verdict.clone()), (Some(0.0), Verdict::Failed));
    assert_eq!(bad.metric("response_match_score").unwrap().verdict, Verdict::Passed);
    assert!(bad.to_string().contains("`count`: expected 7, found 42"), "{bad}");
}

#[test]
fn every_shape_of_setup_compiles_and_runs() {
    let case = case("c", &[("hi", "hi")]);
    let echo = || agent_fn(|text, _| async move { Ok::<_, BoxError>(text) });
    let runner = EvalRunner::new();
    run(async {
        for report in [
            runner.run_case(&case, echo).await,
            runner.run_case(&case, || async move { echo() }).await,
            runner.run_case(&case, || async move { Ok::<_, String>(echo()) }).await,
            runner
                .run_case(&case, |case: &EvalCase| Replay::new([[case.eval_id.replace('c', "hi").as_str()]]))
                .await,
            runner
                .run_case(&case, |case: &EvalCase| {
                    let id = case.eval_id.clone();
                    async move { Replay::new([[id.replace('c', "hi").as_str()]]) }
                })
                .await,
        ] {
            assert_eq!(report.unwrap().verdict, Verdict::Passed);
        }
    });
}

#[test]
fn runs_get_a_fresh_agent_each_and_errors_name_theirs() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let setup = || match count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
        1 => Replay::new(Vec::<Vec<Event>>::new()),
        _ => Replay::new([["hi"]]),
    };
    let report = run(EvalRunner::new().runs(3).run_case(&case("c", &[("hi", "hi")]), setup)).unwrap();
    assert_eq!(report.runs.len(), 3);
    let message = report.verdict.reason().unwrap();
    assert_eq!(message, "run 2 of 3: agent error in turn 1: the recording ends after 0 turns");
}

#[test]
fn costs_tokens_and_calls_gate_by_a_criterion_of_at_most() {
    let case = case("c", &[("hi", "hi")]);
    let cost = |actual: &Invocation, _: Option<&Invocation>, _: &Criterion| {
        actual.response_text().parse::<f64>().unwrap_or_default()
    };
    let report = |answer: &'static str, runner: EvalRunner| {
        run(runner.run_case(&case, move || Replay::new([[answer]]))).unwrap()
    };
    let costly = |answer| {
        let only = ("cost", Bound::at_most(5.0));
        report(answer, EvalRunner::new().metric("cost", cost).only_metric(only))
    };
    assert_eq!(costly("3").verdict, Verdict::Passed);
    let failed = costly("10");
    assert_eq!(failed.verdict, Verdict::Failed);
    let shown = failed.to_string();
    assert!(shown.contains("cost is 10.0, at most 5.0") && shown.contains("at most 5.0  FAILED"), "{shown}");
    let of = |name: &str, threshold| {
        report("hi", EvalRunner::new().criterion(name, Criterion::at_most(threshold))).verdict
    };
    assert_eq!(of("tool_call_count_v1", 0.0), Verdict::Passed);
    // Nothing that was not measured passes.
    assert!(matches!(of("token_usage_v1", 5_000.0), Verdict::NotEvaluated(_)), "no tokens were reported");
    assert_eq!(of("invocation_duration_v1", 60.0), Verdict::Passed);
}

#[test]
fn custom_metrics_gate_and_their_failures_stay_their_own() {
    struct Broken(&'static str);
    impl Metric for Broken {
        async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
            match self.0 {
                "error" => Err("no luck".into()),
                "panic" => panic!("oh"),
                "hang" => std::future::pending().await,
                "count" => Ok([Score::from(1.0), Score::from(1.0)].into_iter().collect()),
                "nan" => Ok(input.actual.iter().map(|_| Score::from(f64::NAN)).collect()),
                _ => Ok(input.actual.iter().map(|_| Score::from(0.5)).collect()),
            }
        }
    }
    let case = case("c", &[("hi", "hi")]);
    let verdict = |how: &'static str, runner: EvalRunner| {
        let runner = runner.metric("own", Broken(how)).timeout(Duration::from_millis(50));
        let report = run(runner.run_case(&case, || Replay::new([["hi"]]))).unwrap();
        assert_eq!(report.metric("response_match_score").map(|metric| metric.verdict.passed()), Some(true));
        report.verdict
    };
    for (how, message) in [
        ("error", "own: no luck"),
        ("panic", "own: panicked: oh"),
        ("hang", "own: timed out after 50ms (`timeout` sets the limit)"),
        ("count", "own: returned 2 scores for 1 turn"),
    ] {
        assert_eq!(verdict(how, EvalRunner::new()), Verdict::error(Role::Metric, message));
    }
    assert!(matches!(verdict("nan", EvalRunner::new()), Verdict::NotEvaluated(_)));
    assert_eq!(
        verdict("half", EvalRunner::new()),
        Verdict::Failed,
        "a custom metric needs a full score by default"
    );
    let lenient = EvalRunner::new()
        .criterion("response_match_score", Criterion::new(0.8))
        .criterion("own", Criterion::new(0.5));
    assert_eq!(verdict("half", lenient), Verdict::Passed);
}

#[test]
fn settings_that_contradict_each_other_are_errors() {
    let set = EvalSet::new("s").case(case("c", &[("hi", "hi")]));
    let error = |runner: EvalRunner, set: &EvalSet| {
        run(runner.run_set(set, || Replay::new([["hi"]]), 1)).unwrap_err().to_string()
    };
    assert_eq!(error(EvalRunner::new(), &EvalSet::new("empty")), "the set `empty` has no cases");
    assert!(error(EvalRunner::new().runs(0), &set).contains("at least once"));
    assert!(
        error(EvalRunner::new().runs(2).pass(PassRule::AtLeast(3)), &set).contains("3 passing runs of 2")
    );
    assert!(error(EvalRunner::new().pass(PassRule::AtLeast(0)), &set).contains("at_least(0)"));
    assert!(error(EvalRunner::new().config(EvalConfig::default()), &set).contains("pass unchecked"));
    let typo = Criterion::new(1.0).with("match_typ", "EXACT");
    for (metric, criterion, message) in [
        ("nope", Criterion::new(1.0), "no metric `nope`"),
        ("response_match_score", Criterion::new(-1.0), "threshold"),
        ("response_match_score", Criterion::new(f64::NAN), "response_match_score"),
        ("token_usage_v1", Criterion::new(0.0), "token_usage_v1"),
        ("safety_v1", Criterion::new(f64::INFINITY), "threshold"),
        ("final_response_match_v2", Criterion::new(1.0).with_num_samples(0), "`num_samples` must be"),
        (
            "rubric_based_tool_use_quality_v1",
            Criterion::new(1.0),
            "case `c`: `rubric_based_tool_use_quality_v1` has no rubrics",
        ),
        ("tool_trajectory_avg_score", typo, "match_typ"),
        ("trajectory_single_tool_use", Criterion::new(1.0), "no `tool_name`"),
        ("response_match_score", Criterion::new(1.0).with_algorithm(Similarity::Exact), "`algorithm`"),
        ("response_similarity", Criterion::new(1.0).with("algorithm", "cosine"), "`levenshtein`"),
        ("trajectory_recall", Criterion::new(1.0).with_match_type(MatchType::AnyOrder), "`match_type`"),
    ] {
        let seen = error(EvalRunner::new().criterion(metric, criterion), &set);
        assert!(seen.contains(message), "{metric}: {seen}");
    }
}

#[test]
fn without_a_runtime_it_says_so() {
    let case = case("c", &[("hi", "hi")]);
    let runner = EvalRunner::new();
    let report = std::pin::pin!(runner.run_case(&case, || Replay::new([["hi"]])));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = report.poll(&mut context) else { panic!("it went ahead") };
    assert!(error.to_string().contains("tokio runtime"), "{error}");
}

#[test]
fn futures_of_the_runner_can_be_spawned() {
    fn is_send<T: Send>(_: &T) {}
    let (runner, set) = (EvalRunner::new(), EvalSet::new("s"));
    is_send(&runner.run_set(&set, || Replay::new([["hi"]]), 2));
    is_send(&runner.run_case(&EvalCase::new("c"), || async { Replay::new([["hi"]]) }));
}

#[test]
fn a_set_of_a_directory_that_its_criteria_do_not_fit_is_named_by_its_file() {
    let folder = std::env::temp_dir().join(format!("evalset-misfit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let set = EvalSet::new("s").case(case("c", &[("hi", "hi")]));
    std::fs::write(folder.join("weather.evalset.json"), set.to_json()).unwrap();
    let config = r#"{"criteria": {"rubric_based_tool_use_quality_v1": 1.0}}"#;
    std::fs::write(folder.join("test_config.json"), config).unwrap();
    let error = run(EvalRunner::new().run_dir(&folder, || Replay::new([["hi"]]), 1)).unwrap_err();
    std::fs::remove_dir_all(&folder).unwrap();
    let error = error.to_string();
    assert!(error.starts_with(&format!("`{}`: ", folder.join("weather.evalset.json").display())), "{error}");
    assert!(error.contains("case `c`: `rubric_based_tool_use_quality_v1` has no rubrics"), "{error}");
}

#[test]
fn a_directory_whose_config_would_be_passed_over_is_not_run() {
    let folder = std::env::temp_dir().join(format!("evalset-overlooked-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("deep")).unwrap();
    let set = EvalSet::new("s").case(case("c", &[("hi", "hi")]));
    std::fs::write(folder.join("deep/weather.evalset.json"), set.to_json()).unwrap();
    std::fs::write(folder.join("test_config.json"), r#"{"criteria": {"response_match_score": 1.0}}"#)
        .unwrap();
    let setup = || Replay::new([["hi"]]);
    let error = run(EvalRunner::new().run_dir(&folder, setup, 1)).unwrap_err().to_string();
    let own = EvalRunner::new().criterion("response_match_score", Criterion::new(0.5));
    let own = run(own.run_dir(&folder, setup, 1));
    let deep = run(EvalRunner::new().run_dir(folder.join("deep"), setup, 1));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(error.contains("test_config.json` is passed over: a config holds for its own folder"), "{error}");
    assert!(error.contains("or give the runner its criteria"), "{error}");
    assert_eq!([own, deep].map(|report| report.map(|report| report.cases.len()).unwrap()), [1, 1]);
}
