//! A line for each recorded run.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use eval_core::journal::{Head, Started};
use eval_report::journal::RunDir;
use eval_support::message::truncated;
use eval_support::mutex::Mutex;
use eval_support::shell;

use super::folder::{Signature, signature};
use crate::output::{mask, time};
use crate::page::line;
use crate::recorded::{LoadedRun, RunResults};

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub(super) struct RunLine {
    pub(super) id: String,
    /// `passed`, `failed`, `unmeasurable` or `running`.
    pub(super) outcome: &'static str,
    /// The class of its colour, and the words of the list: a failure is first, also where verdicts are missing.
    #[serde(skip)]
    pub(super) shown: (&'static str, String),
    pub(super) running: bool,
    pub(super) reason: Option<String>,
    pub(super) cases: usize,
    /// The number of cases that were to run; `None` unless some never began.
    pub(super) planned: Option<usize>,
    pub(super) passed: usize,
    pub(super) decided: usize,
    pub(super) when: String,
    /// `None` for a run that cannot be read.
    pub(super) took: Option<String>,
    /// The packages that ran, or the program.
    pub(super) what: Option<String>,
    /// The sets of its cases.
    #[serde(skip)]
    pub(super) sets: BTreeSet<String>,
}

impl RunLine {
    /// The number of cases that are to run.
    pub(super) fn planned(&self) -> usize {
        self.planned.unwrap_or(self.cases)
    }
}

/// The lines of runs that were read, by id, each with the signature of the run at that time.
pub(super) type Lines = HashMap<String, (Signature, RunLine)>;

/// The most runs in the list: as many as are fetched from a store.
const MAX_LISTED_RUNS: usize = 100;

/// A line for each of the newest runs, and how many more there are. A run that did not change is not read again.
pub(super) fn lines_of(known: &Mutex<Lines>, runs: Vec<RunDir>) -> (Vec<RunLine>, usize) {
    let more = runs.len().saturating_sub(MAX_LISTED_RUNS);
    let mut before = known.lock().clone();
    let mut now = HashMap::new();
    let mut lines = Vec::new();
    for run in runs.into_iter().take(MAX_LISTED_RUNS) {
        let signature = signature(&run);
        let line = match before.remove(&run.id) {
            Some((then, line)) if then == signature => line,
            _ => of_run(&run, signature.is_written),
        };
        now.insert(run.id, (signature, line.clone()));
        lines.push(line);
    }
    *known.lock() = now;
    (lines, more)
}

fn of_run(run: &RunDir, running: bool) -> RunLine {
    let outcome = if running { "running" } else { "unmeasurable" };
    let mut shown = RunLine {
        id: mask(&run.id).into_owned(),
        outcome,
        shown: words(outcome, 0),
        running,
        when: time::shown(run.started),
        ..RunLine::default()
    };
    let loaded = LoadedRun::of_folder(run.id.clone(), run.path.clone(), true);
    let mut loaded = match loaded {
        Ok(loaded) => loaded,
        Err(error) => {
            shown.reason = Some(line(&error.to_string()));
            return shown;
        }
    };
    loaded.is_running = running;
    // This fails only for a wrong `k`, and there is none.
    let Ok(results) = RunResults::new(&loaded, None, false) else { return shown };
    let totals = &results.totals;
    shown.outcome = totals.outcome_word();
    shown.shown = words(totals.outcome_word(), totals.failed);
    shown.reason = Some(line(&totals.reason()));
    shown.cases = totals.cases - totals.skipped;
    shown.planned =
        (!loaded.run.never_began.is_empty()).then_some(totals.cases + loaded.run.never_began.len());
    shown.passed = totals.passed;
    shown.decided = totals.cases - totals.unfinished;
    shown.took = Some(time::took(totals.elapsed));
    shown.what = what(&loaded);
    shown.sets = results.tests.iter().map(|test| set(&test.attempt.started)).collect();
    shown
}

/// The class of an outcome, and its words: `failed, unmeasurable` if cases failed and others have no verdict.
fn words(outcome: &'static str, failed: usize) -> (&'static str, String) {
    if failed == 0 || outcome == "failed" {
        return (outcome, outcome.to_owned());
    }
    ("failed", format!("failed, {outcome}"))
}

fn set(started: &Started) -> String {
    started.eval_set_id.clone().or_else(|| started.file.clone()).unwrap_or_default()
}

/// The packages of tests that ran, or the command of a program. `None` if no journal says.
fn what(loaded: &LoadedRun) -> Option<String> {
    let of_head = |head: &Arc<Head>| match (&head.package, &head.program) {
        (Some(package), _) => Some(package.clone()),
        (None, Some(program)) => {
            let name = Path::new(program).file_stem().unwrap_or_default().to_string_lossy();
            let args = head.args.iter().skip_while(|arg| *arg == "evalset").map(String::as_str);
            Some(format!("{} {}", name.replace("cargo-", "cargo "), shell::line(&args.collect::<Vec<_>>())))
        }
        (None, None) => None,
    };
    let all: BTreeSet<String> = loaded.run.processes.iter().filter_map(of_head).collect();
    let shown = line(&all.into_iter().collect::<Vec<_>>().join(", "));
    let shown = truncated(&shown, 120, "…").into_owned();
    (!shown.is_empty()).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_failed_says_so_first_whatever_else_it_lacks() {
        for (outcome, failed, class, said) in [
            ("passed", 0, "passed", "passed"),
            ("failed", 2, "failed", "failed"),
            ("unmeasurable", 0, "unmeasurable", "unmeasurable"),
            ("unmeasurable", 1, "failed", "failed, unmeasurable"),
            ("running", 0, "running", "running"),
            ("running", 1, "failed", "failed, running"),
        ] {
            assert_eq!(words(outcome, failed), (class, said.to_owned()));
        }
    }
}
