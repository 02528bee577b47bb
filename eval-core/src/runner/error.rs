//! Why nothing was run.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use eval_format::compat::{Incompatibility, OverlookedConfig};
use eval_format::conventions::SET_NAMES;
use eval_format::{Problems, ReadError};

/// Why a runner cannot run: its settings contradict each other, or they do not fit the cases.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RunnerError {
    /// There is no tokio runtime.
    NoRuntime,
    /// The set of this id has no cases.
    NoCases(String),
    /// `runs` is 0.
    NoRuns,
    /// `at_least(0)` passes always.
    PassesAlways,
    /// `pass` asks for more passing runs than there are.
    TooFewRuns {
        /// How many runs must pass.
        needed: u32,
        /// How many runs there are.
        runs: usize,
    },
    /// The cases have problems, by the rules of files: see [`EvalSet::check`](eval_format::EvalSet::check).
    Set(Problems),
    /// The criteria have problems.
    Criteria(Problems),
    /// The criteria do not fit some cases.
    Incompatible(Vec<Incompatibility>),
    /// A metric is unknown or given twice, or the settings of the simulated user are wrong.
    Metrics(Arc<dyn Error + Send + Sync>),
    /// The case of this id has a scenario, and the feature `judges` is off.
    ScenarioNeedsJudges(String),
    /// A variable of the environment has an unknown value.
    Environment(Arc<dyn Error + Send + Sync>),
    /// There is no recorded run of the case of this id.
    NothingToScore(String),
}

impl fmt::Display for RunnerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRuntime => {
                f.write_str("there is no tokio runtime here; run it in one with its timer enabled")
            }
            Self::NoCases(eval_set_id) => write!(f, "the set `{eval_set_id}` has no cases"),
            Self::NoRuns => f.write_str("`runs` is 0; a case runs at least once"),
            Self::PassesAlways => f.write_str(
                "`at_least(0)` would pass whatever the agent does; ask for at least 1 passing run",
            ),
            Self::TooFewRuns { needed, runs } => write!(
                f,
                "`pass` asks for {needed} passing runs of {runs}; set `runs` to {needed} or more, or ask for fewer"
            ),
            Self::Set(problems) | Self::Criteria(problems) => problems.fmt(f),
            Self::Incompatible(all) => {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                f.write_str(&all.join("\n"))
            }
            Self::Metrics(error) | Self::Environment(error) => error.fmt(f),
            Self::ScenarioNeedsJudges(eval_id) => write!(
                f,
                "the case `{eval_id}` has a scenario, and a simulated user needs the feature `judges` of `eval-core`"
            ),
            Self::NothingToScore(eval_id) => write!(f, "there is no run of the case `{eval_id}` to score"),
        }
    }
}

impl Error for RunnerError {}

impl RunnerError {
    /// A variable of the environment that is wrong.
    pub(super) fn environment(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Environment(error.into().into())
    }
}

/// Why a directory could not be run.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunDirError {
    /// The directory holds no eval sets.
    NoSets(PathBuf),
    /// A set or a config cannot be read.
    Read(ReadError),
    /// A config would be passed over, and the runner has no criteria.
    OverlookedConfig(OverlookedConfig),
    /// The settings of the runner contradict each other, or they do not fit a set.
    Runner {
        /// The file of the set.
        path: PathBuf,
        /// What does not fit.
        source: RunnerError,
    },
}

impl fmt::Display for RunDirError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSets(path) => write!(f, "`{}` holds no eval sets ({SET_NAMES})", path.display()),
            Self::Read(error) => error.fmt(f),
            Self::OverlookedConfig(found) => write!(
                f,
                "{}; move it to `{}`, or give the runner its criteria",
                found.message(|path| path.display().to_string()),
                found.wanted.display()
            ),
            Self::Runner { path, source } => write!(f, "`{}`: {source}", path.display()),
        }
    }
}

impl Error for RunDirError {}

impl From<ReadError> for RunDirError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}
