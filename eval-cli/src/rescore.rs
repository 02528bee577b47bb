//! `cargo evalset rescore`: scores recorded runs again, without an agent.

mod again;
mod cases;
mod human;
mod json;
mod kept;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use eval_core::journal::Decided;
use eval_core::report::MetricReport;
use eval_format::{EvalConfig, check_config, suggest};

use crate::answer::{Answer, Format, Outcome, Refusal};
use crate::recorded::{Recorded, State, has_gaps};
use crate::runs::{Recording, Which};
use crate::show::one_line;
use crate::words::count;
use again::Rescored;
use cases::Cases;
use kept::is_own;

/// Scores what agents did in a recorded run again: with other criteria, by another judge, or against expectations that
/// were edited since. No agent runs.
///
/// Metrics of your own keep the scores that they gave, as only your tests can run them, whatever their name. Judges are
/// asked as `EVALSET_JUDGE` says: from the recording beside the set, unless it says `record` or `live`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,

    /// Scores these metrics again, and keeps the scores of the others.
    #[arg(long = "metric", value_name = "NAME", value_delimiter = ',')]
    metrics: Vec<String>,

    /// Takes the criteria of this config instead of those of the run.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Asks this model, whatever the criteria name.
    #[arg(long, value_name = "MODEL")]
    judge: Option<String>,

    /// For whom to print.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset rescore                                  # after editing an expectation
  cargo evalset rescore --config evals/strict.json
  EVALSET_JUDGE=live cargo evalset rescore --metric safety_v1 --judge openai/gpt-5-mini

Exit codes:
  0  with the new scores every case passes
  1  a case fails
  2  a case has no verdict, or cannot be scored again";

/// A run and what its cases score now.
#[derive(Debug)]
struct Rescoring<'r> {
    recording: &'r Recording,
    cases: Vec<Rescored<'r>>,
}

pub(crate) fn run(args: &Args) -> Result<Answer, Refusal> {
    let recording = args.which.read()?;
    let tests = Recorded::all(&recording.run);
    let wanted = Wanted::of(args, &tests)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        Refusal::new(format!("cannot wait for judges: {error}"), "let this user open more files")
    })?;
    let cases = runtime.block_on(again::all(tests, &wanted, &mut Cases::default()));
    let rescoring = Rescoring { recording: &recording, cases };
    let outcome = rescoring.outcome();
    match args.format {
        Format::Human => Ok(Answer { outcome, text: human::text(&rescoring) }),
        Format::Json => Answer::json(outcome, &json::Document::of(&rescoring)),
    }
}

/// What is to be scored again, and how.
#[derive(Debug)]
struct Wanted {
    /// None where all metrics are.
    metrics: Option<BTreeSet<String>>,
    config: Option<EvalConfig>,
    judge: Option<String>,
}

impl Wanted {
    fn of(args: &Args, tests: &[Recorded<'_>]) -> Result<Self, Refusal> {
        let recorded = recorded(tests);
        let config = args.config.as_ref().map(|path| read_config(path, &recorded)).transpose()?;
        for name in &args.metrics {
            let own = recorded.get(name.as_str()).copied();
            let in_config = config.as_ref().map(|config| config.criterion(name).is_some());
            if !in_config.unwrap_or(own.is_some()) {
                return Err(no_such_metric(name, config.as_ref(), &recorded));
            }
            if own.unwrap_or_else(|| eval_format::metric(name).is_none()) {
                return Err(Refusal::new(
                    format!("`{}` is a metric of your own", one_line(name)),
                    "only your tests can run it; `cargo evalset rerun` runs them",
                ));
            }
        }
        let metrics = (!args.metrics.is_empty()).then(|| args.metrics.iter().cloned().collect());
        Ok(Self { metrics, config, judge: args.judge.clone() })
    }

    /// Whether a metric that was recorded is to be scored again.
    fn rescores(&self, name: &str) -> bool {
        self.metrics.as_ref().is_none_or(|metrics| metrics.contains(name))
    }
}

/// The metrics that gated a test, each with whether it was the user's own wherever it did.
fn recorded<'r>(tests: &[Recorded<'r>]) -> BTreeMap<&'r str, bool> {
    let mut recorded = BTreeMap::new();
    for test in tests {
        for metric in test.gating() {
            let own = recorded.entry(metric.name.as_str()).or_insert(true);
            *own = *own && is_own(test.attempt, &metric.name);
        }
    }
    recorded
}

fn no_such_metric(name: &str, config: Option<&EvalConfig>, recorded: &BTreeMap<&str, bool>) -> Refusal {
    let (message, names): (String, Vec<&str>) = match config {
        Some(config) => (
            format!("the config has no criterion `{}`", one_line(name)),
            config.criteria.iter().map(|(name, _)| name.as_str()).collect(),
        ),
        None => (
            format!("no case of this run was scored with `{}`", one_line(name)),
            recorded.keys().copied().collect(),
        ),
    };
    let help = match suggest(name, names.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "name a config that asks for it: `--config FILE`".to_owned(),
    };
    Refusal::new(message, help)
}

fn read_config(path: &PathBuf, recorded: &BTreeMap<&str, bool>) -> Result<EvalConfig, Refusal> {
    let shown = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| {
        Refusal::new(format!("cannot read `{shown}`: {error}"), "name a file with `criteria`")
    })?;
    let own: Vec<&str> = recorded.iter().filter(|(_, own)| **own).map(|(name, _)| *name).collect();
    let checked = check_config(&shown, &bytes, &own);
    let problems = checked.problems.len();
    checked.config.ok_or_else(|| {
        Refusal::new(
            format!("`{}` has {}", one_line(&shown), count(problems, "problem")),
            format!("`cargo evalset check {}` shows them", crate::shell::word(&shown)),
        )
    })
}

impl Rescoring<'_> {
    fn outcome(&self) -> Outcome {
        let states = || self.cases.iter().map(Rescored::state);
        if has_gaps(&self.recording.run)
            || states().any(State::is_unmeasured)
            || !states().any(|it| matches!(it, State::Passed | State::Failed))
        {
            Outcome::Unmeasurable
        } else if states().any(|state| state == State::Failed) {
            Outcome::Failed
        } else {
            Outcome::Passed
        }
    }
}

/// What a metric came to before, and what it comes to now; a metric may be new, or gone.
type Pair<'a> = (Option<&'a MetricReport>, Option<&'a MetricReport>);

/// The metrics that gate, before and now, by name.
fn pairs<'a>(before: Option<&'a Decided>, now: &'a [MetricReport]) -> Vec<(&'a str, Pair<'a>)> {
    let gating = |metric: &&MetricReport| metric.criterion.is_some();
    let before: Vec<&MetricReport> =
        before.map(|decided| decided.metrics.iter().filter(gating).collect()).unwrap_or_default();
    let now: Vec<&MetricReport> = now.iter().filter(gating).collect();
    let find = |all: &[&'a MetricReport], name: &str| all.iter().find(|metric| metric.name == name).copied();
    let gone = before.iter().filter(|metric| find(&now, &metric.name).is_none());
    let names = now.iter().chain(gone).map(|metric| metric.name.as_str());
    names.map(|name| (name, (find(&before, name), find(&now, name)))).collect()
}
