//! From the settings of a runner to what runs its cases.

use std::collections::HashSet;
use std::panic::catch_unwind;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use eval_format::compat::check_compatibility_with;
use eval_format::options::MOST_RUNS;
use eval_format::{EvalCase, EvalConfig, Pass};

use super::builder::EvalRunner;
use super::error::RunnerError;
use crate::case_runner::CaseRunner;
use crate::journal::Journal;
use crate::options::Options;
use crate::variables;

/// What the cases of a set are run with.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) runner: Arc<CaseRunner>,
    pub(super) journal: Option<Arc<Journal>>,
}

impl EvalRunner {
    /// What the cases are run with. Fails if the settings contradict each other, and if they decide nothing about one
    /// of the cases. `set` is the file that the cases come from.
    pub(super) fn prepare(
        &self,
        beside: Option<&EvalConfig>,
        set: Option<&Path>,
        cases: &[EvalCase],
    ) -> Result<Prepared, RunnerError> {
        let prepared = self.prepare_without_journal(beside, set, cases)?;
        Ok(Prepared { journal: self.journal_of_runs()?, ..prepared })
    }

    /// The same for the first of several sets: the journal is opened when all of them are found to be right.
    pub(super) fn prepare_without_journal(
        &self,
        beside: Option<&EvalConfig>,
        set: Option<&Path>,
        cases: &[EvalCase],
    ) -> Result<Prepared, RunnerError> {
        variables::check().map_err(RunnerError::environment)?;
        check_runtime()?;
        self.check_runs()?;
        check_cases(cases)?;
        let config = self.checked(self.config_or(beside))?;
        let incompatible = check_compatibility_with(&config, &self.custom_names(), self.options.gate, cases);
        if !incompatible.is_empty() {
            return Err(RunnerError::Incompatible(incompatible));
        }
        check_features(cases)?;
        let judges = self.judges.router(set)?;
        let runner = CaseRunner::new(&config, self.custom.clone(), judges, self.options, self.names.clone())
            .map_err(|error| RunnerError::Metrics(Arc::new(error)))?;
        Ok(Prepared { runner: Arc::new(runner), journal: None })
    }

    pub(super) fn custom_names(&self) -> Vec<&str> {
        self.custom.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The criteria, held to the rules of a config file. Custom metrics without criteria are valid.
    fn checked(&self, config: EvalConfig) -> Result<EvalConfig, RunnerError> {
        if config.criteria.is_empty() && !self.custom.is_empty() {
            return Ok(config);
        }
        config.checked(&self.custom_names()).map_err(RunnerError::Criteria)
    }

    /// Whether there are runs, and enough of them to pass.
    fn check_runs(&self) -> Result<(), RunnerError> {
        let Options { runs, pass, .. } = self.options;
        if runs == 0 {
            return Err(RunnerError::NoRuns);
        }
        if u32::try_from(runs).map_or(true, |runs| runs > MOST_RUNS) {
            return Err(RunnerError::TooManyRuns(runs));
        }
        let Pass::AtLeast(needed) = pass else { return Ok(()) };
        if needed == 0 {
            return Err(RunnerError::PassesAlways);
        }
        if usize::try_from(needed).is_ok_and(|needed| needed > runs) {
            return Err(RunnerError::TooFewRuns { needed, runs });
        }
        Ok(())
    }

    /// The runner's own criteria, else those beside the set, else ADK's.
    fn config_or(&self, beside: Option<&EvalConfig>) -> EvalConfig {
        if self.criteria.is_empty() {
            return self.config.as_ref().or(beside).cloned().unwrap_or_else(EvalConfig::adk_default);
        }
        let config = self.config.clone().unwrap_or_default();
        self.criteria.iter().cloned().fold(config, |config, (name, criterion)| config.with(name, criterion))
    }

    /// The journal, opened when the first case needs it; `None` if there is none.
    pub(super) fn journal_of_runs(&self) -> Result<Option<Arc<Journal>>, RunnerError> {
        let Some(folder) = &self.journal else { return Ok(None) };
        let open = || Journal::of_program(folder);
        let journal = self.opened.get_or_init(open).clone()?;
        match journal.as_ref().and_then(|journal| Some((journal, journal.failure()?))) {
            Some((journal, source)) => {
                Err(RunnerError::Journal { path: journal.path().to_owned(), source: source.clone() })
            }
            None => Ok(journal),
        }
    }
}

/// Fails if a case would not be run, or could be taken for another one. The reader finds the same in files.
fn check_cases(cases: &[EvalCase]) -> Result<(), RunnerError> {
    let mut ids = HashSet::with_capacity(cases.len());
    for case in cases {
        let id = &case.eval_id;
        let wrong = match (&case.conversation_scenario, case.conversation.as_slice()) {
            _ if id.is_empty() => "a case has no id".to_owned(),
            _ if !ids.insert(id) => format!("two cases have the id `{id}`"),
            (None, []) => format!("the case `{id}` has no turns, so the agent would not be asked anything"),
            (Some(_), [_, ..]) => format!("the case `{id}` has both a conversation and a scenario"),
            _ => continue,
        };
        return Err(RunnerError::Case(wrong));
    }
    Ok(())
}

/// Fails if a case needs a feature that is off.
fn check_features(cases: &[EvalCase]) -> Result<(), RunnerError> {
    if cfg!(feature = "judges") {
        return Ok(());
    }
    match cases.iter().find(|case| case.conversation_scenario.is_some()) {
        Some(case) => Err(RunnerError::ScenarioNeedsJudges(case.eval_id.clone())),
        None => Ok(()),
    }
}

/// Fails without a tokio runtime and its timers: the time limits need them.
fn check_runtime() -> Result<(), RunnerError> {
    tokio::runtime::Handle::try_current().map_err(|_| RunnerError::NoRuntime)?;
    // Nothing but the panic tells whether a runtime has timers.
    let timer = || {
        let mut context = Context::from_waker(Waker::noop());
        let _ = pin!(tokio::time::sleep(Duration::from_secs(1))).poll(&mut context);
    };
    catch_unwind(timer).map_err(|_| RunnerError::NoTimers)
}
