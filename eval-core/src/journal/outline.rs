//! What is left of a record if nobody asks what agents and judges said.

use std::sync::LazyLock;

use eval_format::metric::METRICS;
use eval_format::{UsageMetadata, Value};

use super::from_json::FromJson;
use super::parse::Record;
use super::read::Attempt;
use super::record::{Decided, Ran, RecordedMetric, Scored};
use super::skim::{fields, items, number, value_end, walk_fields, walk_items};
use crate::judge_outcome::JudgeUse;
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
    let mut metrics = kept.into_iter().collect::<Option<Vec<_>>>()?;
    for metric in &mut metrics {
        drop_texts(&mut metric.judge);
    }
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
    let mut others = Vec::new();
    let mut gating = Vec::new();
    walk_fields(line, 0, |name, at| {
        if name == b"metrics" {
            return walk_items(line, at, |at| {
                let mut informs = false;
                let end = walk_fields(line, at, |name, at| {
                    let end = value_end(line, at)?;
                    informs |= name == b"verdict" && line.get(at..end)? == b"\"informational\"";
                    Some(end)
                })?;
                if !informs {
                    gating.push(line.get(at..end)?);
                }
                Some(end)
            });
        }
        let end = value_end(line, at)?;
        others.push((name, line.get(at..end)?));
        Some(end)
    })?;
    // The line again, with these metrics alone.
    let mut short = b"{\"metrics\":[".to_vec();
    short.extend_from_slice(&gating.join(&b','));
    short.push(b']');
    for (name, value) in others {
        short.extend_from_slice(b",\"");
        short.extend_from_slice(name);
        short.extend_from_slice(b"\":");
        short.extend_from_slice(value);
    }
    short.push(b'}');
    match Record::parse(std::str::from_utf8(&short).ok()?).ok()? {
        Record::Decided(decided) => Some(decided),
        _ => None,
    }
}

/// A run, without what happened in it.
pub(super) fn ran(line: &[u8]) -> Option<Ran> {
    let (mut test, mut run, mut evaluation) = (None, None, None);
    let (mut simulator, mut error) = (None, None);
    let mut usages = Vec::new();
    let mut has_transcript = false;
    walk_fields(line, 0, |name, at| {
        if name == b"transcript" {
            has_transcript = true;
            return walk_transcript(line, at, &mut usages, &mut error);
        }
        let end = value_end(line, at)?;
        let value = line.get(at..end)?;
        match name {
            b"test" => test = number(value),
            b"run" => run = number(value),
            b"evaluation" => evaluation = number(value),
            b"simulator" => simulator = Some(value),
            _ => {}
        }
        Some(end)
    })?;
    let error = match error {
        Some(error) => parsed::<Option<RunError>>(error)?,
        None => None,
    };
    let mut tokens = None;
    for usage in usages {
        if let Some(usage) = parsed::<Option<UsageMetadata>>(usage)? {
            tokens = [tokens, usage.all_tokens()].into_iter().flatten().reduce(i64::saturating_add);
        }
    }
    has_transcript.then_some(())?;
    let mut simulator = simulator.map_or(Some(Vec::new()), parsed)?;
    drop_texts(&mut simulator);
    Some(Ran { test: test?, run: run?, evaluation: evaluation?, transcript: only(error), tokens, simulator })
}

/// Walks the transcript that begins here: adds what its events used, and finds its error. Returns where it ends.
fn walk_transcript<'b>(
    line: &'b [u8],
    start: usize,
    usages: &mut Vec<&'b [u8]>,
    error: &mut Option<&'b [u8]>,
) -> Option<usize> {
    walk_fields(line, start, |name, at| match name {
        b"turns" => walk_items(line, at, |at| {
            walk_fields(line, at, |name, at| match name {
                b"events" => walk_items(line, at, |at| {
                    walk_fields(line, at, |name, at| {
                        let end = value_end(line, at)?;
                        if name == b"usage" {
                            usages.push(line.get(at..end)?);
                        }
                        Some(end)
                    })
                }),
                _ => value_end(line, at),
            })
        }),
        b"error" => {
            let end = value_end(line, at)?;
            *error = line.get(at..end);
            Some(end)
        }
        _ => value_end(line, at),
    })
}

/// Drops the prompts and the answers of judges.
fn drop_texts(used: &mut [JudgeUse]) {
    for used in used {
        used.questions = Vec::new();
    }
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
    ran.transcript = only(error);
    drop_texts(&mut ran.simulator);
}

/// A transcript that holds nothing but an error. All share one session, since each of its own would take memory.
fn only(error: Option<RunError>) -> Transcript {
    static EMPTY: LazyLock<Transcript> = LazyLock::new(Transcript::default);
    Transcript { error, ..EMPTY.clone() }
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
            for metric in &mut scored.metrics {
                drop_texts(&mut metric.judge);
            }
        }
    }
    attempt.evaluations.shrink_to_fit();
}
