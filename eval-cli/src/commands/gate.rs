//! `cargo evalset gate`: decides whether the runs of this build show a drop against the baseline.

mod limits;
mod suspects;

use std::collections::BTreeMap;
use std::path::PathBuf;

use eval_report::baseline::{Baseline, measure};
use eval_report::comparison::{Comparison, GateOptions, Gated, gate_text, markdown};
use eval_report::decide::gate::Policy;
use eval_support::untrusted;
use serde::Serialize;

use super::diff::{CaseEntry, counted};
use crate::files::write;
use crate::output::{Answer, CommandError, Format, Outcome, mask};
use crate::recorded::{LoadedRun, WhichRun};
use crate::sides::{BASELINE, read_baseline, results, run_of_suspects};
use limits::Limits;

/// Decides whether this build is worse than the baseline. A drop that the number of runs cannot show is no regression, and a gate
/// that cannot show anything says so.
///
/// Two tests decide, at 2.5% each: one over all cases, and one for each case, corrected for their number. At most 5% of builds in
/// which nothing changed are called a regression.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The ids or folders of the runs, which count together. Without any, the last run.
    #[arg(value_name = "RUN")]
    runs: Vec<String>,

    /// The file of the baseline, or a run to compare with.
    #[arg(long, value_name = "FILE", default_value = BASELINE)]
    baseline: String,

    /// Runs cases that passed less often than before again, until each has this many runs or the rest could change nothing.
    #[arg(long, value_name = "RUNS", num_args = 0..=1, default_missing_value = "20")]
    retry_suspects: Option<usize>,

    /// Allows that cases of the baseline are gone. They are named.
    #[arg(long)]
    allow_removed: bool,

    /// Says that tests were left out on purpose, as for `report`.
    #[arg(long)]
    partial: bool,

    #[command(flatten)]
    limits: Limits,

    /// Writes a comment for a pull request to this file. Its first line is a mark by which a script finds the comment again.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Also prints annotations of GitHub Actions.
    #[arg(long, conflicts_with = "format")]
    github: bool,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset gate
  cargo evalset gate --retry-suspects
  cargo evalset gate 2026-11-22T02-31-07-4f1c --markdown comment.md
  cargo evalset gate --min-pass-rate 0.9 --max-tokens 200000

Exit codes:
  0  PASS: no drop is shown
  1  REGRESSION: a drop is shown, whatever runs without a verdict were, or a limit (`--min-..`, `--max-..`) is broken
  2  CANNOT TELL: a case that stopped working cannot be shown with these runs, or most cases cannot be compared
  2  UNMEASURABLE: the run is not complete, there is no baseline, cases were removed, or the verdict depends on errors";

#[derive(Serialize)]
struct Document<'c> {
    verdict: &'static str,
    reasons: &'c [String],
    baseline: &'c str,
    runs: &'c [String],
    categories: BTreeMap<&'static str, usize>,
    p: f64,
    power: Option<PowerEntry>,
    cases: Vec<CaseEntry<'c>>,
}

/// The shares of builds in which the gate finds each kind of drop.
#[derive(Serialize)]
struct PowerEntry {
    dead: f64,
    all_by_tenth: f64,
    half: f64,
}

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    gate(args).or_else(|error| if args.github { Ok(Answer::annotated(error)) } else { Err(error) })
}

fn gate(args: &Args) -> Result<Answer, CommandError> {
    let policy = Policy { max_runs: args.retry_suspects.unwrap_or(20), ..Policy::default() };
    args.limits.check()?;
    let before = baseline(&args.baseline)?;
    let mut runs = loaded(&args.runs)?;
    let mut doubts = Vec::new();
    for run in &runs {
        doubts.extend(results(run, args.partial)?.problems.iter().map(|problem| problem.shown()));
    }
    let first = measure(&runs.iter().collect::<Vec<_>>(), None).cases;
    if args.retry_suspects.is_some() && doubts.is_empty() {
        suspects::run_again(&before, &first, &mut runs, policy)?;
    }
    let now = measure(&runs.iter().collect::<Vec<_>>(), None).cases;
    let comparison = Comparison::new(&before, &now, &first, policy);
    let options = GateOptions {
        allow_removed: args.allow_removed,
        retried: args.retry_suspects.is_some(),
        doubts,
        bless: None,
    };
    let mut gated = Gated::new(comparison, &options);
    gated.demand(args.limits.broken(&runs, &now)?);
    if let Some(path) = &args.markdown {
        write(path, &mask(&markdown(&gated)))?;
    }
    answer(args, &gated, &runs)
}

fn answer(args: &Args, gated: &Gated, runs: &[LoadedRun]) -> Result<Answer, CommandError> {
    let outcome = Outcome::of_exit_code(gated.exit_code()).unwrap_or(Outcome::Unmeasurable);
    if args.format == Format::Json {
        let ids: Vec<String> = runs.iter().flat_map(|run| run.run.ids.clone()).collect();
        let document = Document {
            verdict: gated.word(),
            reasons: &gated.reasons,
            baseline: &args.baseline,
            runs: &ids,
            categories: counted(&gated.comparison),
            p: gated.comparison.decision.p,
            power: gated.power.map(|power| PowerEntry {
                dead: power.dead,
                all_by_tenth: power.all_by_tenth,
                half: power.half,
            }),
            cases: gated.comparison.cases.iter().map(CaseEntry::new).collect(),
        };
        return Answer::results("gate", outcome, &document);
    }
    let mut answer = Answer::new(outcome, gate_text(gated));
    if args.github && outcome != Outcome::Passed {
        let title = format!("gate: {}", gated.word());
        answer.annotations =
            untrusted::annotation("error", &[("title", title.as_str())], &gated.reasons.join("\n"));
    }
    Ok(answer)
}

/// The baseline of a file, or of a run.
fn baseline(name: &str) -> Result<Baseline, CommandError> {
    let path = std::path::Path::new(name);
    if path.is_file() {
        return read_baseline(path);
    }
    if name == BASELINE {
        let help = "run all cases of a build that works ten times, then bless it: `cargo evalset bless`";
        return Err(CommandError::new(format!("there is no baseline `{name}` here"), help));
    }
    let run = WhichRun::named(Some(name.to_owned())).load()?;
    Ok(measure(&[&run], None).cases)
}

/// The named runs, else the last one. If that has the suspects of an earlier gate, the run of that gate is meant.
fn loaded(names: &[String]) -> Result<Vec<LoadedRun>, CommandError> {
    if !names.is_empty() {
        return names.iter().map(|name| WhichRun::named(Some(name.clone())).load()).collect();
    }
    let last = WhichRun::default().load()?;
    let of_gate = last.run.ids.iter().find_map(|id| run_of_suspects(id));
    match of_gate {
        Some(run) => Ok(vec![WhichRun::named(Some(run.to_owned())).load()?]),
        None => Ok(vec![last]),
    }
}
