//! A metric that gives the scores it gave before.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use eval_core::journal::Attempt;
use eval_core::{BoxError, JudgeError, JudgeErrorKind, Metric, MetricInput, Role, RunScore, Score, Scores};

/// Whether a metric of a test is the user's own, which only a test can run. It may have the name of a built-in one.
pub(super) fn is_own(attempt: &Attempt, metric: &str) -> bool {
    let scored = attempt.evaluations.iter().filter_map(|evaluation| evaluation.scored.as_ref());
    eval_format::metric(metric).is_none()
        || scored.flat_map(|scored| &scored.metrics).any(|score| score.name == metric && score.custom)
}

/// The recorded scores of a metric, run by run; without one, scoring is an error.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<VecDeque<RunScore>>);

impl Kept {
    /// The scores that a metric gave to the runs that came to be scored; none where it skipped one, as metrics do
    /// by themselves.
    pub(super) fn of(attempt: &Attempt, metric: &str) -> Option<Self> {
        let ended_well =
            |evaluation: &&eval_core::journal::Evaluation| evaluation.ran.transcript.error.is_none();
        let scored = attempt.evaluations.iter().filter(ended_well).map(|evaluation| {
            let scored = evaluation.scored.as_ref()?;
            scored.metrics.iter().find(|score| score.name == metric).map(|score| score.score.clone())
        });
        let scores: VecDeque<RunScore> = scored.collect::<Option<_>>()?;
        let skipped = scores.iter().any(|score| matches!(score, RunScore::Skipped(_)));
        (!skipped).then(|| Self(Mutex::new(scores)))
    }
}

impl Metric for Kept {
    /// Runs are scored in their order.
    async fn score(&self, _: MetricInput<'_>) -> Result<Scores, BoxError> {
        let next = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        match next {
            Some(RunScore::Scored(scores)) => Ok(scores),
            Some(RunScore::Error { role: Role::Judge, message }) => {
                Err(JudgeError::new(JudgeErrorKind::Failed, message).into())
            }
            Some(RunScore::Error { message, .. }) => Err(message.into()),
            Some(RunScore::Skipped(reason) | RunScore::Unjudged(reason)) => {
                Ok(Scores::whole_run(Score::not_evaluated(reason)))
            }
            _ => Err("the score of this run is not recorded".into()),
        }
    }
}
