//! A program's own command line for its evals.

mod args;
mod interrupt;
mod progress;

use std::ffi::OsString;
use std::fmt;
use std::io::Write;
use std::marker::PhantomData;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use eval_core::agent::BoxFuture;
use eval_core::agent::{BoxAgent, BoxError};
use eval_core::report::EvalReport;
use eval_core::runner::{EvalRunner, RunDirError, Setup};
use eval_format::{EvalCase, ReadError};
use eval_support::secrets::mask;
use eval_support::spelling::suggest;
use eval_support::words::quoted_list;

use crate::price::Cost;
use args::{Args, ArgsError, Asked};
use progress::Progress;

#[doc(hidden)]
pub use interrupt::pressed;

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
///   "results": [ .. ],
///   "summary": { "total": 3, "passed": 3, "failed": 0, "errors": 0, "skipped": 0, "pass_rate": 1.0 }
/// }
/// ```
///
/// The report is printed as JSON (see [`EvalReport`]). What failed is also printed to stderr, as text, after a line for
/// each case that ends; on a terminal, a line that counts them. The exit code is 0 if every case passed and 1 if a case
/// failed. It is 2 if a case has no verdict, if no case could be checked, or if the arguments, a set or a config are wrong.
/// `--help` lists the options.
///
/// Arguments and files are checked before an agent runs. Ctrl-C ends the cases that run. The report then has all cases:
/// those without a verdict are errors that say so, and the exit code is 2. A second Ctrl-C ends the program at once.
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
        self.agents.push((name, BoxSetup(Box::new(Shaped { setup, shape: PhantomData }))));
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
        let progress = Progress::on_stderr();
        let answer = self.answer(args, progress, pressed()).await;
        // The exit code is still of use if stderr cannot be written to.
        let _ = std::io::stderr().lock().write_all(mask(&answer.err).as_bytes());
        let written = std::io::stdout().lock().write_all(mask(&answer.out).as_bytes());
        match written {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => ExitCode::from(UNMEASURABLE),
            _ => ExitCode::from(answer.code),
        }
    }

    /// Runs until `stop` ends.
    async fn answer(
        self,
        args: impl IntoIterator<Item = OsString>,
        progress: Progress,
        stop: impl Future<Output = ()> + Send,
    ) -> Answer {
        let args = match Args::parse(args) {
            Ok(Asked::Run(args)) => args,
            Ok(Asked::Help) => return Answer { out: args::help(&self.names()), err: String::new(), code: 0 },
            Err(error) => return Answer::error(&CommandError::Args(error)),
        };
        match self.report(&args, progress, stop).await {
            Ok((report, cost)) => Answer::of(&report).with_cost(cost),
            Err(error) => Answer::error(&error),
        }
    }

    async fn report(
        mut self,
        args: &Args,
        progress: Progress,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(EvalReport, Option<Cost>), CommandError> {
        let at = self.index_of(args.agent.as_deref())?;
        let (agent, setup) = self.agents.swap_remove(at);
        let mut runner = self.runner.__label_or(agent);
        if let Some(path) = &args.config {
            runner = runner.__config_file(path).map_err(CommandError::Config)?;
        }
        runner = with_options(runner, args);
        let plan = runner.__select_cases(&args.sets, &args.cases).map_err(CommandError::Set)?;
        if plan.is_empty() {
            return Err(CommandError::NothingSelected);
        }
        let progress = Arc::new(Mutex::new(progress.of(plan.len(), args.prices.clone())));
        let told = progress.clone();
        runner = runner.on_case(move |case| told.lock().unwrap_or_else(PoisonError::into_inner).ended(case));
        let report = runner.run_plan(&plan, &setup, args.concurrency, stop).await;
        let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.clear();
        Ok((report, progress.cost()))
    }

    /// The index of the agent of this name; without a name, that of the only agent.
    fn index_of(&self, name: Option<&str>) -> Result<usize, CommandError> {
        let owned = || self.names().into_iter().map(str::to_owned).collect();
        match (name, self.agents.as_slice()) {
            (_, []) => Err(CommandError::NoAgents),
            (None, [_]) => Ok(0),
            (None, _) => Err(CommandError::AgentNotNamed { known: owned() }),
            (Some(name), agents) => agents
                .iter()
                .position(|(known, _)| known == name)
                .ok_or_else(|| CommandError::NoSuchAgent { name: name.to_owned(), known: owned() }),
        }
    }

    fn names(&self) -> Vec<&str> {
        self.agents.iter().map(|(name, _)| name.as_str()).collect()
    }
}

/// The runner with what the command line says of it.
fn with_options(mut runner: EvalRunner, args: &Args) -> EvalRunner {
    if let Some(runs) = args.runs {
        runner = runner.runs(runs);
    }
    if let Some(pass) = args.pass {
        runner = runner.pass(pass);
    }
    if let Some(gate) = args.gate {
        runner = runner.gate(gate);
    }
    if let Some(timeout) = args.timeout {
        runner = runner.timeout(timeout);
    }
    if let Some(retry) = args.retry {
        runner = runner.retry(retry);
    }
    if args.fail_fast {
        runner = runner.fail_fast(true);
    }
    args.metrics.iter().cloned().fold(runner, EvalRunner::only_metric)
}

/// Why there is no report.
#[derive(Debug)]
enum CommandError {
    Args(ArgsError),
    /// The program has no agents.
    NoAgents,
    /// There are several agents, and none is named.
    AgentNotNamed {
        known: Vec<String>,
    },
    NoSuchAgent {
        name: String,
        known: Vec<String>,
    },
    Config(ReadError),
    Set(RunDirError),
    /// No case is named by both `--set` and `--case`.
    NothingSelected,
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Args(error) => write!(f, "{error}\n\n{}", args::usage()),
            Self::NoAgents => f.write_str("this program has no agents to evaluate"),
            Self::AgentNotNamed { known } => write!(f, "name an agent with `--agent`: {}", quoted(known)),
            Self::NoSuchAgent { name, known } => match suggest(name, known.iter().map(String::as_str)) {
                Some(meant) => write!(f, "there is no agent `{name}`; did you mean `{meant}`?"),
                None => write!(f, "there is no agent `{name}`; it can be {}", quoted(known)),
            },
            Self::Config(error) => error.fmt(f),
            Self::Set(error) => error.fmt(f),
            Self::NothingSelected => f.write_str("no case is selected by both `--set` and `--case`"),
        }
    }
}

fn quoted(names: &[String]) -> String {
    quoted_list(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// What is printed, and the exit code.
#[derive(Debug)]
struct Answer {
    out: String,
    err: String,
    code: u8,
}

/// The exit code if the result is unknown.
const UNMEASURABLE: u8 = 2;

impl Answer {
    fn error(why: &impl fmt::Display) -> Self {
        let why = why.to_string();
        // The problems of a file say it themselves.
        let mark = if why.starts_with("error: ") { "" } else { "error: " };
        Self { out: String::new(), err: format!("{mark}{why}\n"), code: UNMEASURABLE }
    }

    fn of(report: &EvalReport) -> Self {
        let summary = report.summary();
        let code = match (summary.errors, summary.failed, summary.passed) {
            (0, 0, 1..) => 0,
            (0, 1.., _) => 1,
            _ => UNMEASURABLE,
        };
        match serde_json::to_string_pretty(report) {
            Ok(json) => Self { out: json + "\n", err: format!("{report}\n"), code },
            Err(error) => Self::error(&format_args!("cannot write the report as JSON: {error}")),
        }
    }

    fn with_cost(mut self, cost: Option<Cost>) -> Self {
        if let Some(cost) = cost {
            self.err.push_str(&format!("cost  {cost}\n"));
        }
        self
    }
}

/// A setup function behind a pointer.
struct BoxSetup(Box<dyn ErasedSetup>);

/// [`Setup`] without its shape, behind a pointer.
trait ErasedSetup: Send + Sync {
    fn set_up<'a>(&'a self, case: &'a EvalCase) -> BoxFuture<'a, Result<BoxAgent, BoxError>>;
}

/// A setup function with its shape.
struct Shaped<Shape, S> {
    setup: S,
    shape: PhantomData<fn() -> Shape>,
}

impl<Shape, S: Setup<Shape> + Send> ErasedSetup for Shaped<Shape, S> {
    fn set_up<'a>(&'a self, case: &'a EvalCase) -> BoxFuture<'a, Result<BoxAgent, BoxError>> {
        Box::pin(self.setup.set_up(case))
    }
}

/// The shape of a [`BoxSetup`].
enum AnyShape {}

impl Setup<AnyShape> for &BoxSetup {
    async fn set_up(&self, case: &EvalCase) -> Result<BoxAgent, BoxError> {
        self.0.set_up(case).await
    }
}

#[cfg(test)]
mod tests;
