//! Running sets from a program, without the attribute.
#![cfg_attr(any(not(doctest), feature = "reports"), doc = crate::pages::page!("../docs/programs.md"))]

#[cfg(feature = "reports")]
mod command;
mod directory;
mod error;
mod rescore;
mod setup_fn;

use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use eval_format::{Criterion, EvalCase, EvalConfig, EvalSet, Gate, Pass, check_compatibility};

use crate::agent::BoxFuture;
use crate::case_runner::{AgentSource, Begun, CaseRunner, Run, RunOptions, Subject};
use crate::guard::{self, Fault};
use crate::journal::{Journal, TestLog};
use crate::judge::JudgeRouter;
#[cfg(feature = "judges")]
use crate::judge::{BoxJudge, Judge, JudgeSource, RecordingStore, Settings};
use crate::metric::{BoxMetric, Metric};
use crate::report::{CaseReport, EvalReport};

#[cfg(feature = "reports")]
pub use command::EvalCommand;
use directory::Found;
pub use error::{RunDirError, RunnerError};
pub use setup_fn::Setup;

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
    #[cfg(feature = "judges")]
    judge: Option<BoxJudge>,
    #[cfg(feature = "judges")]
    judge_model: Option<String>,
    #[cfg(feature = "judges")]
    recording: Option<PathBuf>,
    journal: Option<PathBuf>,
    opened: OnceLock<Result<Option<Arc<Journal>>, String>>,
}

impl Default for EvalRunner {
    fn default() -> Self {
        Self::new()
    }
}

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
            #[cfg(feature = "judges")]
            judge: None,
            #[cfg(feature = "judges")]
            judge_model: None,
            #[cfg(feature = "judges")]
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
    /// use eval_core::EvalRunner;
    /// use eval_core::judge::Scripted;
    ///
    /// let runner = EvalRunner::new().judge(Scripted::new([r#"{"is_the_agent_response_valid": "valid"}"#]));
    /// # let _ = runner;
    /// ```
    ///
    /// A judge that [is offline](Judge::is_offline) is asked as it is. Any other costs money, so it is asked
    /// only where `EVALSET_JUDGE` is `live` or `record`; see [judges](crate::judges).
    #[cfg(feature = "judges")]
    #[must_use]
    pub fn judge(mut self, judge: impl Judge + 'static) -> Self {
        self.judge = Some(judge.boxed());
        self
    }

    /// Writes a [journal](crate::journal) into a folder such as `target/evalset`, below which each run has one of
    /// its own.
    ///
    /// ```
    /// use eval_core::journal::{RecordedRun, runs};
    /// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("evalset-doc-journal-{}", std::process::id()));
    /// let set = EvalSet::new("weather").case(EvalCase::new("sunny").turn(Invocation::user("Paris?").response("Sunny.")));
    /// let report = EvalRunner::new().journal(&folder).run_set(&set, || Replay::new([["Sunny."]]), 1).await?;
    /// assert!(report.all_passed());
    ///
    /// let run = RecordedRun::read(&runs(&folder)?[0].path)?;
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
    #[cfg(feature = "judges")]
    #[must_use]
    pub fn judge_model(mut self, model: impl Into<String>) -> Self {
        self.judge_model = Some(model.into());
        self
    }

    /// The file in which the judge's answers are recorded, whether it exists or not. Sets of
    /// [`run_dir`](Self::run_dir) have theirs beside them.
    #[cfg(feature = "judges")]
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
        let prepared = self.prepare(None, None, std::slice::from_ref(case))?;
        Ok(self.one(&prepared, None, case, &setup).await)
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
            return Err(RunnerError::NoCases(set.eval_set_id.clone()));
        }
        let prepared = self.prepare(None, None, &set.eval_cases)?;
        Ok(EvalReport { cases: self.all(&prepared, set, &setup, concurrency).await })
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
        let prepared: Result<Vec<_>, RunDirError> = sets.map(|found| self.prepare_found(found)).collect();
        let mut cases = Vec::new();
        for (prepared, set) in prepared? {
            cases.extend(self.all(&prepared, &set, setup, concurrency).await);
        }
        Ok(EvalReport { cases })
    }

    /// A set of a directory with what its cases are run with.
    fn prepare_found(&self, found: Found) -> Result<(Prepared, EvalSet), RunDirError> {
        let Found { path, set, config } = found;
        let prepared = self.prepare(config.as_ref(), Some(&path), &set.eval_cases);
        let prepared = prepared.map_err(|source| RunDirError::Runner { path: Some(path), source })?;
        Ok((prepared, set))
    }

    /// Runs every case of a set. The reports are in the order of the cases.
    async fn all<Shape, S: Setup<Shape>>(
        &self,
        prepared: &Prepared,
        set: &EvalSet,
        setup: &S,
        concurrency: usize,
    ) -> Vec<CaseReport> {
        // Boxed one by one: through a closure the compiler loses sight of the futures being `Send`.
        let mut cases: Vec<BoxFuture<'_, CaseReport>> = Vec::with_capacity(set.eval_cases.len());
        for case in &set.eval_cases {
            cases.push(Box::pin(self.one(prepared, Some(&set.eval_set_id), case, setup)));
        }
        guard::all(concurrency, cases).await
    }

    /// Runs one case and records its verdict.
    async fn one<Shape, S: Setup<Shape>>(
        &self,
        prepared: &Prepared,
        eval_set_id: Option<&str>,
        case: &EvalCase,
        setup: &S,
    ) -> CaseReport {
        let subject = self.subject(prepared, eval_set_id, case);
        let source = SetupSource { setup, case, shape: PhantomData };
        let report = prepared.runner.run(&subject, &source).await;
        subject.log.decided(&report, "");
        report
    }

    fn subject<'a>(
        &self,
        prepared: &Prepared,
        eval_set_id: Option<&'a str>,
        case: &'a EvalCase,
    ) -> Subject<'a> {
        let journal = prepared.journal.clone();
        let log = TestLog::of_case(journal, eval_set_id, case, self.runs, self.pass, self.gate);
        let name = format!("case `{}`", case.eval_id);
        Subject { eval_set_id, case, location: None, name, log: Arc::new(log) }
    }

    /// The journal, opened when the first case needs it; `None` if it cannot be written.
    fn journal_of_runs(&self) -> Result<Option<Arc<Journal>>, RunnerError> {
        let Some(folder) = &self.journal else { return Ok(None) };
        let open = || Journal::of_program(folder);
        self.opened.get_or_init(open).clone().map_err(RunnerError::Environment)
    }

    fn custom_names(&self) -> Vec<&str> {
        self.custom.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The criteria, held to the rules of a config file. Custom metrics alone check something too.
    fn checked(&self, config: EvalConfig) -> Result<EvalConfig, RunnerError> {
        if config.criteria.is_empty() && !self.custom.is_empty() {
            return Ok(config);
        }
        config.checked(&self.custom_names()).map_err(RunnerError::Criteria)
    }

    /// What the cases are run with. Fails if the settings contradict each other, and if they decide nothing about one
    /// of the cases. `set` is the file that the cases come from.
    fn prepare(
        &self,
        beside: Option<&EvalConfig>,
        set: Option<&Path>,
        cases: &[EvalCase],
    ) -> Result<Prepared, RunnerError> {
        check_runtime()?;
        self.check_runs()?;
        let config = self.checked(self.config_or(beside))?;
        let incompatible = check_compatibility(&config, &self.custom_names(), cases);
        if !incompatible.is_empty() {
            return Err(RunnerError::Incompatible(incompatible));
        }
        check_features(cases)?;
        let defaults = RunOptions::default();
        let options = RunOptions {
            runs: self.runs,
            pass: self.pass,
            gate: self.gate,
            timeout: self.timeout.unwrap_or(defaults.timeout),
            app_name: self.app_name.clone().unwrap_or(defaults.app_name),
            user_id: self.user_id.clone().unwrap_or(defaults.user_id),
        };
        let judges = self.judges(set)?;
        let runner = CaseRunner::new(&config, self.custom.clone(), judges, options)
            .map_err(|error| RunnerError::Metrics(error.to_string()))?;
        Ok(Prepared { runner, journal: self.journal_of_runs()? })
    }

    /// Whether there are runs, and enough of them to pass.
    fn check_runs(&self) -> Result<(), RunnerError> {
        if self.runs == 0 {
            return Err(RunnerError::NoRuns);
        }
        let Pass::AtLeast(needed) = self.pass else { return Ok(()) };
        if needed == 0 {
            return Err(RunnerError::PassesAlways);
        }
        if usize::try_from(needed).is_ok_and(|needed| needed > self.runs) {
            return Err(RunnerError::TooFewRuns { needed, runs: self.runs });
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

    /// The judge of this runner, behind the recording of the set if there is one.
    #[cfg(feature = "judges")]
    fn judges(&self, set: Option<&Path>) -> Result<JudgeRouter, RunnerError> {
        let mut settings = Settings::from_env().map_err(RunnerError::Environment)?;
        settings.model = self.judge_model.clone().or(settings.model);
        let beside = set.map(|set| set.with_file_name(recording_name(set)));
        let recording = beside.or_else(|| self.recording.clone());
        let source = self.judge.clone().map_or(JudgeSource::Nobody, JudgeSource::Judge);
        Ok(JudgeRouter::new(settings, source, recording.as_deref().map(RecordingStore::on_disk)))
    }

    /// Nobody: without the feature `judges` no metric asks a judge.
    #[cfg(not(feature = "judges"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "the same call with and without the feature"
    )]
    fn judges(&self, _: Option<&Path>) -> Result<JudgeRouter, RunnerError> {
        Ok(JudgeRouter::default())
    }
}

/// What the cases of a set are run with.
#[derive(Debug)]
struct Prepared {
    runner: CaseRunner,
    journal: Option<Arc<Journal>>,
}

/// A setup function as the source of the agents of one case.
struct SetupSource<'a, Shape, S> {
    setup: &'a S,
    case: &'a EvalCase,
    shape: PhantomData<fn() -> Shape>,
}

impl<Shape, S: Setup<Shape>> AgentSource for SetupSource<'_, Shape, S> {
    async fn begin(&self, run: &Run, limit: Duration) -> Result<Begun, Fault> {
        let what = || format!("{}, setup,", run.label);
        guard::fenced(limit, what, || self.setup.set_up(self.case)).await.map(Begun::Agent)
    }
}

/// The name of the recording beside a set.
#[cfg(feature = "judges")]
fn recording_name(set: &Path) -> String {
    eval_format::recording_path(&set.file_name().unwrap_or_default().to_string_lossy())
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

/// Fails without a tokio runtime: the time limits need its timer.
fn check_runtime() -> Result<(), RunnerError> {
    tokio::runtime::Handle::try_current().map(drop).map_err(|_| RunnerError::NoRuntime)
}

#[cfg(test)]
mod tests;
