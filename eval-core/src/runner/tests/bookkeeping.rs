//! Trouble of one part that must not affect the others.

use std::sync::atomic::{AtomicUsize, Ordering};

use eval_format::{Criterion, FunctionCall, MatchType};
use serde_json::json;

use super::{case, run};
use crate::EvalRunner;
use crate::agent::{Event, Replay};
use crate::judge::{Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};
use crate::report::CaseReport;
use crate::verdict::{Role, Verdict};

/// A judge that is down.
struct Down;

impl Judge for Down {
    async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        Err(JudgeError::new(JudgeErrorKind::Failed, "HTTP 503"))
    }

    fn is_offline(&self) -> bool {
        true
    }
}

/// A judge that finds everything valid.
struct Kind;

impl Judge for Kind {
    async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        Ok(JudgeReply::new(r#"{"reasoning": "fine", "is_the_agent_response_valid": "valid"}"#))
    }

    fn is_offline(&self) -> bool {
        true
    }
}

fn runner(judge: impl Judge + 'static) -> EvalRunner {
    EvalRunner::new()
        .criterion("tool_trajectory_avg_score", Criterion::new(1.0))
        .criterion("final_response_match_v2", Criterion::new(1.0))
        .criterion("response_match_score", Criterion::new(0.8))
        .judge(judge)
}

fn scores(report: &CaseReport) -> Vec<Option<f64>> {
    let deciding = report.metrics.iter().filter(|metric| metric.criterion.is_some());
    deciding.map(|metric| metric.score).collect()
}

#[test]
fn a_judge_that_is_down_costs_its_metric_and_neither_the_others_nor_another_run() {
    let asked = AtomicUsize::new(0);
    let setup = || {
        asked.fetch_add(1, Ordering::SeqCst);
        Replay::new([["hi"]])
    };
    let case = case("c", &[("hi", "hi")]);
    let report = run(runner(Down).run_case(&case, setup)).unwrap();
    assert_eq!(scores(&report), [Some(1.0), None, Some(1.0)]);
    assert!(matches!(report.verdict, Verdict::Error { role: Role::Judge, .. }), "{:?}", report.verdict);

    let recorded = report.runs.iter().map(|run| run.transcript.clone()).collect();
    let again = run(runner(Kind).score_case(&case, recorded)).unwrap();
    assert_eq!(scores(&again), [Some(1.0); 3]);
    assert_eq!(again.verdict, Verdict::Passed);
    assert_eq!(asked.into_inner(), 1, "the agent ran once");
}

#[test]
fn where_no_judge_answers_nothing_passes() {
    let set =
        eval_format::EvalSet::new("s").case(case("a", &[("hi", "hi")])).case(case("b", &[("hi", "hi")]));
    let only = EvalRunner::new().criterion("final_response_match_v2", Criterion::new(0.5)).judge(Down);
    let report = run(only.run_set(&set, || Replay::new([["hi"]]), 1)).unwrap();
    let summary = report.summary();
    assert_eq!((summary.passed, summary.failed, summary.errors), (0, 0, 2));
    assert_eq!(summary.pass_rate(), Some(0.0));
    assert!(!report.all_passed());
}

#[test]
fn the_order_of_expected_calls_does_not_change_an_any_order_score() {
    let call = |name: &str| FunctionCall::new(name, json!({}));
    let criterion = Criterion::new(1.0).with_match_type(MatchType::AnyOrder);
    let runner = EvalRunner::new().criterion("tool_trajectory_avg_score", criterion);
    let score = |expected: [&str; 3]| {
        let mut case = case("c", &[("hi", "hi")]);
        let turn = case.conversation.remove(0);
        case.conversation.push(expected.iter().fold(turn, |turn, name| turn.call(call(name))));
        let events = || {
            let called = |name| {
                let part = eval_format::Part::call(call(name));
                Event::new("agent", eval_format::Content::new("model", vec![part]))
            };
            Replay::new([vec![called("b"), called("a"), called("a"), Event::from("hi")]])
        };
        scores(&run(runner.run_case(&case, events)).unwrap())
    };
    for expected in [["a", "a", "b"], ["a", "b", "a"], ["b", "a", "a"]] {
        assert_eq!(score(expected), [Some(1.0)], "{expected:?}");
    }
    for expected in [["b", "b", "a"], ["a", "b", "b"]] {
        assert_eq!(score(expected), [Some(0.0)], "{expected:?}");
    }
}
