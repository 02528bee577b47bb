//! What is known of a set: its cases from its file, the rest from the last run.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use eval_core::journal::JudgeUse;
use eval_format::{
    Criterion, EvalCase, EvalConfig, UserSimulatorConfig, check_config, check_set, recording_path,
};

use crate::answer::Refusal;
use crate::input::{Inputs, Scope, find, unreadable};
use crate::recorded::{Recorded, Usage};
use crate::show::one_line;
use crate::words::count;

/// What the last run tells, by file of sets.
#[derive(Debug, Default)]
pub(super) struct Known(BTreeMap<PathBuf, OfFile>);

/// What the last run tells of a file; several attributes may stand on it.
#[derive(Debug, Default)]
struct OfFile {
    /// Runs per case, over all attributes.
    runs: HashMap<String, usize>,
    criteria: BTreeMap<String, Criterion>,
    /// Cases whose criteria and usage are known.
    cases: usize,
    ran: usize,
    usage: Usage,
    /// Questions by metric; those of the simulated user under its name.
    asked: BTreeMap<String, Asked>,
}

/// What was asked for a metric.
#[derive(Clone, Debug, Default)]
struct Asked {
    questions: usize,
    model: Option<String>,
    /// Whether all was answered while nobody was to be asked over the network.
    offline: bool,
}

/// Under which name the questions of the simulated user go: those of its prompts begin with it.
pub(super) const SIMULATED_USER: &str = "user_simulator";

/// A set, and what running it takes.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) path: PathBuf,
    pub(super) cases: Vec<EvalCase>,
    /// Runs of all cases.
    pub(super) runs: usize,
    /// The criteria by metric.
    pub(super) criteria: BTreeMap<String, Criterion>,
    /// The model that plays the user.
    pub(super) simulator_model: String,
    pub(super) recording: PathBuf,
    /// How often cases run and with what they are scored: from the last run, or guessed.
    pub(super) last: Option<Last>,
    run_counts: HashMap<String, usize>,
}

/// What the set took in the last run.
#[derive(Debug)]
pub(super) struct Last {
    /// Runs of the cases that were run.
    pub(super) runs: usize,
    pub(super) usage: Usage,
    asked: BTreeMap<String, Asked>,
}

impl Known {
    pub(super) fn of(tests: &[Recorded<'_>]) -> Self {
        let mut known = Self::default();
        for test in tests {
            let Some((file, ..)) = test.place() else { continue };
            let of_file = known.0.entry(PathBuf::from(file)).or_default();
            *of_file.runs.entry(test.attempt.started.eval_id.clone()).or_default() +=
                test.attempt.started.runs;
            of_file.cases += 1;
            of_file.ran += test.runs.ran;
            of_file.usage.add(test.usage());
            for metric in test.gating() {
                let Some(criterion) = metric.criterion.clone() else { continue };
                of_file.criteria.entry(metric.name.clone()).or_insert(criterion);
            }
            let env = test.attempt.head.env.get("EVALSET_JUDGE").map(String::as_str);
            let offline = matches!(env, None | Some("" | "replay"));
            for evaluation in &test.attempt.evaluations {
                of_file.count(SIMULATED_USER, &evaluation.ran.simulator, offline);
                for metric in evaluation.scored.iter().flat_map(|scored| &scored.metrics) {
                    of_file.count(&metric.name, &metric.judge, offline);
                }
            }
        }
        known
    }

    /// The files of the last run.
    pub(super) fn inputs(&self) -> Inputs {
        find(&self.0.keys().cloned().collect::<Vec<_>>(), Scope::Sets)
    }
}

impl OfFile {
    fn count(&mut self, name: &str, used: &[JudgeUse], offline: bool) {
        for judge in used {
            let before = self.asked.entry(name.to_owned());
            let asked = before.or_insert_with(|| Asked { offline: true, ..Asked::default() });
            asked.questions += judge.asked;
            asked.model = Some(judge.model.clone());
            asked.offline &= offline && judge.failed == 0;
        }
    }
}

impl Set {
    pub(super) fn read(path: &Path, known: &Known) -> Result<Self, Refusal> {
        let shown = path.display().to_string();
        let bytes = fs::read(path).map_err(|error| unreadable(path, &error))?;
        let checked = check_set(&shown, &bytes, None);
        let errors = checked.problems.iter().filter(|problem| problem.is_error()).count();
        let set = checked.set.ok_or_else(|| {
            Refusal::new(
                format!("`{}` has {}", one_line(&shown), count(errors, "error")),
                format!("`cargo evalset check {}` shows them", crate::shell::word(&shown)),
            )
        })?;
        let of_file = known.0.get(path).filter(|of_file| !of_file.criteria.is_empty());
        let (criteria, simulator_model) = match of_file {
            Some(of_file) => (of_file.criteria.clone(), UserSimulatorConfig::default().model),
            None => {
                let EvalConfig { criteria, user_simulator_config, .. } = config_beside(path)?;
                (criteria.into_iter().collect(), user_simulator_config.unwrap_or_default().model)
            }
        };
        let run_counts = of_file.map(|of_file| of_file.runs.clone()).unwrap_or_default();
        let cases = set.eval_cases;
        Ok(Self {
            runs: cases.iter().map(|case| runs_of(&run_counts, case)).sum(),
            recording: recording_path(&path.to_string_lossy()).into(),
            path: path.to_owned(),
            simulator_model,
            criteria,
            cases,
            last: of_file.map(|of_file| Last {
                runs: of_file.ran,
                usage: of_file.usage,
                asked: of_file.asked.clone(),
            }),
            run_counts,
        })
    }

    /// How often a case runs.
    pub(super) fn runs_of(&self, case: &EvalCase) -> usize {
        runs_of(&self.run_counts, case)
    }

    /// The questions of a metric in the last run, for all runs that are planned.
    pub(super) fn asked_before(&self, name: &str) -> Option<usize> {
        let last = self.last.as_ref()?;
        let asked = last.asked.get(name)?.questions;
        (last.runs > 0).then(|| asked.saturating_mul(self.runs).div_ceil(last.runs))
    }

    /// The model that was asked in the last run.
    pub(super) fn model_before(&self, name: &str) -> Option<String> {
        self.last.as_ref()?.asked.get(name)?.model.clone()
    }

    /// Whether everything was answered in the last run without the network: by a recording, or by a judge that needs
    /// none.
    pub(super) fn answered_offline(&self, name: &str) -> bool {
        let asked = self.last.as_ref().and_then(|last| last.asked.get(name));
        asked.is_some_and(|asked| asked.offline && asked.questions > 0)
    }
}

/// A case that did not run yet runs as often as an attribute runs it that says nothing.
fn runs_of(run_counts: &HashMap<String, usize>, case: &EvalCase) -> usize {
    run_counts.get(&case.eval_id).copied().unwrap_or(1)
}

fn config_beside(set: &Path) -> Result<EvalConfig, Refusal> {
    let path = set.with_file_name("test_config.json");
    let Ok(bytes) = fs::read(&path) else { return Ok(EvalConfig::adk_default()) };
    let shown = path.display().to_string();
    let checked = check_config(&shown, &bytes, &[]);
    // Metrics of the user's own are no errors here: nobody asks a judge for them.
    let config = checked.config.or_else(|| EvalConfig::parse(&checked.text).ok());
    config.ok_or_else(|| {
        Refusal::new(
            format!("`{}` has {}", one_line(&shown), count(checked.problems.len(), "problem")),
            "run the set once, or `cargo evalset check` its folder",
        )
    })
}
