//! `cargo evalset gate`: decides whether the runs of this build show a drop against the baseline.

mod limits;
mod suspects;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use eval_report::baseline::{Measured, measure, remarks, shared_runs};
use eval_report::comparison::{Comparison, GateOptions, Gated, gate_text, markdown};
use eval_report::decide::gate::Policy;
use eval_support::untrusted::{self, one_line};
use serde::Serialize;

use super::diff::{CaseEntry, counted};
use crate::files::write;
use crate::output::{Answer, CommandError, Format, Outcome, mask};
use crate::recorded::{LoadedRun, WhichRun};
use crate::sides::{
    Side, baseline_path, commit_here, commit_of, notes, refuse_suspects, results, run_of_suspects,
    why_incomplete,
};
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

    /// The file of the baseline, or a run to compare with. Without it, `evalset-baseline.jsonl` of this folder or of the nearest
    /// above it in the project.
    #[arg(long, value_name = "FILE")]
    baseline: Option<String>,

    /// Runs cases that passed less often than before again, until each has this many runs or the rest could change nothing.
    #[arg(long, value_name = "RUNS", num_args = 0..=1, require_equals = true, default_missing_value = "20")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    retry_suspects: Option<u16>,

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
  cargo evalset gate --retry-suspects=10
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
    notes: &'c [String],
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
    let mut policy = Policy::default();
    policy.max_runs = args.retry_suspects.map_or(policy.max_runs, usize::from);
    args.limits.check()?;
    let (name, before) = baseline(args.baseline.as_deref())?;
    let mut runs = loaded(&args.runs)?;
    let mut doubts: Vec<String> =
        before.doubts.iter().map(|doubt| format!("{}: {doubt}", before.name)).collect();
    for run in &runs {
        doubts.extend(why_incomplete(&results(run, args.partial)?));
    }
    if args.runs.is_empty() {
        doubts.extend(runs.iter().filter_map(stale));
    }
    let first = measured(&runs).cases;
    doubts.extend(shared_runs(&before.cases, &first));
    let broken = args.limits.broken(&runs, &first)?;
    if args.retry_suspects.is_some() && doubts.is_empty() {
        suspects::run_again(&before.cases, &first, &mut runs, policy)?;
    }
    let now = measured(&runs);
    let mut told = [before.notes, notes(&now)].concat();
    told.extend(remarks(&before.cases, &now.cases, SystemTime::now()));
    let comparison = Comparison::new(&before.cases, &now.cases, &first, policy);
    let options = GateOptions {
        allow_removed: args.allow_removed,
        retried: args.retry_suspects.is_some(),
        doubts,
        notes: told,
        broken,
    };
    let gated = Gated::new(comparison, &options);
    if let Some(path) = &args.markdown {
        write(path, &mask(&markdown(&gated)))?;
    }
    answer(args, &name, &gated, &runs)
}

fn measured(runs: &[LoadedRun]) -> Measured {
    measure(&runs.iter().collect::<Vec<_>>(), None)
}

/// A doubt about a run that was not named: it is of another commit than the one that is checked out.
fn stale(run: &LoadedRun) -> Option<String> {
    let (of_run, here) = (commit_of(run)?, commit_here()?);
    (of_run != here).then(|| {
        let [of_run, here] = [of_run, here].map(|commit| commit.chars().take(7).collect::<String>());
        format!(
            "the last run, `{}`, is of commit {}, and {} is checked out: run the cases again, or name the run",
            run.name(),
            one_line(&of_run),
            one_line(&here)
        )
    })
}

fn answer(args: &Args, baseline: &str, gated: &Gated, runs: &[LoadedRun]) -> Result<Answer, CommandError> {
    let outcome = Outcome::of_exit_code(gated.exit_code()).unwrap_or(Outcome::Unmeasurable);
    if args.format == Format::Json {
        let ids: Vec<String> = runs.iter().flat_map(|run| run.run.ids.clone()).collect();
        let document = Document {
            verdict: gated.word(),
            reasons: &gated.reasons,
            notes: &gated.notes,
            baseline,
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

/// The baseline of a file, or of a run, and its name.
fn baseline(named: Option<&str>) -> Result<(String, Side), CommandError> {
    let name = match named {
        Some(name) => name.to_owned(),
        None => baseline_path(None).display().to_string(),
    };
    if named.is_none() && !Path::new(&name).is_file() {
        let help = "run all cases of a build that works ten times, then bless it: `cargo evalset bless`";
        return Err(CommandError::new(format!("there is no baseline `{name}` here"), help));
    }
    let side = Side::named(&name)?;
    Ok((name, side))
}

/// The named runs, the oldest first, else the last one. If that has the suspects of an earlier gate, the run of that gate is meant.
fn loaded(names: &[String]) -> Result<Vec<LoadedRun>, CommandError> {
    if names.is_empty() {
        let last = WhichRun::default().load()?;
        let of_gate = last.run.ids.iter().find_map(|id| run_of_suspects(id));
        return match of_gate {
            Some(run) => Ok(vec![WhichRun::named(Some(run.to_owned())).load()?]),
            None => Ok(vec![last]),
        };
    }
    let mut runs: Vec<LoadedRun> = Vec::new();
    let mut seen = HashSet::new();
    for name in names {
        let run = WhichRun::named(Some(name.clone())).load()?;
        refuse_suspects(&run)?;
        // A copy of its folder is the same run.
        let processes = run.run.processes.iter().map(|head| (head.run.clone(), head.pid, head.started));
        let processes: HashSet<_> = processes.collect();
        let is_new = seen.is_disjoint(&processes);
        seen.extend(processes);
        if !is_new {
            let message = format!("the run `{}` is named twice, and its runs would count twice", run.name());
            return Err(CommandError::new(message, "name each run once"));
        }
        runs.push(run);
    }
    runs.sort_by_key(|run| run.run.processes.iter().map(|head| head.started).min());
    Ok(runs)
}
