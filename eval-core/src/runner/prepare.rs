//! From the settings of a runner to the runner of its cases.

use std::panic::catch_unwind;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use eval_format::__private::check_cases;
use eval_format::compat::{check_compatibility, check_tools};
use eval_format::matrix::Variant;
use eval_format::metric::{MetricArgument, metric};
use eval_format::options::MOST_RUNS;
use eval_format::tools::read_declarations;
use eval_format::{Criterion, EvalCase, EvalConfig, EvalSet, PassRule, Problems, ToolSource};
use eval_support::variables;

use super::builder::EvalRunner;
use super::directory::Places;
use super::error::RunnerError;
use crate::agent::BoxError;
use crate::case_runner::{CaseRunner, IdentifiedCase, ToolFiles};
use crate::journal::{Journal, ProgramCase, TestLog, journal_of_program};
use crate::metric::with_commands;
use crate::model_use::PlannedRuns;
use crate::models::{Command, Models};
use crate::options::Options;
use crate::report::CaseReport;
use crate::scoring::criterion_of_custom;
use crate::transcript::RunError;
use crate::verdict::{Role, Verdict};

#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) runner: Arc<CaseRunner>,
    pub(super) journal: Option<Arc<Journal>>,
    pub(super) places: Places,
    pub(super) cases: usize,
}

impl EvalRunner {
    /// Prepares the cases. Fails if the settings contradict each other, and if they decide nothing about one of the
    /// cases. `set` is the file that the cases come from.
    pub(super) fn prepare(
        &self,
        beside: Option<&EvalConfig>,
        set: Option<&Path>,
        cases: &[EvalCase],
    ) -> Result<Prepared, RunnerError> {
        self.with_journal(self.prepare_without_journal(beside, set, cases)?)
    }

    /// Opens the journal, if one is written.
    pub(super) fn with_journal(&self, prepared: Prepared) -> Result<Prepared, RunnerError> {
        Ok(Prepared { journal: self.journal_of_runs()?, ..prepared })
    }

    /// Prepares one of several sets. The journal is opened once all sets are found to be valid.
    pub(super) fn prepare_without_journal(
        &self,
        beside: Option<&EvalConfig>,
        set: Option<&Path>,
        cases: &[EvalCase],
    ) -> Result<Prepared, RunnerError> {
        let prepared = self.prepare_scoring(beside, set, cases)?;
        if let Some(faults) = self.faults.as_ref().filter(|_| self.options.tools == ToolSource::Real) {
            return Err(RunnerError::FaultsOfRealTools { file: faults.file.clone() });
        }
        let unanswered = check_tools(self.options.tools, cases);
        if unanswered.is_empty() { Ok(prepared) } else { Err(RunnerError::Incompatible(unanswered)) }
    }

    /// Prepares cases whose runs are recorded, so that no tool is asked.
    pub(super) fn prepare_scoring(
        &self,
        beside: Option<&EvalConfig>,
        set: Option<&Path>,
        cases: &[EvalCase],
    ) -> Result<Prepared, RunnerError> {
        variables::check().map_err(RunnerError::environment)?;
        check_runtime()?;
        self.check_runs()?;
        if set.is_none() && !self.takes_checked_cases {
            // The reader has checked the cases of a file.
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
        let mut scenarios = cases.iter().filter(|case| case.conversation_scenario.is_some());
        if let (false, Some(case)) = (cfg!(feature = "judges"), scenarios.next()) {
            return Err(RunnerError::ScenarioNeedsJudges(case.eval_id.clone()));
        }
        let judges = self.judges.router(set)?;
        let custom = with_commands(&config, self.custom.clone());
        let (names, stopped) = (self.names.clone(), self.stopped.clone());
        let runner = CaseRunner::new(&config, custom, judges, self.options, names, stopped)
            .map_err(|error| RunnerError::Metrics(BoxError::from(error).into()))?;
        let models = self.models_beside(set).map_err(RunnerError::environment)?;
        let faults = self.faults.as_ref().and_then(|faults| faults.injections.clone()).map(Arc::new);
        let declarations = match set.filter(|_| self.options.tools == ToolSource::Golden) {
            Some(set) => read_declarations(set).map_err(|error| RunnerError::ToolList(error.to_string()))?,
            None => None,
        };
        Ok(Prepared {
            runner: Arc::new(
                runner
                    .with_tool_files(ToolFiles { faults, declarations: declarations.map(Arc::new) })
                    .with_models(models),
            ),
            journal: None,
            places: Places::default(),
            cases: cases.len(),
        })
    }

    /// The recorded calls of models beside a set.
    fn models_beside(&self, set: Option<&Path>) -> Result<Models, String> {
        let command = match (set, &self.again) {
            (Some(set), Some(again)) => {
                Command::Program { file: set.to_string_lossy().into_owned(), again: again.clone() }
            }
            _ => Command::Unknown,
        };
        let plan = PlannedRuns { runs: self.options.runs, is_variant: !self.variant.label().is_empty() };
        Models::beside(set, command, plan)
    }

    /// Fails if the file of faults has faults of calls that none of the cases expects. They are all cases of the sets, whichever
    /// of them run.
    pub(super) fn check_faults<'c>(
        &self,
        cases: impl IntoIterator<Item = &'c EvalCase>,
    ) -> Result<(), Problems> {
        let Some(faults) = &self.faults else { return Ok(()) };
        let unexpected = faults.unexpected(cases);
        if unexpected.is_empty() { Ok(()) } else { Err(faults.problems_of(unexpected)) }
    }

    pub(super) fn custom_names(&self) -> Vec<&str> {
        self.custom.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The criteria, checked by the rules of config files. Custom metrics without criteria are valid.
    fn checked(&self, config: EvalConfig) -> Result<EvalConfig, RunnerError> {
        let names = self.custom_names();
        if let (true, Some(name)) = (config.criteria.is_empty(), names.first()) {
            // The rest of the config is checked too.
            let full = config.clone().with(*name, criterion_of_custom());
            full.checked(&names).map_err(RunnerError::Criteria)?;
            return Ok(config);
        }
        config.checked(&names).map_err(RunnerError::Criteria)
    }

    fn check_runs(&self) -> Result<(), RunnerError> {
        let Options { runs, pass, .. } = self.options;
        if runs == 0 {
            return Err(RunnerError::NoRuns);
        }
        if u32::try_from(runs).map_or(true, |runs| runs > MOST_RUNS) {
            return Err(RunnerError::TooManyRuns(runs));
        }
        let PassRule::AtLeast(needed) = pass else { return Ok(()) };
        if needed == 0 {
            return Err(RunnerError::PassesAlways);
        }
        if usize::try_from(needed).is_ok_and(|needed| needed > runs) {
            return Err(RunnerError::TooFewRuns { needed, runs });
        }
        Ok(())
    }

    /// The journal, which the first call opens; `None` if none is written. Fails if a record could not be
    /// written.
    pub(super) fn journal_of_runs(&self) -> Result<Option<Arc<Journal>>, RunnerError> {
        let Some(folder) = &self.journal else { return Ok(None) };
        let open = || {
            journal_of_program(
                folder,
                self.project.as_ref(),
                self.again.as_deref(),
                self.dirty,
                self.run_id.as_deref(),
                self.needs_journal,
            )
        };
        let journal = self.opened.get_or_init(open).clone()?;
        match journal.as_ref().and_then(|journal| Some((journal, journal.failure()?))) {
            Some((journal, source)) => {
                Err(RunnerError::Journal { path: journal.path.clone(), source: source.clone() })
            }
            None => Ok(journal),
        }
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

/// The sources of a config in order of precedence: the program, the folder of the set, the defaults. The
/// table is in `docs/configuration.md`. Settings of the command line arrive here as settings of the program:
/// see [`EvalRunner::config_alone`].
#[derive(Debug)]
pub(super) struct Precedence<'a> {
    /// [`EvalRunner::criterion`].
    pub(super) criteria: &'a [(String, Criterion)],
    /// [`EvalRunner::config`].
    pub(super) program: Option<&'a EvalConfig>,
    pub(super) folder: Option<&'a EvalConfig>,
    /// [`EvalRunner::only_metric`].
    pub(super) only: &'a [MetricArgument],
}

impl Precedence<'_> {
    /// The config. Its criteria and its simulated user may come from different sources.
    pub(super) fn config(&self) -> EvalConfig {
        let mut config = match (self.criteria, self.program) {
            ([], None) => self.folder.cloned().unwrap_or_else(EvalConfig::adk_default),
            (criteria, program) => {
                let config = program.cloned().unwrap_or_default();
                criteria
                    .iter()
                    .cloned()
                    .fold(config, |config, (name, criterion)| config.with(name, criterion))
            }
        };
        let mut simulators = [self.program, self.folder].into_iter().flatten();
        config.user_simulator_config = simulators.find_map(|place| place.user_simulator_config.clone());
        if !self.only.is_empty() {
            let criteria = self.only.iter().map(|MetricArgument { name, threshold, direction, .. }| {
                let known = config.criterion(name).cloned().or_else(|| adk_default(name));
                let mut criterion = known.unwrap_or_else(criterion_of_custom);
                criterion.threshold = threshold.unwrap_or(criterion.threshold);
                if let Some(direction) =
                    direction.filter(|direction| *direction != criterion.direction() || informs(name))
                {
                    criterion = criterion.with_direction(direction);
                }
                (name.clone(), criterion)
            });
            let criteria = criteria.collect();
            return config.only(criteria);
        }
        config
    }

    /// The first metric in `only` that has no threshold, neither beside its name nor in a config.
    pub(super) fn lacks_threshold(&self, custom: &[&str]) -> Option<&str> {
        let all = Precedence { only: &[], ..*self }.config();
        let known = |name: &str| {
            all.criterion(name).is_some() || adk_default(name).is_some() || custom.contains(&name)
        };
        self.only
            .iter()
            .find(|only| only.threshold.is_none() && metric(&only.name).is_some() && !known(&only.name))
            .map(|only| only.name.as_str())
    }
}

/// Whether a metric informs unless its criterion has a direction.
fn informs(name: &str) -> bool {
    metric(name).is_some_and(|info| !info.gates)
}

fn adk_default(name: &str) -> Option<Criterion> {
    EvalConfig::adk_default().criterion(name).cloned()
}

impl EvalRunner {
    /// Scores with the criteria of the command line, and with no others. If it does not configure the
    /// simulated user, that stays as it was.
    pub(super) fn config_alone(mut self, mut config: EvalConfig) -> Self {
        self.criteria.clear();
        let simulator = self.config.take().and_then(|config| config.user_simulator_config);
        config.user_simulator_config = config.user_simulator_config.or(simulator);
        self.config(config)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) eval_set_id: Option<&'a str>,
    pub(super) case: &'a EvalCase,
}

impl<'a> Job<'a> {
    pub(super) fn of_set(prepared: &'a Prepared, set: &'a EvalSet) -> impl Iterator<Item = Self> {
        let eval_set_id = Some(set.eval_set_id.as_str());
        set.eval_cases.iter().map(move |case| Self { prepared, eval_set_id, case })
    }

    pub(super) fn identified(&self, log: Arc<TestLog>) -> IdentifiedCase<'a> {
        let Self { prepared, eval_set_id, case } = *self;
        let location = prepared.places.cases.get(&case.eval_id).cloned();
        IdentifiedCase { eval_set_id, case, location, name: format!("case `{}`", case.eval_id), log }
    }

    pub(super) fn recorded<'b>(&self, label: Option<&'b str>, variant: &'b Variant) -> ProgramCase<'b>
    where
        'a: 'b,
    {
        let Self { prepared: Prepared { places, cases, .. }, eval_set_id, case } = *self;
        ProgramCase {
            eval_set_id,
            case,
            label,
            variant,
            location: places.cases.get(&case.eval_id),
            path: places.path.as_deref(),
            set_cases: Some(*cases),
            faults: None,
        }
    }

    pub(super) fn interrupted(&self) -> CaseReport {
        let error = RunError::new(Role::Harness, None, "interrupted before it had a verdict");
        self.prepared.runner.decide_unplayed(&self.identified(Arc::default()), error)
    }

    /// The report of a case that is not run, since another one failed.
    pub(super) fn left_out(&self, failed: &str) -> CaseReport {
        let report = self.interrupted();
        let reason = format!("not run: `{failed}` did not pass, and the run ends at the first such case");
        CaseReport {
            runs: Vec::new(),
            metrics: Vec::new(),
            passed_runs: None,
            verdict: Verdict::Skipped(reason),
            ..report
        }
    }
}

#[cfg(test)]
mod precedence_tests {
    use eval_format::config::UserSimulatorConfig;

    use super::*;

    fn criterion(threshold: f64) -> Vec<(String, Criterion)> {
        vec![("response_match_score".to_owned(), Criterion::new(threshold))]
    }

    fn config(threshold: f64, model: &str) -> EvalConfig {
        let config = EvalConfig::default().with("response_match_score", Criterion::new(threshold));
        if model.is_empty() {
            config
        } else {
            config.with_user_simulator(UserSimulatorConfig::default().model(model))
        }
    }

    #[test]
    fn the_program_goes_before_the_folder_and_the_folder_before_the_defaults() {
        let (own, none) = (criterion(0.1), Vec::new());
        let (program, folder) = (config(0.2, "program"), config(0.3, "folder"));
        let (program_alone, folder_alone) = (config(0.2, ""), config(0.3, ""));
        for (criteria, program, folder, threshold, model) in [
            (&none, None, None, 0.8, None),
            (&none, None, Some(&folder), 0.3, Some("folder")),
            (&none, Some(&program), Some(&folder), 0.2, Some("program")),
            (&none, Some(&program_alone), Some(&folder), 0.2, Some("folder")),
            (&own, None, Some(&folder), 0.1, Some("folder")),
            (&own, None, Some(&folder_alone), 0.1, None),
            (&own, Some(&program), Some(&folder), 0.1, Some("program")),
        ] {
            let config = Precedence { criteria, program, folder, only: &[] }.config();
            let found = config.criterion("response_match_score").map(|criterion| criterion.threshold);
            let simulator = config.user_simulator_config.as_ref().map(|simulator| simulator.model.as_str());
            assert_eq!((found, simulator), (Some(threshold), model));
        }
    }

    #[test]
    fn the_only_metrics_keep_the_criterion_that_they_had() {
        let program = EvalConfig::default()
            .with("response_match_score", Criterion::new(0.2))
            .with("safety_v1", Criterion::new(0.7));
        let of = |only: &[(&str, Option<f64>)], program: Option<&EvalConfig>| {
            let only: Vec<MetricArgument> = only.iter().copied().map(MetricArgument::from).collect();
            let precedence = Precedence { criteria: &[], program, folder: None, only: &only };
            let lacks = precedence.lacks_threshold(&["mine"]).map(str::to_owned);
            let thresholds: Vec<_> =
                precedence.config().criteria.into_iter().map(|(_, criterion)| criterion.threshold).collect();
            (thresholds, lacks)
        };
        let lacks = |name: &str| Some(name.to_owned());
        assert_eq!(of(&[("safety_v1", None)], Some(&program)), (vec![0.7], None));
        assert_eq!(of(&[("safety_v1", Some(0.5)), ("mine", None)], None), (vec![0.5, 1.0], None));
        assert_eq!(of(&[("response_match_score", None)], None), (vec![0.8], None));
        assert_eq!(of(&[("safety_v1", None)], None), (vec![1.0], lacks("safety_v1")));
    }

    #[test]
    fn the_command_line_goes_before_the_program_and_leaves_what_it_does_not_say() {
        let runner = || {
            EvalRunner::new()
                .config(config(0.2, "program"))
                .criterion("response_match_score", Criterion::new(0.1))
        };
        for (line, model) in [(config(0.4, ""), "program"), (config(0.4, "line"), "line")] {
            let EvalRunner { config, criteria, .. } = runner().config_alone(line);
            let config =
                Precedence { criteria: &criteria, program: config.as_ref(), folder: None, only: &[] }
                    .config();
            assert_eq!(config.criteria, criterion(0.4));
            assert_eq!(config.user_simulator_config.unwrap().model, model);
        }
    }
}
