//! The argument of a test body of the user's own.

use std::sync::Arc;

use eval_format::EvalCase;
use eval_support::mutex::Mutex;
use eval_support::words::count;

use crate::agent::Agent;
use crate::case_runner::{CaseRunner, EndedBody, Evaluated, IdentifiedCase, Run};
use crate::guard::Watch;
use crate::report::CaseReport;
use crate::transcript::RunError;
use crate::verdict::Role;

/// One run of a case, for a test body of your own.
///
/// ```
/// use eval_core::{BoxError, EvalRun, Replay};
///
/// async fn weather(run: EvalRun) -> Result<(), BoxError> {
///     assert!(!run.case().conversation.is_empty());
///     let mut agent = Replay::new([["It is sunny."]]);
///     let report = run.evaluate(&mut agent).await;
///     println!("{}", report.metrics.len());
///     Ok(())
/// }
/// # let _ = weather;
/// ```
///
/// A case that fails in [`evaluate`](Self::evaluate) fails the test, even if its report is dropped. A body must
/// evaluate the case in each run, and await each evaluation to its end: otherwise the run is an ERROR.
#[derive(Clone, Debug)]
pub struct EvalRun {
    pub(super) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    runner: Arc<CaseRunner>,
    identified: IdentifiedCase<'static>,
    run: Run,
    ledger: Mutex<Ledger>,
}

#[derive(Debug, Default)]
struct Ledger {
    /// The number of evaluations that were asked for before the body ended.
    begun: usize,
    /// The evaluations that ended before the body did.
    finished: Vec<Evaluated>,
    is_over: bool,
    /// The number of evaluations that were asked for after the body had ended.
    begun_late: usize,
    /// The number of evaluations at work. They have time limits of their own.
    at_work: usize,
    watch: Option<Watch>,
}

impl EvalRun {
    pub(super) fn new(runner: Arc<CaseRunner>, identified: IdentifiedCase<'static>, run: Run) -> Self {
        Self { shared: Arc::new(Shared { runner, identified, run, ledger: Mutex::default() }) }
    }

    /// The case.
    pub fn case(&self) -> &'static EvalCase {
        self.shared.identified.case
    }

    /// The number of this run, from 1.
    pub fn number(&self) -> usize {
        self.shared.run.number
    }

    /// Runs the case with an agent, scores it, and counts the result for the verdict of the test.
    ///
    /// Several evaluations in one run count as one run, which passes if each of them passes. The report is
    /// about this evaluation alone. Each call counts as an evaluation, awaited or not: an evaluation that has
    /// not ended when the body ends is an ERROR.
    pub fn evaluate(&self, agent: impl Agent) -> impl Future<Output = CaseReport> {
        let mut ledger = self.shared.ledger.lock();
        let begun = if ledger.is_over { &mut ledger.begun_late } else { &mut ledger.begun };
        *begun += 1;
        drop(ledger);
        async move {
            let Shared { runner, identified, run, .. } = &*self.shared;
            let _at_work = AtWork::new(&self.shared);
            let evaluated = runner.evaluate(identified, Box::new(agent), run).await;
            let report = runner.decide_alone(identified, evaluated.report.clone());
            let mut ledger = self.shared.ledger.lock();
            if !ledger.is_over {
                ledger.finished.push(evaluated);
            }
            report
        }
    }

    /// Ends the run with its body. `failed` is the error of the body itself.
    pub(super) fn end(&self, failed: Option<RunError>) -> EndedBody {
        let mut ledger = self.shared.ledger.lock();
        ledger.is_over = true;
        ledger.watch = None;
        let undone = ledger.undone().map(|message| RunError::new(Role::Harness, None, message));
        EndedBody { evaluated: std::mem::take(&mut ledger.finished), undone, failed }
    }

    /// The number and the error of this run if an evaluation began after the body had ended.
    pub(super) fn left_undone(&self) -> Option<(usize, RunError)> {
        let late = self.shared.ledger.lock().begun_late;
        (late > 0).then(|| {
            let message = format!(
                "{} of the test body began after the body had ended; await each `evaluate` in the body",
                count(late, "evaluation")
            );
            (self.number(), RunError::new(Role::Harness, None, message))
        })
    }
}

impl Shared {
    /// Watches the body from now on. The body itself has no time limit, since its turns have one.
    pub(super) fn watch(&self) {
        let limit = self.runner.options.timeout;
        let line = || {
            format!(
                "{}, test body, has been at work for more than {limit:?} outside of its evaluations; only the turns of \
                 an evaluation have a time limit",
                self.run.label
            )
        };
        let watch = Watch::start_with(limit, &line);
        self.ledger.lock().watch = Some(watch);
    }
}

impl Ledger {
    /// The error of a missing or unfinished evaluation; `None` if there is at least one, and each ended.
    fn undone(&self) -> Option<String> {
        let (begun, finished) = (self.begun, self.finished.len());
        if begun > finished {
            return Some(format!(
                "the test body ended before {} of {} did; await each `evaluate` to its end, without a timeout, a \
                 `select!` or a task that is not awaited",
                begun - finished,
                count(begun, "evaluation")
            ));
        }
        (begun == 0).then(|| {
            "the test body ended without an evaluation; call `run.evaluate(agent).await`, or write a plain test".to_owned()
        })
    }
}

struct AtWork<'a>(&'a Shared);

impl<'a> AtWork<'a> {
    fn new(shared: &'a Shared) -> Self {
        let mut ledger = shared.ledger.lock();
        ledger.at_work += 1;
        ledger.watch = None;
        Self(shared)
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        let mut ledger = self.0.ledger.lock();
        ledger.at_work -= 1;
        let is_idle = ledger.at_work == 0 && !ledger.is_over;
        drop(ledger);
        if is_idle {
            self.0.watch();
        }
    }
}
