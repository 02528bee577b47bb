//! Several sets that run one after the other: all of them are checked before the first case runs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use eval_format::tags::TagSelection;
use eval_format::{EvalCase, EvalSet, ReadError};
use eval_support::spelling::suggest;

use super::builder::EvalRunner;
use super::directory::{Found, Selected, read_config};
use super::error::RunDirError;
use super::prepare::{Job, Prepared};

/// Cases of files that are to run: read, checked, and ready. See [`EvalRunner::select`].
#[derive(Debug)]
pub struct RunPlan(Vec<(PathBuf, Prepared, EvalSet)>);

impl RunPlan {
    pub(super) fn jobs(&self) -> Vec<Job<'_>> {
        self.0.iter().flat_map(|(_, prepared, set)| Job::of_set(prepared, set)).collect()
    }

    /// The number of cases.
    pub fn len(&self) -> usize {
        self.0.iter().map(|(_, _, set)| set.eval_cases.len()).sum()
    }

    /// Whether there is no case.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cases, each with the file and the id of its set.
    pub fn cases(&self) -> impl Iterator<Item = (&Path, &str, &EvalCase)> {
        self.0.iter().flat_map(|(path, _, set)| {
            set.eval_cases.iter().map(move |case| (path.as_path(), set.eval_set_id.as_str(), case))
        })
    }

    /// The number of runs of each case; the largest one, if sets differ.
    #[doc(hidden)]
    pub fn runs(&self) -> usize {
        self.0.iter().map(|(_, prepared, _)| prepared.runner.options.runs).max().unwrap_or_default()
    }

    /// The mode of calls of models in these cases; `None` if their agents ask the models themselves.
    #[cfg(feature = "models")]
    #[doc(hidden)]
    pub fn models(&self) -> Option<crate::models::ModelMode> {
        self.0.iter().find_map(|(_, prepared, _)| prepared.runner.models())
    }

    /// Records the cases that are to run, so that readers of a run that was killed know which of them never began.
    #[doc(hidden)]
    pub fn record(&self) {
        record(&self.jobs());
    }

    /// The folder of the run's journal; `None` if none is written.
    #[doc(hidden)]
    pub fn journal(&self) -> Option<&Path> {
        self.0.iter().find_map(|(_, prepared, _)| prepared.journal.as_ref()?.path.parent())
    }
}

/// Records the cases that are to run.
pub(super) fn record(jobs: &[Job<'_>]) {
    // All sets of a runner have one journal.
    if let Some(journal) = jobs.iter().find_map(|job| job.prepared.journal.as_ref()) {
        journal.plan(jobs.iter().map(|job| (job.eval_set_id, job.case)));
    }
}

impl EvalRunner {
    /// The plan for the selectors of a command line, checked before anything runs.
    ///
    /// ```
    /// use std::future::pending;
    ///
    /// use eval_core::{Criterion, EvalRunner, Replay};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runner = EvalRunner::new().criterion("response_match_score", Criterion::new(0.8));
    /// let plan = runner.select(&["evals/weather.evalset.json:sunny in Paris"])?;
    /// assert_eq!(plan.len(), 1);
    ///
    /// let report = runner.run_plan(&plan, || Replay::new([["It is sunny in Paris."]]), 4, pending()).await;
    /// assert!(report.all_passed());
    /// # Ok(()) }
    /// ```
    ///
    /// A selector is `SET` or `SET:case1,case2`. `SET` is a file, a folder of sets, a glob, or the id of a
    /// set below the current folder. An existing path takes precedence, unless it is a folder without sets
    /// whose name is the id of a set. A set that several selectors name runs once, with the cases of all of
    /// them. Each set has its recording, and the `test_config.json` beside it unless this runner has criteria
    /// of its own.
    ///
    /// Fails if a selector matches nothing or names a case that does not exist, if a set or a config has errors, or if
    /// the runner's settings contradict each other.
    pub fn select<S: AsRef<OsStr>>(&self, selectors: &[S]) -> Result<RunPlan, RunDirError> {
        let sets = self.selected(selectors)?;
        self.check_faults_of(&sets)?;
        self.plan(sets)
    }

    /// Fails if the file of faults has a tool that no case of the sets expects, whichever of them the tags take. Who names
    /// cases runs a part of what the file is for.
    pub(super) fn check_faults_of(&self, sets: &[Selected]) -> Result<(), RunDirError> {
        if sets.iter().any(|set| set.ids.is_some()) {
            return Ok(());
        }
        let cases = sets.iter().flat_map(|set| &set.found.set.eval_cases);
        self.check_faults(cases).map_err(RunDirError::Faults)
    }

    /// The plan for the selectors of a command line, with only the cases of these ids that the tags take. Without ids, all
    /// selected cases may run.
    #[doc(hidden)]
    pub fn __select_cases<S: AsRef<OsStr>>(
        &self,
        selectors: &[S],
        ids: &[String],
        tags: &TagSelection,
    ) -> Result<RunPlan, RunDirError> {
        let mut sets = self.selected(selectors)?;
        let known =
            || sets.iter().flat_map(|set| &set.found.set.eval_cases).map(|case| case.eval_id.as_str());
        if let Some(id) = ids.iter().find(|id| !known().any(|known| known == **id)) {
            let words: Vec<_> = selectors.iter().map(|word| word.as_ref().to_string_lossy()).collect();
            let meant = suggest(id, known()).map(str::to_owned);
            return Err(RunDirError::NoSuchCase { set: words.join(", "), id: id.clone(), meant });
        }
        if !ids.is_empty() {
            for set in &mut sets {
                let selected = |id: &&String| set.ids.as_ref().is_none_or(|of_set| of_set.contains(id));
                set.ids = Some(ids.iter().filter(selected).cloned().collect());
            }
        }
        self.check_faults_of(&sets)?;
        if tags.is_empty() {
            return self.plan(sets);
        }
        let cases = sets.iter().flat_map(|set| &set.found.set.eval_cases);
        tags.check(cases.flat_map(EvalCase::tags)).map_err(RunDirError::NoSuchTag)?;
        for set in &mut sets {
            set.found.set.eval_cases.retain(|case| tags.takes(case.tags()));
        }
        sets.retain(|set| !set.found.set.eval_cases.is_empty());
        let plan = self.plan(sets)?;
        if plan.is_empty() { Err(RunDirError::NoneOfTags) } else { Ok(plan) }
    }

    /// Scores with the criteria of a file that the command line names, and with no others. If the file does
    /// not configure the simulated user, that stays as it was.
    #[doc(hidden)]
    pub fn __config_file(self, path: &Path) -> Result<Self, ReadError> {
        let config = read_config(path, &self.custom_names())?;
        Ok(self.config_alone(config))
    }

    /// Prepares the sets. If a set has ids, only the cases of these ids run.
    pub(super) fn plan(&self, sets: Vec<Selected>) -> Result<RunPlan, RunDirError> {
        let sets = sets.into_iter().filter_map(|Selected { mut found, ids }| {
            let cases = &mut found.set.eval_cases;
            cases.retain(|case| ids.as_ref().is_none_or(|ids| ids.contains(&case.eval_id)));
            (!cases.is_empty() || ids.is_none()).then_some(found)
        });
        let planned: Result<Vec<_>, RunDirError> = sets.map(|found| self.prepare_found(found)).collect();
        let mut planned = planned?;
        if let Some((path, _, _)) = planned.first() {
            let path = path.clone();
            let journal = self.journal_of_runs().map_err(|source| RunDirError::Runner { path, source })?;
            for (_, prepared, _) in &mut planned {
                prepared.journal.clone_from(&journal);
            }
        }
        Ok(RunPlan(planned))
    }

    /// Prepares a set of a directory. Fails if the set passes over a config and the runner has no criteria.
    fn prepare_found(&self, found: Found) -> Result<(PathBuf, Prepared, EvalSet), RunDirError> {
        let Found { path, set, places, config, overlooked } = found;
        if let Some(overlooked) = overlooked.filter(|_| self.config.is_none() && self.criteria.is_empty()) {
            return Err(RunDirError::OverlookedConfig(overlooked));
        }
        match self.prepare_without_journal(config.as_ref(), Some(&path), &set.eval_cases) {
            Ok(prepared) => Ok((path, Prepared { places, ..prepared }, set)),
            Err(source) => Err(RunDirError::Runner { path, source }),
        }
    }
}
