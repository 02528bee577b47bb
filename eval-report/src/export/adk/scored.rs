//! One run with ADK's statuses: one per metric and turn, one per metric, one for the run.

use std::borrow::Cow;

use eval_format::{Bound, Invocation, TurnAggregation};

use eval_core::__private::failure_texts;
use eval_core::metric::RubricScore;
use eval_core::metric::arithmetic::Pool;
use eval_core::report::{
    CaseReport, MetricOutcome, MetricReport, Role, RunError, RunReport, ScoredMetric, Transcript,
    TurnVerdict, Verdict,
};
use eval_core::{Score, Scores};

/// ADK's `EvalStatus`, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Passed = 1,
    Failed,
    NotEvaluated,
    Informational,
}

impl Status {
    pub(crate) fn number(self) -> i64 {
        self as i64
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Passed => "PASSED",
            Self::Failed => "FAILED",
            Self::NotEvaluated => "NOT_EVALUATED",
            Self::Informational => "INFORMATIONAL",
        }
    }

    /// The status of a turn. A turn without a verdict is not evaluated by a metric that decides, as in ADK,
    /// and is informational for other metrics.
    fn of_turn(verdict: Option<TurnVerdict>, bound: Option<Bound>) -> Self {
        match verdict {
            Some(TurnVerdict::Passed) => Self::Passed,
            Some(TurnVerdict::Failed) => Self::Failed,
            Some(TurnVerdict::NotEvaluated | TurnVerdict::Informational) | None => {
                Self::from_score(None, bound)
            }
        }
    }

    /// The status of a case by its verdict. An error is a failure to ADK.
    pub(crate) fn of_case(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Passed => Self::Passed,
            Verdict::Failed | Verdict::Error { .. } => Self::Failed,
            _ => Self::NotEvaluated,
        }
    }

    /// The status of the overall score of a run. Without a threshold it is `Informational`.
    ///
    /// It may differ from [`ScoredMetric::verdict`](crate::report::ScoredMetric::verdict): the exact mean
    /// decides that verdict. ADK's results are decided by the metric's own overall score, which they show.
    fn from_score(score: Option<f64>, bound: Option<Bound>) -> Self {
        match (bound, score) {
            (None, _) => Self::Informational,
            (Some(_), None) => Self::NotEvaluated,
            (Some(bound), Some(score)) if bound.is_met(score) => Self::Passed,
            (Some(_), Some(_)) => Self::Failed,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AdkScore {
    pub(crate) score: Option<f64>,
    pub(crate) status: Status,
}

#[derive(Debug)]
pub(crate) struct ExportedMetric<'a> {
    pub(crate) metric: &'a MetricReport,
    /// The metric on this run.
    pub(crate) scored: Option<&'a ScoredMetric>,
    /// Whether it applies to the run. A metric that does not apply decides nothing.
    applies: bool,
    pub(crate) overall: AdkScore,
    /// One per turn of the run.
    pub(crate) turns: Vec<ExportedTurn<'a>>,
}

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
    /// Made up for a case without runs.
    pub(crate) run: Cow<'a, RunReport>,
    pub(crate) status: Status,
    pub(crate) metrics: Vec<ExportedMetric<'a>>,
    /// The role that failed, and the message: of the error that ended the run or a metric on it, or of the
    /// case that failed although its runs passed.
    pub(crate) error: Option<(Role, String)>,
}

impl<'a> ExportedRun<'a> {
    /// The runs of a case, at least one. If the case did not pass although each of its runs did, each run
    /// gets the status of the case.
    pub(crate) fn all(case: &'a CaseReport) -> Vec<Self> {
        let mut runs: Vec<Self> = case.runs.iter().map(|run| Self::new(case, run)).collect();
        if runs.is_empty() {
            let (transcript, metrics) = (Transcript::default(), Vec::new());
            let run = Cow::Owned(RunReport { number: 1, transcript, error: None, metrics });
            let status = Status::of_case(&case.verdict);
            runs.push(Self { run, status, metrics: Vec::new(), error: None });
        }
        let is_said = !case.runs.is_empty() && runs.iter().any(|run| run.status != Status::Passed);
        if !case.verdict.passed() && !is_said {
            for run in &mut runs {
                (run.status, run.error) = (Status::of_case(&case.verdict), Some(why(case)));
            }
        }
        runs
    }

    fn new(case: &'a CaseReport, run: &'a RunReport) -> Self {
        let error = error(run);
        if error.is_some() {
            return Self { run: Cow::Borrowed(run), status: Status::Failed, metrics: Vec::new(), error };
        }
        let metrics: Vec<ExportedMetric<'a>> = case
            .metrics
            .iter()
            .filter_map(|metric| {
                let scored = run.metric(&metric.name)?;
                let (scores, verdicts, applies) = match &scored.outcome {
                    MetricOutcome::Scored(scores) => (Some(scores), &*scored.turns, true),
                    // A skipped metric is listed without a score.
                    MetricOutcome::Skipped(_) => (None, &[][..], false),
                    MetricOutcome::Unjudged(_) => (None, &[][..], true),
                    _ => return None,
                };
                let exported = ExportedMetric::new(metric, scores, verdicts, case, run);
                Some(ExportedMetric { applies, scored: Some(scored), ..exported })
            })
            .collect();
        Self { run: Cow::Borrowed(run), status: decide(&metrics), metrics, error }
    }
}

impl<'a> ExportedMetric<'a> {
    fn new(
        metric: &'a MetricReport,
        scores: Option<&'a Scores>,
        verdicts: &[TurnVerdict],
        case: &'a CaseReport,
        run: &'a RunReport,
    ) -> Self {
        let turns = &run.transcript.turns;
        let bound = metric.bound();
        // ADK puts one score for the whole run at its last turn.
        let is_whole_run = scores.is_some_and(Scores::is_whole_run);
        let before = if is_whole_run { turns.len().saturating_sub(1) } else { 0 };
        let scored = scores.into_iter().flat_map(Scores::scores).zip(verdicts.iter().copied()).map(Some);
        let mut found = std::iter::repeat_n(None, before).chain(scored);
        let mut expected = case.case.conversation.iter();
        let turns = turns.iter().map(|turn| {
            let (actual, expected) = (&turn.invocation, expected.next());
            let (score, verdict) = found.next().flatten().unzip();
            let rubrics = score.map(Score::rubrics).unwrap_or_default();
            let score = score.and_then(Score::value);
            let score = AdkScore { score, status: Status::of_turn(verdict, bound) };
            ExportedTurn { actual, expected, score, rubrics }
        });
        let turns = turns.collect();
        let overall = scores.and_then(Scores::overall);
        let mut overall = AdkScore { score: overall, status: Status::from_score(overall, bound) };
        if bound.is_some() && scores.is_some_and(|scores| !Pool::from_runs(&[scores]).is_whole()) {
            // The mean of the other turns would hide the missing score.
            overall = AdkScore { score: None, status: Status::NotEvaluated };
        } else if case.gate == TurnAggregation::EveryTurn && verdicts.contains(&TurnVerdict::Failed) {
            overall.status = Status::Failed;
        }
        Self { metric, scored: None, applies: true, overall, turns }
    }
}

/// The error that ended the run or a metric on it: the role that failed, and the message.
fn error(run: &RunReport) -> Option<(Role, String)> {
    if let Some(error) = &run.error {
        return Some((error.role, error.to_string()));
    }
    run.metrics.iter().find_map(|metric| match &metric.outcome {
        MetricOutcome::Error { role, message } => {
            Some((*role, format!("{role} error: {}: {message}", metric.name)))
        }
        _ => None,
    })
}

/// The reason why a case does not pass: the role that failed, and the message.
pub(crate) fn why(case: &CaseReport) -> (Role, String) {
    let verdict = &case.verdict;
    if let Verdict::Error { role, message } = verdict {
        return (*role, RunError::new(*role, None, message.as_str()).to_string());
    }
    let of_metrics = || failure_texts(case).map(|(reason, _)| reason);
    let reason = verdict.reason().map(str::to_owned).or_else(of_metrics).unwrap_or_default();
    (Role::Harness, reason)
}

/// The status of a run by its metrics.
///
/// A metric that was not evaluated keeps the run from passing, unless it does not apply. ADK instead lets one passing metric
/// pass the run, however many others were not evaluated.
fn decide(metrics: &[ExportedMetric<'_>]) -> Status {
    let any = |status| metrics.iter().any(|metric| metric.applies && metric.overall.status == status);
    let by_rank = [Status::NotEvaluated, Status::Failed, Status::Passed];
    by_rank.into_iter().find(|status| any(*status)).unwrap_or(Status::NotEvaluated)
}
