//! `cargo evalset gate`: decides whether the runs of this build show a drop against the baseline.

mod limits;
pub(super) mod suspects;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use eval_core::journal::Revision;
use eval_report::baseline::{Key, measure, remarks, shared_runs};
use eval_report::comparison::{
    Category, Comparison, GateOptions, Gated, Power, ScoreChange, gate_text, markdown, score_notes,
};
use eval_report::decide::gate::Policy;
use eval_support::untrusted::{self, one_line};
use eval_support::words::{count, short_code_list, were};
use serde::Serialize;

use super::diff::CaseEntry;
use super::report::formats::is_printed;
use crate::files::{check_report_path, write};
use crate::output::{Answer, CommandError, Format, Outcome, mask};
use crate::recorded::{LoadedRun, WhichRun};
use crate::sides::{
    NamedSide, baseline_path, changed_by_hand, commit_here, differ, last_run, notes, refuse_suspects, side,
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

    /// Writes a comment for a pull request to this file. Its first line is a mark by which a script finds the comment again. `-` prints
    /// it instead of the usual output.
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
  2  CANNOT TELL: a case that stopped working cannot be shown with these runs, a new or edited case fails, or most cases cannot be
     compared
  2  UNMEASURABLE: the run is not complete or not of this build, there is no baseline, cases were removed, or the verdict or a
     limit depends on errors";

#[derive(Serialize)]
struct Document<'c> {
    verdict: &'static str,
    reasons: &'c [String],
    notes: &'c [String],
    baseline: &'c str,
    runs: &'c [String],
    categories: BTreeMap<Category, usize>,
    p: f64,
    power: Option<Power>,
    cases: Vec<CaseEntry<'c>>,
}

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    gate(args).or_else(|error| if args.github { Ok(Answer::annotated(error)) } else { Err(error) })
}

fn gate(args: &Args) -> Result<Answer, CommandError> {
    let mut policy = Policy::default();
    policy.max_runs = args.retry_suspects.map_or(policy.max_runs, usize::from);
    args.limits.check()?;
    check_markdown(args)?;
    let (name, before) = baseline(args.baseline.as_deref())?;
    let mut runs = loaded(args)?;
    let before = before.before(&measure(&runs, None).cases)?;
    let mut doubts: Vec<String> =
        before.doubts.iter().map(|doubt| format!("{}: {doubt}", before.name)).collect();
    for run in &runs {
        doubts.extend(why_incomplete(run, args.partial)?);
        doubts.extend(of_another_commit(run, args));
    }
    doubts.extend(of_changed_files(args, &runs));
    doubts.extend(of_several_commits(&runs));
    let measured = measure(&runs, None);
    let (replaced, first) = (measured.replaced(), measured.cases);
    doubts.extend(shared_runs(&before.cases, &first));
    let scores = ScoreChange::all(&before.cases, &first);
    let limits = args.limits.checked(&runs, &first, &scores)?;
    let mut recorded = Vec::new();
    if args.retry_suspects.is_some() && doubts.is_empty() {
        recorded = suspects::run_again(&before.cases, &first, &mut runs, policy)?;
    }
    let now = measure(&runs, None);
    doubts.extend(edited_meanwhile(&replaced, &now.replaced()));
    let mut told = [before.notes, notes(&now)].concat();
    told.extend(counted_again(&recorded));
    told.extend(limits.kept);
    told.extend(remarks(&before.cases, &now.cases, SystemTime::now()));
    told.extend(score_notes(&scores));
    let comparison = Comparison::new(&before.cases, &now.cases, &first, policy);
    let options = GateOptions {
        allow_removed: args.allow_removed,
        retried: args.retry_suspects.is_some(),
        doubts,
        unknown: limits.unknown,
        notes: told,
        broken: limits.broken,
    };
    let gated = Gated::new(comparison, &options);
    if let Some(path) = args.markdown.as_deref() {
        let comment = markdown(&gated);
        if is_printed(path) {
            return Ok(Answer::new(gated.outcome(), comment));
        }
        write(path, &mask(&comment))?;
    }
    answer(args, &name, &gated, &runs)
}

/// A doubt about a run of another commit than the one that is checked out, if it was not named, or if its suspects are to run again.
fn of_another_commit(run: &LoadedRun, args: &Args) -> Option<String> {
    let (of_run, here) = (run.commit(), commit_here());
    let is_stale = args.runs.is_empty() && of_run.is_some() && here.is_some();
    if of_run == here || !is_stale && args.retry_suspects.is_none() {
        return None;
    }
    let named = |commit: Option<String>, none: &str| {
        commit.map_or_else(|| none.to_owned(), |commit| one_line(&Revision::short(&commit)))
    };
    let (of_run, here) = (named(of_run, "(not known)"), named(here, "no commit"));
    let help = if is_stale {
        "run the cases again, or name the run"
    } else {
        "`--retry-suspects` would run another build again; check out that commit, or run the cases here first"
    };
    let last = if is_stale { "last " } else { "" };
    Some(format!("the {last}run `{}` is of commit {of_run}, and {here} is checked out: {help}", run.name()))
}

/// A doubt about tracked files that differ from the commit, or did when the run began, if suspects are to run again: another build
/// than the one that is gated would run.
fn of_changed_files(args: &Args, runs: &[LoadedRun]) -> Option<String> {
    const HELP: &str = "`--retry-suspects` would run another build again; commit and run the cases again, or leave the option out";
    args.retry_suspects?;
    let changed = changed_by_hand(args.baseline.as_deref().map(Path::new)).unwrap_or_default();
    if !changed.is_empty() {
        let files: Vec<String> = changed.iter().map(|file| one_line(file)).collect();
        return Some(format!("{} from the commit: {}; {HELP}", differ(files.len()), short_code_list(&files)));
    }
    let run = runs.iter().find(|run| run.is_dirty())?;
    Some(format!("tracked files differed from the commit when `{}` ran; {HELP}", run.name()))
}

/// A note about suspects that an earlier gate ran again.
fn counted_again(recorded: &[String]) -> Option<String> {
    let ids: Vec<String> = recorded.iter().map(|id| one_line(id)).collect();
    (!ids.is_empty()).then(|| {
        format!(
            "suspects of this run ran again for an earlier gate, and these runs count: {}; if the build is another one, run all cases \
             again",
            short_code_list(&ids)
        )
    })
}

/// A doubt about runs of several commits: they are no runs of one build.
fn of_several_commits(runs: &[LoadedRun]) -> Option<String> {
    let commits: BTreeSet<String> = runs.iter().filter_map(LoadedRun::commit).collect();
    let shown: Vec<String> = commits.iter().map(|commit| one_line(&Revision::short(commit))).collect();
    (shown.len() > 1).then(|| {
        format!(
            "the runs are of {}: {}; what counts together is one build: name runs of one commit",
            count(shown.len(), "commit"),
            short_code_list(&shown)
        )
    })
}

/// A doubt about suspects that were edited before they ran again: their further runs alone would be left, and these ran because the
/// first ones failed.
fn edited_meanwhile(first: &[Key], now: &[Key]) -> Option<String> {
    let names: BTreeSet<String> = now.iter().filter(|key| !first.contains(key)).map(Key::to_string).collect();
    let names: Vec<String> = names.into_iter().collect();
    (!names.is_empty()).then(|| {
        format!(
            "{} {} edited before the suspects ran again: run all cases again",
            short_code_list(&names),
            were(names.len())
        )
    })
}

fn answer(args: &Args, baseline: &str, gated: &Gated, runs: &[LoadedRun]) -> Result<Answer, CommandError> {
    let outcome = gated.outcome();
    if args.format == Format::Json {
        let ids: Vec<String> = runs.iter().flat_map(|run| run.run.ids.clone()).collect();
        let document = Document {
            verdict: gated.word(),
            reasons: &gated.reasons,
            notes: &gated.notes,
            baseline,
            runs: &ids,
            categories: gated.comparison.counted(),
            p: gated.comparison.decision.p,
            power: gated.power,
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
fn baseline(named: Option<&str>) -> Result<(String, NamedSide), CommandError> {
    let name = match named {
        Some(name) => name.to_owned(),
        None => baseline_path(None).display().to_string(),
    };
    if named.is_none() && !Path::new(&name).is_file() {
        let help = "run all cases of a build that works ten times, then bless it: `cargo evalset bless`";
        return Err(CommandError::new(format!("there is no baseline `{name}` here"), help));
    }
    let side = side(&name)?;
    Ok((name, side))
}

/// Fails if the comment would take the place of a file that is no report, or would be printed beside another output.
fn check_markdown(args: &Args) -> Result<(), CommandError> {
    let Some(path) = args.markdown.as_deref() else { return Ok(()) };
    if !is_printed(path) {
        return check_report_path(path);
    }
    let other = match (args.github, args.format) {
        (true, _) => "--github",
        (false, Format::Json) => "--format json",
        (false, Format::Human) => return Ok(()),
    };
    let message = format!("`--markdown -` and `{other}` would both be printed");
    Err(CommandError::new(message, "name a file for the comment: `--markdown FILE`"))
}

/// The named runs, the oldest first, else the last one that is not of suspects.
fn loaded(args: &Args) -> Result<Vec<LoadedRun>, CommandError> {
    if args.runs.is_empty() {
        return Ok(vec![last_run()?]);
    }
    let mut runs: Vec<LoadedRun> = Vec::new();
    let mut seen = HashSet::new();
    for name in &args.runs {
        let is_number = args.retry_suspects.is_some() && name.bytes().all(|byte| byte.is_ascii_digit());
        let run = WhichRun::named(Some(name.clone())).load().map_err(|error| {
            let help = format!("the number of runs is given with `=`: `--retry-suspects={name}`");
            if is_number { CommandError::new(error.message, help) } else { error }
        })?;
        refuse_suspects(&run)?;
        // A copy of its folder is the same run.
        let processes = run.run.process_ids();
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
