//! What is left of a record if nobody asks what agents and judges said.

use std::sync::LazyLock;

use serde_core::de::MapAccess;

use super::field::Object;
use super::fields::fields;
use super::record::{Decided, Ran, Scored};
use crate::judge_outcome::JudgeUse;
use crate::transcript::{RunError, Transcript};
use crate::verdict::Verdict;

/// A run as it is recorded, without what happened in it.
struct RanOutline {
    test: u32,
    run: usize,
    evaluation: u32,
    repeated: bool,
    transcript: TranscriptOutline,
    tokens: Option<i64>,
    simulator: Vec<JudgeUse>,
}

#[derive(Default)]
struct TranscriptOutline {
    error: Option<RunError>,
}

fields!(RanOutline { test, run, evaluation, transcript } { repeated, tokens, simulator });
fields!(TranscriptOutline from default { error });

/// Reads a run, and passes over what happened in it, but for its error.
pub(super) fn ran<'de, A: MapAccess<'de>>(map: A) -> Result<Ran, A::Error> {
    // All share one session, since each of its own would take memory.
    static EMPTY: LazyLock<Transcript> = LazyLock::new(Transcript::default);

    let RanOutline { test, run, evaluation, repeated, transcript, tokens, mut simulator } =
        RanOutline::read_fields(map)?;
    drop_texts(&mut simulator);
    let transcript = Transcript { error: transcript.error, ..EMPTY.clone() };
    Ok(Ran { test, run, evaluation, repeated, transcript, tokens, simulator })
}

/// Drops metrics that only inform and asked no judge, and what judges were asked.
pub(super) fn shorten_scored(scored: &mut Scored) {
    let informs = |verdict: &Verdict| matches!(verdict, Verdict::Informational);
    scored.metrics.retain(|metric| metric.custom || !metric.judge.is_empty() || !informs(&metric.verdict));
    scored.metrics.shrink_to_fit();
    for metric in &mut scored.metrics {
        drop_texts(&mut metric.judge);
    }
}

/// Drops metrics that only inform.
pub(super) fn shorten_decided(decided: &mut Decided) {
    decided.metrics.retain(|metric| metric.verdict != Verdict::Informational);
    decided.metrics.shrink_to_fit();
}

/// Drops the prompts and the answers of judges.
fn drop_texts(used: &mut [JudgeUse]) {
    for used in used {
        used.questions = Vec::new();
    }
}
