//! The settings of a runner.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use eval_format::matrix::Variant;
use eval_format::metric::MetricArgument;
use eval_format::tools::{CheckedInjections, check_injections};
use eval_format::{Criterion, EvalConfig, PassRule, ReadError, ToolSource, TurnAggregation};
use eval_support::file::read_file;
use eval_support::mutex::Mutex;
use eval_support::setters;

use super::judges::JudgeChoice;
use crate::case_runner::SessionNames;
use crate::guard::Lanes;
use crate::journal::project::Project;
use crate::journal::{Journal, OpenError};
use crate::metric::{BoxMetric, MetricFn, of_function};
use crate::options::Options;
use crate::report::CaseReport;

#[cfg(feature = "judges")]
use crate::judge::Judge;

/// Runs eval sets from a program, as the attribute does in tests.
///
/// ```
/// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let set = EvalSet::new("weather")
///     .case(EvalCase::new("sunny").turn(Invocation::user("Weather in Paris?").response("It is sunny in Paris.")));
///
/// let runner = EvalRunner::new().runs(2);
/// let report = runner.run_set(&set, || Replay::new([["It is sunny in Paris."]]), 4).await?;
///
/// assert!(report.all_passed());
/// assert_eq!(report.summary().passed, 1);
/// # Ok(()) }
/// ```
///
/// Defaults are ADK's: both lexical metrics (`tool_trajectory_avg_score` at 1.0, `response_match_score` at
/// 0.8), one run, the mean, the app `EvaluationGenerator`, the user `test_user_id`; 120 seconds for opening a
/// session and for each turn.
#[derive(Debug, Default)]
pub struct EvalRunner {
    pub(super) config: Option<EvalConfig>,
    pub(super) criteria: Vec<(String, Criterion)>,
    /// The only metrics to score with, with their thresholds if given; empty for no restriction.
    pub(super) only: Vec<MetricArgument>,
    pub(super) custom: Vec<(String, BoxMetric)>,
    pub(super) names: SessionNames,
    pub(super) label: Option<String>,
    pub(super) variant: Variant,
    pub(super) options: Options,
    pub(super) judges: JudgeChoice,
    pub(super) journal: Option<PathBuf>,
    /// The owner of the runs; `None` to take it from cargo or the current folder.
    pub(super) project: Option<Project>,
    pub(super) needs_journal: bool,
    pub(super) again: Option<Vec<String>>,
    /// Whether tracked files differ from the commit; `None` if it is not known.
    pub(super) dirty: Option<bool>,
    /// The run that its journal belongs to, if another runner began it.
    pub(super) run_id: Option<String>,
    pub(super) opened: OnceLock<Result<Option<Arc<Journal>>, OpenError>>,
    pub(super) on_case: OnCase,
    pub(super) fail_fast: bool,
    /// The lanes of all calls, which find the case that blocks a thread.
    pub(super) lanes: Arc<Lanes>,
    pub(super) stopped: Option<Arc<AtomicBool>>,
    pub(super) faults: Option<CheckedInjections>,
    pub(super) takes_checked_cases: bool,
}

impl EvalRunner {
    /// A runner with ADK's defaults.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Stops scoring turns with built-in metrics when this is set, for services whose clients disconnect.
        /// The report is of no use then.
        #[doc(hidden)]
        __stop_at(stopped: Arc<AtomicBool>) { stopped = Some(stopped) }

        /// Leaves out the check of cases, for services that play a case several times and have checked it.
        #[doc(hidden)]
        __take_checked_cases(are_checked: bool) { takes_checked_cases = are_checked }

        /// Records the runs in the run of this id, which another runner of the same process began.
        #[doc(hidden)]
        __run_id(id: Option<String>) { run_id = id }

        /// Scores with these criteria instead of ADK's default ones.
        config(config: EvalConfig) { config = Some(config) }

        /// Adds a criterion, or replaces the criterion of that name. The first call replaces ADK's default
        /// criteria, and the criteria of a set's folder.
        ///
        /// [Configuration](crate::_documentation::configuration) has the table of precedence.
        criterion(metric: impl Into<String>, criterion: Criterion) { criteria.push((metric.into(), criterion)) }
    }

    /// Gives the runs this label, unless they have one.
    #[doc(hidden)]
    #[must_use]
    pub fn __label_or(self, label: String) -> Self {
        if self.label_of_runs().is_some() { self } else { self.label(label) }
    }

    /// The label of the runs: the given label, else the label of the variant.
    pub(super) fn label_of_runs(&self) -> Option<String> {
        self.label.clone().or_else(|| Some(self.variant.label()).filter(|label| !label.is_empty()))
    }

    /// Scores with this metric, and with the metrics of further calls, and with no others.
    ///
    /// ```
    /// use eval_core::{EvalCase, EvalRunner, Invocation, Replay};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?").response("It is sunny."));
    /// let runner = EvalRunner::new().only_metric(("response_match_score", Some(0.3)));
    /// let report = runner.run_case(&case, || Replay::new([["It rains."]])).await?;
    /// assert!(report.verdict.passed());
    /// assert_eq!(report.metrics[0].threshold(), Some(0.3));
    /// # Ok(()) }
    /// ```
    ///
    /// The metric keeps the criterion that it has without this call, except for a threshold and a direction
    /// that are given here. A metric without a criterion needs a threshold, unless it is one of ADK's default
    /// criteria or custom.
    #[must_use]
    pub fn only_metric(mut self, metric: impl Into<MetricArgument>) -> Self {
        let metric = metric.into();
        self.only.retain(|known| known.name != metric.name);
        self.only.push(metric);
        self
    }

    /// Adds a custom metric: a function or closure over one turn, or a [`Metric`](crate::Metric). Without a
    /// criterion of its name its threshold is 1.0. A custom metric with the name of a built-in metric
    /// replaces it, as in ADK.
    ///
    /// ```
    /// use eval_core::{Criterion, EvalCase, EvalRunner, Invocation, Replay};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let most = 3;
    /// let runner = EvalRunner::new().metric("brief", move |actual: &Invocation, _: Option<&Invocation>, _: &Criterion| {
    ///     actual.response_text().split_whitespace().count() <= most
    /// });
    /// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?").response("It is sunny."));
    /// let report = runner.run_case(&case, || Replay::new([["It is sunny."]])).await?;
    /// assert_eq!(report.metric("brief").and_then(|metric| metric.score), Some(1.0));
    /// # Ok(()) }
    /// ```
    ///
    /// [`MetricFn`] lists the shapes. The arguments of a closure need their types.
    #[must_use]
    pub fn metric<Shape>(mut self, name: impl Into<String>, metric: impl MetricFn<Shape>) -> Self {
        self.custom.push((name.into(), of_function(metric)));
        self
    }

    setters! {
        /// Calls a function with the report of each case as soon as the case has its verdict. The report at
        /// the end has all cases.
        ///
        /// ```
        /// use std::sync::mpsc;
        ///
        /// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};
        ///
        /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// let turn = || Invocation::user("Paris?").response("It is sunny.");
        /// let set = EvalSet::new("s").case(EvalCase::new("a").turn(turn())).case(EvalCase::new("b").turn(turn()));
        ///
        /// // A channel makes a stream of it.
        /// let (sender, receiver) = mpsc::channel();
        /// let runner = EvalRunner::new().on_case(move |case| {
        ///     let _ = sender.send(format!("{}: {}", case.eval_id(), case.verdict));
        /// });
        /// let report = runner.run_set(&set, || Replay::new([["It is sunny."]]), 2).await?;
        /// drop(runner);
        ///
        /// assert_eq!(receiver.iter().count(), report.cases.len());
        /// # Ok(()) }
        /// ```
        ///
        /// The function is called in the task that awaits the report, in the order in which cases end. These
        /// reports are not lost if that task is dropped. Cases that `EvalCommand` had to interrupt are in its
        /// report alone. Several functions are called one after the other.
        on_case(call: impl FnMut(&CaseReport) + Send + 'static) { on_case.add(call) }

        /// Sets whether no further case begins after the first that does not pass. Cases that are running
        /// come to their end; the others are skipped with a reason.
        fail_fast(fail_fast: bool) { fail_fast = fail_fast }

        /// The app name for cases that name none.
        app_name(app_name: impl Into<String>) { names.app_name = app_name.into() }

        /// The user id for cases that name none.
        user_id(user_id: impl Into<String>) { names.user_id = user_id.into() }

        /// The label of the runs in reports and in the journal: the model, the prompt or the branch that is tried.
        ///
        /// ```
        /// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};
        ///
        /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// let set = EvalSet::new("weather").case(EvalCase::new("sunny").turn(Invocation::user("Paris?").response("Sunny.")));
        /// let agents = [("old prompt", "It rains."), ("new prompt", "Sunny.")];
        /// for (label, says) in agents {
        ///     let report = EvalRunner::new().label(label).run_set(&set, || Replay::new([[says]]), 1).await?;
        ///     assert_eq!(report.cases[0].label.as_deref(), Some(label));
        /// }
        /// # Ok(()) }
        /// ```
        ///
        /// Cases with different labels are different cases, and `cargo evalset report` shows each of them.
        /// `EvalCommand` takes the name of the agent if the runner has no label. An empty label means no label.
        label(label: impl Into<String>) { label = Some(label.into()).filter(|label| !label.is_empty()) }

        /// Adds the value of an axis to the variant of the agent that runs: the model, the prompt. `cargo evalset compare` tells
        /// the variants of a run apart.
        ///
        /// ```
        /// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};
        ///
        /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// let set = EvalSet::new("weather").case(EvalCase::new("sunny").turn(Invocation::user("Paris?").response("Sunny.")));
        /// let runner = EvalRunner::new().variant("model", "flash").variant("prompt", "b");
        /// let report = runner.run_set(&set, || Replay::new([["Sunny."]]), 1).await?;
        /// assert_eq!(report.cases[0].label.as_deref(), Some("model=flash prompt=b"));
        /// # Ok(()) }
        /// ```
        ///
        /// Its values are the label of the runs, unless they have one.
        variant(axis: impl Into<String>, value: impl Into<String>) { variant.0.push((axis.into(), value.into())) }

        /// The number of runs of each case: from 1 to [`MOST_RUNS`](eval_format::options::MOST_RUNS).
        runs(runs: usize) { options.runs = runs }

        /// The rule that combines the runs of a case.
        pass(pass: PassRule) { options.pass = pass }

        /// The rule that combines the turns of a run.
        gate(gate: TurnAggregation) { options.gate = gate }

        /// Sets whether calls are judged as ADK does: rules of the key `_expect` and the criteria of a case are passed over,
        /// and demands on answers hold. `EVALSET_LITERAL=1` does the same.
        literal(literal: bool) { options.literal = literal }

        /// The most repetitions of a run whose agent was not reached; 0 by default.
        ///
        /// Nothing else is repeated, a wrong answer least of all. An agent counts as not reached if it fails
        /// with [`Unreachable`](crate::agent::Unreachable). The run begins anew with a new agent, after a
        /// wait of 0.25 seconds that doubles each time, and once the agent [can be
        /// reached](crate::Agent::wait_until_reachable). The report has a note of it. A setup function that
        /// fails is not repeated. Nor is [`run_agent`](Self::run_agent), whose agent is one conversation.
        retry(times: u32) { options.retry = times }

        /// Sets the judge that the judged metrics ask.
        ///
        /// ```
        /// use eval_core::EvalRunner;
        /// use eval_core::judge::ScriptedJudge;
        ///
        /// let runner = EvalRunner::new().judge(ScriptedJudge::new([r#"{"is_the_agent_response_valid": "valid"}"#]));
        /// # let _ = runner;
        /// ```
        ///
        /// A judge that [is offline](Judge::is_offline) is asked directly. Any other judge costs money, so it
        /// is asked only if `EVALSET_JUDGE` is `live` or `record`; see [judges](crate::judge).
        #[cfg(feature = "judges")]
        judge(judge: impl Judge + 'static) { judges.judge = Some(judge.boxed()) }

        /// Writes a [journal](crate::journal) into a folder such as `target/evalset`, in which each test run
        /// has its own folder.
        ///
        /// ```
        /// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};
        ///
        /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let folder = std::env::temp_dir().join(format!("evalset-doc-journal-{}", std::process::id()));
        /// let set = EvalSet::new("weather").case(EvalCase::new("sunny").turn(Invocation::user("Paris?").response("Sunny.")));
        /// let report = EvalRunner::new().journal(&folder).run_set(&set, || Replay::new([["Sunny."]]), 1).await?;
        /// assert!(report.all_passed());
        ///
        /// let named = std::fs::read_to_string(folder.join("latest"))?;
        /// assert!(folder.join(named).is_dir());
        /// # std::fs::remove_dir_all(folder)?;
        /// # Ok(()) }
        /// ```
        ///
        /// The runners of a process share a journal. Its last record is the end of the process: a process that was killed
        /// between two calls is no pass.
        ///
        /// Without this call a runner writes no journal. `EVALSET_JOURNAL=off` turns it off too. A folder that cannot
        /// be written is an [error](super::RunnerError::Journal) before anything runs. If a later record cannot be
        /// written, the cases say so in their [notes](CaseReport::notes), and the next call is an error.
        journal(folder: impl Into<PathBuf>) { journal = Some(folder.into()) }

        /// Makes a project the owner of the runs, whatever cargo started the program for.
        #[doc(hidden)]
        project(project: Project) { project = Some(project) }
    }

    /// Writes a journal into a folder of the program's own, whatever `EVALSET_JOURNAL` says: the program reads it, and
    /// removes it.
    #[doc(hidden)]
    #[must_use]
    pub fn temporary_journal(mut self, folder: impl Into<PathBuf>) -> Self {
        self.needs_journal = true;
        self.journal(folder)
    }

    setters! {
        /// Records the options that run cases again, beside the names of the cases. Reports show them.
        #[doc(hidden)]
        again(options: Vec<String>) { again = Some(options) }

        /// Records whether tracked files differ from the commit, as far as it is known.
        #[doc(hidden)]
        __dirty(is_dirty: Option<bool>) { dirty = is_dirty }

        /// The model to judge with, whatever the criteria name. Without this call `EVALSET_JUDGE_MODEL` decides.
        #[cfg(feature = "judges")]
        judge_model(model: impl Into<String>) { judges.model = Some(model.into()) }

        /// The file in which the judge's answers are recorded. It need not exist. Without this call, sets of
        /// [`run_dir`](Self::run_dir) have recordings of their own beside them.
        #[cfg(feature = "judges")]
        recording(path: impl Into<PathBuf>) { judges.recording = Some(path.into()) }

        /// The time limit for setting up, for opening the session and for each turn.
        timeout(timeout: Duration) { options.timeout = timeout }

        /// The source of answers to the agent's calls: its tools, or the responses of each case. See [`tools`](crate::tools).
        tools(tools: ToolSource) { options.tools = tools }
    }

    /// Adds the faults of a file to golden tools: injections of ADK's environment simulation. Fails if the file has
    /// mistakes.
    ///
    /// ```no_run
    /// use eval_core::{EvalRunner, ToolSource};
    ///
    /// let runner = EvalRunner::new().tools(ToolSource::Golden).faults("evals/outage.json")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn faults(mut self, path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let bytes = read_file(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
        let checked = check_injections(&path.display().to_string(), &bytes);
        if checked.injections.is_none() {
            let items = checked.problems.clone();
            return Err(ReadError::Problems(checked.problems_of(items)));
        }
        self.faults = Some(checked);
        Ok(self)
    }
}

type Call = Box<dyn FnMut(&CaseReport) + Send>;

/// The functions that are called with each case that has its verdict.
#[derive(Default)]
pub(super) struct OnCase(Vec<Mutex<Call>>);

impl OnCase {
    pub(super) fn add(&mut self, call: impl FnMut(&CaseReport) + Send + 'static) {
        self.0.push(Mutex::new(Box::new(call)));
    }

    pub(super) fn tell(&self, case: &CaseReport) {
        for call in &self.0 {
            call.lock()(case);
        }
    }
}

impl fmt::Debug for OnCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OnCase({})", self.0.len())
    }
}
