//! The queue of a review: failing cases of a run, and drafts of sets.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use eval_core::journal::Revision;
use eval_report::baseline::{Key, key};
use eval_support::untrusted::one_line;

use super::choice::Choices;
use super::edit::{Action, Edit};
use super::item::{Item, NotOffered, Offer};
use crate::edited::{SelectedSet, open};
use crate::output::{CommandError, notice};
use crate::recorded::{Cases, Found, LoadedRun, State, TestResult, near};
use crate::sides::{baseline_path, read_baseline};

/// The entries of a review, in the order of the run, and then the drafts.
#[derive(Debug)]
pub(crate) struct Queue<'r> {
    pub(crate) tests: Vec<TestResult<'r>>,
    pub(crate) items: Vec<Item>,
    /// The chosen sets of which no case ran.
    pub(crate) did_not_run: Vec<PathBuf>,
}

impl<'r> Queue<'r> {
    /// The queue of a run and of sets. Without sets, it has the sets of the run.
    pub(crate) fn new(
        loaded: Option<&'r LoadedRun>,
        sets: Option<&[SelectedSet]>,
    ) -> Result<Self, CommandError> {
        let tests = loaded.map(|loaded| TestResult::all(&loaded.run)).unwrap_or_default();
        let mut queue = Self { tests, items: Vec::new(), did_not_run: Vec::new() };
        let of_run = queue.add_failed(sets);
        let chosen = sets.into_iter().flatten().map(|set| &set.path);
        queue.did_not_run = chosen.filter(|path| !of_run.contains(path)).cloned().collect();
        queue.add_drafts(sets, of_run)?;
        queue.add_baseline();
        Ok(queue)
    }

    /// The choices of an entry.
    pub(crate) fn choices<'q>(&'q self, item: &'q Item) -> Choices<'q, 'r> {
        Choices { item, test: item.test.map(|at| &self.tests[at]) }
    }

    /// The entry as its file has it now; `None` if the case is gone. A case that something else changed is not offered any more.
    /// After an edit of this review (`is_ours`), what the run did is still true of it.
    pub(crate) fn renewed(&self, at: usize, is_ours: bool) -> Result<Option<Item>, CommandError> {
        let old = &self.items[at];
        let editor = open(&old.path)?;
        let Some(case) = editor.case(&old.case.eval_id) else { return Ok(None) };
        if case.draft().is_some() {
            return Ok(Some(Item::draft(&old.path, case)));
        }
        let Some(place) = old.test else { return Ok(None) };
        let found = Cases::default().find(&self.tests[place].attempt.started);
        let mut found = found.map_err(|reason| CommandError::new(reason.why, reason.help))?;
        found.is_edited &= !is_ours;
        let mut item = self.failed(place, &old.path, found);
        item.since.clone_from(&old.since);
        Ok(Some(item))
    }

    /// Adds the runs of an entry's case that a later test run has, and makes the entry anew. Returns whether there are any.
    pub(crate) fn add_runs(&mut self, at: usize, loaded: &'r LoadedRun) -> Result<bool, CommandError> {
        let Some(place) = self.items[at].test else { return Ok(false) };
        let case = identity(&self.tests[place]);
        let mut more = TestResult::all(&loaded.run);
        more.retain(|test| identity(test) == case);
        if more.is_empty() {
            return Ok(false);
        }
        let before = self.tests.len();
        self.tests.extend(more);
        self.items[at].test = Some(before);
        if let Some(item) = self.renewed(at, false)? {
            self.items[at] = item;
        }
        Ok(true)
    }

    /// The entry of a case that failed. What its file cannot hold is not offered.
    fn failed(&self, place: usize, path: &Path, found: Found) -> Item {
        let mut item = Item::failed(place, &self.group(place), path, found);
        if let Some(change) = item.change()
            && let Err(error) = Edit::new(path, &item.case, Action::Revise(Box::new(change.whole())))
        {
            item.offer = Offer::Not(NotOffered::new(error.message, error.help));
        }
        item
    }

    /// All tests of the case of a test that ran it as this one did, this one first.
    pub(crate) fn group(&self, place: usize) -> Vec<&TestResult<'r>> {
        let meaning = |test: &TestResult<'r>| {
            let started = &test.attempt.started;
            (started.asks.clone(), started.expects.clone())
        };
        let first = &self.tests[place];
        let same =
            |test: &TestResult<'r>| identity(test) == identity(first) && meaning(test) == meaning(first);
        let others = self.tests.iter().enumerate().filter(|(at, test)| *at != place && same(test));
        std::iter::once(first).chain(others.map(|(_, test)| test)).collect()
    }

    /// Adds the cases with a run that failed or broke, and returns the sets of the run.
    fn add_failed(&mut self, sets: Option<&[SelectedSet]>) -> Vec<PathBuf> {
        let (mut cases, mut of_run, mut items) = (Cases::default(), Vec::new(), Vec::new());
        let mut seen: HashSet<(PathBuf, String)> = HashSet::new();
        for (place, test) in self.tests.iter().enumerate() {
            let started = &test.attempt.started;
            let hides = test.state == State::Passed && test.runs.passed < test.runs.judged;
            // An error of a run is no behaviour, and a reviewer who is not told of it takes the case for one that passed.
            let broke = test.state == State::Error && test.runs.ran > 0;
            let is_failing = test.state == State::Failed || hides || broke;
            let found = match cases.find(started) {
                Ok(found) => found,
                Err(reason) => {
                    // Without a set, its words select nothing.
                    if is_failing && sets.is_none() {
                        items.push(Item::not_found(started, NotOffered::new(reason.why, reason.help)));
                    }
                    continue;
                }
            };
            let path = near(&found.path).to_path_buf();
            if !of_run.contains(&path) {
                of_run.push(path.clone());
            }
            if !is_failing || !is_selected(sets, &path, &started.eval_id) || found.case.draft().is_some() {
                continue;
            }
            if !seen.insert((path.clone(), started.eval_id.clone())) {
                continue;
            }
            items.push(self.failed(place, &path, found));
        }
        self.items = items;
        of_run
    }

    fn add_drafts(&mut self, sets: Option<&[SelectedSet]>, of_run: Vec<PathBuf>) -> Result<(), CommandError> {
        let paths = match sets {
            Some(sets) => sets.iter().map(|set| set.path.clone()).collect(),
            None => of_run,
        };
        for path in paths {
            let editor = open(&path)?;
            let drafts = editor.cases().filter(|case| case.draft().is_some());
            let chosen = drafts.filter(|case| is_selected(sets, &path, &case.eval_id));
            self.items.extend(chosen.map(|case| Item::draft(&path, case)));
        }
        Ok(())
    }

    /// Adds how often the cases passed in the baseline, if there is one.
    fn add_baseline(&mut self) {
        let path = baseline_path(None);
        if !path.is_file() {
            return;
        }
        let baseline = match read_baseline(&path) {
            Ok(baseline) => baseline,
            Err(error) => {
                let why = one_line(&error.message);
                return notice(&format!(
                    "how often the cases passed before is not told: {why}; {}",
                    error.help
                ));
            }
        };
        let of = |(at, test): (usize, &TestResult<'_>)| Some((at, key(test)?));
        let known: BTreeMap<usize, Key> = self.tests.iter().enumerate().filter_map(of).collect();
        for item in &mut self.items {
            let line = item.test.and_then(|at| baseline.get(known.get(&at)?));
            item.since = line.map(|line| {
                let commit = line.from.commit.as_deref().map(|commit| one_line(&Revision::short(commit)));
                let on = commit.map(|commit| format!(" on {commit}")).unwrap_or_default();
                format!("passed {} of {}{on}", line.passed, line.runs)
            });
        }
    }
}

/// The case of a test, whatever else ran it.
fn identity<'t>(test: &'t TestResult<'_>) -> (Option<&'t str>, Option<&'t str>, &'t str) {
    let started = &test.attempt.started;
    (started.file.as_deref(), started.set_file.as_deref(), &started.eval_id)
}

/// Whether words select a case of a file; all are, without words.
fn is_selected(sets: Option<&[SelectedSet]>, path: &Path, eval_id: &str) -> bool {
    let whole = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let Some(sets) = sets else { return true };
    let file = whole(path);
    sets.iter().any(|set| {
        whole(&set.path) == file && set.cases.as_ref().is_none_or(|ids| ids.iter().any(|id| id == eval_id))
    })
}
