//! What is left of a record if nobody asks what agents and judges said.

use super::read::Attempt;
use super::record::Ran;
use crate::transcript::Transcript;
use crate::verdict::Verdict;

/// The outline of a sealed line that records a run; `None` for other records.
pub(super) fn ran(_line: &[u8]) -> Option<Ran> {
    None
}

/// Drops what happened in a run, but for its error.
pub(super) fn shorten_ran(ran: &mut Ran) {
    let error = ran.transcript.error.take();
    ran.transcript = Transcript { error, ..Transcript::default() };
}

/// Drops the scores of an attempt whose runs are decided, and the metrics that only inform.
pub(super) fn shorten(attempt: &mut Attempt) {
    if let Some(decided) = &mut attempt.decided {
        decided.metrics.retain(|metric| metric.verdict != Verdict::Informational);
        decided.metrics.shrink_to_fit();
    }
    for evaluation in &mut attempt.evaluations {
        if let Some(scored) = &mut evaluation.scored {
            scored.metrics.retain(|metric| !metric.judge.is_empty());
            scored.metrics.shrink_to_fit();
        }
    }
    attempt.evaluations.shrink_to_fit();
}
