//! A set to plan: its cases from its file, the rest from the last run.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use eval_core::journal::JudgeUse;
use eval_format::compat::NotCompared;
use eval_format::config::{UserSimulatorConfig, check_config};
use eval_format::conventions::{recording_path, shared_config_path};
use eval_format::reader::{check_set, drafts_are, how_to_accept};
use eval_format::{Criterion, EvalCase, EvalConfig};
use eval_support::untrusted::one_line;
use eval_support::variables;
use eval_support::words::count;

use crate::files::{has, read};
use crate::output::CommandError;
use crate::recorded::{RunUsage, TestResult};

#[derive(Debug)]
pub(super) struct Set {
    pub(super) path: PathBuf,
    pub(super) cases: Vec<EvalCase>,
    pub(super) criteria: BTreeMap<String, Criterion>,
    pub(super) simulator_model: String,
    /// The path of the recording of its judges, whether it exists or not.
    pub(super) recording: PathBuf,
    /// The set in the last run, with its criteria. Without it, the config beside the set has the criteria.
    pub(super) last: Option<LastRunOfFile>,
}

impl Set {
    pub(super) fn read(path: &Path, last: Option<&LastRunOfFile>) -> Result<Self, CommandError> {
        // Without known criteria, it is planned like a set that was not in the last run.
        let last = last.filter(|last| !last.criteria.is_empty());
        let shown = path.display().to_string();
        let bytes = read(path)?;
        let checked = check_set(&shown, &bytes, None);
        let errors = checked.problems.iter().filter(|problem| problem.is_error()).count();
        let set = checked.set.ok_or_else(|| has(&shown, &count(errors, "error")))?;
        let drafts = set.eval_cases.iter().filter(|case| case.draft().is_some());
        let drafts: Vec<&str> = drafts.map(|case| case.eval_id.as_str()).collect();
        if !drafts.is_empty() {
            let help = how_to_accept(&shown, &drafts);
            return Err(CommandError::new(format!("`{}`: {}", one_line(&shown), drafts_are(&drafts)), help));
        }
        let (criteria, simulator_model) = match last {
            Some(last) => (last.criteria.clone(), UserSimulatorConfig::default().model),
            None => {
                let EvalConfig { criteria, user_simulator_config, .. } = config_beside(path)?;
                (criteria.into_iter().collect(), user_simulator_config.unwrap_or_default().model)
            }
        };
        Ok(Self {
            recording: recording_path(&path.to_string_lossy()).into(),
            path: path.to_owned(),
            cases: set.eval_cases,
            criteria,
            simulator_model,
            last: last.cloned(),
        })
    }

    pub(super) fn not_compared(&self) -> NotCompared {
        let criteria = self.criteria.iter().map(|(name, criterion)| (name.as_str(), criterion));
        NotCompared::of(criteria, &[], &self.cases)
    }

    pub(super) fn runs(&self) -> usize {
        self.cases.iter().map(|case| self.runs_of(case)).sum()
    }

    /// The number of runs of a case: as in the last run, else once, which is the default of attributes.
    pub(super) fn runs_of(&self, case: &EvalCase) -> usize {
        self.last.as_ref().and_then(|last| last.runs_of_cases.get(&case.eval_id)).copied().unwrap_or(1)
    }

    /// The set in the last run, if any run of it ended.
    pub(super) fn measured(&self) -> Option<&LastRunOfFile> {
        self.last.as_ref().filter(|last| last.ran > 0)
    }

    /// The questions of a metric in the last run, scaled to the runs that are planned.
    pub(super) fn asked_before(&self, name: &str) -> Option<usize> {
        let last = self.measured()?;
        let asked = last.asked.get(name)?.questions;
        Some(asked.saturating_mul(self.runs()).div_ceil(last.ran))
    }

    /// The tokens of the agent and of the judges in the last run, scaled to the runs that are planned.
    pub(super) fn tokens(&self) -> [Option<i128>; 2] {
        let Some(last) = self.measured() else { return [None; 2] };
        let number = |runs: usize| i128::try_from(runs).unwrap_or(i128::MAX);
        let (runs, ran) = (number(self.runs()), number(last.ran.max(1)));
        [last.usage.agent_tokens, last.usage.judge_tokens].map(|used| Some(used?.saturating_mul(runs) / ran))
    }

    /// Whether all questions of a metric were answered in the last run without the network, as by a recording.
    pub(super) fn answered_offline(&self, name: &str) -> bool {
        let asked = self.last.as_ref().and_then(|last| last.asked.get(name));
        asked.is_some_and(|asked| asked.offline && asked.questions > 0)
    }
}

fn config_beside(set: &Path) -> Result<EvalConfig, CommandError> {
    let path = shared_config_path(set);
    if path.symlink_metadata().is_err() {
        return Ok(EvalConfig::adk_default());
    }
    let bytes = read(&path)?;
    let shown = path.display().to_string();
    let checked = check_config(&shown, &bytes, &[]);
    // Metrics of the user's own are no errors here: they ask no judge.
    let config = checked.config.or_else(|| EvalConfig::parse(&checked.text).ok());
    config.ok_or_else(|| {
        let message = format!("`{}` has {}", one_line(&shown), count(checked.problems.len(), "problem"));
        CommandError::new(message, "run the set once, or run `cargo evalset check` on its folder")
    })
}

/// A file in the last run. Several attributes may use it.
#[derive(Clone, Debug, Default)]
pub(super) struct LastRunOfFile {
    /// The runs of each case, over all attributes.
    pub(super) runs_of_cases: HashMap<String, usize>,
    pub(super) criteria: BTreeMap<String, Criterion>,
    /// The runs that ended, over all cases.
    pub(super) ran: usize,
    pub(super) usage: RunUsage,
    /// The questions by metric. The simulated user's questions are under [`SIMULATED_USER`].
    pub(super) asked: BTreeMap<String, Asked>,
}

#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) questions: usize,
    pub(super) model: String,
    pub(super) offline: bool,
}

/// The name under which the questions of the simulated user are counted. The names of its prompts begin with it.
pub(super) const SIMULATED_USER: &str = "user_simulator";

/// The files of the last run.
pub(super) fn last_run(tests: &[TestResult<'_>]) -> BTreeMap<PathBuf, LastRunOfFile> {
    let mut files: BTreeMap<PathBuf, LastRunOfFile> = BTreeMap::new();
    for test in tests {
        if let Some(location) = test.location() {
            files.entry(PathBuf::from(location.file)).or_default().add(test);
        }
    }
    files
}

impl LastRunOfFile {
    fn add(&mut self, test: &TestResult<'_>) {
        let started = &test.attempt.started;
        *self.runs_of_cases.entry(started.eval_id.clone()).or_default() += started.runs;
        self.ran += test.runs.ran;
        self.usage.add(test.usage());
        for metric in test.deciding() {
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
            let none = || Asked { questions: 0, model: String::new(), offline: true };
            let asked = self.asked.entry(name.to_owned()).or_insert_with(none);
            asked.questions += judge.asked;
            asked.model.clone_from(&judge.model);
            asked.offline &= offline && judge.failed == 0;
        }
    }
}
