//! The settings of a runner.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use eval_format::{Criterion, EvalConfig, Gate, Pass};

use super::judges::JudgeChoice;
use crate::case_runner::SessionNames;
use crate::journal::Journal;
#[cfg(feature = "judges")]
use crate::judge::Judge;
use crate::metric::{BoxMetric, Metric};
use crate::options::Options;

/// Runs eval sets from a program, as the attribute does in tests.
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
    pub(super) config: Option<EvalConfig>,
    pub(super) criteria: Vec<(String, Criterion)>,
    pub(super) custom: Vec<(String, BoxMetric)>,
    pub(super) names: SessionNames,
    pub(super) options: Options,
    pub(super) judges: JudgeChoice,
    pub(super) journal: Option<PathBuf>,
    pub(super) opened: OnceLock<Result<Option<Arc<Journal>>, String>>,
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
            names: SessionNames::default(),
            options: Options::default(),
            judges: JudgeChoice::default(),
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

    /// Scores with these criteria and with no others that were given before.
    #[cfg(feature = "reports")]
    pub(super) fn config_alone(mut self, config: EvalConfig) -> Self {
        self.criteria.clear();
        self.config(config)
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
        self.names.app_name = app_name.into();
        self
    }

    /// The user id for cases that name none.
    #[must_use]
    pub fn user_id(mut self, user_id: impl Into<String>) -> Self {
        self.names.user_id = user_id.into();
        self
    }

    /// How often each case runs; at least once.
    #[must_use]
    pub fn runs(mut self, runs: usize) -> Self {
        self.options.runs = runs;
        self
    }

    /// How the runs of a case are taken together.
    #[must_use]
    pub fn pass(mut self, pass: Pass) -> Self {
        self.options.pass = pass;
        self
    }

    /// How the turns of a run are taken together.
    #[must_use]
    pub fn gate(mut self, gate: Gate) -> Self {
        self.options.gate = gate;
        self
    }

    /// How often a run is repeated in which the agent was not reached: not at all otherwise.
    ///
    /// Nothing else is repeated, a wrong answer least of all. What counts as not reached is what fails with
    /// [`Unreachable`](crate::agent::Unreachable). The run begins anew with a new agent, after a wait of 0.25 seconds that doubles
    /// each time. The report has a note of it.
    #[must_use]
    pub fn retry(mut self, times: u32) -> Self {
        self.options.retry = times;
        self
    }

    /// Sets the judge that the judged metrics ask.
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
    /// only where `EVALSET_JUDGE` is `live` or `record`; see [judges](crate::judge).
    #[cfg(feature = "judges")]
    #[must_use]
    pub fn judge(mut self, judge: impl Judge + 'static) -> Self {
        self.judges.judge = Some(judge.boxed());
        self
    }

    /// Writes a [journal](crate::journal) into a folder such as `target/evalset`, below which each run has one of
    /// its own.
    ///
    /// ```
    /// # #[cfg(feature = "reports")] {
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
    /// # }
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Without this call a runner writes no journal. `EVALSET_JOURNAL=off` turns it off too.
    #[must_use]
    pub fn journal(mut self, folder: impl Into<PathBuf>) -> Self {
        self.journal = Some(folder.into());
        self
    }

    /// The model to judge with, whatever the criteria name. Without this call `EVALSET_JUDGE_MODEL` decides.
    #[cfg(feature = "judges")]
    #[must_use]
    pub fn judge_model(mut self, model: impl Into<String>) -> Self {
        self.judges.model = Some(model.into());
        self
    }

    /// The file in which the judge's answers are recorded. It need not exist. Sets of [`run_dir`](Self::run_dir) have
    /// recordings of their own beside them.
    #[cfg(feature = "judges")]
    #[must_use]
    pub fn recording(mut self, path: impl Into<PathBuf>) -> Self {
        self.judges.recording = Some(path.into());
        self
    }

    /// The time limit for setting up, for opening the session and for each turn.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = timeout;
        self
    }
}
