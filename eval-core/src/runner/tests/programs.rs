//! Programs that use a runner: their setups, metrics and agents, its errors, and cases as they end.

use std::io::ErrorKind;
use std::sync::{Arc, Mutex};

use eval_format::ReadError;
use eval_format::options::MOST_RUNS;

use super::*;
use crate::journal::Journal;
use crate::metric::BoxMetric;

fn hi() -> EvalCase {
    case("c", &[("hi", "hi")])
}

fn replay() -> Replay {
    Replay::new([["hi"]])
}

#[test]
fn programs_are_told_of_each_case_when_it_ends() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let (one, two) = (told.clone(), told.clone());
    let mut count = 0;
    let runner = EvalRunner::new()
        .on_case(move |case| one.lock().unwrap().push(format!("{} {}", case.eval_id(), case.verdict)))
        .on_case(move |_| {
            count += 1;
            two.lock().unwrap().push(format!("{count}"));
        });
    let set = EvalSet::new("s").case(case("slow", &[("hi", "hi")])).case(case("fast", &[("hi", "bye")]));
    let setup = async |case: &EvalCase| {
        if case.eval_id == "slow" {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        replay()
    };
    let report = run(runner.run_set(&set, setup, 2)).unwrap();
    assert_eq!(*told.lock().unwrap(), ["fast FAILED", "1", "slow passed", "2"]);
    assert_eq!(report.cases.iter().map(CaseReport::eval_id).collect::<Vec<_>>(), ["slow", "fast"]);
}

#[test]
fn what_was_told_is_kept_if_the_run_is_dropped() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let kept = told.clone();
    let runner = EvalRunner::new().on_case(move |case| kept.lock().unwrap().push(case.clone()));
    let set = EvalSet::new("s").case(case("a", &[("hi", "hi")])).case(case("hangs", &[("hi", "hi")]));
    let setup = async |case: &EvalCase| {
        if case.eval_id == "hangs" {
            std::future::pending::<()>().await;
        }
        replay()
    };
    run(async {
        let running = runner.run_set(&set, setup, 2);
        assert!(tokio::time::timeout(Duration::from_millis(200), running).await.is_err());
    });
    assert_eq!(told.lock().unwrap().iter().map(CaseReport::eval_id).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn setups_borrow_lend_and_change_what_they_captured() {
    async fn of_case(case: &EvalCase) -> Result<Replay, BoxError> {
        if case.eval_id == "c" { Ok(replay()) } else { Err("another case".into()) }
    }
    let (runner, case) = (EvalRunner::new(), hi());
    let answers = vec!["hi".to_owned()];
    let mut made = [0; 4];
    let [plain, of_the_case, later, later_of_the_case] = &mut made;
    run(async {
        for report in [
            runner.run_case(&case, of_case).await,
            runner.run_case(&case, async || Replay::new([[answers[0].as_str()]])).await,
            runner.run_case(&case, async |case: &EvalCase| of_case(case).await).await,
            runner
                .run_case(&case, async |case: &EvalCase| {
                    Replay::new([[answers[case.eval_id.len() - 1].as_str()]])
                })
                .await,
            runner
                .run_case(&case, |case: &EvalCase| {
                    let answers = answers.clone();
                    let id = case.eval_id.len();
                    async move { Replay::new([[answers[id - 1].as_str()]]) }
                })
                .await,
            runner
                .run_case(
                    &case,
                    Mutex::new(|| {
                        *plain += 1;
                        replay()
                    }),
                )
                .await,
            runner
                .run_case(
                    &case,
                    Mutex::new(|case: &EvalCase| {
                        *of_the_case += case.eval_id.len();
                        replay()
                    }),
                )
                .await,
            runner
                .run_case(
                    &case,
                    Mutex::new(|| {
                        *later += 1;
                        async { replay() }
                    }),
                )
                .await,
            runner
                .run_case(
                    &case,
                    Mutex::new(|case: &EvalCase| {
                        *later_of_the_case += case.eval_id.len();
                        async { Ok::<_, String>(replay()) }
                    }),
                )
                .await,
        ] {
            assert_eq!(report.unwrap().verdict, Verdict::Passed);
        }
    });
    assert_eq!(made, [1; 4]);
}

#[test]
fn an_agent_that_borrows_runs_one_case_once() {
    struct Counting<'a>(&'a mut usize);
    impl Agent for Counting<'_> {
        async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
            *self.0 += 1;
            turn.recorder().text(turn.text());
            Ok(())
        }
    }
    let mut turns = 0;
    let told = Arc::new(Mutex::new(0));
    let counts = told.clone();
    let runner = EvalRunner::new().on_case(move |_| *counts.lock().unwrap() += 1);
    let report = run(runner.run_agent(&hi(), Counting(&mut turns))).unwrap();
    assert_eq!((report.verdict, turns, *told.lock().unwrap()), (Verdict::Passed, 1, 1));
    let error = run(EvalRunner::new().runs(2).run_agent(&hi(), Counting(&mut turns))).unwrap_err();
    assert!(error.to_string().starts_with("`runs` is 2, and an agent is one conversation"), "{error}");
    assert_eq!(turns, 1);
}

#[test]
fn functions_closures_and_shared_values_are_metrics() {
    struct Fine;
    impl Metric for Fine {
        async fn score(&self, _: MetricInput<'_>) -> Result<Scores, BoxError> {
            Ok(Scores::whole_run(true))
        }
    }
    fn plain(actual: &Invocation, _: Option<&Invocation>, _: &Criterion) -> bool {
        actual.response_text() == "hi"
    }
    async fn later(actual: &Invocation, expected: Option<&Invocation>, _: &Criterion) -> Score {
        Score::from(expected.is_some_and(|expected| expected.response_text() == actual.response_text()))
    }
    let word = "hi".to_owned();
    let shared = Arc::new(Fine);
    let runner = EvalRunner::new()
        .metric("plain", plain)
        .metric("later", later)
        .metric("made", || Fine)
        .metric("closure", move |actual: &Invocation, _: Option<&Invocation>, _: &Criterion| {
            actual.response_text() == word
        })
        .metric("async closure", async |actual: &Invocation, _: Option<&Invocation>, _: &Criterion| {
            Score::from(actual.response_text() == "hi")
        })
        .metric("value", Fine)
        .metric("shared", shared.clone())
        .metric("boxed", BoxMetric::new(shared));
    let report = run(runner.run_case(&hi(), replay)).unwrap();
    assert_eq!(report.verdict, Verdict::Passed, "{report}");
    let names = ["plain", "later", "made", "closure", "async closure", "value", "shared", "boxed"];
    for name in names {
        assert_eq!(report.metric(name).unwrap().score, Some(1.0), "{name}");
    }
}

#[test]
fn a_metric_can_be_tested_alone() {
    let case = case("c", &[("one", "1"), ("two", "2")]);
    let actual = [Invocation::user("one").response("1")];
    let criterion = Criterion::new(0.5);
    let input = MetricInput::new(&case, &actual, &criterion);
    assert_eq!((input.expected.len(), input.state.len(), input.turns().count()), (2, 0, 1));
    let state = Map::from([("count", 1_i64)]);
    assert_eq!(input.with_state(&state).state, &state);
}

#[cfg(feature = "judges")]
#[test]
fn a_metric_that_is_tested_without_a_judge_is_told_so() {
    let (case, criterion) = (hi(), Criterion::new(0.5));
    let judging = MetricInput::new(&case, &[], &criterion).judging();
    let error = run(judging.ask(&judging.request("x/1", "?", 0))).unwrap_err();
    assert!(error.to_string().contains("`MetricInput::with_judge`"), "{error}");
}

#[test]
fn more_runs_than_a_report_can_hold_are_refused() {
    for runs in [MOST_RUNS as usize + 1, usize::MAX] {
        let error = run(EvalRunner::new().runs(runs).run_case(&hi(), replay)).unwrap_err();
        assert!(matches!(error, RunnerError::TooManyRuns(seen) if seen == runs), "{error}");
        assert!(error.to_string().contains("at most 100000 times"), "{error}");
    }
}

#[test]
fn a_runtime_without_timers_is_refused_before_anything_runs() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let error = runtime.block_on(EvalRunner::new().run_case(&hi(), replay)).unwrap_err();
    assert!(matches!(error, RunnerError::NoTimers), "{error}");
}

#[test]
fn a_journal_that_cannot_be_written_is_an_error_of_programs() {
    let file = std::env::temp_dir().join(format!("evalset-no-folder-{}", std::process::id()));
    std::fs::write(&file, "a file").unwrap();
    let set = EvalSet::new("s").case(hi());
    let error = run(EvalRunner::new().journal(file.join("runs")).run_set(&set, replay, 1)).unwrap_err();
    std::fs::remove_file(&file).unwrap();
    let RunnerError::Journal { path, source } = &error else { panic!("{error}") };
    assert_eq!(path, &file.join("runs"));
    assert_eq!(source.kind(), ErrorKind::NotADirectory);
    assert!(error.to_string().contains("`EVALSET_JOURNAL=off`"), "{error}");
}

#[test]
fn a_journal_that_breaks_during_the_run_is_said_and_refused_next_time() {
    let runner = EvalRunner::new().journal("nowhere");
    runner.opened.set(Ok(Some(Arc::new(Journal::on_full_disk())))).unwrap();
    let report = run(runner.run_case(&hi(), replay)).unwrap();
    assert_eq!(report.verdict, Verdict::Passed, "what cannot be written changes no verdict");
    assert!(report.notes[0].starts_with("the journal lacks this case"), "{:?}", report.notes);
    let error = run(runner.run_case(&hi(), replay)).unwrap_err();
    assert!(matches!(error, RunnerError::Journal { .. }), "{error}");
}

#[test]
fn errors_hold_the_errors_they_come_from() {
    let bad = EvalRunner::new().criterion("response_match_score", Criterion::new(-1.0));
    let error = run(bad.run_case(&hi(), replay)).unwrap_err();
    assert!(matches!(error, RunnerError::Criteria(_)), "{error:?}");
    let error = RunDirError::from(EvalSet::read("nowhere.evalset.json").unwrap_err());
    assert!(
        matches!(&error, RunDirError::Read(ReadError::Io { source, .. }) if source.kind() == ErrorKind::NotFound),
        "{error:?}"
    );
}
