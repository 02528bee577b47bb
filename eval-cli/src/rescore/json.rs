//! What changed, for programs.

use eval_core::report::MetricReport;
use serde::Serialize;

use super::again::{Now, Rescored};
use super::{Pair, Rescoring, pairs};
use crate::answer::Outcome;
use crate::recorded::State;
use crate::report::metric_state;

/// What `--format json` prints. Fields may be added; none goes away or changes its meaning.
#[derive(Debug, Serialize)]
pub(super) struct Document<'r> {
    command: &'static str,
    outcome: Outcome,
    runs: &'r [String],
    cases: Vec<Case<'r>>,
}

#[derive(Debug, Serialize)]
struct Case<'r> {
    test: &'r str,
    eval_set_id: Option<&'r str>,
    eval_id: &'r str,
    rescored: bool,
    edited: bool,
    state: Change<State>,
    reason: Option<&'r str>,
    kept: &'r [String],
    metrics: Vec<Metric<'r>>,
}

#[derive(Debug, Serialize)]
struct Metric<'r> {
    name: &'r str,
    before: Option<Side>,
    now: Option<Side>,
}

#[derive(Debug, Serialize)]
struct Side {
    state: &'static str,
    score: Option<f64>,
    threshold: Option<f64>,
    scored: usize,
    total: usize,
}

#[derive(Debug, Serialize)]
struct Change<T> {
    before: T,
    now: T,
}

impl<'r> Document<'r> {
    pub(super) fn of(rescoring: &'r Rescoring<'_>) -> Self {
        Self {
            command: "rescore",
            outcome: rescoring.outcome(),
            runs: &rescoring.recording.run.ids,
            cases: rescoring.cases.iter().map(Case::of).collect(),
        }
    }
}

impl<'r> Case<'r> {
    fn of(case: &'r Rescored<'_>) -> Self {
        let started = &case.test.attempt.started;
        let pairs = pairs(case.test.attempt.decided.as_ref(), case.metrics());
        Self {
            test: &case.test.test.name,
            eval_set_id: started.eval_set_id.as_deref(),
            eval_id: &started.eval_id,
            rescored: matches!(case.now, Now::Scored(_)),
            edited: case.is_edited,
            state: Change { before: case.test.state, now: case.state() },
            reason: case.reason(),
            kept: &case.kept,
            metrics: pairs.into_iter().map(Metric::of).collect(),
        }
    }
}

impl<'r> Metric<'r> {
    fn of((name, (before, now)): (&'r str, Pair<'r>)) -> Self {
        Self { name, before: before.map(Side::of), now: now.map(Side::of) }
    }
}

impl Side {
    fn of(metric: &MetricReport) -> Self {
        Self {
            state: metric_state(&metric.verdict),
            score: metric.score.filter(|score| score.is_finite()),
            threshold: metric.threshold().filter(|threshold| threshold.is_finite()),
            scored: metric.scored,
            total: metric.total,
        }
    }
}
