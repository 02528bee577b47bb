//! A metric that returns the scores that it recorded.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use eval_core::agent::BoxError;
use eval_core::judge::{JudgeError, JudgeErrorKind};
use eval_core::metric::{Metric, MetricInput, Score, Scores};
use eval_core::report::{MetricOutcome, Role};
use eval_report::journal::{Attempt, Evaluation};

/// Whether a metric of a test is the user's own, which only a test can run. A built-in metric may have the same name.
pub(super) fn is_own(attempt: &Attempt, metric: &str) -> bool {
    let scored = attempt.evaluations.iter().filter_map(|evaluation| evaluation.scored.as_ref());
    eval_format::metric::metric(metric).is_none()
        || scored.flat_map(|scored| &scored.metrics).any(|score| score.name == metric && score.custom)
}

/// The recorded scores of a metric, run by run. Scoring a run that has none is an error.
#[derive(Debug, Default)]
pub(super) struct RecordedScores(Mutex<VecDeque<MetricOutcome>>);

impl RecordedScores {
    /// The scores of all runs that ended without an error. `None` if a run has none, or if the metric skipped one:
    /// metrics skip runs without being asked.
    pub(super) fn of(attempt: &Attempt, metric: &str) -> Option<Self> {
        let ended_well = |evaluation: &&Evaluation| evaluation.ran.transcript.error.is_none();
        let scored = attempt.evaluations.iter().filter(ended_well).map(|evaluation| {
            let scored = evaluation.scored.as_ref()?;
            scored.metrics.iter().find(|score| score.name == metric).map(|metric| metric.outcome.clone())
        });
        let scores: VecDeque<MetricOutcome> = scored.collect::<Option<_>>()?;
        let skipped = scores.iter().any(|score| matches!(score, MetricOutcome::Skipped(_)));
        (!skipped).then(|| Self(Mutex::new(scores)))
    }
}

impl Metric for RecordedScores {
    /// The runs of a case are scored in their order.
    async fn score(&self, _: MetricInput<'_>) -> Result<Scores, BoxError> {
        let next = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        match next {
            Some(MetricOutcome::Scored(scores)) => Ok(scores),
            Some(MetricOutcome::Error { role: Role::Judge, message }) => {
                Err(JudgeError::new(JudgeErrorKind::Failed, message).into())
            }
            Some(MetricOutcome::Error { message, .. }) => Err(message.into()),
            Some(MetricOutcome::Skipped(reason) | MetricOutcome::Unjudged(reason)) => {
                Ok(Scores::whole_run(Score::not_evaluated(reason)))
            }
            _ => Err("the score of this run is not recorded".into()),
        }
    }
}
