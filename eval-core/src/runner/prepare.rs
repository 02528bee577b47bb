//! From the settings of a runner to what runs its cases.

use std::panic::catch_unwind;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use eval_format::__private::check_cases;
use eval_format::compat::check_compatibility;
use eval_format::options::MOST_RUNS;
use eval_format::{EvalCase, EvalConfig, Pass};
use eval_support::variables;

use super::builder::EvalRunner;
use super::directory::Places;
use super::error::RunnerError;
use super::precedence::Precedence;
use crate::case_runner::CaseRunner;
use crate::journal::Journal;
use crate::options::Options;
use crate::scoring::criterion_of_custom;

/// What the cases of a set are run with.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) runner: Arc<CaseRunner>,
    pub(super) journal: Option<Arc<Journal>>,
    pub(super) places: Places,
    /// How many cases of the set are to run.
    pub(super) cases: usize,
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
        if set.is_none() {
            // The reader has seen those of a file.
            check_cases(cases).map_err(RunnerError::Set)?;
        }
        let drafts = cases.iter().filter(|case| case.draft().is_some());
        let drafts: Vec<String> = drafts.map(|case| case.eval_id.clone()).collect();
        if !drafts.is_empty() {
            let file = set.map(|path| path.display().to_string());
            return Err(RunnerError::Drafts { eval_ids: drafts, file });
        }
        let precedence = Precedence {
            criteria: &self.criteria,
            program: self.config.as_ref(),
            folder: beside,
            only: &self.only,
        };
        if let Some(metric) = precedence.lacks_threshold(&self.custom_names()) {
            return Err(RunnerError::NoThreshold(metric.to_owned()));
        }
        let config = self.checked(precedence.config())?;
        let incompatible = check_compatibility(&config, &self.custom_names(), self.options.gate, cases);
        if !incompatible.is_empty() {
            return Err(RunnerError::Incompatible(incompatible));
        }
        check_features(cases)?;
        let judges = self.judges.router(set)?;
        let (custom, names, stopped) = (self.custom.clone(), self.names.clone(), self.stopped.clone());
        let runner = CaseRunner::new(&config, custom, judges, self.options, names, stopped)
            .map_err(|error| RunnerError::Metrics(Arc::new(error)))?;
        Ok(Prepared {
            runner: Arc::new(runner),
            journal: None,
            places: Places::default(),
            cases: cases.len(),
        })
    }

    pub(super) fn custom_names(&self) -> Vec<&str> {
        self.custom.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The criteria, held to the rules of a config file. Custom metrics without criteria are valid.
    fn checked(&self, config: EvalConfig) -> Result<EvalConfig, RunnerError> {
        let names = self.custom_names();
        if let (true, Some(name)) = (config.criteria.is_empty(), names.first()) {
            // The rest of the config is held to the rules too.
            let full = config.clone().with(*name, criterion_of_custom());
            full.checked(&names).map_err(RunnerError::Criteria)?;
            return Ok(config);
        }
        config.checked(&names).map_err(RunnerError::Criteria)
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

    /// The journal, opened when the first case needs it; `None` if there is none.
    pub(super) fn journal_of_runs(&self) -> Result<Option<Arc<Journal>>, RunnerError> {
        let Some(folder) = &self.journal else { return Ok(None) };
        let open =
            || Journal::of_program(folder, self.project.as_ref(), self.again.as_deref(), self.needs_journal);
        let journal = self.opened.get_or_init(open).clone()?;
        match journal.as_ref().and_then(|journal| Some((journal, journal.failure()?))) {
            Some((journal, source)) => {
                Err(RunnerError::Journal { path: journal.path().to_owned(), source: source.clone() })
            }
            None => Ok(journal),
        }
    }
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
