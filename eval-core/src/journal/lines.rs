//! Records as lines, before they are [sealed](super::seal).

use std::time::{Duration, SystemTime};

use super::line::Line;
use super::record::{Head, Planned, Started};
use super::scores::metric_name;
use super::shape::key;
use super::to_json::{Object, ToJson, write_list};
use crate::judge_outcome::JudgeUse;
use crate::report::{MetricReport, ScoredMetric};
use crate::transcript::{RunError, Transcript};
use crate::verdict::Verdict;

impl Head {
    pub(super) fn write_line(&self, line: &mut Line) {
        write_record("head", line, |out| self.write(out));
    }
}

impl Planned {
    pub(super) fn write_line(&self, line: &mut Line) {
        write_record("planned", line, |out| self.write(out));
    }
}

impl Started {
    pub(super) fn write_line(&self, line: &mut Line) {
        write_record("started", line, |out| self.write(out));
    }
}

/// How a test ended: a [`Decided`](super::Decided), without copies.
#[derive(Debug)]
pub(super) struct TestEnd<'a> {
    pub(super) test: u32,
    pub(super) verdict: &'a Verdict,
    pub(super) metrics: &'a [MetricReport],
    pub(super) passed_runs: Option<usize>,
    pub(super) elapsed: Duration,
    pub(super) notes: &'a [String],
    pub(super) repeated: usize,
    pub(super) headline: Option<&'a str>,
    pub(super) failure: Option<&'a str>,
    pub(super) at: SystemTime,
}

impl TestEnd<'_> {
    pub(super) fn write_line(&self, line: &mut Line) {
        write_record("decided", line, |out| {
            let mut object = Object::open(out);
            object.field(key!("test"), &self.test);
            object.field(key!("verdict"), self.verdict);
            object.list(key!("metrics"), self.metrics);
            object.field(key!("passed_runs"), &self.passed_runs);
            object.field(key!("elapsed"), &self.elapsed);
            object.list(key!("notes"), self.notes);
            object.field(key!("repeated"), &self.repeated);
            for (key, text) in [(key!("headline"), self.headline), (key!("failure"), self.failure)] {
                if let Some(text) = text {
                    object.text(key, text);
                }
            }
            object.field(key!("at"), &self.at);
            object.close();
        });
    }
}

/// Which evaluation of a run a record is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct EvaluationId {
    pub(super) test: u32,
    pub(super) run: usize,
    pub(super) evaluation: u32,
}

impl EvaluationId {
    fn write_record(self, kind: &str, line: &mut Line, write: impl FnOnce(&mut Object<'_>)) {
        write_record(kind, line, |out| {
            let mut object = Object::open(out);
            object.field(key!("test"), &self.test);
            object.field(key!("run"), &self.run);
            object.field(key!("evaluation"), &self.evaluation);
            write(&mut object);
            object.close();
        });
    }
}

/// Writes a [`Ran`](super::Ran), without a copy of the transcript.
pub(super) fn write_ran(line: &mut Line, of: EvaluationId, transcript: &Transcript, simulator: &[JudgeUse]) {
    of.write_record("ran", line, |object| {
        object.field(key!("transcript"), transcript);
        object.list(key!("simulator"), simulator);
    });
}

/// Writes a [`Scored`](super::Scored), without a copy of the scores.
pub(super) fn write_scored(line: &mut Line, of: EvaluationId, metrics: &[ScoredMetric]) {
    of.write_record("scored", line, |object| {
        write_list(metrics, object.key(key!("metrics")), write_metric);
    });
}

/// Writes a [`Broke`](super::Broke).
pub(super) fn write_broke(line: &mut Line, of: EvaluationId, error: &RunError) {
    of.write_record("broke", line, |object| object.field(key!("error"), error));
}

/// Writes a [`RecordedMetric`](super::RecordedMetric). The criterion and the verdict are left to [`TestEnd`].
fn write_metric(metric: &ScoredMetric, out: &mut Line) {
    let mut object = Object::open(out);
    metric_name(&mut object, &metric.name, !metric.custom);
    object.field(key!("custom"), &metric.custom);
    object.field(key!("score"), &metric.outcome);
    object.list(key!("judge"), &metric.judge);
    object.close();
}

/// Writes a record of this kind: the kind, then the fields of the object that `write` writes.
fn write_record(kind: &str, line: &mut Line, write: impl FnOnce(&mut Line)) {
    line.add("{\"record\":\"");
    line.add(kind);
    line.push(b'"');
    let fields = line.len();
    write(line);
    // The brace of the object becomes a comma. Each record has a field that is never left out.
    line.replace(fields, b',');
}
