//! `cargo evalset bless`: accepts what the runs of this build measured as the baseline.

mod gone;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use eval_core::journal::Revision;
use eval_core::journal::project::Project;
use eval_report::baseline::{Checkout, Key, Line, Mixed, measure};
use eval_report::journal::revision_of_run;
use eval_support::untrusted::one_line;
use eval_support::variables::is_ci;
use eval_support::words::{are, count, short_code_list, were};
use serde::Serialize;

use crate::edited::{SelectedSet, select};
use crate::output::{Answer, CommandError, Format, GOOD, Outcome, WARNING, styled};
use crate::recorded::{LoadedRun, State, TestResult, WhichRun};
use crate::sides::{
    baseline_path, change_baseline, changed_by_hand, commit_here, differ, not_complete, notes,
    refuse_suspects, runs_of_builds, why_incomplete,
};
use gone::Gone;

/// Accepts what the runs of this build measured: writes how often each case passed to the baseline, a file to commit. `gate`
/// compares later builds with it.
///
/// All complete runs of this build count together: the best of several would make every later build look worse. Cases that did not
/// run keep their lines.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Sets, or cases with their set: files, folders, globs in quotes, ids of sets, or as the baseline names them. Without any, all
    /// cases that ran.
    #[arg(value_name = "SET[:CASE,..]")]
    cases: Vec<String>,

    /// Takes this run alone.
    #[arg(long, value_name = "RUN")]
    only: Option<String>,

    /// The file of the baseline. Without it, `evalset-baseline.jsonl` of this folder or of the nearest above it in the project.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Takes runs although tracked files differ from the commit. The lines say so.
    #[arg(long)]
    allow_dirty: bool,

    /// Removes the lines of cases that are gone: their set has no such case, there is no such set, their test binary no such function, or
    /// the programs that ran the case no such variant.
    #[arg(long, conflicts_with_all = ["cases", "only"])]
    prune: bool,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset run evals --agent-cmd ./agent --runs 10 && cargo evalset bless
  cargo evalset bless desk
  cargo evalset bless evals/desk.evalset.json:refund
  cargo evalset bless --only 2026-11-22T02-31-07-4f1c

Exit codes:
  0  the baseline was written
  2  no complete run of this build is there, a run has errors, tracked files differ from the commit, or nothing is named in CI";

/// The number of runs from which a gate can show that one case of 20 stopped working.
const RUNS_WANTED: usize = 10;

#[derive(Serialize)]
struct Document<'b> {
    baseline: String,
    runs: &'b [String],
    blessed: Vec<Blessed<'b>>,
    removed: Vec<String>,
    notes: &'b [String],
}

#[derive(Serialize)]
struct Blessed<'b> {
    set: &'b str,
    case: &'b str,
    passed: usize,
    runs: usize,
}

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    if args.cases.is_empty() && is_ci() {
        return Err(CommandError::new(
            "nothing is blessed in CI unless it is named: a job that blesses its own runs would accept every regression",
            "name the cases: `cargo evalset bless SET:CASE`, or bless on a developer's machine and commit the file",
        ));
    }
    let path = baseline_path(args.baseline.as_deref());
    let here = commit_here();
    let (loaded, mut told) = chosen(args, here.as_deref())?;
    // What differs now says nothing about a run of another commit.
    let is_of_here = loaded.iter().any(|run| run.commit() == here);
    let is_dirty = if is_of_here { is_dirty(&path, args.allow_dirty)? } else { None };
    let here = here.map(|commit| Checkout { commit, is_dirty });
    let measured = measure(&loaded, here.as_ref());
    let lines: Vec<Line> = selected(measured.cases.lines(), &args.cases)?;
    refuse_mixed(&measured.mixed, &lines)?;
    let broken: Vec<String> =
        lines.iter().filter(|line| line.errors > 0).map(|line| line.key().to_string()).collect();
    if !broken.is_empty() {
        let message =
            format!("runs of {} have no verdict: {}", count(broken.len(), "case"), short_code_list(&broken));
        return Err(CommandError::new(
            message,
            "repair what broke and run these cases again, or bless others by name",
        ));
    }
    if lines.is_empty() {
        let help = "run the cases first: `cargo evalset run SETS --runs 10 ..`, or `cargo test`";
        return Err(CommandError::new("no case of a file has a run", help));
    }
    told.extend(few_runs(&lines));
    told.extend(notes(&measured));
    let mut gone = Gone::default();
    let removed: Vec<Key> = change_baseline(&path, |baseline| {
        baseline.bless(lines.iter().cloned());
        if !args.prune {
            return Vec::new();
        }
        baseline.prune(|key| gone.why(key, &measured).is_none())
    })?;
    told.extend(gone.notes());
    let shown = one_line(&path.display().to_string());
    if args.format == Format::Json {
        return answer(&path, &loaded, &lines, &removed, &told);
    }
    let (passed, total) =
        lines.iter().fold((0, 0), |(passed, total), line| (passed + line.passed, total + line.runs));
    let mut text = format!(
        "{} {} in `{shown}`: {passed} of {} passed, in {}\n",
        styled(GOOD, "blessed"),
        count(lines.len(), "case"),
        count(total, "run"),
        count(loaded.len(), "test run")
    );
    let mut by_reason: BTreeMap<Option<&str>, Vec<String>> = BTreeMap::new();
    for key in &removed {
        by_reason.entry(gone.why(key, &measured)).or_default().push(key.to_string());
    }
    for (why, names) in by_reason {
        let (lines, why) = (count(names.len(), "line"), why.unwrap_or_default());
        text += &format!("removed {lines}, as {why}: {}\n", short_code_list(&names));
    }
    for note in told {
        text += &format!("{}: {note}\n", styled(WARNING, "note"));
    }
    text += &format!("commit `{shown}`, then compare a later build with it: `cargo evalset gate`\n");
    Ok(Answer::new(Outcome::Passed, text))
}

/// The answer as JSON.
fn answer(
    path: &Path,
    loaded: &[LoadedRun],
    lines: &[Line],
    removed: &[Key],
    notes: &[String],
) -> Result<Answer, CommandError> {
    let ids: Vec<String> = loaded.iter().flat_map(|run| run.run.ids.clone()).collect();
    let blessed = lines.iter().map(|line| Blessed {
        set: &line.set,
        case: &line.case,
        passed: line.passed,
        runs: line.runs,
    });
    let document = Document {
        baseline: path.display().to_string(),
        runs: &ids,
        blessed: blessed.collect(),
        removed: removed.iter().map(Key::to_string).collect(),
        notes,
    };
    Answer::results("bless", Outcome::Passed, &document)
}

/// Refuses runs that were made in different ways: a baseline of the last ones would have fewer runs than its team thinks, and other
/// criteria.
fn refuse_mixed(mixed: &[Mixed], lines: &[Line]) -> Result<(), CommandError> {
    let mixed: Vec<&Mixed> =
        mixed.iter().filter(|mixed| lines.iter().any(|line| line.key() == mixed.key)).collect();
    let Some(first) = mixed.first() else { return Ok(()) };
    let more = match mixed.len() - 1 {
        0 => String::new(),
        more => format!("; so {} {}", were(more), count(more, "more case")),
    };
    Err(CommandError::new(
        format!("{first}{more}"),
        "take one of the runs: `cargo evalset bless --only RUN`; or run the cases again on a new commit",
    ))
}

/// Whether tracked files differ from the commit; `None` without git. The baseline itself may differ.
fn is_dirty(baseline: &Path, is_allowed: bool) -> Result<Option<bool>, CommandError> {
    let Some(changed) = changed_by_hand(Some(baseline)) else { return Ok(None) };
    if changed.is_empty() || is_allowed {
        return Ok(Some(!changed.is_empty()));
    }
    let files: Vec<String> = changed.iter().map(|file| one_line(file)).collect();
    let message = format!(
        "{} from the commit, and the baseline would name a commit that is not what ran: {}",
        differ(files.len()),
        short_code_list(&files)
    );
    Err(CommandError::new(message, "commit first and run the cases again, or bless anyway: `--allow-dirty`"))
}

/// The runs to bless, the oldest first, and notes about others: the named run, else all complete runs of the commit that is checked
/// out.
fn chosen(args: &Args, here: Option<&str>) -> Result<(Vec<LoadedRun>, Vec<String>), CommandError> {
    let partial = !args.cases.is_empty();
    let Some(name) = &args.only else { return all_of_build(here, partial, args.allow_dirty) };
    let only = WhichRun::named(Some(name.clone())).load()?;
    refuse_suspects(&only)?;
    if only.is_dirty() && !args.allow_dirty {
        return Err(ran_dirty(&[only.name()]));
    }
    if let Some(problem) = why_not(&only, partial)? {
        let message = format!("the run `{}` {}", only.name(), not_complete(&problem));
        return Err(CommandError::new(message, "run all cases again, or name cases that it has"));
    }
    let mut notes = Vec::new();
    let commit = only.commit();
    if let (Some(commit), Some(here)) = (&commit, here)
        && commit != here
    {
        let [commit, here] = [commit, here].map(|commit| one_line(&Revision::short(commit)));
        notes.push(format!("the run is of commit {commit}, and {here} is checked out"));
    }
    let RunsOfCommit { complete, .. } = RunsOfCommit::load(commit.as_deref(), partial, args.allow_dirty)?;
    let others = complete.iter().filter(|run| run.run.ids != only.run.ids).count();
    if others > 0 {
        notes.push(format!(
            "{} of that build {} there: a baseline of the best of several makes later builds look worse than they are",
            count(others, "more complete run"),
            are(others)
        ));
    }
    Ok((vec![only], notes))
}

/// The reason why a run is not blessed; `None` if it is complete. A run that ends at the first failure has more failures than its build.
fn why_not(run: &LoadedRun, partial: bool) -> Result<Option<String>, CommandError> {
    let skipped = || -> Vec<String> {
        let tests = TestResult::all(&run.run);
        let skipped = tests.iter().filter(|test| test.state == State::Skipped && test.runs.total == 0);
        skipped.map(|test| one_line(&test.name)).collect()
    };
    let skipped = if partial { Vec::new() } else { skipped() };
    let of_skipped = (!skipped.is_empty()).then(|| {
        let (cases, were) = (count(skipped.len(), "case"), were(skipped.len()));
        format!("{cases} {were} skipped: {}", short_code_list(&skipped))
    });
    Ok(why_incomplete(run, partial)?.into_iter().next().or(of_skipped))
}

/// All complete runs of the commit that is checked out, the oldest first, and notes about others.
fn all_of_build(
    here: Option<&str>,
    partial: bool,
    allow_dirty: bool,
) -> Result<(Vec<LoadedRun>, Vec<String>), CommandError> {
    let RunsOfCommit { complete, incomplete, dirty } = RunsOfCommit::load(here, partial, allow_dirty)?;
    if complete.is_empty() && !dirty.is_empty() {
        return Err(ran_dirty(&dirty));
    }
    if complete.is_empty() {
        let message = match incomplete.first() {
            Some((id, problem)) => {
                format!("no run of this build can be blessed: `{id}` {}", not_complete(problem))
            }
            None => "there is no run of this build".to_owned(),
        };
        let help = "run all cases: `cargo evalset run SETS --runs 10 ..`, or `cargo test --no-fail-fast`; or name the cases to bless";
        return Err(CommandError::new(message, help));
    }
    let mut notes = Vec::new();
    if here.is_none() && complete.len() > 1 {
        notes.push(format!(
            "nothing tells builds apart, as there is no commit here: all {} count as runs of this build; `--only RUN` takes one",
            count(complete.len(), "test run")
        ));
    }
    if !incomplete.is_empty() {
        let ids: Vec<String> = incomplete.into_iter().map(|(id, _)| id).collect();
        let runs = count(ids.len(), "run");
        notes.push(format!("{runs} not counted, as incomplete: {}", short_code_list(&ids)));
    }
    if !dirty.is_empty() {
        notes.push(format!(
            "{} not counted, as tracked files differed from the commit when it began: {}",
            count(dirty.len(), "run"),
            short_code_list(&dirty)
        ));
    }
    Ok((complete, notes))
}

/// The runs of a commit.
#[derive(Default)]
struct RunsOfCommit {
    /// The complete ones, the oldest first.
    complete: Vec<LoadedRun>,
    /// The ids of the others, each with why it is not complete.
    incomplete: Vec<(String, String)>,
    /// The ids of complete ones that began while tracked files differed from the commit.
    dirty: Vec<String>,
}

/// The error of runs that are not runs of their commit.
fn ran_dirty(ids: &[String]) -> CommandError {
    let ids: Vec<String> = ids.iter().map(|id| one_line(id)).collect();
    CommandError::new(
        format!(
            "tracked files differed from the commit when {} began, and the baseline would name a commit that is not what ran",
            short_code_list(&ids)
        ),
        "commit first and run the cases again, or bless anyway: `--allow-dirty`",
    )
}

impl RunsOfCommit {
    fn load(commit: Option<&str>, partial: bool, allow_dirty: bool) -> Result<Self, CommandError> {
        let mut runs = runs_of_builds()?;
        runs.sort_by_key(|run| run.started);
        let mut of_commit = Self::default();
        for run in runs {
            let of_run = revision_of_run(&run.path).map(|revision| revision.commit);
            if of_run.as_deref() != commit {
                continue;
            }
            let loaded = WhichRun::named(Some(run.path.display().to_string())).load()?;
            match why_not(&loaded, partial)? {
                None if loaded.is_dirty() && !allow_dirty => of_commit.dirty.push(one_line(&run.id)),
                None => of_commit.complete.push(loaded),
                Some(problem) => of_commit.incomplete.push((one_line(&run.id), problem)),
            }
        }
        Ok(of_commit)
    }
}

/// The lines of the named cases. A name without a line is an error.
fn selected<'l>(lines: impl Iterator<Item = &'l Line>, names: &[String]) -> Result<Vec<Line>, CommandError> {
    let lines: Vec<&Line> = lines.collect();
    if names.is_empty() {
        return Ok(lines.into_iter().cloned().collect());
    }
    let mut chosen = BTreeSet::new();
    for name in names {
        let is_written = |line: &Line| {
            line.set == *name
                || name.strip_prefix(&line.set).and_then(|rest| rest.strip_prefix(':')) == Some(&line.case)
        };
        let found = if lines.iter().any(|line| is_written(line)) { Vec::new() } else { sets_of(name) };
        let is_named = |line: &Line| is_written(line) || found.iter().any(|set| set.has(line));
        let before = chosen.len();
        chosen.extend(lines.iter().enumerate().filter(|(_, line)| is_named(line)).map(|(at, _)| at));
        if chosen.len() == before {
            let known: Vec<String> = lines.iter().map(|line| line.key().to_string()).collect();
            let message = format!("no run of this build has `{}`", one_line(name));
            return Err(CommandError::new(message, format!("it has {}", short_code_list(&known))));
        }
    }
    Ok(chosen.into_iter().map(|at| lines[at].clone()).collect())
}

/// The cases of a file that words select, as in `run` and `review`.
struct NamedSet {
    file: PathBuf,
    /// The ids; `None` for all cases.
    cases: Option<Vec<String>>,
}

impl NamedSet {
    /// Whether a line is of one of the cases.
    fn has(&self, line: &Line) -> bool {
        let file = Project::here().folder.join(&line.set).canonicalize();
        file.is_ok_and(|file| file == self.file)
            && self.cases.as_ref().is_none_or(|ids| ids.contains(&line.case))
    }
}

/// The sets that a name selects; empty if it selects none.
fn sets_of(name: &str) -> Vec<NamedSet> {
    let sets = select(&[OsString::from(name)]).unwrap_or_default();
    let found = sets
        .into_iter()
        .filter_map(|SelectedSet { path, cases }| Some(NamedSet { file: path.canonicalize().ok()?, cases }));
    found.collect()
}

/// A note that fewer runs than wanted cost power.
fn few_runs(lines: &[Line]) -> Option<String> {
    let least = lines.iter().map(|line| line.runs).min()?;
    (least < RUNS_WANTED).then(|| {
        format!(
            "{} before {} what a gate can show: with 1 a case of 20 that stopped working takes 799 failures, with 3 15, with 5 8, \
             with 10 4; bless {RUNS_WANTED} runs: `cargo evalset run .. --runs {RUNS_WANTED}`",
            count(least, "run"),
            if least == 1 { "limits" } else { "limit" }
        )
    })
}
