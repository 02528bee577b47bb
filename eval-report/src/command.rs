//! A program's own command line for its evals.

mod args;
#[doc(hidden)]
pub mod options;

use std::ffi::OsString;
use std::fmt;
use std::future::{pending, poll_fn};
use std::io::Write;
use std::pin::pin;
use std::process::{ExitCode, exit};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll};
use std::time::SystemTime;

use eval_core::EvalRunner;
use eval_core::agent::{BoxAgent, BoxError, BoxFuture};
use eval_core::report::EvalReport;
use eval_core::runner::Setup;
use eval_format::EvalCase;
use eval_support::message::show;
use eval_support::secrets::mask;
use eval_support::spelling::suggest;
use eval_support::untrusted::one_line;
use eval_support::words::quoted_list;
use tokio::signal::ctrl_c;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::formats;
use crate::output::Outcome;
use crate::price::Prices;
use crate::progress::Progress;
use crate::recorded::{LoadedRun, RunResults, TestResult};
use crate::summary_text::may_be_out_of_date;
use args::Args;

/// The evals of a program, as a command of that program: `my-app eval --agent NAME --set FILE`.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use eval_core::Replay;
/// use eval_report::EvalCommand;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> ExitCode {
///     let evals = EvalCommand::new()
///         .agent("weather", || Replay::new([["It is sunny."]]))
///         .agent("support", || Replay::new([["How can I help?"]]));
///     if let Some(code) = evals.run_if_asked(std::env::args_os()).await {
///         return code;
///     }
///     // What the program does otherwise.
///     ExitCode::SUCCESS
/// }
/// ```
///
/// ```text
/// $ my-app eval --agent weather --set evals/weather.evalset.json
/// {
///   "command": "report",
///   "schema": 1,
///   "outcome": "passed",
///   ..
///   "cases": [ .. ],
///   "summary": { "cases": 3, "passed": 3, .. }
/// }
/// ```
///
/// The report is printed as JSON, as [`Export::to_json`](crate::Export::to_json) returns it. The text for
/// people, as `cargo evalset run` prints it, goes to stderr. Before it comes a line for each case that ends,
/// or on a terminal one line with counts. The exit code is 0 if every case passed and 1 if a case failed. It
/// is 2 if a case has no verdict, if no case could be checked, or if the arguments, a set or a config are
/// wrong. `--help` lists the options.
///
/// Arguments and files are checked before an agent runs. Ctrl-C, and SIGTERM on Unix, end the cases that run. The report then has
/// all cases. A case without a verdict is an error that says so, and the exit code is 2. A second signal ends
/// the program at once.
pub struct EvalCommand {
    runner: EvalRunner,
    agents: Vec<(String, BoxSetup)>,
}

impl fmt::Debug for EvalCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agents: Vec<&str> = self.names();
        f.debug_struct("EvalCommand").field("runner", &self.runner).field("agents", &agents).finish()
    }
}

impl Default for EvalCommand {
    fn default() -> Self {
        Self::new()
    }
}

impl EvalCommand {
    /// A command without agents, with the defaults of [`EvalRunner`].
    pub fn new() -> Self {
        Self { runner: EvalRunner::new(), agents: Vec::new() }
    }

    /// Uses the settings of this runner: its criteria, metrics and judge. Options of the command line take precedence.
    #[must_use]
    pub fn runner(mut self, runner: EvalRunner) -> Self {
        self.runner = runner;
        self
    }

    /// Adds an agent: its name, and the setup function that makes it before each run, as for [`EvalRunner::run_case`].
    ///
    /// An agent of the same name is replaced.
    #[must_use]
    pub fn agent<Shape, S>(mut self, name: impl Into<String>, setup: S) -> Self
    where
        Shape: 'static,
        S: Setup<Shape> + Send + 'static,
    {
        let name = name.into();
        self.agents.retain(|(known, _)| *known != name);
        let setup = Arc::new(setup);
        let setup: BoxSetup = Box::new(move |case| {
            let setup = Arc::clone(&setup);
            Box::pin(async move { setup.set_up(case).await })
        });
        self.agents.push((name, setup));
        self
    }

    /// Runs the evals and returns the exit code if the first argument after the name of the program is `eval`. Does
    /// nothing and returns `None` otherwise.
    pub async fn run_if_asked(self, args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
        let mut args = args.into_iter().skip(1);
        if args.next()? != "eval" {
            return None;
        }
        Some(self.run(args).await)
    }

    /// Runs the evals with the arguments after `eval`, prints the report, and returns the exit code.
    ///
    /// This is for programs that read their command line themselves.
    pub async fn run(self, args: impl IntoIterator<Item = OsString>) -> ExitCode {
        let answer = self.answer(args, Progress::on_stderr, pressed(REPORT_FOLLOWS)).await;
        // The exit code is still of use if stderr cannot be written to.
        let _ = anstream::stderr().lock().write_all(mask(&answer.err).as_bytes());
        let written = std::io::stdout().lock().write_all(mask(&answer.out).as_bytes());
        let code = match written {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Outcome::Unmeasurable.exit_code(),
            _ => answer.code,
        };
        u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
    }

    async fn answer(
        self,
        args: impl IntoIterator<Item = OsString>,
        progress: impl FnOnce(Prices) -> Progress,
        stop: impl Future<Output = ()> + Send,
    ) -> Answer {
        let args = match Args::parse(args) {
            Ok(Some(args)) => args,
            Ok(None) => return Answer { out: args::help(&self.names()), err: String::new(), code: 0 },
            Err(error) => return Answer::error(&format!("{error}\n\n{}", args::usage())),
        };
        let progress = progress(args.options.prices.clone().or_of_environment());
        let began = SystemTime::now();
        let report = self.report(&args, &progress, stop).await;
        report
            .map_or_else(|error| Answer::error(&error), |report| Answer::new(&report, began, progress.cost()))
    }

    async fn report(
        mut self,
        args: &Args,
        progress: &Progress,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<EvalReport, String> {
        let at = self.index_of(args.agent.as_deref())?;
        let (agent, setup) = self.agents.swap_remove(at);
        let mut runner = self.runner.__label_or(agent);
        if let Some(path) = &args.options.config {
            runner = runner.__config_file(path).map_err(|error| error.to_string())?;
        }
        if let Some(path) = &args.options.faults {
            runner = runner.faults(path).map_err(|error| error.to_string())?;
        }
        runner = args.options.apply(runner);
        let plan = runner.__select_cases(&args.sets, &args.cases, &args.options.tags);
        let plan = plan.map_err(|error| error.to_string())?;
        if plan.is_empty() {
            return Err("no case is selected by both `--set` and `--case`".to_owned());
        }
        progress.begin(plan.len());
        let setup = Followed { setup: &setup, progress };
        let runner = progress.follow(runner);
        let report = runner.run_plan(&plan, setup, args.options.concurrency(), stop).await;
        progress.end();
        Ok(report)
    }

    /// The index of the agent of this name; without a name, the index of the only agent.
    fn index_of(&self, name: Option<&str>) -> Result<usize, String> {
        let known = || quoted_list(&self.names());
        match (name, self.agents.as_slice()) {
            (_, []) => Err("this program has no agents to evaluate".to_owned()),
            (None, [_]) => Ok(0),
            (None, _) => Err(format!("name an agent with `--agent`: {}", known())),
            (Some(name), agents) => agents.iter().position(|(known, _)| known == name).ok_or_else(|| {
                match suggest(name, self.names()) {
                    Some(meant) => format!("there is no agent `{name}`; did you mean `{meant}`?"),
                    None => format!("there is no agent `{name}`; it can be {}", known()),
                }
            }),
        }
    }

    fn names(&self) -> Vec<&str> {
        self.agents.iter().map(|(name, _)| name.as_str()).collect()
    }
}

#[derive(Debug)]
struct Answer {
    out: String,
    err: String,
    code: i32,
}

impl Answer {
    fn error(why: &impl fmt::Display) -> Self {
        let why = why.to_string();
        // The problems of a file have this prefix already.
        let mark = if why.starts_with("error: ") { "" } else { "error: " };
        Self { out: String::new(), err: format!("{mark}{why}\n"), code: Outcome::Unmeasurable.exit_code() }
    }

    fn new(report: &EvalReport, began: SystemTime, cost: Option<String>) -> Self {
        let loaded = LoadedRun::of_report(report, Some(began));
        let results = match RunResults::new(&loaded, None, false) {
            Ok(results) => results,
            Err(error) => return Self::error(&error),
        };
        let err = formats::human_body(&results, new_golden) + &cost.unwrap_or_default();
        match formats::json(&results) {
            Ok(out) => Self { out, err, code: results.totals.outcome().exit_code() },
            Err(error) => Self::error(&error.message),
        }
    }
}

/// Help if the agent is right and its golden is not. The runs of a program are in no journal, so no command takes them.
fn new_golden(test: &TestResult<'_>) -> Option<String> {
    let file = test.attempt.started.file.as_ref().filter(|_| may_be_out_of_date(test))?;
    let file = one_line(file);
    Some(format!("new golden    edit the case in `{file}` if the agent is right: this run is not recorded\n"))
}

/// A setup function of any shape.
type BoxSetup = Box<dyn for<'a> Fn(&'a EvalCase) -> BoxFuture<'a, Result<BoxAgent, BoxError>> + Send + Sync>;

/// A setup function that reports each run that begins to the progress.
struct Followed<'a> {
    setup: &'a BoxSetup,
    progress: &'a Progress,
}

impl Setup<()> for Followed<'_> {
    async fn set_up(&self, case: &EvalCase) -> Result<BoxAgent, BoxError> {
        self.progress.began(case);
        (self.setup)(case).await
    }
}

const CTRL_C_EXIT_CODE: i32 = 130;

/// Completes when the process is asked to end: at Ctrl-C, and on Unix at SIGTERM, which service managers, `timeout` and cancelled
/// jobs send. If neither can be caught, it never completes: the system then ends the process.
#[doc(hidden)]
pub async fn stop_signal() {
    let mut signals = stop_signals();
    let mut asked =
        |context: &mut Context<'_>| signals.iter_mut().any(|it| it.as_mut().poll(context).is_ready());
    poll_fn(|context| if asked(context) { Poll::Ready(()) } else { Poll::Pending }).await;
}

fn stop_signals() -> Vec<BoxFuture<'static, ()>> {
    let interrupted: BoxFuture<'_, ()> = Box::pin(async {
        if ctrl_c().await.is_err() {
            pending::<()>().await;
        }
    });
    [interrupted].into_iter().chain(terminated()).collect()
}

#[cfg(unix)]
fn terminated() -> Option<BoxFuture<'static, ()>> {
    let mut signals = signal(SignalKind::terminate()).ok()?;
    Some(Box::pin(async move {
        signals.recv().await;
    }))
}

#[cfg(not(unix))]
fn terminated() -> Option<BoxFuture<'static, ()>> {
    None
}

/// The steps after Ctrl-C in a run.
#[doc(hidden)]
pub const REPORT_FOLLOWS: &str = "the report follows";

/// Completes at the first [`stop_signal`], after it has printed what follows. If the process cannot listen, it never completes, and
/// the signal ends the program.
///
/// A separate thread listens, so that the second signal ends the program even if an agent blocks the runtime.
/// The thread ends with this future, unless a signal came: then it waits for the second one.
#[doc(hidden)]
pub async fn pressed(follows: &'static str) {
    let (listens, listening) = mpsc::channel();
    let (tell, told) = oneshot::channel();
    let thread = std::thread::Builder::new().name("evalset-ctrl-c".to_owned());
    // Without the thread a signal does what it does by default.
    let _ = thread.spawn(move || listen(&listens, tell, follows));
    // Waits until the thread listens: an agent may block the runtime right after this.
    let _ = listening.recv();
    if told.await.is_err() {
        pending::<()>().await;
    }
}

/// Sends on `listens` when it listens for signals, or drops the sender if it cannot listen. Sends the first one on `tell`, and
/// ends the program at the second.
fn listen(listens: &mpsc::Sender<()>, mut tell: oneshot::Sender<()>, follows: &str) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async {
        let mut pressed = pin!(stop_signal());
        let first = poll_fn(|context| {
            if tell.poll_closed(context).is_ready() {
                return Poll::Ready(false);
            }
            let noticed = pressed.as_mut().poll(context).map(|()| true);
            // The caller waits for this once.
            let _ = listens.send(());
            noticed
        });
        if !first.await {
            return;
        }
        show(&format!("interrupted: {follows}; Ctrl-C again ends the program at once"));
        let _ = tell.send(());
        stop_signal().await;
        exit(CTRL_C_EXIT_CODE);
    });
}

#[cfg(test)]
mod tests;
