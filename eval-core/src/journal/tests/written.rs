//! Records as the lines of a journal.

use crate::journal::fields::Kind;
use crate::journal::line::Line;
use crate::journal::record::{Broke, Ran, Scored};
use crate::journal::record_line::write_record as write;
use crate::journal::seal::seal;
use crate::judge_outcome::JudgeUse;
use crate::report::ScoredMetric;
use crate::transcript::{RunError, Transcript};

/// A record on a line of its own, which has no seal yet.
pub(super) fn line(record: &impl Kind) -> Vec<u8> {
    let mut line = Line::new();
    write(record, &mut line).unwrap();
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

/// The lines of a journal as a process writes it, without empty ones.
pub(super) fn all_sealed(lines: &[Vec<u8>]) -> Vec<Vec<u8>> {
    lines.iter().filter(|line| !line.is_empty()).zip(1..).map(|(line, number)| sealed(line, number)).collect()
}

/// A journal as a process writes it.
pub(super) fn journal(lines: &[Vec<u8>]) -> Vec<u8> {
    all_sealed(lines).concat()
}

pub(super) fn ran_line(
    test: u32,
    run: usize,
    evaluation: u32,
    transcript: &Transcript,
    simulator: &[JudgeUse],
) -> Vec<u8> {
    let (transcript, simulator) = (transcript.clone(), simulator.to_vec());
    let tokens = transcript.tokens();
    line(&Ran { test, run, evaluation, repeated: false, transcript, tokens, simulator })
}

pub(super) fn scored_line(test: u32, run: usize, evaluation: u32, metrics: &[ScoredMetric]) -> Vec<u8> {
    line(&Scored { test, run, evaluation, metrics: metrics.to_vec() })
}

pub(super) fn broke_line(test: u32, run: usize, evaluation: u32, error: &RunError) -> Vec<u8> {
    line(&Broke { test, run, evaluation, error: error.clone() })
}
