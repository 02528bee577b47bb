//! Records as lines, before they are [sealed](super::seal).

use std::time::{Duration, SystemTime};

use eval_format::{Gate, Pass};

use super::line::Line;
use super::record::{Head, Planned};
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

/// How a test begins: a [`Started`](super::Started), without copies.
#[derive(Debug)]
pub(super) struct TestStart<'a> {
    pub(super) test: u32,
    pub(super) name: &'a str,
    pub(super) of_program: bool,
    pub(super) label: Option<&'a str>,
    pub(super) eval_set_id: Option<&'a str>,
    pub(super) eval_id: &'a str,
    pub(super) file: Option<&'a str>,
    pub(super) set_file: Option<&'a str>,
    pub(super) line: Option<usize>,
    pub(super) column: Option<usize>,
    pub(super) case_hash: Option<&'a str>,
    pub(super) set_cases: Option<usize>,
    pub(super) runs: usize,
    pub(super) pass: Pass,
    pub(super) gate: Gate,
    pub(super) attempt: u32,
    pub(super) at: SystemTime,
}

impl TestStart<'_> {
    pub(super) fn write_line(&self, line: &mut Line) {
        write_record("started", line, |out| {
            let mut object = Object::open(out);
            object.field(key!("test"), &self.test);
            object.text(key!("name"), self.name);
            object.field(key!("of_program"), &self.of_program);
            object.some_text(key!("label"), self.label);
            object.some_text(key!("eval_set_id"), self.eval_set_id);
            object.text(key!("eval_id"), self.eval_id);
            object.some_text(key!("file"), self.file);
            object.some_text(key!("set_file"), self.set_file);
            object.field(key!("line"), &self.line);
            object.field(key!("column"), &self.column);
            if let Some(hash) = self.case_hash {
                object.key(key!("case_hash")).word(hash);
            }
            object.field(key!("set_cases"), &self.set_cases);
            object.field(key!("runs"), &self.runs);
            object.field(key!("pass"), &self.pass);
            object.field(key!("gate"), &self.gate);
            object.field(key!("attempt"), &self.attempt);
            object.field(key!("at"), &self.at);
            object.close();
        });
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
            object.some_text(key!("headline"), self.headline);
            object.some_text(key!("failure"), self.failure);
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
