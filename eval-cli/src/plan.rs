//! `cargo evalset plan`: what a run would take, before anybody pays for it.

mod human;
mod json;
mod judges;
mod known;

use std::path::PathBuf;

use eval_core::judge::JudgeMode;

use crate::answer::{Answer, Format, Outcome, Refusal};
use crate::input::{self, Scope};
use crate::recorded::Recorded;
use crate::runs::Which;
use judges::Judged;
use known::{Known, Set};

/// Shows what running eval sets takes: cases, runs, questions to judges, and whether those can be answered.
///
/// How often cases run and with which criteria stands in your attributes, so it is taken from the last run. A set
/// that has not run yet is planned with the `test_config.json` beside it, or ADK's default criteria, and one run.
/// Nothing is run, and nobody is asked.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Files, folders, or globs in quotes; the sets of the last run unless said.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// For whom to print.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset plan
  cargo evalset plan evals
  EVALSET_JUDGE=live cargo evalset plan      # are the keys there?

Exit codes:
  0  every question to a judge can be answered, or none is asked
  2  a key or a recording is missing, or a set cannot be read";

/// What is planned.
#[derive(Debug)]
struct Plan {
    mode: Option<JudgeMode>,
    sets: Vec<Planned>,
    /// Sets that cannot be planned, and why.
    refusals: Vec<Refusal>,
    /// The run that the numbers come from.
    run: Option<String>,
}

/// A set, its numbers, and what stands in the way.
#[derive(Debug)]
struct Planned {
    set: Set,
    judged: Vec<Judged>,
}

pub(crate) fn run(args: &Args) -> Result<Answer, Refusal> {
    let mode = JudgeMode::from_env()
        .map_err(|error| Refusal::new(error.to_string(), "unset it, and recordings are replayed"))?;
    // There may be no run yet.
    let recording = Which::default().read().ok();
    let tests = recording.as_ref().map(|recording| Recorded::all(&recording.run)).unwrap_or_default();
    let known = Known::of(&tests);
    let inputs = if args.paths.is_empty() { known.inputs() } else { input::find(&args.paths, Scope::Sets) };
    if inputs.files.is_empty() && inputs.refusals.is_empty() {
        return Err(Refusal::new("no set is known here", "name sets or folders: `cargo evalset plan evals`"));
    }
    let mut plan = Plan {
        mode,
        sets: Vec::new(),
        refusals: inputs.refusals,
        run: recording.as_ref().map(crate::runs::Recording::name),
    };
    for input in inputs.files {
        match Set::read(&input.path, &known) {
            Ok(set) => plan.sets.push(Planned { judged: judges::of(&set, mode), set }),
            Err(refusal) => plan.refusals.push(refusal),
        }
    }
    let outcome = plan.outcome();
    match args.format {
        Format::Human => Ok(Answer { outcome, text: human::text(&plan) }),
        Format::Json => Answer::json(outcome, &json::Document::of(&plan)),
    }
}

impl Plan {
    fn outcome(&self) -> Outcome {
        let obstacles = self.sets.iter().flat_map(|set| &set.judged).any(|judged| judged.obstacle.is_some());
        if obstacles || !self.refusals.is_empty() { Outcome::Unmeasurable } else { Outcome::Passed }
    }

    fn cases(&self) -> usize {
        self.sets.iter().map(|planned| planned.set.cases.len()).sum()
    }

    fn runs(&self) -> usize {
        self.sets.iter().map(|planned| planned.set.runs).sum()
    }

    fn questions(&self) -> usize {
        self.sets.iter().flat_map(|set| &set.judged).map(|judged| judged.questions).sum()
    }
}
