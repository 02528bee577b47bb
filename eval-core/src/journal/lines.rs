//! Records as lines. Each line is written at once, so it ends with the line break.

use super::line::Line;
use super::record::{Decided, Head, Planned, Started};
use super::shape::key;
use super::to_json::{Object, ToJson, write_list};
use crate::judge_outcome::JudgeUse;
use crate::report::ScoredMetric;
use crate::transcript::{RunError, Transcript};

impl Head {
    pub(super) fn line(&self) -> Vec<u8> {
        line("head", |out| self.write(out))
    }
}

impl Planned {
    pub(super) fn line(&self) -> Vec<u8> {
        line("planned", |out| self.write(out))
    }
}

impl Started {
    pub(super) fn line(&self) -> Vec<u8> {
        line("started", |out| self.write(out))
    }
}

impl Decided {
    pub(super) fn line(&self) -> Vec<u8> {
        line("decided", |out| self.write(out))
    }
}

/// The line of a [`Ran`](super::Ran), without a copy of the transcript.
pub(super) fn ran_line(
    test: u32,
    run: usize,
    evaluation: u32,
    transcript: &Transcript,
    simulator: &[JudgeUse],
) -> Vec<u8> {
    line("ran", |out| {
        let mut object = Object::open(out);
        object.field(key!("test"), &test);
        object.field(key!("run"), &run);
        object.field(key!("evaluation"), &evaluation);
        object.field(key!("transcript"), transcript);
        object.list(key!("simulator"), simulator);
        object.close();
    })
}

/// The line of a [`Scored`](super::Scored), without a copy of the scores.
pub(super) fn scored_line(test: u32, run: usize, evaluation: u32, metrics: &[ScoredMetric]) -> Vec<u8> {
    line("scored", |out| {
        let mut object = Object::open(out);
        object.field(key!("test"), &test);
        object.field(key!("run"), &run);
        object.field(key!("evaluation"), &evaluation);
        write_list(metrics, object.key(key!("metrics")), write_metric);
        object.close();
    })
}

/// The line of a [`Broke`](super::Broke).
pub(super) fn broke_line(test: u32, run: usize, evaluation: u32, error: &RunError) -> Vec<u8> {
    line("broke", |out| {
        let mut object = Object::open(out);
        object.field(key!("test"), &test);
        object.field(key!("run"), &run);
        object.field(key!("evaluation"), &evaluation);
        object.field(key!("error"), error);
        object.close();
    })
}

/// Writes a [`RecordedMetric`](super::RecordedMetric). The criterion and the verdict are left to [`Decided`].
fn write_metric(metric: &ScoredMetric, out: &mut Line) {
    let mut object = Object::open(out);
    object.text(key!("name"), &metric.name);
    object.field(key!("custom"), &metric.custom);
    object.field(key!("score"), &metric.outcome);
    object.list(key!("judge"), &metric.judge);
    object.close();
}

/// The line of a record of this kind: the kind, then the fields of the object that `write` writes.
fn line(kind: &str, write: impl FnOnce(&mut Line)) -> Vec<u8> {
    let mut line = Line::new();
    line.add("{\"record\":\"");
    line.add(kind);
    line.push(b'"');
    let fields = line.len();
    write(&mut line);
    // The brace of the object becomes a comma. Each record has a field that is never left out.
    line.replace(fields, b',');
    line.push(b'\n');
    line.into_bytes()
}
