//! A recorded case is exported as it was when it ran.

use eval_format::EvalSet;

use crate::journal::{RecordedRun, runs};
use eval_core::{EvalCase, EvalReport, EvalRunner, Invocation, Replay};

use crate::export::Export;

#[tokio::test]
async fn a_recorded_case_is_exported_as_it_was_when_it_ran() {
    let folder = tempfile::tempdir().unwrap();
    let turn = Invocation::user("Paris?").response("It is sunny.");
    let case = |id: &str| EvalCase::new(id).turn(turn.clone());
    let set = EvalSet::new("weather").case(case("right")).case(case("wrong")).case(case("broken"));
    let runner = EvalRunner::new().runs(2).journal(folder.path());
    let setup = |case: &EvalCase| match case.eval_id.as_str() {
        "right" => Ok(Replay::new([["It is sunny."]])),
        "wrong" => Ok(Replay::new([["It rains."]])),
        _ => Err("no connection"),
    };
    let report = runner.run_set(&set, setup, 1).await.unwrap();
    let recorded = RecordedRun::read(&runs(folder.path()).unwrap()[0].path).unwrap();
    let mut again = EvalReport::default();
    for case in &set.eval_cases {
        let test = recorded.tests.iter().find(|test| test.name().ends_with(&case.eval_id)).unwrap();
        again.cases.extend(test.last().unwrap().report(case.clone()));
    }
    assert_eq!(again.to_csv(), report.to_csv());
    let at = std::time::UNIX_EPOCH;
    let exported = |report: &EvalReport| report.adk_results("app", at)[0].to_json();
    assert_eq!(exported(&again), exported(&report));
}

#[tokio::test]
async fn a_recorded_case_that_lacks_a_score_is_not_exported() {
    let folder = tempfile::tempdir().unwrap();
    let case = EvalCase::new("right").turn(Invocation::user("Paris?").response("It is sunny."));
    let set = EvalSet::new("weather").case(case.clone());
    let runner = EvalRunner::new().journal(folder.path());
    let report = runner.run_set(&set, || Replay::new([["It is sunny."]]), 1).await.unwrap();
    assert!(report.all_passed());
    let recorded = RecordedRun::read(&runs(folder.path()).unwrap()[0].path).unwrap();
    let whole = recorded.tests[0].last().unwrap();
    assert!(whole.report(case.clone()).is_some());
    let (mut without_a_metric, mut without_a_record) = (whole.clone(), whole.clone());
    without_a_metric.evaluations[0].scored.as_mut().unwrap().metrics.pop();
    without_a_record.evaluations[0].scored = None;
    for lacking in [without_a_metric, without_a_record] {
        assert!(lacking.report(case.clone()).is_none());
    }
}
