//! Whatever is recorded is read again as it was.

use std::fmt::Debug;
use std::time::{Duration, SystemTime};

use eval_format::matrix::Variant;
use eval_format::{Criterion, EvalCase, Invocation, Map, PassRule, TurnAggregation};
use proptest::prelude::*;
use serde_core::de::DeserializeOwned;

use super::*;
use crate::EvalRunner;
use crate::report::tests::strategies::{expected, metric, run};
use crate::report::{CaseReport, RunReport, ScoredMetric};
use crate::transcript::Transcript;
use crate::verdict::{Role, Verdict};

/// Records are read as they were written.
fn again<T: Field + DeserializeOwned>(record: &T) -> T {
    let text = record_text(record);
    assert!(!text.contains('\n'), "{text}");
    serde_json::from_str(&text).unwrap()
}

/// `NaN` is not equal to itself, but looks the same.
fn shown(value: &impl Debug) -> String {
    format!("{value:?}")
}

fn ran(transcript: &Transcript) -> Ran {
    let (transcript, tokens) = (transcript.clone(), transcript.tokens());
    Ran { test: 3, run: 2, evaluation: 1, repeated: false, transcript, tokens, simulator: Vec::new() }
}

/// As it is recorded: the criterion is in the verdict on the case.
fn scored(report: &RunReport) -> Scored {
    let metrics = report.metrics.iter().map(|metric| ScoredMetric { criterion: None, ..metric.clone() });
    Scored { test: 7, run: 2, evaluation: 3, metrics: metrics.collect() }
}

/// A turn without what no file may hold: a case with it is refused before anything is scored.
fn as_in_a_file(mut turn: Invocation) -> Invocation {
    let contents = [Some(&mut turn.user_content), turn.final_response.as_mut()];
    for part in contents.into_iter().flatten().flat_map(|content| content.parts.iter_mut().flatten()) {
        part.other = Map::new();
        if let Some(call) = &mut part.function_call {
            call.other = Map::new();
        }
    }
    turn
}

fn score(case: &EvalCase, runs: Vec<Transcript>) -> CaseReport {
    let names = [
        "tool_trajectory_avg_score",
        "response_match_score",
        "trajectory_recall",
        "trajectory_match_ratio",
        "final_response_match_v1",
        "final_session_state_match",
    ];
    let one = |runner: EvalRunner, name| runner.criterion(name, Criterion::new(0.5));
    let runner = names.into_iter().fold(EvalRunner::new(), one);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(runner.score_case(case, runs)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_run_is_read_as_it_was_recorded(report in run()) {
        let ran = ran(&report.transcript);
        prop_assert_eq!(shown(&again(&ran)), shown(&ran));
        let scored = scored(&report);
        prop_assert_eq!(shown(&again(&scored)), shown(&scored));
    }

    #[test]
    fn any_verdict_is_read_as_it_was_recorded(metrics in prop::collection::vec(metric(), 0..3), text in ".*") {
        for verdict in [
            Verdict::Passed,
            Verdict::Failed,
            Verdict::NotEvaluated(text.clone()),
            Verdict::Error { role: Role::Simulator, message: text.clone() },
            Verdict::Skipped(text.clone()),
            Verdict::Informational,
        ] {
            let decided = Decided {
                test: 1,
                verdict,
                metrics: metrics.clone(),
                passed_runs: Some(0),
                elapsed: Duration::from_millis(1500),
                notes: vec![text.clone()],
                repeated: 2,
                headline: Some(text.clone()).filter(|text| !text.is_empty()),
                as_expected: true,
                keeps_golden: true,
                failure: Some(text.clone()).filter(|text| !text.is_empty()),
                at: SystemTime::UNIX_EPOCH,
            };
            prop_assert_eq!(shown(&again(&decided)), shown(&decided));
        }
    }

    #[test]
    fn what_is_read_again_scores_the_same(
        runs in prop::collection::vec(run(), 1..3),
        turns in prop::collection::vec(expected(), 1..3),
    ) {
        let case = turns.into_iter().map(as_in_a_file).fold(EvalCase::new("any"), EvalCase::turn);
        let runs: Vec<Transcript> = runs.into_iter().map(|run| run.transcript).collect();
        let read = runs.iter().map(|run| again(&ran(run)).transcript).collect();
        prop_assert_eq!(shown(&score(&case, read)), shown(&score(&case, runs)));
    }
}

fn started(test: u32, name: &str) -> Started {
    Started {
        test,
        name: name.to_owned(),
        of_program: false,
        literal: false,
        tools: Some("golden".to_owned()),
        label: None,
        variant: Variant::default(),
        order: 2,
        eval_set_id: Some("weather".into()),
        eval_id: "sunny".to_owned(),
        file: Some("evals/weather.evalset.json".into()),
        set_file: Some("evals/weather.evalset.json".into()),
        line: Some(4),
        column: Some(5),
        asks: "00ff".to_owned(),
        expects: "ff".to_owned(),
        tags: vec!["smoke".to_owned(), "a b".to_owned()],
        set_cases: Some(4),
        runs: 3,
        pass: PassRule::AtLeast(2),
        gate: TurnAggregation::EveryTurn,
        attempt: 1,
        at: SystemTime::UNIX_EPOCH,
    }
}

fn head(package: &str) -> Head {
    Head {
        schema: SCHEMA,
        evalset: "0.1.0".to_owned(),
        run: "r".to_owned(),
        package: Some(package.to_owned()),
        workspace: Some("/w".to_owned()),
        version: None,
        binary: Some("evals".to_owned()),
        pid: 1,
        started: SystemTime::UNIX_EPOCH,
        args: vec!["--exact".to_owned()],
        runner: vec!["cargo".to_owned(), "test".to_owned()],
        again: Some(vec!["--runs".to_owned(), "3".to_owned()]),
        dirty: Some(true),
        program: Some("evals".to_owned()),
        built: None,
        env: [("CI".to_owned(), "true".to_owned())].into(),
    }
}

#[test]
fn beginnings_are_read_as_they_were_written() {
    let started = started(1, "weather::sunny");
    assert_eq!(again(&started), started);
    for pass in [PassRule::Mean, PassRule::All, PassRule::Any, PassRule::AtLeast(2)] {
        let started = Started { pass, gate: TurnAggregation::Mean, ..started.clone() };
        assert_eq!(again(&started), started);
    }
    let of_program = Started {
        of_program: true,
        label: Some("nightly".into()),
        variant: Variant(vec![("model".to_owned(), "flash".to_owned()), ("b".to_owned(), "\"x".to_owned())]),
        set_file: Some("/srv/evals/weather.evalset.json".into()),
        ..started
    };
    assert_eq!(again(&of_program), of_program);
    assert_eq!(again(&head("p")), head("p"));
}
