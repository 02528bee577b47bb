//! A generated test, from its start to its verdict.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use eval_format::EvalCase;
use eval_support::message::{NOTHING_RECORDED, changed_parts, show, show_past_the_harness};
use eval_support::mutex::Mutex;
use eval_support::secrets::mask;
use eval_support::untrusted::{guard, headline};
use eval_support::variables;

use super::eval_run::EvalRun;
use super::function::{Annotated, Driven, Functions};
#[cfg(feature = "judges")]
use super::judges_of_test::judges;
use super::prepare;
use crate::case_runner::{AgentSource, Begun, CaseRunner, EndedBody, IdentifiedCase, Run};
use crate::compiled::{Replays, SetSource, Test, VariantSource};
use crate::decide::notes_of_ignored_runs;
use crate::exit_guard::ExitGuard;
use crate::failure;
use crate::guard::{Fault, What, catch_panic, fenced};
use crate::journal::TestLog;
#[cfg(not(feature = "judges"))]
use crate::judge::JudgeRouter;
use crate::judge::Settings;
use crate::models;
use crate::report::{CaseReport, Location, RunReport};
use crate::stale::{self, Depth, Freshness};
use crate::transcript::RunError;
use crate::verdict::{Role, Verdict};

/// The future of a generated test. It is boxed so that no test of the user's crate instantiates it anew.
pub type CaseTest = Pin<Box<dyn Future<Output = ()>>>;

/// Runs one case of a set as a test: it returns if the case passed, and unwinds with the report if it did not.
///
/// It is not generic, so that the code that runs a case is compiled once, in this crate, and not for each
/// attribute.
pub fn run(
    set: &'static SetSource,
    case: usize,
    module: &'static str,
    variant: Option<&'static VariantSource>,
    functions: Functions,
) -> CaseTest {
    let test = Test { set, source: &set.cases[case], module, variant };
    Box::pin(async move {
        if let Err(failure) = run_to_end(test, functions).await {
            unwind(&failure.headline);
        }
    })
}

/// Runs a test with `#[should_panic]`: it unwinds only if the user may have expected the failure.
///
/// `expected` is the text that the attribute names. The harness accepts panics of any cause, so a test that
/// could not check anything has to return, which fails it.
pub fn run_should_panic(
    set: &'static SetSource,
    case: usize,
    module: &'static str,
    variant: Option<&'static VariantSource>,
    functions: Functions,
    expected: Option<&'static str>,
) -> CaseTest {
    let test = Test { set, source: &set.cases[case], module, variant };
    Box::pin(async move {
        match catch_panic(run_to_end(test, functions)).await {
            Ok(Ok(())) => return,
            Ok(Err(failure)) if failure.may_be_meant(expected) => unwind(&failure.headline),
            Ok(Err(_)) => {}
            // Panics of the user's code are caught where it is called. This one comes from making a metric,
            // or from a bug.
            Err(panic) => show(&failure::harness(&test, &format!("panicked: {panic}"))),
        }
        show(
            "note: this is no failure that `#[should_panic]` can expect: it takes a case below its thresholds, a failed \
             assertion of a test body, and an error of the agent, if `expected = \"..\"` has words of the agent's own error",
        );
    })
}

/// Ends the test. The panic hook is not run: its location would be in this crate.
fn unwind(headline: &str) -> ! {
    resume_unwind(Box::new(guard(&mask(headline)).into_owned()))
}

struct FunctionSource<'a> {
    function: &'a Annotated,
    runner: Arc<CaseRunner>,
    identified: IdentifiedCase<'static>,
    bodies: RefCell<Vec<EvalRun>>,
}

impl FunctionSource<'_> {
    async fn body(&self, eval_run: EvalRun) -> EndedBody {
        self.bodies.borrow_mut().push(eval_run.clone());
        eval_run.shared.watch();
        let ended = match catch_panic((self.function.call)(self.identified.case, eval_run.clone())).await {
            Ok(ended) => ended.map_err(Fault::Failed),
            Err(panic) => Err(Fault::Panicked(panic)),
        };
        eval_run.end(ended.err().map(|fault| RunError::new(Role::Body, None, fault.to_string())))
    }
}

impl AgentSource for FunctionSource<'_> {
    /// Calls the function. A body has no time limit of its own: the agents that it runs have one.
    async fn begin(&self, run: &Run, limit: Duration) -> Result<Begun, Fault> {
        let eval_run = EvalRun::new(self.runner.clone(), self.identified.clone(), run.clone());
        if self.function.is_body {
            return Ok(Begun::Body(self.body(eval_run).await));
        }
        let call = || (self.function.call)(self.identified.case, eval_run.clone());
        match fenced(limit, What::of(run.label.clone()).doing("setup"), call).await? {
            Driven::Agent(agent) => Ok(Begun::Agent(agent)),
            Driven::Body => Ok(Begun::Body(eval_run.end(None))),
        }
    }

    fn left_undone(&self) -> Option<(usize, RunError)> {
        self.bodies.borrow().iter().find_map(EvalRun::left_undone)
    }
}

struct Failure {
    headline: String,
    kind: FailureKind,
    /// The error message of the agent, if it was reached.
    agent_said: Option<String>,
}

/// General words of messages, which do not tell one error from another.
const GENERAL: [&str; 30] = [
    "after", "agent", "an", "answered", "at", "be", "cannot", "could", "error", "errors", "events", "failed",
    "failure", "for", "in", "is", "not", "nothing", "of", "out", "panic", "panicked", "recorded", "run",
    "session", "the", "timed", "timeout", "to", "turn",
];

impl Failure {
    /// Whether `#[should_panic]` may expect this failure. An error of the agent can have any cause, so
    /// `expected` must hold specific words of it.
    fn may_be_meant(&self, expected: Option<&str>) -> bool {
        match self.kind {
            FailureKind::Checked => true,
            FailureKind::Agent => {
                let names =
                    |said: &str| expected.is_some_and(|text| said.contains(text) && is_specific(text));
                self.agent_said.as_deref().is_some_and(names)
            }
            FailureKind::Unchecked => false,
        }
    }
}

fn is_specific(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 2);
    words.map(str::to_lowercase).any(|word| !GENERAL.contains(&&*word))
}

fn agent_said(report: &CaseReport) -> Option<String> {
    let error = report.runs.iter().find_map(|run| run.error.as_ref())?;
    (!error.unreachable).then(|| error.message.clone())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureKind {
    /// The case was checked, and is below a threshold or fails an assertion of the test body.
    Checked,
    Agent,
    /// Something else broke, so the case was not checked.
    Unchecked,
}

impl FailureKind {
    fn of(report: &CaseReport) -> Self {
        let failed = |run: &RunReport| run.error.as_ref().is_some_and(|error| error.is_failure);
        match report.verdict {
            // What the case is about did not happen.
            Verdict::Failed if report.runs.iter().any(failed) => Self::Unchecked,
            Verdict::Failed => Self::Checked,
            // A body that broke before it evaluated the case checked nothing.
            Verdict::Error { role: Role::Body, .. }
                if report.runs.iter().all(|run| !run.metrics.is_empty()) =>
            {
                Self::Checked
            }
            Verdict::Error { role: Role::Agent, .. } => Self::Agent,
            _ => Self::Unchecked,
        }
    }
}

/// The error of a process that exits in the middle of a test.
const EXITED: &str = "`std::process::exit` was called while this test ran; the process is aborted, since its exit code could pass \
                      for success";

/// Runs a test, from reading the environment's variables to the verdict. The verdict is recorded and shown
/// before the test ends.
async fn run_to_end(test: Test, functions: Functions) -> Result<(), Failure> {
    let _guard = ExitGuard::new(failure::harness(&test, EXITED).into());
    let broken = |text: &str| {
        show(text);
        Failure { headline: headline(text).into_owned(), kind: FailureKind::Unchecked, agent_said: None }
    };
    let case = prepare::case(&test);
    let read = case.as_ref().ok().copied();
    let log = match TestLog::of_test(&test, read, || prepare::meaning(&test, read)) {
        Ok(log) => Arc::new(log),
        Err(message) => return Err(broken(&failure::harness(&test, &message))),
    };
    let break_off = |message: &str, text: &str| {
        let first = headline(text);
        let headline = first.strip_prefix("Error: ").unwrap_or(&first);
        let headline = headline.strip_prefix(&format!("{}: ", test.path())).unwrap_or(headline);
        log.broke(message, headline, text);
        Err(broken(text))
    };
    let break_harness = |message: &str| break_off(message, &failure::harness(&test, message));
    if let Err(message) = variables::check() {
        return break_harness(&message);
    }
    let print = match failure::Print::from_env() {
        Ok(print) => print,
        Err(message) => return break_off(&message, &format!("Error: {message}")),
    };
    let settings = match Settings::from_env() {
        Ok(settings) => settings,
        Err(error) => return break_harness(&error.to_string()),
    };
    // While a judge is asked, the recording on disk is not the one compiled in.
    let replays = Replays { judges: settings.replays(), models: models::replays() };
    let freshness = stale::check(&test, replays, Depth::AsTimesSay);
    match &freshness {
        Freshness::Stale(how) => return break_off(how, &failure::stale(&test, how)),
        Freshness::Absent if stale::is_first_notice(test.set) => show_past_the_harness(&format!(
            "`{}` is not on this machine, so it was not compared with the one compiled in",
            test.set.shown
        )),
        Freshness::Absent | Freshness::Fresh => {}
    }
    let report = match evaluate(&test, case, &functions, settings, &log).await {
        Ok(report) => report,
        Err(message) => return break_harness(&message),
    };
    if let Some(skipped) = failure::skipped(&test.path(), &report) {
        show_past_the_harness(&skipped);
    }
    if matches!(report.verdict, Verdict::Passed | Verdict::Skipped(_)) {
        for error in notes_of_ignored_runs(&report.runs, test.set.options.pass) {
            show_past_the_harness(&format!("{}: passed, but {error}", test.path()));
        }
        if report.runs.iter().any(|run| run.transcript.notes.iter().any(|note| note == NOTHING_RECORDED)) {
            show_past_the_harness(&format!("{}: passed, but {NOTHING_RECORDED}", test.path()));
        }
        log.decided(&report, None);
        if print != failure::Print::Failures {
            show(&failure::passing(&test, &report, print));
        }
        return Ok(());
    }
    let freshness = match freshness {
        Freshness::Fresh => stale::check(&test, replays, Depth::Content),
        other => other,
    };
    let text = failure::failing(&test, &report, print, &freshness, log.journal());
    log.decided(&report, Some((failure::reason(&report), text.clone())));
    show(&text);
    if let Some(told) = common_miss(&failure::reason(&report)) {
        show_past_the_harness(&told);
    }
    let kind = match freshness {
        Freshness::Stale(_) => FailureKind::Unchecked,
        Freshness::Fresh | Freshness::Absent => FailureKind::of(&report),
    };
    Err(Failure { headline: failure::headline(&test.path(), &report), kind, agent_said: agent_said(&report) })
}

/// A line once a second test of this process lacks a recorded call of a model for the reason of one before it.
fn common_miss(reason: &str) -> Option<String> {
    static MISSED: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());
    let parts = changed_parts(reason)?;
    let mut missed = MISSED.lock();
    let number = missed.entry(parts.to_owned()).or_default();
    *number += 1;
    (*number == 2).then(|| {
        format!(
            "calls of models are not recorded in several cases, and in each {parts} changed; if that is meant, \
             `EVALSET_MODELS=record-all` records these cases again"
        )
    })
}

async fn evaluate(
    test: &Test,
    case: Result<&'static EvalCase, String>,
    functions: &Functions,
    settings: Settings,
    log: &Arc<TestLog>,
) -> Result<CaseReport, String> {
    let Test { set: source, source: place, .. } = *test;
    let runner = prepare::case_runner(source, functions.metrics, judges(test, functions, settings))?;
    let runner = Arc::new(runner.with_models(prepare::models(test)?));
    let identified = IdentifiedCase {
        eval_set_id: Some(source.eval_set_id),
        case: case?,
        location: Some(Location {
            file: source.shown.to_owned(),
            line: place.line as usize,
            column: place.column as usize,
        }),
        name: test.path(),
        log: log.clone(),
    };
    let agents = FunctionSource {
        function: &functions.annotated,
        runner: runner.clone(),
        identified: identified.clone(),
        bodies: RefCell::default(),
    };
    Ok(runner.run(&identified, agents).await)
}

/// Without the feature no case asks a judge: tests that would ask one do not compile.
#[cfg(not(feature = "judges"))]
fn judges(_: &Test, _: &Functions, _: Settings) -> JudgeRouter {
    JudgeRouter::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Transcript;

    #[test]
    fn the_second_miss_for_one_reason_is_told_and_no_other() {
        let miss = |parts: &str| {
            let call = eval_support::message::changed_call("call 1 of a model (gemini, g)", parts);
            common_miss(&format!("recording error in turn 1: {call}")).is_some()
        };
        let told = ["tools of this test", "model of this test", "tools of this test", "tools of this test"]
            .map(miss);
        assert_eq!(told, [false, false, true, false]);
        assert_eq!(common_miss("the agent failed"), None);
    }

    #[test]
    fn an_error_of_the_agent_is_expected_by_words_of_its_own_alone() {
        let broke = |said: Option<&str>| Failure {
            headline: "Error: weather::sunny: agent error in turn 1: quota exceeded for key 7".to_owned(),
            kind: FailureKind::Agent,
            agent_said: said.map(str::to_owned),
        };
        let said = Some("quota exceeded for key 7");
        for (expected, is_meant) in [
            (Some("quota exceeded"), true),
            (Some("quota"), true),
            (None, false),
            (Some(""), false),
            (Some("e"), false),
            (Some("error"), false),
            (Some("for"), false),
            (Some("agent error in turn 1"), false),
            (Some("weather::sunny"), false),
        ] {
            assert_eq!(broke(said).may_be_meant(expected), is_meant, "{expected:?}");
        }
        assert!(!broke(None).may_be_meant(Some("quota")), "an agent that was not reached was not tested");
        let checked = Failure { kind: FailureKind::Checked, ..broke(None) };
        assert!(checked.may_be_meant(None));
    }

    #[test]
    fn a_fault_that_was_not_reached_is_not_expected() {
        let of = |error: Option<RunError>| {
            let run = RunReport { number: 1, transcript: Transcript::default(), error, metrics: Vec::new() };
            FailureKind::of(&CaseReport {
                runs: vec![run],
                ..CaseReport::of_verdict(EvalCase::new("c"), Verdict::Failed)
            })
        };
        let unreached = RunError::failure(Role::Tools, 1, "the fault `f#1` was not reached".to_owned());
        assert_eq!((of(None), of(Some(unreached))), (FailureKind::Checked, FailureKind::Unchecked));
    }
}
