//! What changed, as JSON.

use eval_core::report::MetricReport;
use serde::Serialize;

use super::change::{Change, changes};
use super::rescored::{Now, RescoredCase, RescoredRun};
use crate::output::Outcome;
use crate::output::json::finite;
use crate::recorded::State;

/// What `--format json` prints. Fields may be added; no field is removed or changes its meaning.
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
    label: Option<&'r str>,
    eval_set_id: Option<&'r str>,
    eval_id: &'r str,
    rescored: bool,
    edited: bool,
    state: States,
    reason: Option<&'r str>,
    kept: &'r [String],
    metrics: Vec<Metric<'r>>,
}

#[derive(Debug, Serialize)]
struct States {
    before: State,
    now: State,
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
    direction: Option<&'static str>,
    scored: usize,
    total: usize,
}

impl<'r> Document<'r> {
    pub(super) fn of(run: &'r RescoredRun<'_>) -> Self {
        Self {
            command: "rescore",
            outcome: run.outcome(),
            runs: &run.results.loaded.run.ids,
            cases: run.cases.iter().map(Case::of).collect(),
        }
    }
}

impl<'r> Case<'r> {
    fn of(case: &'r RescoredCase<'_>) -> Self {
        let started = &case.test.attempt.started;
        Self {
            test: case.test.test.name(),
            label: started.label.as_deref(),
            eval_set_id: started.eval_set_id.as_deref(),
            eval_id: &started.eval_id,
            rescored: matches!(case.now, Now::Scored(_)),
            edited: case.is_edited,
            state: States { before: case.test.state, now: case.state() },
            reason: case.reason(),
            kept: &case.kept,
            metrics: changes(case).into_iter().map(Metric::of).collect(),
        }
    }
}

impl<'r> Metric<'r> {
    fn of(change: Change<'r>) -> Self {
        Self { name: change.name, before: change.before.map(Side::of), now: change.now.map(Side::of) }
    }
}

impl Side {
    fn of(metric: &MetricReport) -> Self {
        Self {
            state: metric.verdict.name(),
            score: finite(metric.score),
            threshold: finite(metric.threshold()),
            direction: metric.bound().map(|bound| bound.direction.as_str()),
            scored: metric.scored,
            total: metric.total,
        }
    }
}
