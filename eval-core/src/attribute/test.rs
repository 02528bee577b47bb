//! A generated test, from its start to its verdict.

use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::eval_run::EvalRun;
use super::exit::ExitGuard;
use super::function::{Annotated, Driven, Functions};
use super::prepare::{self, Unprepared};
use crate::case_runner::{AgentSource, Begun, CaseRunner, Run, Subject};
use crate::compiled::{SetSource, Test};
use crate::failure;
use crate::guard::{Fault, catch_panic, fenced};
use crate::journal::TestLog;
use crate::judge::{JudgeRouter, Settings};
use crate::message::{neutral, show, show_past_the_harness};
use crate::report::{CaseReport, Location};
use crate::secrets::mask;
use crate::stale::{self, Freshness};
use crate::transcript::RunError;
use crate::variables;
use crate::verdict::{Role, Verdict};

/// A generated test on its way. It is boxed so that no test of the user's crate instantiates it anew.
pub type CaseTest = Pin<Box<dyn Future<Output = ()>>>;

/// Runs one case of a set as a test: it returns if the case passed, and unwinds with the report if it did not.
///
/// It is not generic, so that what runs a case is compiled once, in this crate, and not for each attribute.
pub fn run(set: &'static SetSource, case: usize, module: &'static str, functions: Functions) -> CaseTest {
    let test = Test { set, source: &set.cases[case], module };
    Box::pin(run_to_end(test, functions))
}

/// The annotated function as the source of the agents of one case.
struct FunctionSource<'a> {
    function: &'a Annotated,
    runner: Arc<CaseRunner>,
    subject: Subject<'static>,
}

impl AgentSource for FunctionSource<'_> {
    /// Calls the function. A body has no time limit of its own: the agents that it runs have one.
    async fn begin(&self, run: &Run, limit: Duration) -> Result<Begun, Fault> {
        let eval_run = EvalRun::new(self.runner.clone(), self.subject.clone(), run.clone());
        let call = || (self.function.call)(self.subject.case, eval_run.clone());
        let driven = if self.function.is_body {
            match catch_panic(call()).await {
                Ok(driven) => driven.map_err(Fault::Failed),
                Err(panic) => Err(Fault::Panicked(panic)),
            }
        } else {
            fenced(limit, || format!("{}, setup,", run.label), call).await
        };
        match driven {
            Ok(Driven::Agent(agent)) => Ok(Begun::Agent(agent)),
            Ok(Driven::Body) => Ok(Begun::Body { evaluated: eval_run.take(), error: None }),
            Err(fault) if self.function.is_body => {
                let error = RunError::new(Role::Body, None, fault.to_string());
                Ok(Begun::Body { evaluated: eval_run.take(), error: Some(error) })
            }
            Err(fault) => Err(fault),
        }
    }
}

/// Runs a test from the variables of its environment to its verdict. The verdict is recorded before the test ends.
async fn run_to_end(test: Test, functions: Functions) {
    let _guard = ExitGuard::of(test);
    let log = match TestLog::of_test(&test) {
        Ok(log) => Arc::new(log),
        Err(message) => fail(&failure::harness(&test, &message), ""),
    };
    let break_off = |message: &str, text: &str| -> ! {
        log.broke(message, text);
        fail(text, "")
    };
    if let Err(message) = variables::check() {
        break_off(&message, &failure::harness(&test, &message));
    }
    let print = match failure::Print::from_env() {
        Ok(print) => print,
        Err(message) => break_off(&message, &format!("Error: {message}")),
    };
    let settings = match Settings::from_env() {
        Ok(settings) => settings,
        Err(error) => {
            let message = error.to_string();
            break_off(&message, &failure::harness(&test, &message))
        }
    };
    // While a judge is asked, the recording on disk is not the one compiled in.
    let replays = settings.replays();
    let freshness = stale::by_length(test.set, replays);
    if let Freshness::Stale(how) = &freshness {
        break_off(how, &failure::stale(&test, how));
    }
    let report = match evaluate(&test, &functions, settings, &log).await {
        Ok(report) => report,
        Err(error) => {
            let message = error.to_string();
            break_off(&message, &failure::harness(&test, &message))
        }
    };
    if let Some(skipped) = failure::skipped(&test.path(), &report) {
        show_past_the_harness(&skipped);
    }
    if matches!(report.verdict, Verdict::Passed | Verdict::Skipped(_)) {
        log.decided(&report, None);
        if print != failure::Print::Failures {
            show(&failure::passing(&test, &report, print));
        }
        return;
    }
    let freshness =
        if freshness == Freshness::Fresh { stale::by_content(test.set, replays) } else { freshness };
    let text = failure::failing(&test, &report, print, &freshness, log.journal());
    log.decided(&report, Some(&text));
    fail(&text, &failure::headline(&test.path(), &report));
}

/// Prints what failed and ends the test. The panic hook is not run: its location would be in this crate.
fn fail(text: &str, payload: &str) -> ! {
    show(text);
    let payload = if payload.is_empty() { text.lines().next().unwrap_or_default() } else { payload };
    resume_unwind(Box::new(neutral(&mask(payload)).into_owned()))
}

async fn evaluate(
    test: &Test,
    functions: &Functions,
    settings: Settings,
    log: &Arc<TestLog>,
) -> Result<CaseReport, Unprepared> {
    let Test { set: source, source: case, .. } = *test;
    let runner =
        Arc::new(prepare::case_runner(source, functions.metrics, judges(test, functions, settings))?);
    let subject = Subject {
        eval_set_id: Some(source.eval_set_id),
        case: prepare::case(test)?,
        location: Some(Location {
            file: source.shown.to_owned(),
            line: case.line as usize,
            column: case.column as usize,
        }),
        name: test.path(),
        log: log.clone(),
    };
    let agents =
        FunctionSource { function: &functions.annotated, runner: runner.clone(), subject: subject.clone() };
    Ok(runner.run(&subject, &agents).await)
}

#[cfg(feature = "judges")]
fn judges(test: &Test, functions: &Functions, settings: Settings) -> JudgeRouter {
    super::judges_of_test::judges(test, functions, settings)
}

/// Without the feature no case asks a judge: those that would do not compile.
#[cfg(not(feature = "judges"))]
fn judges(_: &Test, _: &Functions, _: Settings) -> JudgeRouter {
    JudgeRouter::default()
}
