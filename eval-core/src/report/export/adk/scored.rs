//! One run with ADK's statuses: one per metric and turn, one per metric, one for the run.

use eval_format::{Gate, Invocation};

use crate::metric::{Pool, RubricScore, Score, Scores};
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
    /// The number in JSON.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Passed => 1,
            Self::Failed => 2,
            Self::NotEvaluated => 3,
            Self::Informational => 4,
        }
    }

    /// The name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Passed => "PASSED",
            Self::Failed => "FAILED",
            Self::NotEvaluated => "NOT_EVALUATED",
            Self::Informational => "INFORMATIONAL",
        }
    }

    /// The status of a score under a threshold. Without a threshold it is `Informational`.
    fn of(score: Option<f64>, threshold: Option<f64>) -> Self {
        match (threshold, score) {
            (None, _) => Self::Informational,
            (Some(_), None) => Self::NotEvaluated,
            (Some(threshold), Some(score)) if score >= threshold => Self::Passed,
            (Some(_), Some(_)) => Self::Failed,
        }
    }
}

/// A score with its status.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AdkScore {
    pub(crate) score: Option<f64>,
    pub(crate) status: Status,
}

/// A metric of a run.
#[derive(Debug)]
pub(crate) struct ExportedMetric<'a> {
    pub(crate) metric: &'a MetricReport,
    /// Whether it applies to the run. One that does not decides nothing.
    applies: bool,
    pub(crate) overall: AdkScore,
    /// One per turn of the run.
    pub(crate) turns: Vec<ExportedTurn<'a>>,
}

/// What a metric says of a turn.
#[derive(Debug)]
pub(crate) struct ExportedTurn<'a> {
    pub(crate) actual: &'a Invocation,
    /// The turn of the case; `None` beyond its end, and for simulated users.
    pub(crate) expected: Option<&'a Invocation>,
    pub(crate) score: AdkScore,
    /// The verdicts of a judge on rubrics.
    pub(crate) rubrics: &'a [RubricScore],
}

/// A run with its metrics. A run that ended in an error has none.
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
        let metrics: Vec<ExportedMetric<'a>> = case
            .metrics
            .iter()
            .filter_map(|metric| match &run.metric(&metric.name)?.outcome {
                MetricOutcome::Scored(scores) => Some(ExportedMetric::new(metric, scores, case, run)),
                // What was not measured is named, and has no score.
                MetricOutcome::Skipped(_) => Some(ExportedMetric::unscored(metric, case, run, false)),
                MetricOutcome::Unjudged(_) => Some(ExportedMetric::unscored(metric, case, run, true)),
                MetricOutcome::Error { .. } => None,
            })
            .collect();
        Self { status: decide(&metrics), metrics }
    }
}

impl<'a> ExportedMetric<'a> {
    fn new(metric: &'a MetricReport, scores: &'a Scores, case: &'a CaseReport, run: &'a RunReport) -> Self {
        let turns = &run.transcript.turns;
        let threshold = metric.threshold();
        let one = |score: Option<f64>| AdkScore { score, status: Status::of(score, threshold) };
        // ADK puts one score for the whole run at its last turn.
        let before = if scores.is_whole_run() { turns.len().saturating_sub(1) } else { 0 };
        let mut found = std::iter::repeat_n(None, before).chain(scores.scores().iter().map(Some));
        let mut expected = case.case.conversation.iter();
        let turns = turns.iter().map(|turn| {
            let (actual, expected) = (&turn.invocation, expected.next());
            let score: Option<&Score> = found.next().flatten();
            let rubrics = score.map(Score::rubrics).unwrap_or_default();
            ExportedTurn { actual, expected, score: one(score.and_then(Score::value)), rubrics }
        });
        let turns = turns.collect();
        let mut overall = one(scores.overall());
        if threshold.is_some() && !Pool::of(&[scores]).is_whole() {
            // The mean of the other turns would hide the missing one.
            overall = AdkScore { score: None, status: Status::NotEvaluated };
        } else if case.gate == Gate::EveryTurn
            && scores.scores().iter().any(|score| one(score.value()).status == Status::Failed)
        {
            overall.status = Status::Failed;
        }
        Self { metric, applies: true, overall, turns }
    }

    /// A metric that was skipped. It was not evaluated on any turn.
    fn unscored(metric: &'a MetricReport, case: &'a CaseReport, run: &'a RunReport, applies: bool) -> Self {
        let score = AdkScore { score: None, status: Status::of(None, metric.threshold()) };
        let mut expected = case.case.conversation.iter();
        let turns = run.transcript.turns.iter().map(|turn| ExportedTurn {
            actual: &turn.invocation,
            expected: expected.next(),
            score,
            rubrics: &[],
        });
        Self { metric, applies, overall: score, turns: turns.collect() }
    }
}

/// The error that ended the run or a metric on it: who failed, and the message.
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

/// The status of the run.
///
/// A metric that was not evaluated keeps the run from passing, unless it does not apply. ADK instead lets one passing metric
/// pass the run, however many others were not evaluated.
fn decide(metrics: &[ExportedMetric<'_>]) -> Status {
    let any = |status| metrics.iter().any(|metric| metric.applies && metric.overall.status == status);
    [Status::NotEvaluated, Status::Failed, Status::Passed]
        .into_iter()
        .find(|status| any(*status))
        .unwrap_or(Status::NotEvaluated)
}
