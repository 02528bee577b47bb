//! Errors of a runner before anything runs.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::{fmt, io};

use eval_format::compat::{Incompatibility, OverlookedConfig};
use eval_format::conventions::SET_NAMES;
use eval_format::options::MOST_RUNS;
use eval_format::reader::{drafts_are, how_to_accept};
use eval_format::tags::UnknownTag;
use eval_format::{Problems, ReadError};
use eval_support::words::quoted_list;

use crate::journal::OpenError;

/// The error of a runner that cannot run: its settings contradict each other, or they do not fit the cases.
///
/// ```
/// use eval_core::runner::RunnerError;
/// use eval_core::{EvalCase, EvalRunner, Invocation, Replay};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?").response("It is sunny."));
/// let runner = EvalRunner::new().journal("Cargo.toml/evalset");
/// match runner.run_case(&case, || Replay::new([["It is sunny."]])).await {
///     Err(RunnerError::Journal { source, .. }) => eprintln!("{:?}", source.kind()),
///     other => panic!("{other:?}"),
/// }
/// # Ok(()) }
/// ```
///
/// `Display` says everything. The underlying error is in the variant, for programs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RunnerError {
    /// There is no tokio runtime.
    NoRuntime,
    /// The tokio runtime has no timers, which time limits need.
    NoTimers,
    /// The set of this id has no cases.
    NoCases(String),
    /// `runs` is 0.
    NoRuns,
    /// `runs` is more than [`MOST_RUNS`](eval_format::options::MOST_RUNS).
    TooManyRuns(usize),
    /// An agent is one conversation, and `runs` asks for more.
    OneConversation {
        /// The required number of runs.
        runs: usize,
    },
    /// `at_least(0)` passes always.
    PassesAlways,
    /// `pass` asks for more passing runs than there are.
    TooFewRuns {
        /// The number of runs that must pass.
        needed: u32,
        /// The number of runs.
        runs: usize,
    },
    /// The cases have problems, by the rules of files: see [`EvalSet::check`](eval_format::EvalSet::check).
    Set(Problems),
    /// Cases are drafts that are not accepted yet: see [`EvalCase::draft`](eval_format::EvalCase::draft).
    #[non_exhaustive]
    Drafts {
        /// The ids of the cases.
        eval_ids: Vec<String>,
        /// The file that they come from.
        file: Option<String>,
    },
    /// The criteria have problems.
    Criteria(Problems),
    /// The file of faults has tools that no case expects.
    Faults(Problems),
    /// The declarations of tools beside the set cannot be read, or have mistakes.
    ToolList(String),
    /// A file of faults is given, and the tools of the agent run.
    #[non_exhaustive]
    FaultsOfRealTools {
        /// The file.
        file: String,
    },
    /// The criteria do not fit some cases.
    Incompatible(Vec<Incompatibility>),
    /// A metric is unknown or given twice, or the settings of the simulated user are wrong.
    Metrics(Arc<dyn Error + Send + Sync>),
    /// The case of this id has a scenario, and the feature `judges` is off.
    ScenarioNeedsJudges(String),
    /// The [only metric](crate::EvalRunner::only_metric) of this name has no threshold: no criterion says it.
    NoThreshold(String),
    /// A variable of the environment has an unknown value.
    Environment(Arc<dyn Error + Send + Sync>),
    /// The journal cannot be written.
    Journal {
        /// Its folder, or its file if some of it was written.
        path: PathBuf,
        /// The error of the operating system.
        source: Arc<io::Error>,
    },
    /// There is no recorded run of the case of this id.
    NothingToScore(String),
}

impl fmt::Display for RunnerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRuntime => {
                f.write_str("there is no tokio runtime here; run it in one with its timer enabled")
            }
            Self::NoTimers => f.write_str(
                "the tokio runtime has no timers, which time limits need; build it with `enable_all` or `enable_time`",
            ),
            Self::TooManyRuns(runs) => {
                write!(f, "`runs` is {runs}; a case runs at most {MOST_RUNS} times, since a report keeps each run")
            }
            Self::OneConversation { runs } => write!(
                f,
                "`runs` is {runs}, and an agent is one conversation; give `run_case` a function that makes the agents"
            ),
            Self::Journal { path, source } => write!(
                f,
                "cannot write the journal in `{}`: {source}; name another folder, or turn it off with \
                 `EVALSET_JOURNAL=off`",
                path.display()
            ),
            Self::NoCases(eval_set_id) => write!(f, "the set `{eval_set_id}` has no cases"),
            Self::NoRuns => f.write_str("`runs` is 0; a case runs at least once"),
            Self::PassesAlways => f.write_str(
                "`at_least(0)` would pass whatever the agent does; ask for at least 1 passing run",
            ),
            Self::TooFewRuns { needed, runs } => write!(
                f,
                "`pass` asks for {needed} passing runs of {runs}; set `runs` to {needed} or more, or ask for fewer"
            ),
            Self::Set(problems) | Self::Criteria(problems) | Self::Faults(problems) => problems.fmt(f),
            Self::Drafts { eval_ids, file } => {
                let ids: Vec<&str> = eval_ids.iter().map(String::as_str).collect();
                f.write_str(&drafts_are(&ids))?;
                match file {
                    Some(file) => write!(f, "; {}", how_to_accept(file, &ids)),
                    None => f.write_str(match ids.len() {
                        1 => "; take `_draft` out of its extra keys once it is reviewed",
                        _ => "; take `_draft` out of their extra keys once they are reviewed",
                    }),
                }
            }
            Self::ToolList(why) => f.write_str(why),
            Self::FaultsOfRealTools { file } => write!(
                f,
                "nothing plays the faults of `{file}`, as the tools of the agent run, and not golden ones \
                 (`tools(ToolSource::Golden)`, `--tools golden`)"
            ),
            Self::Incompatible(all) => {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                f.write_str(&all.join("\n"))
            }
            Self::Metrics(error) | Self::Environment(error) => error.fmt(f),
            Self::ScenarioNeedsJudges(eval_id) => write!(
                f,
                "the case `{eval_id}` has a scenario, and a simulated user needs the feature `judges` of `eval-core`"
            ),
            Self::NoThreshold(metric) => {
                write!(
                    f,
                    "`{metric}` has no threshold: neither the config nor ADK's default criteria name it; "
                )?;
                match eval_format::metric::metric(metric).map(|info| (info.gates, info.min, info.max)) {
                    Some((true, min, Some(max))) => {
                        let example = min + 0.8 * (max - min);
                        write!(f, "its scores are from {min:?} to {max:?}; say one, as `{metric}={example:?}`")
                    }
                    Some((false, ..)) => write!(f, "say the most that is allowed, as `{metric}<=5`"),
                    _ => write!(f, "say one, as `{metric}=0.8`"),
                }
            }
            Self::NothingToScore(eval_id) => write!(f, "there is no run of the case `{eval_id}` to score"),
        }
    }
}

impl Error for RunnerError {}

impl From<OpenError> for RunnerError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Environment(message) => Self::environment(message),
            OpenError::Folder { folder, source } => Self::Journal { path: folder, source },
        }
    }
}

impl RunnerError {
    pub(super) fn environment(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Environment(error.into().into())
    }
}

/// The error of a directory or of selectors that cannot be run.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunDirError {
    /// The directory holds no eval sets.
    NoSets(PathBuf),
    /// A selector finds no set.
    NoSuchSet {
        /// The set in the selector: a path, a glob or an id.
        name: String,
        /// The suggestion.
        meant: Option<String>,
    },
    /// Several sets have the id of a selector.
    SeveralSets {
        /// The id.
        id: String,
        /// Their files.
        paths: Vec<PathBuf>,
    },
    /// A selector names a case that none of its sets has.
    NoSuchCase {
        /// The name of the sets.
        set: String,
        /// The id of the case.
        id: String,
        /// The id that may be meant.
        meant: Option<String>,
    },
    /// A tag that selects cases, and that no case of the sets has.
    NoSuchTag(UnknownTag),
    /// None of the selected cases is taken by the tags.
    NoneOfTags,
    /// A set or a config cannot be read.
    Read(ReadError),
    /// The file of faults has tools that no case of the sets expects.
    Faults(Problems),
    /// A config would be passed over, and the runner has no criteria.
    OverlookedConfig(OverlookedConfig),
    /// The settings of the runner contradict each other, or they do not fit a set.
    Runner {
        /// The file of the set.
        path: PathBuf,
        /// The mismatch.
        source: RunnerError,
    },
}

impl fmt::Display for RunDirError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSets(path) => write!(f, "`{}` holds no eval sets ({SET_NAMES})", path.display()),
            Self::NoSuchSet { name, meant: Some(meant) } => {
                write!(f, "there is no set `{name}`; did you mean `{meant}`?")
            }
            Self::NoSuchSet { name, meant: None } => write!(
                f,
                "there is no set `{name}`; name a file, a folder, a glob in quotes, or the id of a set below this folder"
            ),
            Self::SeveralSets { id, paths } => {
                let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
                let paths = quoted_list(&paths.iter().map(String::as_str).collect::<Vec<_>>());
                write!(f, "several sets have the id `{id}`; name the file: {paths}")
            }
            Self::NoSuchCase { set, id, meant } => {
                write!(f, "`{set}` has no case `{id}`")?;
                meant.as_ref().map_or(Ok(()), |meant| write!(f, "; did you mean `{meant}`?"))
            }
            Self::NoSuchTag(unknown) => write!(f, "{unknown}; {}", unknown.help()),
            Self::NoneOfTags => f.write_str("none of the selected cases is left by the tags"),
            Self::Read(error) => error.fmt(f),
            Self::Faults(problems) => problems.fmt(f),
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
