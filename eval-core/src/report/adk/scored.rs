//! One run as ADK decides it: a status per metric and turn, one per metric, one for the run.

use crate::metric::{RubricScore, Score, Scores};
use crate::options::Gate;
use crate::report::{CaseReport, MetricReport, RunReport, RunScore};
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
    #[inline]
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Passed => 1,
            Self::Failed => 2,
            Self::NotEvaluated => 3,
            Self::Informational => 4,
        }
    }

    /// As tables have it.
    #[inline]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Passed => "PASSED",
            Self::Failed => "FAILED",
            Self::NotEvaluated => "NOT_EVALUATED",
            Self::Informational => "INFORMATIONAL",
        }
    }

    /// The status of a score under a threshold; no threshold decides nothing.
    #[inline]
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
pub(crate) struct ScoredMetric<'a> {
    pub(crate) metric: &'a MetricReport,
    pub(crate) overall: Scored,
    /// One per turn of the run.
    pub(crate) turns: Vec<Scored>,
    /// What a judge found on rubrics: one list per turn.
    pub(crate) rubrics: Vec<&'a [RubricScore]>,
}

/// A run with its metrics; none after an error.
#[derive(Debug)]
pub(crate) struct ScoredRun<'a> {
    pub(crate) status: Status,
    pub(crate) metrics: Vec<ScoredMetric<'a>>,
}

impl<'a> ScoredRun<'a> {
    #[inline]
    pub(crate) fn new(case: &'a CaseReport, run: &'a RunReport) -> Self {
        if error(case, run).is_some() {
            return Self { status: Status::Failed, metrics: Vec::new() };
        }
        let turns = run.transcript.turns.len();
        let metrics: Vec<ScoredMetric<'a>> = case
            .metrics
            .iter()
            .zip(&run.scores)
            .filter_map(|(metric, score)| match score {
                RunScore::Scored(scores) => Some(ScoredMetric::new(metric, scores, case.gate, turns)),
                RunScore::Skipped(_) | RunScore::Unjudged(_) | RunScore::Error { .. } => None,
            })
            .collect();
        Self { status: decide(&metrics), metrics }
    }
}

impl<'a> ScoredMetric<'a> {
    #[inline]
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
#[inline]
pub(super) fn error(case: &CaseReport, run: &RunReport) -> Option<(Role, String)> {
    if let Some(error) = &run.error {
        return Some((error.role, error.to_string()));
    }
    case.metrics.iter().zip(&run.scores).find_map(|(metric, score)| match score {
        RunScore::Error { role, message } => {
            Some((*role, format!("{role} error: {}: {message}", metric.name)))
        }
        RunScore::Scored(_) | RunScore::Skipped(_) | RunScore::Unjudged(_) => None,
    })
}

/// What was not evaluated does not pass, unlike in ADK, whose file would say so of one passing metric
/// beside any number of broken ones.
#[inline]
fn decide(metrics: &[ScoredMetric<'_>]) -> Status {
    let any = |status| metrics.iter().any(|metric| metric.overall.status == status);
    [Status::NotEvaluated, Status::Failed, Status::Passed]
        .into_iter()
        .find(|status| any(*status))
        .unwrap_or(Status::NotEvaluated)
}
