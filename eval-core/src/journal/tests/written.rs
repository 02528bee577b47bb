//! Records as the bytes that a journal would add.

use crate::journal::line::Line;
use crate::journal::lines::{EvaluationId, TestEnd, TestStart, write_broke, write_ran, write_scored};
use crate::journal::record::{Decided, Head, Planned, Started};
use crate::journal::seal::seal;
use crate::judge_outcome::JudgeUse;
use crate::report::ScoredMetric;
use crate::transcript::{RunError, Transcript};

fn written(write: impl FnOnce(&mut Line)) -> Vec<u8> {
    let mut line = Line::new();
    write(&mut line);
    line.push(b'\n');
    line.into_bytes()
}

/// A line with its seal.
pub(super) fn sealed(line: &[u8], number: usize) -> Vec<u8> {
    let record = std::str::from_utf8(line).unwrap().strip_suffix('\n').unwrap();
    let mut line = Line::new();
    line.add(record);
    seal(&mut line, number);
    line.into_bytes()
}

/// A record with a line of its own.
pub(super) trait Written {
    fn line(&self) -> Vec<u8>;
}

macro_rules! written {
    ($($kind:ident)*) => {
        $(impl Written for $kind {
            fn line(&self) -> Vec<u8> {
                written(|line| self.write_line(line))
            }
        })*
    };
}
written!(Head Planned);

impl Written for Started {
    fn line(&self) -> Vec<u8> {
        // Named one by one: a field that is added to the record has to be written too.
        let Self {
            test,
            name,
            of_program,
            label,
            eval_set_id,
            eval_id,
            file,
            set_file,
            line,
            column,
            case_hash,
            set_cases,
            runs,
            pass,
            gate,
            attempt,
            at,
        } = self;
        let start = TestStart {
            test: *test,
            name,
            of_program: *of_program,
            label: label.as_deref(),
            eval_set_id: eval_set_id.as_deref(),
            eval_id,
            file: file.as_deref(),
            set_file: set_file.as_deref(),
            line: *line,
            column: *column,
            case_hash: case_hash.as_deref(),
            set_cases: *set_cases,
            runs: *runs,
            pass: *pass,
            gate: *gate,
            attempt: *attempt,
            at: *at,
        };
        written(|line| start.write_line(line))
    }
}

impl Written for Decided {
    fn line(&self) -> Vec<u8> {
        let end = TestEnd {
            test: self.test,
            verdict: &self.verdict,
            metrics: &self.metrics,
            passed_runs: self.passed_runs,
            elapsed: self.elapsed,
            notes: &self.notes,
            repeated: self.repeated,
            headline: self.headline.as_deref(),
            failure: self.failure.as_deref(),
            at: self.at,
        };
        written(|line| end.write_line(line))
    }
}

pub(super) fn ran_line(
    test: u32,
    run: usize,
    evaluation: u32,
    transcript: &Transcript,
    simulator: &[JudgeUse],
) -> Vec<u8> {
    written(|line| write_ran(line, EvaluationId { test, run, evaluation }, transcript, simulator))
}

pub(super) fn scored_line(test: u32, run: usize, evaluation: u32, metrics: &[ScoredMetric]) -> Vec<u8> {
    written(|line| write_scored(line, EvaluationId { test, run, evaluation }, metrics))
}

pub(super) fn broke_line(test: u32, run: usize, evaluation: u32, error: &RunError) -> Vec<u8> {
    written(|line| write_broke(line, EvaluationId { test, run, evaluation }, error))
}
