//! The records: one line each, in the order in which they are written.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use eval_format::matrix::Variant;
use eval_format::{PassRule, TurnAggregation};
use eval_support::variables::{ATTEMPT, NEXTEST_ATTEMPT, NEXTEST_RUN_ID};

use super::fields::{fields, record};
use crate::judge_outcome::JudgeUse;
use crate::report::{MetricReport, RunError, ScoredMetric, Transcript};
use crate::verdict::Verdict;

/// The version of the records that this version of eval-core writes, and the only one that it reads.
///
/// It grows if a record changes its meaning. It does not grow for new fields and new records: readers skip those that
/// they do not know.
pub const SCHEMA: u32 = 2;

/// Variables that tell one job of a CI service from another: of GitHub, GitLab, Azure Pipelines, Bitbucket, Buildkite,
/// `CircleCI`, Jenkins and `TeamCity`. [`Head::env`] has those that were set.
pub const JOB_VARIABLES: [&str; 11] = [
    "BITBUCKET_STEP_UUID",
    "BUILDKITE_JOB_ID",
    "BUILD_BUILDID",
    "BUILD_NUMBER",
    "BUILD_TAG",
    "CIRCLE_WORKFLOW_JOB_ID",
    "CI_JOB_ID",
    "GITHUB_JOB",
    "GITHUB_RUN_ATTEMPT",
    "GITHUB_RUN_ID",
    "SYSTEM_JOBID",
];

/// The writer of a file: the process, the target it was built from, and the variables that were set for it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Head {
    /// The version of the records: [`SCHEMA`].
    pub schema: u32,
    /// The version of eval-core.
    pub evalset: String,
    /// The id of the run that the file belongs to.
    pub run: String,
    /// The package of the tests. For a program, the package that cargo started it for, else the package of
    /// the current folder; `None` without either.
    pub package: Option<String>,
    /// The folder of the workspace, or of the project of another language, as an absolute path; `None` if it is not
    /// known.
    pub workspace: Option<String>,
    /// The version of the package; `None` if neither cargo nor nextest set it.
    pub version: Option<String>,
    /// The name of the test binary, without the hash that cargo adds; `None` if the system does not tell it.
    pub binary: Option<String>,
    /// The id of the process.
    pub pid: u32,
    /// The start of the file.
    pub started: SystemTime,
    /// The arguments of the process, without its name: which tests were asked for.
    pub args: Vec<String>,
    /// The command line of the runner that started the tests: of cargo or nextest. Empty if something else started
    /// them, if the system does not tell, and for programs.
    pub runner: Vec<String>,
    /// The options with which a command runs named cases of the program again; `None` for tests, and for
    /// programs that give none.
    pub again: Option<Vec<String>>,
    /// The file of the program; `None` if the system does not tell it.
    pub program: Option<String>,
    /// The time of the last write to that file: the time at which the tests were built.
    pub built: Option<SystemTime>,
    /// Whether tracked files differed from the commit when the program began; `None` if git was not asked, or does not tell.
    pub dirty: Option<bool>,
    /// Variables that decide what runs and how, and that tell which job of a CI service it is. None of them holds a
    /// secret.
    pub env: BTreeMap<String, String>,
}

impl Head {
    /// A head of this process without further facts. Results without a journal have it.
    #[doc(hidden)]
    pub fn unwritten(started: SystemTime) -> Self {
        Self {
            schema: SCHEMA,
            evalset: env!("CARGO_PKG_VERSION").to_owned(),
            run: String::new(),
            package: None,
            workspace: None,
            version: None,
            binary: None,
            pid: std::process::id(),
            started,
            args: Vec::new(),
            runner: Vec::new(),
            again: None,
            dirty: None,
            program: None,
            built: None,
            env: BTreeMap::new(),
        }
    }

    /// Whether nextest started the process.
    pub fn is_of_nextest(&self) -> bool {
        self.env.contains_key(NEXTEST_RUN_ID)
    }

    /// The number of the attempt that the process made at its tests, from 1.
    pub fn attempt(&self) -> u32 {
        attempt(|variable| self.env.get(variable).cloned())
    }

    /// Whether the process made a further attempt at tests of the run.
    pub fn is_rerun(&self) -> bool {
        self.env.contains_key(ATTEMPT)
    }
}

/// The number of a process's attempt at its tests, from 1. Retries of nextest count on from
/// `EVALSET_ATTEMPT`.
pub(super) fn attempt(variable: impl Fn(&str) -> Option<String>) -> u32 {
    let number = |name: &str| variable(name)?.trim().parse::<u32>().ok();
    let [ours, of_nextest] = [ATTEMPT, NEXTEST_ATTEMPT].map(|name| number(name).unwrap_or(1).max(1));
    (ours - 1).saturating_add(of_nextest)
}

/// A program is about to run cases. Tests have a [`Listed`] instead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Planned {
    /// The cases, in order, as [`Started::name`] has them: each of them begins, unless the process ends before.
    pub cases: Vec<String>,
}

/// All tests of a test binary, whichever were selected. Under `cargo test` the record is in the journal of the process,
/// and under nextest once in a run, in a file of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// The sets that `#[eval_set]` made tests of.
    pub sets: Vec<ListedSet>,
}

/// The tests of another test binary of the package. It was built too, from a file among the tests of the
/// package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Beside {
    /// The name of the test binary, without the hash that cargo adds.
    pub binary: String,
    /// Its sets.
    pub sets: Vec<ListedSet>,
}

/// The tests of one set in a test binary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedSet {
    /// The tests, as cargo shows them.
    pub tests: Vec<String>,
    /// Whether they are ignored unless they are asked for (`#[ignore]`).
    pub ignored: bool,
}

/// A test began, or a case of a program.
///
/// Two records are of the same case if their package, binary, name, file, hashes and label are equal. Records
/// of one case that differ in [`attempt`](Self::attempt) are attempts at one test.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Started {
    /// The number of the test in its file. The other records of the test have it too.
    pub test: u32,
    /// The path of the test as cargo shows it: `weather::sunny`. Without the attribute, set and case: `set/case`.
    pub name: String,
    /// Whether a program runs the case, rather than a test of the attribute.
    pub of_program: bool,
    /// The label that the program gave its runs, or of the variant of a matrix: `model=flash prompt=a`; `None` if there is
    /// none.
    pub label: Option<String>,
    /// The value of each axis of a matrix; empty without one.
    pub variant: Variant,
    /// The number of the variant in the attribute's matrix, from 0; 0 without one.
    pub order: usize,
    /// The id of the set; `None` for a case that ran without one.
    pub eval_set_id: Option<String>,
    /// The id of the case.
    pub eval_id: String,
    /// The file of the set as the compiler shows it, or as the program names it; `None` for a case that comes from no
    /// file.
    pub file: Option<String>,
    /// The file of the set, relative to the folder of the package; of a program, its whole path. `None` for a case that
    /// comes from no file.
    pub set_file: Option<String>,
    /// The line of the case, from 1; `None` for a case that comes from no file.
    pub line: Option<usize>,
    /// The column of the case in characters, from 1; `None` for a case that comes from no file.
    pub column: Option<usize>,
    /// [`Meaning::asks`](eval_format::Meaning::asks) of the case as it ran; empty if the case could not be read.
    pub asks: String,
    /// [`Meaning::expects`](eval_format::Meaning::expects) of the case as it ran; empty if the case could not be read.
    pub expects: String,
    /// [`EvalCase::tags`](eval_format::EvalCase::tags) of the case as it ran; empty if the case could not be read.
    pub tags: Vec<String>,
    /// The number of cases of this file that are tests. In a program, the number of cases of the set that it was to
    /// run.
    pub set_cases: Option<usize>,
    /// The number of runs of the case.
    pub runs: usize,
    /// The rule that combines the runs.
    pub pass: PassRule,
    /// The rule that combines the turns of a run.
    pub gate: TurnAggregation,
    /// Whether calls were judged as ADK does, whatever the case loosens: `--literal`, `EVALSET_LITERAL`.
    pub literal: bool,
    /// The source of answers to the calls of the agent, if its own tools did not: `golden`, with faults of a file `golden, faults` and a hash of
    /// that file.
    pub tools: Option<String>,
    /// The number of this attempt at the test, from 1: `EVALSET_ATTEMPT`, from which `NEXTEST_ATTEMPT` counts on.
    pub attempt: u32,
    /// Its start.
    pub at: SystemTime,
}

/// A turn of a run began. What happens in it is in the [`Ran`] of its run, so this tells only of a run in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnBegan {
    /// The number of the test.
    pub test: u32,
    /// The number of the run of the case, from 1.
    pub run: usize,
    /// The number of the turn, from 1.
    pub turn: usize,
    /// The number of turns; `None` if a simulated user decides when the conversation ends.
    pub turns: Option<usize>,
    /// Its start.
    pub at: SystemTime,
}

/// A run ended. This is written before anything is scored.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ran {
    /// The number of the test.
    pub test: u32,
    /// The number of the run of the case, from 1.
    pub run: usize,
    /// The number of this evaluation in the test, from 1. A test body may evaluate several times in a run.
    pub evaluation: u32,
    /// Whether the agent was not reached and `retry` repeated the run. Such a run is never scored.
    pub repeated: bool,
    /// The events, including the error that ended the run.
    pub transcript: Transcript,
    /// [`Transcript::tokens`] of it.
    pub tokens: Option<i64>,
    /// The questions to a judge that played the user; empty if no judge did.
    pub simulator: Vec<JudgeUse>,
}

/// A run was scored.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scored {
    /// The number of the test.
    pub test: u32,
    /// The number of the run of the case, from 1.
    pub run: usize,
    /// The [`Ran::evaluation`] that was scored.
    pub evaluation: u32,
    /// Each metric, in the order of the criteria. Criteria are recorded once, in [`Decided`], and are `None`
    /// here. The crate eval-report restores them when it reads a run.
    pub metrics: Vec<ScoredMetric>,
}

/// A run turned out to be an error after it was recorded: something was recorded too late for its turn, or the test
/// body failed. Readers put the error into the transcript of the run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunInvalidated {
    /// The number of the test.
    pub test: u32,
    /// The number of the run of the case, from 1.
    pub run: usize,
    /// The [`Ran::evaluation`] that broke.
    pub evaluation: u32,
    /// The error.
    pub error: RunError,
}

/// A test ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decided {
    /// The number of the test.
    pub test: u32,
    /// The verdict on the case.
    pub verdict: Verdict,
    /// The metrics over all runs, in the order of the criteria; empty if the test could not begin.
    pub metrics: Vec<MetricReport>,
    /// The number of runs that passed every metric with a threshold; `None` unless runs are decided one by one (`pass`
    /// other than `mean`).
    pub passed_runs: Option<usize>,
    /// The duration of the turns.
    pub elapsed: Duration,
    /// Remarks that belong to no metric.
    pub notes: Vec<String>,
    /// The number of repetitions of a run whose agent was not reached (`retry`).
    pub repeated: usize,
    /// The headline of a case that does not pass; `None` if it passes.
    pub headline: Option<String>,
    /// Whether the case failed although each run did what it expects. `false` in older journals.
    pub as_expected: bool,
    /// Whether the case failed and its runs cannot become its golden: they differ, or a secret would be masked.
    /// `false` in older journals.
    pub keeps_golden: bool,
    /// The output of the failed test; `None` if it did not fail, and for cases that ran without the attribute.
    pub failure: Option<String>,
    /// Its end.
    pub at: SystemTime,
}

/// The process ended by itself: `main` returned, or the process exited. Processes of the attribute's tests
/// have a [`Listed`] instead, and `cargo evalset run` makes one call, so its [`Planned`] is enough.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// Its end.
    pub at: SystemTime,
}

record!(Head = "head" { schema, evalset, run, pid, started } {
    package,
    workspace,
    version,
    binary,
    args,
    runner,
    again,
    dirty,
    program,
    built,
    env,
});
record!(Listed = "listed" { sets } {});
record!(Beside = "beside" { binary, sets } {});
fields!(ListedSet from default { tests, ignored });
record!(Planned = "planned" { cases } {});
record!(Started = "started" { test, name, eval_id, runs, pass, gate, attempt, at } {
    of_program,
    label,
    variant,
    order,
    eval_set_id,
    file,
    set_file,
    line,
    column,
    asks,
    expects,
    tags,
    set_cases,
    literal,
    tools,
});
record!(TurnBegan = "turn" { test, run, turn, at } { turns });
record!(Ran = "ran" { test, run, evaluation, transcript } { repeated, tokens, simulator });
record!(Scored = "scored" { test, run, evaluation, metrics } {});
record!(RunInvalidated = "broke" { test, run, evaluation, error } {});
record!(Decided = "decided" { test, verdict, elapsed, at } {
    metrics,
    passed_runs,
    notes,
    repeated,
    headline,
    as_expected,
    keeps_golden,
    failure,
});
record!(Ended = "ended" { at } {});
