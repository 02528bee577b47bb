//! What is left of a record if nobody asks what agents and judges said.

use eval_format::{UsageMetadata, Value};

use super::from_json::FromJson;
use super::parse::total_tokens;
use super::read::Attempt;
use super::record::Ran;
use super::skim::{fields, items, number};
use crate::transcript::{RunError, Transcript};
use crate::verdict::Verdict;

/// The outline of a sealed line that records a run; `None` for other records, and for what has another form.
pub(super) fn ran(line: &[u8]) -> Option<Ran> {
    if !line.starts_with(b"{\"record\":\"ran\"") {
        return None;
    }
    let (mut test, mut run, mut evaluation) = (Some(0), Some(0), Some(0));
    let (mut simulator, mut transcript) = (None, None);
    fields(line, |name, value| match name {
        b"test" => test = number(value),
        b"run" => run = number(value),
        b"evaluation" => evaluation = number(value),
        b"simulator" => simulator = Some(value),
        b"transcript" => transcript = Some(value),
        _ => {}
    })?;
    let (tokens, error) = transcript_outline(transcript?)?;
    Some(Ran {
        test: test?,
        run: run?,
        evaluation: evaluation?,
        transcript: Transcript { error, ..Transcript::default() },
        tokens,
        simulator: simulator.map_or(Some(Vec::new()), parsed)?,
    })
}

/// The tokens and the error of a transcript.
fn transcript_outline(transcript: &[u8]) -> Option<(Option<i64>, Option<RunError>)> {
    let (mut turns, mut error) = (None, None);
    fields(transcript, |name, value| match name {
        b"turns" => turns = Some(value),
        b"error" => error = Some(value),
        _ => {}
    })?;
    let error = match error {
        Some(error) => parsed::<Option<RunError>>(error)?,
        None => None,
    };
    let mut usages = Vec::new();
    if let Some(turns) = turns {
        items(turns, |turn| {
            let _ = fields(turn, |name, events| {
                if name == b"events" {
                    let _ = items(events, |event| {
                        let _ = fields(event, |name, value| {
                            if name == b"usage" {
                                usages.push(value);
                            }
                        });
                    });
                }
            });
        })?;
    }
    let mut tokens = None;
    for usage in usages {
        if let Some(usage) = parsed::<Option<UsageMetadata>>(usage)? {
            tokens = [tokens, total_tokens(&usage)].into_iter().flatten().reduce(i64::saturating_add);
        }
    }
    Some((tokens, error))
}

fn parsed<T: FromJson>(value: &[u8]) -> Option<T> {
    T::read(Value::parse(std::str::from_utf8(value).ok()?).ok()?).ok()
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
