//! What is left of a record if nobody asks what agents and judges said.

use std::sync::LazyLock;

use eval_format::metric::METRICS;
use eval_format::{UsageMetadata, Value};

use super::from_json::FromJson;
use super::parse::{Record, total_tokens};
use super::read::Attempt;
use super::record::{Decided, Ran, RecordedMetric, Scored};
use super::skim::{fields, items, number};
use crate::transcript::{RunError, Transcript};
use crate::verdict::Verdict;

/// The outline of a sealed line; `None` for what is read whole, and for what has another form.
pub(super) fn record(line: &[u8]) -> Option<Record> {
    let (_, rest) = line.split_at_checked(BEGIN.len()).filter(|(begin, _)| *begin == BEGIN)?;
    match rest.get(..4)? {
        b"ran\"" => ran(line).map(Record::Ran),
        b"scor" => scored(line).map(Record::Scored),
        b"deci" => decided(line).map(Record::Decided),
        _ => None,
    }
}

const BEGIN: &[u8] = b"{\"record\":\"";

/// A run that was scored, without metrics that only inform and asked no judge.
fn scored(line: &[u8]) -> Option<Scored> {
    let (mut test, mut run, mut evaluation) = (None, None, None);
    let mut metrics = None;
    fields(line, |name, value| match name {
        b"test" => test = number(value),
        b"run" => run = number(value),
        b"evaluation" => evaluation = number(value),
        b"metrics" => metrics = Some(value),
        _ => {}
    })?;
    let mut kept = Vec::new();
    if let Some(metrics) = metrics {
        items(metrics, |metric| {
            if !only_informs(metric) {
                kept.push(parsed::<RecordedMetric>(metric));
            }
        })?;
    }
    let metrics = kept.into_iter().collect::<Option<Vec<_>>>()?;
    Some(Scored { test: test?, run: run?, evaluation: evaluation?, metrics })
}

/// Whether a metric has the name of a built-in one that only informs, is not the user's own, and asked no judge.
fn only_informs(metric: &[u8]) -> bool {
    let mut informs = false;
    let mut has_more = false;
    let read = fields(metric, |name, value| match name {
        b"name" => informs = INFORM.iter().any(|name| value[1..value.len() - 1] == *name.as_bytes()),
        b"custom" | b"judge" => has_more = true,
        _ => {}
    });
    read.is_some() && informs && !has_more
}

/// A verdict, without metrics that only inform.
fn decided(line: &[u8]) -> Option<Decided> {
    let mut gating = Vec::new();
    let mut whole = None;
    fields(line, |name, value| {
        if name == b"metrics" {
            whole = Some(value);
        }
    })?;
    if let Some(metrics) = whole {
        items(metrics, |metric| {
            let mut informs = false;
            let read =
                fields(metric, |name, value| informs |= name == b"verdict" && value == b"\"informational\"");
            if read.is_none() || !informs {
                gating.push(metric);
            }
        })?;
    }
    // The line again, with these metrics alone.
    let mut short = b"{\"metrics\":[".to_vec();
    short.extend_from_slice(&gating.join(&b','));
    short.push(b']');
    fields(line, |name, value| {
        if name != b"metrics" {
            short.extend_from_slice(b",\"");
            short.extend_from_slice(name);
            short.extend_from_slice(b"\":");
            short.extend_from_slice(value);
        }
    })?;
    short.push(b'}');
    match Record::parse(std::str::from_utf8(&short).ok()?).ok()? {
        Record::Decided(decided) => Some(decided),
        _ => None,
    }
}

/// A run, without what happened in it.
pub(super) fn ran(line: &[u8]) -> Option<Ran> {
    let (mut test, mut run, mut evaluation) = (None, None, None);
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

/// The built-in metrics that only inform.
static INFORM: LazyLock<Vec<&str>> =
    LazyLock::new(|| METRICS.iter().filter(|info| !info.gates).map(|info| info.name).collect());

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
