//! One run as ADK decides it: a status per metric and turn, one per metric, one for the run.

use eval_format::Gate;

use crate::metric::{RubricScore, Score, Scores};
use crate::report::{CaseReport, MetricOutcome, MetricReport, RunReport};
use crate::verdict::Role;

/// ADK's `EvalStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Passed,
    Failed,
    NotEvaluated,
    Informational,
}

impl Status {
    /// As JSON has it.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Passed => 1,
            Self::Failed => 2,
            Self::NotEvaluated => 3,
            Self::Informational => 4,
        }
    }

    /// As tables have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Passed => "PASSED",
            Self::Failed => "FAILED",
            Self::NotEvaluated => "NOT_EVALUATED",
            Self::Informational => "INFORMATIONAL",
        }
    }

    /// The status of a score under a threshold; no threshold decides nothing.
    fn of(score: Option<f64>, threshold: Option<f64>) -> Self {
        match (threshold, score) {
            (None, _) => Self::Informational,
            (Some(_), None) => Self::NotEvaluated,
            (Some(threshold), Some(score)) if score >= threshold => Self::Passed,
            (Some(_), Some(_)) => Self::Failed,
        }
    }
}

/// A score and what ADK makes of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scored {
    pub(crate) score: Option<f64>,
    pub(crate) status: Status,
}

/// A metric that applies to a run.
#[derive(Debug)]
pub(crate) struct ExportedMetric<'a> {
    pub(crate) metric: &'a MetricReport,
    pub(crate) overall: Scored,
    /// One per turn of the run.
    pub(crate) turns: Vec<Scored>,
    /// What a judge found on rubrics: one list per turn.
    pub(crate) rubrics: Vec<&'a [RubricScore]>,
}

/// A run with its metrics; none after an error.
#[derive(Debug)]
pub(crate) struct ExportedRun<'a> {
    pub(crate) status: Status,
    pub(crate) metrics: Vec<ExportedMetric<'a>>,
}

impl<'a> ExportedRun<'a> {
    pub(crate) fn new(case: &'a CaseReport, run: &'a RunReport) -> Self {
        if error(run).is_some() {
            return Self { status: Status::Failed, metrics: Vec::new() };
        }
        let turns = run.transcript.turns.len();
        let metrics: Vec<ExportedMetric<'a>> = case
            .metrics
            .iter()
            .filter_map(|metric| match &run.metric(&metric.name)?.outcome {
                MetricOutcome::Scored(scores) => Some(ExportedMetric::new(metric, scores, case.gate, turns)),
                MetricOutcome::Skipped(_) | MetricOutcome::Unjudged(_) | MetricOutcome::Error { .. } => None,
            })
            .collect();
        Self { status: decide(&metrics), metrics }
    }
}

impl<'a> ExportedMetric<'a> {
    fn new(metric: &'a MetricReport, scores: &'a Scores, gate: Gate, turns: usize) -> Self {
        let threshold = metric.threshold();
        let one = |score: Option<f64>| Scored { score, status: Status::of(score, threshold) };
        let values = scores.scores().iter().map(Score::value);
        // One score for the whole run stands at its last turn, as ADK has it.
        let before = if scores.is_whole_run() { turns.saturating_sub(1) } else { 0 };
        let rubrics = std::iter::repeat_n([].as_slice(), before);
        let rubrics = rubrics.chain(scores.scores().iter().map(Score::rubrics)).take(turns).collect();
        let turns = std::iter::repeat_n(None, before).chain(values.clone()).map(one).take(turns).collect();
        let mut overall = one(scores.overall());
        if threshold.is_some() && values.clone().any(|value| value.is_none()) {
            // Not the mean of the rest.
            overall = Scored { score: None, status: Status::NotEvaluated };
        } else if gate == Gate::EveryTurn && values.map(one).any(|turn| turn.status == Status::Failed) {
            overall.status = Status::Failed;
        }
        Self { metric, overall, turns, rubrics }
    }
}

/// What broke the run, agent, setup, metric or judge, and how.
pub(super) fn error(run: &RunReport) -> Option<(Role, String)> {
    if let Some(error) = &run.error {
        return Some((error.role, error.to_string()));
    }
    run.metrics.iter().find_map(|metric| match &metric.outcome {
        MetricOutcome::Error { role, message } => {
            Some((*role, format!("{role} error: {}: {message}", metric.name)))
        }
        MetricOutcome::Scored(_) | MetricOutcome::Skipped(_) | MetricOutcome::Unjudged(_) => None,
    })
}

/// What was not evaluated does not pass, unlike in ADK, whose file would say so of one passing metric
/// beside any number of broken ones.
fn decide(metrics: &[ExportedMetric<'_>]) -> Status {
    let any = |status| metrics.iter().any(|metric| metric.overall.status == status);
    [Status::NotEvaluated, Status::Failed, Status::Passed]
        .into_iter()
        .find(|status| any(*status))
        .unwrap_or(Status::NotEvaluated)
}
