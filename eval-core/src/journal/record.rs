//! The records: one line each, in the order in which they were written.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use eval_format::{Gate, Map, Pass, Value};

use super::json::{Json, Misread, Object, fields, write_list};
use super::line::Line;
use crate::judge_outcome::JudgeUse;
use crate::report::{MetricOutcome, MetricReport, ScoredMetric};
use crate::transcript::Transcript;
use crate::verdict::Verdict;

/// The version of the records that this version writes, and the highest that it reads.
///
/// It grows where a record changes its meaning. Fields and records that are added do not count: readers pass over
/// those that they do not know.
pub const SCHEMA: u32 = 1;

/// One line of a journal.
///
/// ```
/// use eval_core::journal::Record;
///
/// let line = r#"{"record":"decided","test":1,"verdict":"passed","at":"2026-11-22T02:31:07.250Z"}"#;
/// let Record::Decided(decided) = Record::parse(line)? else { unreachable!() };
/// assert!(decided.verdict.passed());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Record {
    /// The first line: who writes.
    Head(Head),
    /// A test began.
    Started(Started),
    /// A run came to its end, well or not, and is not scored yet.
    Ran(Ran),
    /// A run was scored.
    Scored(Scored),
    /// A test came to its end.
    Decided(Decided),
    /// A record of a later version.
    Unknown,
}

impl Record {
    /// Reads a line; the error says what is wrong with it.
    pub fn parse(line: &str) -> Result<Self, String> {
        let value = Value::parse(line).map_err(|problems| {
            problems.iter().next().map_or_else(|| "it is not JSON".to_owned(), |first| first.message.clone())
        })?;
        let kind = value["record"].as_str().unwrap_or_default().to_owned();
        Ok(match kind.as_str() {
            "head" => Self::Head(Head::read(value)?),
            "started" => Self::Started(Started::read(value)?),
            "ran" => Self::Ran(Ran::read(value)?),
            "scored" => Self::Scored(Scored::read(value)?),
            "decided" => Self::Decided(Decided::read(value)?),
            "" => return Err("`record` is missing".to_owned()),
            _ => Self::Unknown,
        })
    }
}

/// Who writes a file: the process, what it was built from, and what it was told.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Head {
    /// The version of the records: [`SCHEMA`].
    pub schema: u32,
    /// The version of eval-core.
    pub evalset: String,
    /// The run it belongs to.
    pub run: String,
    /// The package whose tests these are; empty for a program that cargo did not start.
    pub package: String,
    /// The version of the package, where cargo or nextest told it.
    pub version: String,
    /// The test binary, without the hash that cargo adds.
    pub binary: String,
    /// The process.
    pub pid: u32,
    /// When the file was begun.
    pub started: SystemTime,
    /// Variables that decide what runs and how. None of them holds a secret.
    pub env: BTreeMap<String, String>,
}

/// A test began.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Started {
    /// The number of the test in its file: what its other records refer to.
    pub test: u32,
    /// The path of the test as cargo shows it: `weather::sunny`. Without the attribute, set and case: `set/case`.
    pub name: String,
    /// The id of the set; `None` for a case that ran without one.
    pub eval_set_id: Option<String>,
    /// The id of the case.
    pub eval_id: String,
    /// The file of the set as the compiler shows it; `None` for a case that comes from no file.
    pub file: Option<String>,
    /// The same file relative to the folder of the package.
    pub set_file: Option<String>,
    /// The line of the case, from 1; `None` for a case that comes from no file.
    pub line: Option<usize>,
    /// The column of the case in characters, from 1; `None` for a case that comes from no file.
    pub column: Option<usize>,
    /// The [`case_hash`] of the case, to tell whether it was edited since; `None` for a case that comes from no file.
    pub case_hash: Option<String>,
    /// Of how many cases of this file the attribute makes tests; `None` for a case that comes from no file.
    pub set_cases: Option<usize>,
    /// How often the case is to run.
    pub runs: usize,
    /// How the runs are taken together.
    pub pass: Pass,
    /// How the turns of a run are taken together.
    pub gate: Gate,
    /// Which attempt of the runner's own this is, from 1: `NEXTEST_ATTEMPT`.
    pub attempt: u32,
    /// When.
    pub at: SystemTime,
}

/// A run came to its end. It is written before anything is scored.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ran {
    /// The test.
    pub test: u32,
    /// Which run of the case, from 1.
    pub run: usize,
    /// Tells what was evaluated in one test apart, from 1: a test body may evaluate several times in a run.
    pub evaluation: u32,
    /// What happened, the error that ended it included.
    pub transcript: Transcript,
    /// What playing the user took, where a judge did.
    pub simulator: Vec<JudgeUse>,
}

/// A run was scored.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scored {
    /// The test.
    pub test: u32,
    /// Which run of the case, from 1.
    pub run: usize,
    /// Which [`Ran::evaluation`] it scores.
    pub evaluation: u32,
    /// Each metric, in the order of the criteria.
    pub metrics: Vec<MetricScore>,
}

/// What one metric made of one run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MetricScore {
    /// The metric.
    pub name: String,
    /// Whether it is the user's own, which may have the name of a built-in one.
    pub custom: bool,
    /// The scores with their notes and rubrics, or why there are none.
    pub score: MetricOutcome,
    /// What the judges were asked for it; empty where none was.
    pub judge: Vec<JudgeUse>,
}

/// A test came to its end.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decided {
    /// The test.
    pub test: u32,
    /// The verdict on the case.
    pub verdict: Verdict,
    /// The metrics over all runs, in the order of the criteria; none where the test could not begin.
    pub metrics: Vec<MetricReport>,
    /// How many runs passed every metric that gates, where runs are decided one by one.
    pub passed_runs: Option<usize>,
    /// How long the turns took, in seconds.
    pub elapsed: Duration,
    /// What there is to say beside the metrics.
    pub notes: Vec<String>,
    /// What the test printed where it failed.
    pub failure: String,
    /// When.
    pub at: SystemTime,
}

/// A record as a line. Every record has a field that is never left out, so that a comma may follow its kind.
fn line(kind: &str, write: impl FnOnce(&mut Line)) -> Vec<u8> {
    let mut line = Line::new();
    line.add(b"{\"record\":\"");
    line.add(kind.as_bytes());
    line.push(b'"');
    let fields = line.len();
    write(&mut line);
    line.replace(fields, b',');
    line.push(b'\n');
    line.into_bytes()
}

impl Head {
    pub(super) fn line(&self) -> Vec<u8> {
        line("head", |out| self.write(out))
    }
}

impl Started {
    pub(super) fn line(&self) -> Vec<u8> {
        line("started", |out| self.write(out))
    }
}

/// The line of a [`Ran`], of a transcript that is needed further on.
pub(super) fn ran_line(
    test: u32,
    run: usize,
    evaluation: u32,
    transcript: &Transcript,
    simulator: &[JudgeUse],
) -> Vec<u8> {
    line("ran", |out| {
        let mut object = Object::open(out);
        object.field(",\"test\":", &test);
        object.field(",\"run\":", &run);
        object.field(",\"evaluation\":", &evaluation);
        object.field(",\"transcript\":", transcript);
        object.list(",\"simulator\":", simulator);
        object.close();
    })
}

/// The line of a [`Scored`], of scores that are needed further on.
pub(super) fn scored_line(test: u32, run: usize, evaluation: u32, metrics: &[ScoredMetric]) -> Vec<u8> {
    line("scored", |out| {
        let mut object = Object::open(out);
        object.field(",\"test\":", &test);
        object.field(",\"run\":", &run);
        object.field(",\"evaluation\":", &evaluation);
        write_list(metrics, object.key(",\"metrics\":"), write_metric);
        object.close();
    })
}

/// Writes a [`ScoredMetric`] as a [`MetricScore`]: the criterion and the verdict stand in [`Decided`].
fn write_metric(metric: &ScoredMetric, out: &mut Line) {
    let mut object = Object::open(out);
    object.text(",\"name\":", &metric.name);
    object.field(",\"custom\":", &metric.custom);
    object.field(",\"score\":", &metric.outcome);
    object.list(",\"judge\":", &metric.judge);
    object.close();
}

/// What tells whether a case was edited: the hash of its text as it stands in the file.
///
/// ```
/// use eval_core::journal::case_hash;
///
/// assert_eq!(case_hash("{}"), case_hash("{}"));
/// assert_ne!(case_hash("{}"), case_hash("{ }"));
/// ```
///
/// It is taken by every test, in builds without optimisation, so it takes eight bytes at a time. It never changes within
/// a [`SCHEMA`].
pub fn case_hash(text: &str) -> String {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let (blocks, rest) = text.as_bytes().as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut hash = (text.len() as u64 ^ u64::from_le_bytes(last)).wrapping_mul(PRIME);
    let mut at = 0;
    while at < blocks.len() {
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(blocks[at])).wrapping_mul(PRIME);
        at += 1;
    }
    format!("{:016x}", hash ^ (hash >> 32))
}

impl Decided {
    pub(super) fn line(&self) -> Vec<u8> {
        line("decided", |out| self.write(out))
    }
}

impl Json for BTreeMap<String, String> {
    fn write(&self, out: &mut Line) {
        let mut object = Object::open(out);
        for (key, text) in self {
            object.entry(key, text);
        }
        object.close();
    }

    fn read(value: Value) -> Result<Self, Misread> {
        let map = Map::read(value)?;
        map.into_iter().map(|(key, value)| Ok((key, String::read(value)?))).collect()
    }
}

fields!(Head { schema, evalset, run, package, version, binary, pid, started, env });
fields!(Started {
    test,
    name,
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
});
fields!(Ran { test, run, evaluation, transcript, simulator });
fields!(Scored { test, run, evaluation, metrics });
fields!(Decided { test, verdict, metrics, passed_runs, elapsed, notes, failure, at });
