//! Running sets without the attribute.

pub(crate) mod concurrent;
pub(crate) mod conversation;
mod directory;
pub(crate) mod guard;
mod rescore;
mod setup;
pub(crate) mod user;
pub(crate) mod watchdog;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use eval_format::{Criterion, EvalCase, EvalConfig, EvalSet, check_compatibility};

use crate::agent::{BoxAgent, BoxFuture};
use crate::journal::{TestLog, Journal};
use crate::judge::{BoxJudge, Judge, JudgeRouter, JudgeSource, Settings, RecordingStore};
use crate::metric::{BoxMetric, Metric, judged};
use crate::options::{Gate, Pass};
use crate::plan::Plan;
use crate::report::{CaseReport, EvalReport, RunReport};
use crate::transcript::{RunError, Transcript};
use crate::verdict::Role;

use directory::Found;
pub use directory::RunDirError;
pub use setup::Setup;

/// Runs eval sets from a program: what the attribute does, as a value.
///
/// ```
/// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let set = EvalSet::new("weather")
///     .case(EvalCase::new("sunny").turn(Invocation::user("Weather in Paris?").response("It is sunny in Paris.")));
///
/// let runner = EvalRunner::new().runs(2);
/// let report = runner.run_set(&set, || Replay::new([["It is sunny in Paris."]]), 4).await?;
///
/// assert!(report.all_passed());
/// assert_eq!(report.summary().passed, 1);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// Defaults are ADK's: both lexical metrics (`tool_trajectory_avg_score` at 1.0, `response_match_score` at
/// 0.8), one run, the mean, the app `EvaluationGenerator`, the user `test_user_id`; 120 seconds for opening a
/// session and for each turn.
#[derive(Debug)]
pub struct EvalRunner {
    config: Option<EvalConfig>,
    criteria: Vec<(String, Criterion)>,
    custom: Vec<(String, BoxMetric)>,
    app_name: Option<String>,
    user_id: Option<String>,
    runs: usize,
    pass: Pass,
    gate: Gate,
    timeout: Option<Duration>,
    judge: Option<BoxJudge>,
    judge_model: Option<String>,
    recording: Option<PathBuf>,
    journal: Option<PathBuf>,
    opened: OnceLock<Result<Option<Arc<Journal>>, String>>,
}

impl Default for EvalRunner {
    fn default() -> Self {
        Self::new()
    }
}

/// Why a runner cannot run: its settings contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerError(String);

impl std::fmt::Display for RunnerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RunnerError {}

impl EvalRunner {
    /// A runner with ADK's defaults.
    pub fn new() -> Self {
        Self {
            config: None,
            criteria: Vec::new(),
            custom: Vec::new(),
            app_name: None,
            user_id: None,
            runs: 1,
            pass: Pass::default(),
            gate: Gate::default(),
            timeout: None,
            judge: None,
            judge_model: None,
            recording: None,
            journal: None,
            opened: OnceLock::new(),
        }
    }

    /// Scores with these criteria instead of ADK's default ones.
    #[must_use]
    pub fn config(mut self, config: EvalConfig) -> Self {
        self.config = Some(config);
        self
    }

    /// Adds a criterion; the first one replaces ADK's default criteria.
    #[must_use]
    pub fn criterion(mut self, metric: impl Into<String>, criterion: Criterion) -> Self {
        self.criteria.push((metric.into(), criterion));
        self
    }

    /// Adds a custom metric. Without a criterion of its name its threshold is 1.0.
    #[must_use]
    pub fn metric(mut self, name: impl Into<String>, metric: impl Metric + 'static) -> Self {
        self.custom.push((name.into(), BoxMetric::new(metric)));
        self
    }

    /// The app name for cases that name none.
    #[must_use]
    pub fn app_name(mut self, app_name: impl Into<String>) -> Self {
        self.app_name = Some(app_name.into());
        self
    }

    /// The user id for cases that name none.
    #[must_use]
    pub fn user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = Some(user_id.into());
        self
    }

    /// How often each case runs; at least once.
    #[must_use]
    pub fn runs(mut self, runs: usize) -> Self {
        self.runs = runs;
        self
    }

    /// How the runs of a case are taken together.
    #[must_use]
    pub fn pass(mut self, pass: Pass) -> Self {
        self.pass = pass;
        self
    }

    /// How the turns of a run are taken together.
    #[must_use]
    pub fn gate(mut self, gate: Gate) -> Self {
        self.gate = gate;
        self
    }

    /// Whom the judged metrics ask.
    ///
    /// ```
    /// use eval_core::{EvalRunner, Scripted};
    ///
    /// let runner = EvalRunner::new().judge(Scripted::new([r#"{"is_the_agent_response_valid": "valid"}"#]));
    /// # let _ = runner;
    /// ```
    ///
    /// A judge that [is offline](Judge::is_offline) is asked as it is. Any other costs money, so it is asked
    /// only where `EVALSET_JUDGE` is `live` or `record`; see [judges](crate::judges).
    #[must_use]
    pub fn judge(mut self, judge: impl Judge + 'static) -> Self {
        self.judge = Some(judge.boxed());
        self
    }

    /// Writes a [journal](crate::journal) into a folder such as `target/evalset`, below which each run has one of
    /// its own.
    ///
    /// ```
    /// use eval_core::journal::{Run, runs};
    /// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("evalset-doc-journal-{}", std::process::id()));
    /// let set = EvalSet::new("weather").case(EvalCase::new("sunny").turn(Invocation::user("Paris?").response("Sunny.")));
    /// let report = EvalRunner::new().journal(&folder).run_set(&set, || Replay::new([["Sunny."]]), 1).await?;
    /// assert!(report.all_passed());
    ///
    /// let run = Run::read(&runs(&folder)?[0].path)?;
    /// assert_eq!(run.tests[0].name, "weather/sunny");
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Without this a runner writes none. `EVALSET_JOURNAL=off` holds here too.
    #[must_use]
    pub fn journal(mut self, folder: impl Into<PathBuf>) -> Self {
        self.journal = Some(folder.into());
        self
    }

    /// The model that judges are asked for, whatever the criteria name; else `EVALSET_JUDGE_MODEL` says.
    #[must_use]
    pub fn judge_model(mut self, model: impl Into<String>) -> Self {
        self.judge_model = Some(model.into());
        self
    }

    /// The file in which the judge's answers are recorded, whether it exists or not. Sets of
    /// [`run_dir`](Self::run_dir) have theirs beside them.
    #[must_use]
    pub fn recording(mut self, path: impl Into<PathBuf>) -> Self {
        self.recording = Some(path.into());
        self
    }

    /// The time for setting up, for opening the session and for each turn.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Runs one case.
    ///
    /// `setup` is called once per run and returns the agent, plain or async, also as a `Result`; it may take
    /// the case. Fails where the runner's settings contradict each other; what the agent does wrong is in
    /// the report.
    pub async fn run_case<Shape, S>(&self, case: &EvalCase, setup: S) -> Result<CaseReport, RunnerError>
    where
        S: Setup<Shape>,
    {
        let plan = self.plan(None, None, std::slice::from_ref(case))?;
        Ok(self.one(&plan, "", case, &setup).await)
    }

    /// Runs the cases of a set, at most `concurrency` at a time (0 is taken as 1); the report has them in the order of the set.
    ///
    /// Cases share the task: one that blocks its thread holds up the others until it returns.
    pub async fn run_set<Shape, S>(
        &self,
        set: &EvalSet,
        setup: S,
        concurrency: usize,
    ) -> Result<EvalReport, RunnerError>
    where
        S: Setup<Shape>,
    {
        if set.eval_cases.is_empty() {
            return Err(RunnerError(format!("the set `{}` has no cases", set.eval_set_id)));
        }
        let plan = self.plan(None, None, &set.eval_cases)?;
        Ok(EvalReport { cases: self.all(&plan, set, &setup, concurrency).await })
    }

    /// Runs every set in a directory, found as the attribute finds them, each with the
    /// `test_config.json` beside it unless this runner has criteria of its own, and with its recording.
    ///
    /// ```
    /// use eval_core::{Criterion, EvalRunner, Replay};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let runner = EvalRunner::new().criterion("response_match_score", Criterion::new(0.8));
    /// let report = runner.run_dir("evals", || Replay::new([["It is sunny in Paris."]]), 4).await?;
    ///
    /// let failed: Vec<&str> = report.failures().map(|case| case.eval_id()).collect();
    /// assert_eq!(failed, ["trip", "refund declined"]);
    /// println!("{report}");
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Fails where the directory holds no sets, where a set or a config has errors, and where the runner's
    /// settings contradict each other; nothing is run then.
    pub async fn run_dir<Shape, S>(
        &self,
        directory: impl AsRef<Path>,
        setup: S,
        concurrency: usize,
    ) -> Result<EvalReport, RunDirError>
    where
        S: Setup<Shape>,
    {
        let sets = directory::read(directory.as_ref(), &self.custom_names())?;
        self.all_of(sets, None, &setup, concurrency).await
    }

    /// Runs a set or the sets of a directory; of them the cases of these ids, where some are given.
    pub(crate) async fn run_path<Shape, S>(
        &self,
        path: &Path,
        ids: Option<&[String]>,
        setup: S,
        concurrency: usize,
    ) -> Result<EvalReport, RunDirError>
    where
        S: Setup<Shape>,
    {
        let names = self.custom_names();
        let sets = if path.is_dir() {
            directory::read(path, &names)?
        } else {
            vec![directory::read_one(path, &names)?]
        };
        self.all_of(sets, ids, &setup, concurrency).await
    }

    async fn all_of<Shape, S>(
        &self,
        sets: Vec<Found>,
        ids: Option<&[String]>,
        setup: &S,
        concurrency: usize,
    ) -> Result<EvalReport, RunDirError>
    where
        S: Setup<Shape>,
    {
        let sets = sets.into_iter().filter_map(|mut found| {
            let cases = &mut found.set.eval_cases;
            cases.retain(|case| ids.is_none_or(|ids| ids.contains(&case.eval_id)));
            (!cases.is_empty() || ids.is_none()).then_some(found)
        });
        let planned: Result<Vec<_>, RunnerError> = sets.map(|found| self.planned(found)).collect();
        let mut cases = Vec::new();
        for (plan, set) in planned? {
            cases.extend(self.all(&plan, &set, setup, concurrency).await);
        }
        Ok(EvalReport { cases })
    }

    /// A set of a directory with its plan.
    fn planned(&self, found: Found) -> Result<(Plan, EvalSet), RunnerError> {
        let Found { path, set, config, recording } = found;
        let plan = self.plan(config.as_ref(), Some(recording), &set.eval_cases);
        let plan = plan.map_err(|why| RunnerError(format!("`{}`: {why}", path.display())))?;
        Ok((plan, set))
    }

    /// Runs every case of a set, results in order.
    async fn all<Shape, S: Setup<Shape>>(
        &self,
        plan: &Plan,
        set: &EvalSet,
        setup: &S,
        concurrency: usize,
    ) -> Vec<CaseReport> {
        // Boxed one by one: through a closure the compiler loses sight of the futures being `Send`.
        let mut cases: Vec<BoxFuture<'_, CaseReport>> = Vec::with_capacity(set.eval_cases.len());
        for case in &set.eval_cases {
            cases.push(Box::pin(self.one(plan, &set.eval_set_id, case, setup)));
        }
        concurrent::all(concurrency, cases).await
    }

    /// Runs one case as often as asked and decides.
    async fn one<Shape, S: Setup<Shape>>(
        &self,
        plan: &Plan,
        set: &str,
        case: &EvalCase,
        setup: &S,
    ) -> CaseReport {
        let mut runs = Vec::with_capacity(plan.runs);
        let log = TestLog::of_case(plan.journal.clone(), set, case, plan);
        for number in 1..=plan.runs {
            let label = format!("case `{}`, run {number} of {}", case.eval_id, plan.runs);
            let what = || format!("{label}, setup,");
            let agent = guard::fenced(plan.timeout, what, || setup.set_up(case)).await;
            runs.push(match agent {
                Ok(agent) => plan.run(case, agent.into_erased(), number, label, &log).await,
                Err(fault) => failed_setup(&fault, number, &log),
            });
        }
        let report = plan.decide(set, case.clone(), None, runs);
        log.decided(&report, "");
        report
    }

    /// The journal, opened when the first case needs it; none where it cannot be written.
    fn journal_of_runs(&self) -> Result<Option<Arc<Journal>>, RunnerError> {
        let Some(folder) = &self.journal else { return Ok(None) };
        let open = || Journal::of_program(folder);
        self.opened.get_or_init(open).clone().map_err(RunnerError)
    }

    fn custom_names(&self) -> Vec<&str> {
        self.custom.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The criteria, held to the rules of a config file. Custom metrics alone check something too.
    fn checked(&self, config: &EvalConfig) -> Result<EvalConfig, RunnerError> {
        if config.criteria.is_empty() && !self.custom.is_empty() {
            return Ok(config.clone());
        }
        config.checked(&self.custom_names()).map_err(|problems| RunnerError(problems.to_string()))
    }

    /// What the cases are scored with. Fails also where that decides nothing about one of them.
    fn plan(
        &self,
        beside: Option<&EvalConfig>,
        recording: Option<RecordingStore>,
        cases: &[EvalCase],
    ) -> Result<Plan, RunnerError> {
        check_runtime()?;
        self.check_runs()?;
        let config = self.checked(&self.config_or(beside))?;
        let misfits = check_compatibility(&config, &self.custom_names(), cases);
        if !misfits.is_empty() {
            let misfits: Vec<String> = misfits.iter().map(ToString::to_string).collect();
            return Err(RunnerError(misfits.join("\n")));
        }
        let mut plan = Plan::new(&config, self.custom.clone(), judged).map_err(RunnerError)?;
        plan.judges = self.judges(recording)?;
        plan.journal = self.journal_of_runs()?;
        plan.runs = self.runs;
        plan.pass = self.pass;
        plan.gate = self.gate;
        if let Some(timeout) = self.timeout {
            plan.timeout = timeout;
        }
        if let Some(app_name) = &self.app_name {
            plan.app_name.clone_from(app_name);
        }
        if let Some(user_id) = &self.user_id {
            plan.user_id.clone_from(user_id);
        }
        Ok(plan)
    }

    /// Whether there are runs, and enough of them to pass.
    fn check_runs(&self) -> Result<(), RunnerError> {
        if self.runs == 0 {
            return Err(RunnerError("`runs` is 0; a case runs at least once".to_owned()));
        }
        let Pass::AtLeast(needed) = self.pass else { return Ok(()) };
        if needed == 0 {
            return Err(RunnerError(
                "`at_least(0)` would pass whatever the agent does; ask for at least 1 passing run".to_owned(),
            ));
        }
        if usize::try_from(needed).is_ok_and(|needed| needed > self.runs) {
            return Err(RunnerError(format!(
                "`pass` asks for {needed} passing runs of {}; set `runs` to {needed} or more, or ask for fewer",
                self.runs
            )));
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

    /// The judge of this runner, behind a recording where there is a file for it.
    fn judges(&self, recording: Option<RecordingStore>) -> Result<JudgeRouter, RunnerError> {
        let mut settings = Settings::from_env().map_err(RunnerError)?;
        settings.model = self.judge_model.clone().or(settings.model);
        let recording = recording.or_else(|| self.recording.as_deref().map(RecordingStore::on_disk));
        let named = self.judge.clone().map_or(JudgeSource::Nobody, JudgeSource::Judge);
        Ok(JudgeRouter::new(settings, named, recording))
    }
}

/// Without a runtime with a clock there is no time limit, and tokio would panic.
fn check_runtime() -> Result<(), RunnerError> {
    match tokio::runtime::Handle::try_current() {
        Ok(_) => Ok(()),
        Err(_) => Err(RunnerError(
            "there is no tokio runtime here; run it in one with its timer enabled".to_owned(),
        )),
    }
}

/// The report of a run whose setup went wrong.
pub(crate) fn failed_setup(fault: &guard::Fault, number: usize, log: &TestLog) -> RunReport {
    let error = RunError::new(Role::Setup, None, fault.to_string());
    let transcript = Transcript { error: Some(error.clone()), ..Transcript::default() };
    log.ran(number, &transcript, &[]);
    RunReport { transcript, error: Some(error), scores: Vec::new() }
}

#[cfg(test)]
mod tests;
