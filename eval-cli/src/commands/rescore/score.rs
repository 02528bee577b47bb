//! Scoring tests again, one by one.

use std::collections::BTreeSet;

use eval_core::EvalRunner;
use eval_core::report::{Role, Verdict};
use eval_format::{Criterion, Pass};

use super::recorded_scores::{RecordedScores, is_own};
use super::rescored::{Now, RescoredCase};
use super::selection::Selection;
use crate::features::with_judge;
use crate::recorded::{Cases, Found, State, TestResult};

/// Scores all tests, in order. With `partial`, cases that their sets have no more are left out; a sentence says of each.
pub(super) async fn all<'r>(
    tests: Vec<TestResult<'r>>,
    selection: &Selection,
    cases: &mut Cases,
    partial: bool,
) -> (Vec<RescoredCase<'r>>, Vec<String>) {
    let mut rescored = Vec::with_capacity(tests.len());
    let mut gone = Vec::new();
    for test in tests {
        match cases.find(&test.attempt.started) {
            Err(reason) if partial && reason.is_gone() => gone.push(reason.to_string()),
            _ => rescored.push(one(test, selection, cases).await),
        }
    }
    (rescored, gone)
}

async fn one<'r>(test: TestResult<'r>, selection: &Selection, cases: &mut Cases) -> RescoredCase<'r> {
    let not = |test, now| RescoredCase { test, now, is_edited: false, kept: Vec::new() };
    if let Some(reason) = nothing_to_score(&test) {
        // A verdict that could not be checked again stays, unless it is a pass.
        let now = if test.state == State::Passed { Now::Not } else { Now::AsBefore };
        return not(test, now(reason.to_owned()));
    }
    let found = match cases.find(&test.attempt.started) {
        Ok(found) => found,
        Err(reason) => return not(test, Now::Not(reason.to_string())),
    };
    let (runner, kept) = runner(&test, selection, &found);
    let (runs, repeated) = (test.attempt.transcripts(), test.attempt.repeated_reports());
    let now = match runner.runs(runs.len()).score_attempts(&found.case, runs, &repeated).await {
        Ok(report) => Now::Scored(Box::new(report)),
        Err(error) => Now::Not(error.to_string()),
    };
    RescoredCase { test, now, is_edited: found.is_edited, kept }
}

/// Why a test cannot have new scores, if it cannot.
fn nothing_to_score(test: &TestResult<'_>) -> Option<&'static str> {
    let Some(decided) = &test.attempt.decided else {
        return Some("it is unfinished; `cargo evalset rerun --unfinished` runs it again");
    };
    match decided.verdict {
        Verdict::Error { role: Role::Body, .. } => {
            Some("the body of the test decided it, which only a test can run")
        }
        _ if test.attempt.evaluations.is_empty() => Some("no conversation was recorded"),
        _ if test.attempt.started.pass != Pass::Mean && repeats_a_run(test) => Some(
            "its body evaluated several times in a run, and `pass` counts runs; `cargo evalset rerun` runs it",
        ),
        _ => None,
    }
}

/// Whether a test body evaluated the case several times in one run.
fn repeats_a_run(test: &TestResult<'_>) -> bool {
    test.attempt.evaluations.iter().map(|evaluation| evaluation.ran.run).collect::<BTreeSet<_>>().len()
        < test.attempt.evaluations.len()
}

/// The runner that scores a test again, and the metrics that keep their recorded scores in it.
fn runner(test: &TestResult<'_>, selection: &Selection, found: &Found) -> (EvalRunner, Vec<String>) {
    let started = &test.attempt.started;
    let runner = with_judge(EvalRunner::new()).pass(started.pass).gate(started.gate);
    let mut runner = runner.recording(&found.recording);
    if let Some(model) = &selection.judge {
        runner = runner.judge_model(model);
    }
    for (name, criterion) in criteria(test, selection) {
        runner = runner.criterion(name, criterion);
    }
    let mut kept = Vec::new();
    for metric in test.gating() {
        let is_own = is_own(test.attempt, &metric.name);
        if selection.has(&metric.name) && !is_own {
            continue;
        }
        let scores = RecordedScores::of(test.attempt, &metric.name);
        // If scores of an own metric are missing, a built-in metric must not take its place.
        if let Some(scores) = scores.or_else(|| is_own.then(RecordedScores::default)) {
            runner = runner.metric(&metric.name, scores);
            kept.push(metric.name.clone());
        }
    }
    (runner, kept)
}

/// The criteria of the run. With a config, its criteria instead: all of them, or those of the selected metrics.
fn criteria(test: &TestResult<'_>, selection: &Selection) -> Vec<(String, Criterion)> {
    let recorded =
        || test.gating().filter_map(|metric| Some((metric.name.clone(), metric.criterion.clone()?)));
    let Some(config) = &selection.config else { return recorded().collect() };
    let of_config = || config.criteria.iter().map(|(name, criterion)| (name.clone(), criterion.clone()));
    let Some(metrics) = &selection.metrics else { return of_config().collect() };
    let others = recorded().filter(|(name, _)| !metrics.contains(name));
    others.chain(of_config().filter(|(name, _)| metrics.contains(name))).collect()
}
