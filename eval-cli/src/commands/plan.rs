//! `cargo evalset plan`: what a run would take, before it costs anything.

mod human;
mod json;
mod judges;
mod last_run;
mod planned;
mod recorded_questions;
mod set;

use std::path::PathBuf;

use eval_core::judge::JudgeMode;

use crate::files::{Scope, find_files};
use crate::output::width::fitted;
use crate::output::{Answer, CommandError, Format};
use crate::recorded::{LoadedRun, TestResult, WhichRun};
use json::Fields;
use last_run::LastRun;
use planned::{Plan, PlannedSet};
use set::Set;

/// Shows what running eval sets takes: cases, runs, questions to judges, and whether these can be answered.
///
/// How often cases run and with which criteria is in your attributes, so it is taken from the last run. A set that has not
/// run yet is planned with one run, and with the `test_config.json` beside it or ADK's default criteria. Nothing is run,
/// and no judge is asked.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Files, folders, or globs in quotes. Without any, the sets of the last run are meant.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset plan
  cargo evalset plan evals
  EVALSET_JUDGE=live cargo evalset plan      # are the keys there?

Exit codes:
  0  every question to a judge can be answered, or no judge is asked
  2  a key or a recording is missing, or a set cannot be read";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let mode = JudgeMode::from_env()
        .map_err(|error| CommandError::new(error.to_string(), "unset it to have recordings replayed"))?;
    // A project without a run can be planned too.
    let loaded = WhichRun::default().load().ok();
    let tests = loaded.as_ref().map(|loaded| TestResult::all(&loaded.run)).unwrap_or_default();
    let last_run = LastRun::of(&tests);
    let paths = if args.paths.is_empty() { last_run.files() } else { args.paths.clone() };
    let inputs = find_files(&paths, Scope::Sets);
    if inputs.files.is_empty() && inputs.errors.is_empty() {
        return Err(CommandError::new(
            "there is no last run to take the sets from",
            "name sets or folders: `cargo evalset plan evals`",
        ));
    }
    let mut plan =
        Plan { mode, sets: Vec::new(), errors: inputs.errors, run: loaded.as_ref().map(LoadedRun::name) };
    for input in inputs.files {
        match Set::read(&input.path, last_run.of_file(&input.path)) {
            Ok(set) => plan.sets.push(PlannedSet { judged: judges::of(&set, mode), set }),
            Err(error) => plan.errors.push(error),
        }
    }
    match args.format {
        Format::Human => Ok(Answer::new(plan.outcome(), fitted(human::text(&plan)))),
        Format::Json => Answer::results("plan", plan.outcome(), &Fields::of(&plan)),
    }
}
