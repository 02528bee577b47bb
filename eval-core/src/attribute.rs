//! What generated code calls. Not public API: it changes with the macro, and both are of one version.

mod metered;
pub mod bench;
mod exit;
pub mod tokio;

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use eval_format::{EvalCase, EvalConfig};

use crate::eval_run::EvalRun;
use crate::failure;
use crate::journal::TestLog;
use crate::judge::{JudgeFn, JudgeMode, Settings};
use crate::message::{count, neutral};
use crate::metric::MetricFn;
use crate::plan::Plan;
use crate::report::{CaseReport, Place, RunReport};
use crate::runner::failed_setup;
use crate::guard::{Fault, catch_panic, fenced};
use crate::setup::EvalFn;
use crate::stale::{self, Freshness};
use crate::transcript::{RunError, Transcript};
use crate::verdict::{Role, Verdict};

use exit::ExitGuard;

pub use metered::{ASKING, MeteredJudge};

pub use crate::inventory::is_current;
pub use crate::judge::Making;
pub use crate::metric::{BoxMetric, MakeMetric};
pub use crate::options::{Gate, Pass};
pub use crate::setup::{Driven, Driving, shape};
pub use eval_format::Form;

/// One file with its cases, as the macro read it.
#[derive(Debug)]
pub struct SetSource {
    /// The folder of the package, as it was when this was compiled.
    pub manifest_dir: &'static str,
    /// The package.
    pub package: &'static str,
    /// The file, relative to the package, with `/`.
    pub file: &'static str,
    /// The file as the compiler shows paths: relative to the folder that cargo builds in.
    pub shown: &'static str,
    /// Its text.
    pub text: &'static str,
    /// In which form it is written.
    pub form: Form,
    /// The id of the set.
    pub eval_set_id: &'static str,
    /// Its cases, those that were filtered out left out.
    pub cases: &'static [CaseSource],
    /// The criteria.
    pub config: ConfigSource,
    /// The initial session of an old test file.
    pub session: Option<FileSource>,
    /// Files that would have been read, had they been there.
    pub absent: &'static [&'static str],
    /// Repetition, gates and time.
    pub options: Options,
    /// Custom metrics by name.
    pub metrics: &'static [(&'static str, MakeMetric)],
    /// What metered a judge takes, where something may ask one.
    pub metered: Option<MeteredJudge>,
    /// Calls the function that makes the judge, where one is named.
    pub judge: Option<fn() -> Making>,
    /// What judges answered.
    pub recording: RecordingSource,
}

/// The recording of a set.
#[derive(Debug)]
pub struct RecordingSource {
    /// Relative to the package, with `/`.
    pub file: &'static str,
    /// Its text, if there was one when this was compiled.
    pub text: Option<&'static str>,
    /// For each case the first byte of each of its questions, and the byte after its last.
    pub cases: &'static [&'static [(usize, usize)]],
}

/// Where a case stands and what its test is called.
#[derive(Debug)]
pub struct CaseSource {
    /// The id in the file.
    pub eval_id: &'static str,
    /// The test, from the attribute's module on: `weather::sunny`.
    pub test: &'static str,
    /// The first byte of the case.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// A file that was compiled in.
#[derive(Debug)]
pub struct FileSource {
    /// Relative to the package, with `/`.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// Where the criteria come from.
#[derive(Debug)]
pub enum ConfigSource {
    /// ADK's default criteria.
    Default,
    /// The text of a config, written in the attribute.
    Inline(&'static str),
    /// A config file.
    File(FileSource),
}

/// The options of the attribute.
#[derive(Debug)]
pub struct Options {
    /// How often each case runs.
    pub runs: u32,
    /// How the runs are taken together.
    pub pass: Pass,
    /// How the turns are taken together.
    pub gate: Gate,
    /// The time for setting up, for opening the session and for each turn.
    pub timeout_ms: u64,
}

/// Compiles only for functions that `#[eval_set]` can stand on.
pub const fn check<Shape, F: EvalFn<Shape>>(_: F) {}

/// The metric that a function stands for.
pub fn metric<Shape, F: MetricFn<Shape>>(function: F) -> BoxMetric {
    function.into_metric()
}

/// Compiles only for functions that `judge = ..` can name.
pub const fn check_judge<Shape, F: JudgeFn<Shape>>(_: F) {}

/// The judge that a function makes, once it is awaited.
pub fn judge<Shape, F: JudgeFn<Shape>>(function: F) -> Making {
    function.make()
}

/// The first part: tokio's multi-threaded runtime is there.
#[cfg(feature = "multi-thread")]
#[doc(hidden)]
#[macro_export]
macro_rules! __multi_thread {
    ({ $($with:tt)* } { $($without:tt)* }) => { $($with)* };
}

/// The second part, an error on the option that asks for it: tokio's multi-threaded runtime is not
/// there.
#[cfg(not(feature = "multi-thread"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __multi_thread {
    ({ $($with:tt)* } { $($without:tt)* }) => { $($without)* };
}
pub use __multi_thread as multi_thread;

/// Has the runtime run one case as a test: it ends when the case passed, and unwinds with the report when
/// it did not.
pub fn run<Shape, F: EvalFn<Shape>>(set: &'static SetSource, case: usize, module: &'static str, function: F) {
    let test = Test { set, source: &set.cases[case], module };
    let call = move |case, run| function.call(case, run);
    begin(test, Setup { is_body: F::IS_BODY, call: Box::new(call) });
}

/// Not generic, so that what runs a case is compiled once, in this crate, and not for each attribute.
fn begin(test: Test, setup: Setup) {
    tokio::run_next(Box::pin(run_to_end(test, setup)));
}

/// The annotated function, whatever its shape.
struct Setup {
    is_body: bool,
    call: Box<dyn Fn(&'static EvalCase, EvalRun) -> Driving>,
}

impl Setup {
    /// Calls the function for one run. A body runs agents, which have time limits of their own.
    async fn drive(
        &self,
        case: &'static EvalCase,
        run: EvalRun,
        limit: Duration,
        label: &str,
    ) -> Result<Driven, Fault> {
        if !self.is_body {
            return fenced(limit, || format!("{label}, setup,"), || (self.call)(case, run)).await;
        }
        match catch_panic((self.call)(case, run)).await {
            Ok(done) => done.map_err(Fault::Failed),
            Err(panic) => Err(Fault::Panicked(panic)),
        }
    }
}

/// One generated test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    pub(crate) set: &'static SetSource,
    pub(crate) source: &'static CaseSource,
    /// The module that the attribute stands in, with the crate in front.
    pub(crate) module: &'static str,
}

impl Test {
    /// The path of the test, as `cargo test` shows it.
    pub(crate) fn path(&self) -> String {
        match self.module.split_once("::") {
            Some((_, module)) => format!("{module}::{}", self.source.test),
            None => self.source.test.to_owned(),
        }
    }

    /// The slices of the recording that this case asks for.
    fn recorded(&self) -> impl Iterator<Item = &'static str> {
        let Self { set, source, .. } = *self;
        let case = set.cases.iter().position(|case| std::ptr::eq(case, source));
        let places = case.and_then(|case| set.recording.cases.get(case)).copied().unwrap_or_default();
        let text = set.recording.text.unwrap_or_default();
        places.iter().filter_map(|(start, end)| text.get(*start..*end))
    }
}

/// Runs a test from what it is told by the environment to its verdict, which is recorded before it ends.
async fn run_to_end(test: Test, setup: Setup) {
    let _guard = ExitGuard::of(test);
    let log = match TestLog::of_test(&test) {
        Ok(log) => Arc::new(log),
        Err(message) => fail(&failure::harness(&test, &message), ""),
    };
    let break_off = |message: &str, text: &str| -> ! {
        log.broke(message, text);
        fail(text, "")
    };
    let print = match failure::Print::from_env() {
        Ok(print) => print,
        Err(message) => break_off(&message, &format!("Error: {message}")),
    };
    let settings = match Settings::from_env() {
        Ok(settings) => settings,
        Err(message) => break_off(&message, &failure::harness(&test, &message)),
    };
    // While it is asked, a recording is not what was compiled in.
    let replays = matches!(settings.mode, None | Some(JudgeMode::Replay));
    let freshness = stale::by_length(test.set, replays);
    if let Freshness::Stale(how) = &freshness {
        break_off(how, &failure::stale(&test, how));
    }
    let report = match evaluate(test, &setup, settings, &log).await {
        Ok(report) => report,
        Err(message) => break_off(&message, &failure::harness(&test, &message)),
    };
    let skipped = failure::skipped(&test.path(), &report);
    if let Some(skipped) = &skipped {
        message::show_past_the_harness(skipped);
    }
    if matches!(report.verdict, Verdict::Passed | Verdict::Skipped(_)) {
        log.decided(&report, "");
        if print != failure::Print::Failures {
            message::show(&failure::passing(&test, &report, print));
        }
        return;
    }
    let freshness =
        if freshness == Freshness::Fresh { stale::by_content(test.set, replays) } else { freshness };
    let text = failure::failing(&test, &report, print, &freshness, log.journal());
    log.decided(&report, &text);
    fail(&text, &failure::headline(&test.path(), &report));
}

/// Prints what failed and ends the test. The panic hook is not run: its location would be ours.
fn fail(text: &str, payload: &str) -> ! {
    message::show(text);
    let payload = if payload.is_empty() { text.lines().next().unwrap_or_default() } else { payload };
    resume_unwind(Box::new(neutral(payload).into_owned()))
}

async fn evaluate(
    test: Test,
    setup: &Setup,
    settings: Settings,
    log: &Arc<TestLog>,
) -> Result<CaseReport, String> {
    let Test { set, source, .. } = test;
    let place =
        Place { file: set.shown.to_owned(), line: source.line as usize, column: source.column as usize };
    let case = case(test)?;
    let mut plan = plan(set)?;
    if let Some(metered) = &set.metered {
        plan.judges = metered.judges(&test, settings);
    }
    let plan = Arc::new(plan);

    let mut runs = Vec::with_capacity(plan.runs);
    let mut body_failed = None;
    for number in 1..=plan.runs {
        let label = format!("{}, run {number} of {}", test.path(), plan.runs);
        let run = EvalRun::new(
            case,
            set.eval_set_id,
            Some(place.clone()),
            plan.clone(),
            number,
            label.clone(),
            log.clone(),
        );
        match setup.drive(case, run.clone(), plan.timeout, &label).await {
            Ok(Driven::Agent(agent)) => {
                runs.push(plan.run(case, agent.into_erased(), number, label, log).await);
            }
            Ok(Driven::Body) => runs.extend(run.take()),
            Err(fault) if setup.is_body => {
                runs.extend(run.take());
                let error = RunError::new(Role::Body, None, fault.to_string());
                body_failed.get_or_insert((runs.len(), error));
            }
            Err(fault) => runs.push(failed_setup(&fault, number, log)),
        }
    }
    let decide = |runs| plan.decide(set.eval_set_id, case.clone(), Some(place.clone()), runs);
    Ok(match body_failed {
        Some((runs_before, error)) => with_failed_body(runs, runs_before, error, decide),
        // The body made its own assertions and none of them failed.
        None if setup.is_body && runs.is_empty() => {
            CaseReport::of_body(set.eval_set_id, case.clone(), place.clone())
        }
        None => decide(runs),
    })
}

/// The case of a test, for as long as the program runs: the setup function may keep what it borrows from it.
fn case(test: Test) -> Result<&'static EvalCase, String> {
    let Test { set, source, .. } = test;
    let slice = set.text.get(source.start..source.end).ok_or("the case lies outside its file")?;
    let session = set.session.as_ref().map(|session| session.text);
    let case = eval_format::read_case(set.form, slice, source.eval_id, session)
        .map_err(|problems| problems.to_string())?;
    // One case per test is a small leak.
    Ok(Box::leak(Box::new(case)))
}

/// The report of a test whose body failed.
fn with_failed_body(
    mut runs: Vec<RunReport>,
    runs_before: usize,
    error: RunError,
    decide: impl Fn(Vec<RunReport>) -> CaseReport,
) -> CaseReport {
    if !runs.is_empty() {
        let report = decide(runs.clone());
        if report.verdict.fails() {
            // What failed in `evaluate` says more than the assertion that noticed it.
            message::show(&format!("note: {error}"));
            return report;
        }
    }
    blame_body(&mut runs, runs_before, error);
    decide(runs)
}

/// Puts the failure of a body on what it evaluated last, or on a run of its own if that was nothing.
fn blame_body(runs: &mut Vec<RunReport>, runs_before: usize, error: RunError) {
    match runs_before.checked_sub(1).and_then(|last| runs.get_mut(last)) {
        Some(last) => last.error = Some(error),
        None => runs.insert(
            0,
            RunReport { transcript: Transcript::default(), error: Some(error), scores: Vec::new() },
        ),
    }
}

fn plan(set: &'static SetSource) -> Result<Plan, String> {
    let answered: Vec<&str> = set.metrics.iter().map(|(name, _)| *name).collect();
    let (file, text) = match &set.config {
        ConfigSource::Default => ("", None),
        ConfigSource::Inline(text) => ("criteria(..)", Some(*text)),
        ConfigSource::File(file) => (file.file, Some(file.text)),
    };
    let config = match text {
        None => EvalConfig::adk_default(),
        Some(text) => {
            let checked = eval_format::check_config(file, text.as_bytes(), &answered);
            checked
                .config
                .ok_or_else(|| format!("{file} has {}", count(checked.problems.len(), "problem")))?
        }
    };
    let custom = set.metrics.iter().map(|(name, make)| ((*name).to_owned(), make())).collect();
    let mut plan = Plan::new(&config, custom, set.metered.as_ref().map_or(|_| None, MeteredJudge::metrics))?;
    plan.runs = set.options.runs as usize;
    plan.pass = set.options.pass;
    plan.gate = set.options.gate;
    plan.timeout = Duration::from_millis(set.options.timeout_ms);
    Ok(plan)
}

/// The recording as the set is shown.
fn shown_beside(set: &SetSource) -> String {
    eval_format::recording_path(set.shown)
}
