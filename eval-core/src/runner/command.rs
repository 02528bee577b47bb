//! A program's own command line for its evals.

mod args;

use std::ffi::OsString;
use std::fmt;
use std::io::Write;
use std::marker::PhantomData;
use std::path::Path;
use std::process::ExitCode;

use eval_format::{EvalCase, EvalConfig, suggest};

use crate::agent::{BoxAgent, BoxError, BoxFuture};
use crate::message::quoted_list;
use crate::report::EvalReport;
use crate::runner::{EvalRunner, Setup};
use args::{Args, Asked};

/// `my-app eval --agent NAME --set FILE`: evals as a command of the program that has the agents.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use eval_core::{EvalCommand, Replay};
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
/// The report is printed as JSON (see [`EvalReport`]), what failed is printed to stderr for people. The exit code is 0
/// where every case passed, 1 where one failed, and 2 where one has no verdict, where none could be checked, and where
/// the arguments, a set or a config are wrong. `--help` lists the options.
pub struct EvalCommand {
    runner: EvalRunner,
    agents: Vec<(String, Made)>,
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

    /// Runs with the settings of this runner: its criteria, metrics, judge. Options of the command line win.
    #[must_use]
    pub fn runner(mut self, runner: EvalRunner) -> Self {
        self.runner = runner;
        self
    }

    /// Adds an agent: its name, and what makes it before each run, as for [`EvalRunner::run_case`].
    ///
    /// A name that is there already is replaced.
    #[must_use]
    pub fn agent<Shape, S>(mut self, name: impl Into<String>, setup: S) -> Self
    where
        Shape: 'static,
        S: Setup<Shape> + Send + 'static,
    {
        let name = name.into();
        self.agents.retain(|(known, _)| *known != name);
        self.agents.push((name, Made(Box::new(Shaped { setup, shape: PhantomData }))));
        self
    }

    /// Runs the evals where the first argument after the name of the program is `eval`; nothing otherwise.
    pub async fn run_if_asked(self, args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
        let mut args = args.into_iter().skip(1);
        if args.next()? != "eval" {
            return None;
        }
        Some(self.run(args).await)
    }

    /// Runs the evals with the arguments that follow `eval`.
    ///
    /// Prints the report, and returns the exit code: for programs that read their command line themselves.
    pub async fn run(self, args: impl IntoIterator<Item = OsString>) -> ExitCode {
        let answer = self.answer(args).await;
        // Who does not read the report may still want the exit code.
        let _ = std::io::stderr().lock().write_all(answer.err.as_bytes());
        let written = std::io::stdout().lock().write_all(answer.out.as_bytes());
        match written {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => ExitCode::from(UNMEASURABLE),
            _ => ExitCode::from(answer.code),
        }
    }

    async fn answer(self, args: impl IntoIterator<Item = OsString>) -> Answer {
        let args = match Args::parse(args) {
            Ok(Asked::Run(args)) => args,
            Ok(Asked::Help) => return Answer { out: args::help(&self.names()), err: String::new(), code: 0 },
            Err(wrong) => return Answer::refusal(&format!("{wrong}\n\n{}", args::usage())),
        };
        match self.report(&args).await {
            Ok(report) => Answer::of(&report),
            Err(wrong) => Answer::refusal(&wrong),
        }
    }

    async fn report(self, args: &Args) -> Result<EvalReport, String> {
        let name = self.chosen(args.agent.as_deref())?;
        let Self { mut runner, agents } = self;
        let setup = agents.into_iter().find(|(known, _)| *known == name).map(|(_, setup)| setup);
        let setup = setup.ok_or("there is no agent")?;
        if let Some(path) = &args.config {
            runner = runner.config(EvalConfig::read(path).map_err(|error| error.to_string())?);
        }
        if let Some(runs) = args.runs {
            runner = runner.runs(runs);
        }
        let mut report = EvalReport::default();
        for path in &args.sets {
            let of_set = run(&runner, path, &setup, args).await?;
            report.cases.extend(of_set.cases);
        }
        if let Some(id) = args.cases.iter().find(|id| !report.cases.iter().any(|case| case.eval_id() == **id))
        {
            return Err(format!("no set has a case `{id}`"));
        }
        Ok(report)
    }

    /// The agent that is named, or the only one.
    fn chosen(&self, name: Option<&str>) -> Result<String, String> {
        let names = self.names();
        match (name, names.as_slice()) {
            (_, []) => Err("this program has no agents to evaluate".to_owned()),
            (Some(name), names) if names.contains(&name) => Ok(name.to_owned()),
            (Some(name), names) => Err(match suggest(name, names.iter().copied()) {
                Some(meant) => format!("there is no agent `{name}`; did you mean `{meant}`?"),
                None => format!("there is no agent `{name}`; it can be {}", quoted_list(names)),
            }),
            (None, [only]) => Ok((*only).to_owned()),
            (None, names) => Err(format!("`--agent` says which agent: {}", quoted_list(names))),
        }
    }

    fn names(&self) -> Vec<&str> {
        self.agents.iter().map(|(name, _)| name.as_str()).collect()
    }
}

async fn run(runner: &EvalRunner, path: &Path, setup: &Made, args: &Args) -> Result<EvalReport, String> {
    let ids = (!args.cases.is_empty()).then_some(args.cases.as_slice());
    runner.run_path(path, ids, setup, args.concurrency).await.map_err(|error| error.to_string())
}

/// What is printed, and how the program ends.
#[derive(Debug)]
struct Answer {
    out: String,
    err: String,
    code: u8,
}

/// The exit code where nobody knows.
const UNMEASURABLE: u8 = 2;

impl Answer {
    fn refusal(why: &str) -> Self {
        Self { out: String::new(), err: format!("error: {why}\n"), code: UNMEASURABLE }
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
            Err(error) => Self::refusal(&format!("cannot write the report as JSON: {error}")),
        }
    }
}

/// A setup function behind a pointer.
struct Made(Box<dyn MakesAgents>);

trait MakesAgents: Send + Sync {
    fn set_up<'a>(&'a self, case: &'a EvalCase) -> BoxFuture<'a, Result<BoxAgent, BoxError>>;
}

struct Shaped<Shape, S> {
    setup: S,
    shape: PhantomData<fn() -> Shape>,
}

impl<Shape, S: Setup<Shape> + Send> MakesAgents for Shaped<Shape, S> {
    fn set_up<'a>(&'a self, case: &'a EvalCase) -> BoxFuture<'a, Result<BoxAgent, BoxError>> {
        Box::pin(self.setup.set_up(case))
    }
}

/// The shape of what has none of its own any more.
enum AnyShape {}

impl Setup<AnyShape> for &Made {
    async fn set_up(&self, case: &EvalCase) -> Result<BoxAgent, BoxError> {
        self.0.set_up(case).await
    }
}

#[cfg(test)]
mod tests;
