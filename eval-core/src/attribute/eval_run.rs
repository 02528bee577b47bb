//! The argument of a test body of the user's own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::agent::Agent;
use crate::case_runner::{CaseRunner, Run, Subject};
use crate::report::{CaseReport, RunReport};
use eval_format::EvalCase;

/// One run of a case, for a test body of your own.
///
/// ```
/// use eval_core::{BoxError, EvalRun, Replay};
///
/// async fn weather(run: EvalRun) -> Result<(), BoxError> {
///     assert!(!run.case().conversation.is_empty());
///     let report = run.evaluate(Replay::new([["It is sunny."]])).await;
///     println!("{}", report.metrics.len());
///     Ok(())
/// }
/// # let _ = weather;
/// ```
///
/// A case that fails in [`evaluate`](Self::evaluate) fails the test, even if its report is dropped.
#[derive(Clone, Debug)]
pub struct EvalRun {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    runner: Arc<CaseRunner>,
    subject: Subject<'static>,
    run: Run,
    evaluated: Mutex<Vec<RunReport>>,
}

impl EvalRun {
    pub(super) fn new(runner: Arc<CaseRunner>, subject: Subject<'static>, run: Run) -> Self {
        Self { shared: Arc::new(Shared { runner, subject, run, evaluated: Mutex::default() }) }
    }

    /// The case.
    pub fn case(&self) -> &'static EvalCase {
        self.shared.subject.case
    }

    /// Which run this is, from 1.
    pub fn number(&self) -> usize {
        self.shared.run.number
    }

    /// Runs the case with an agent, scores it, and adds the result to what decides the test.
    pub async fn evaluate(&self, agent: impl Agent) -> CaseReport {
        let Shared { runner, subject, run, .. } = &*self.shared;
        let evaluated = runner.evaluate(subject, Box::new(agent), run).await;
        self.evaluated().push(evaluated.clone());
        runner.decide(subject, vec![evaluated])
    }

    /// Takes the runs that were evaluated so far.
    pub(super) fn take(&self) -> Vec<RunReport> {
        std::mem::take(&mut *self.evaluated())
    }

    fn evaluated(&self) -> MutexGuard<'_, Vec<RunReport>> {
        self.shared.evaluated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
