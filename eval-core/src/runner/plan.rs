//! Several sets that run one after the other: all of them are checked before the first case runs.

#[cfg(feature = "reports")]
use std::collections::HashSet;
use std::path::PathBuf;

use eval_format::EvalSet;

use super::builder::EvalRunner;
#[cfg(feature = "reports")]
use super::directory;
use super::directory::Found;
use super::error::RunDirError;
use super::job::Job;
use super::prepare::Prepared;

/// Sets of files, each with what its cases are run with.
#[derive(Debug)]
pub(crate) struct Plan(Vec<(Prepared, EvalSet)>);

impl Plan {
    /// The cases to run, in the order of the sets.
    pub(super) fn jobs(&self) -> Vec<Job<'_>> {
        self.0.iter().flat_map(|(prepared, set)| Job::of_set(prepared, set)).collect()
    }

    /// How many cases there are.
    #[cfg(feature = "reports")]
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|(_, set)| set.eval_cases.len()).sum()
    }
}

impl EvalRunner {
    /// The sets at these paths, each a file or a folder of sets. A set that is found twice counts once.
    #[cfg(feature = "reports")]
    pub(super) fn sets_at(&self, paths: &[PathBuf]) -> Result<Vec<Found>, RunDirError> {
        let names = self.custom_names();
        let mut known = HashSet::new();
        let mut sets = Vec::new();
        for path in paths {
            let found = if path.is_dir() {
                directory::read(path, &names)?
            } else {
                vec![directory::read_one(path, None, &names)?]
            };
            let file = |set: &Found| set.path.canonicalize().unwrap_or_else(|_| set.path.clone());
            sets.extend(found.into_iter().filter(|set| known.insert(file(set))));
        }
        Ok(sets)
    }

    /// What the sets are run with. If `ids` are given, only the cases of these ids run.
    pub(super) fn plan(&self, sets: Vec<Found>, ids: Option<&[String]>) -> Result<Plan, RunDirError> {
        let sets = sets.into_iter().filter_map(|mut found| {
            let cases = &mut found.set.eval_cases;
            cases.retain(|case| ids.is_none_or(|ids| ids.contains(&case.eval_id)));
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
        Ok(Plan(planned.into_iter().map(|(_, prepared, set)| (prepared, set)).collect()))
    }

    /// A set of a directory with what its cases are run with.
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
