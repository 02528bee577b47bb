//! What the last run tells about sets.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use eval_core::journal::JudgeUse;
use eval_format::Criterion;
use eval_support::variables;

use crate::recorded::{TestResult, Usage};

/// What the last run tells, by the file of the set.
#[derive(Debug, Default)]
pub(super) struct LastRun(BTreeMap<PathBuf, LastRunOfFile>);

/// What the last run tells about a file. Several attributes may use it.
#[derive(Clone, Debug, Default)]
pub(super) struct LastRunOfFile {
    /// The runs of each case, over all attributes.
    pub(super) runs_of_cases: HashMap<String, usize>,
    pub(super) criteria: BTreeMap<String, Criterion>,
    /// The runs that ended, over all cases.
    pub(super) ran: usize,
    /// What these runs used.
    pub(super) usage: Usage,
    /// The questions by metric. Those of the simulated user are under [`SIMULATED_USER`].
    pub(super) asked: BTreeMap<String, Asked>,
}

/// The questions of a metric.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) questions: usize,
    pub(super) model: String,
    /// Whether each had an answer although no judge was to be asked over the network.
    pub(super) offline: bool,
}

/// The name under which the questions of the simulated user are counted. The names of its prompts begin with it.
pub(super) const SIMULATED_USER: &str = "user_simulator";

impl LastRun {
    pub(super) fn of(tests: &[TestResult<'_>]) -> Self {
        let mut files: BTreeMap<PathBuf, LastRunOfFile> = BTreeMap::new();
        for test in tests {
            if let Some(location) = test.location() {
                files.entry(PathBuf::from(location.file)).or_default().add(test);
            }
        }
        Self(files)
    }

    /// The files of its sets.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.0.keys().cloned().collect()
    }

    /// What it tells about a file; `None` if the file was not in it, or no criteria are known.
    pub(super) fn of_file(&self, path: &Path) -> Option<&LastRunOfFile> {
        self.0.get(path).filter(|of_file| !of_file.criteria.is_empty())
    }
}

impl LastRunOfFile {
    fn add(&mut self, test: &TestResult<'_>) {
        let started = &test.attempt.started;
        *self.runs_of_cases.entry(started.eval_id.clone()).or_default() += started.runs;
        self.ran += test.runs.ran;
        self.usage.add(test.usage());
        for metric in test.gating() {
            let Some(criterion) = metric.criterion.clone() else { continue };
            self.criteria.entry(metric.name.clone()).or_insert(criterion);
        }
        let mode = test.attempt.head.env.get(variables::JUDGE).map(String::as_str);
        let offline = matches!(mode, None | Some("" | "replay"));
        for evaluation in &test.attempt.evaluations {
            self.count(SIMULATED_USER, &evaluation.ran.simulator, offline);
            for metric in evaluation.scored.iter().flat_map(|scored| &scored.metrics) {
                self.count(&metric.name, &metric.judge, offline);
            }
        }
    }

    fn count(&mut self, name: &str, used: &[JudgeUse], offline: bool) {
        for judge in used {
            let offline = offline && judge.failed == 0;
            match self.asked.get_mut(name) {
                Some(asked) => {
                    asked.questions += judge.asked;
                    asked.model.clone_from(&judge.model);
                    asked.offline &= offline;
                }
                None => {
                    let asked = Asked { questions: judge.asked, model: judge.model.clone(), offline };
                    self.asked.insert(name.to_owned(), asked);
                }
            }
        }
    }
}
