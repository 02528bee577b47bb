//! What a test body of the user's own is given.

use std::sync::{Arc, Mutex, PoisonError};

use eval_format::EvalCase;

use crate::agent::Agent;
use crate::journal::Entry;
use crate::plan::Plan;
use crate::report::{CaseReport, Place, RunReport};

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
/// # let _ = eval_core::__private::check(weather);
/// ```
///
/// A case that fails in [`evaluate`](Self::evaluate) fails the test, even when its report is dropped.
#[derive(Clone, Debug)]
pub struct EvalRun {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    case: &'static EvalCase,
    eval_set_id: String,
    place: Option<Place>,
    plan: Arc<Plan>,
    number: usize,
    label: String,
    entry: Arc<Entry>,
    done: Mutex<Vec<RunReport>>,
}

impl EvalRun {
    /// Run `number` (from 1) of a case.
    pub(crate) fn new(
        case: &'static EvalCase,
        eval_set_id: &str,
        place: Option<Place>,
        plan: Arc<Plan>,
        number: usize,
        label: String,
        entry: Arc<Entry>,
    ) -> Self {
        let eval_set_id = eval_set_id.to_owned();
        Self {
            shared: Arc::new(Shared {
                case,
                eval_set_id,
                place,
                plan,
                number,
                label,
                entry,
                done: Mutex::default(),
            }),
        }
    }

    /// The case.
    pub fn case(&self) -> &'static EvalCase {
        self.shared.case
    }

    /// Which run this is, from 1.
    pub fn number(&self) -> usize {
        self.shared.number
    }

    /// Runs the case with an agent, scores it, and adds it to what the test is decided on.
    pub async fn evaluate(&self, agent: impl Agent) -> CaseReport {
        let Shared { case, eval_set_id, place, plan, number, label, entry, .. } = &*self.shared;
        let run = plan.run(case, Box::new(agent), *number, label.clone(), entry).await;
        self.done().push(run.clone());
        plan.decide(eval_set_id, (*case).clone(), place.clone(), vec![run])
    }

    /// Takes what was evaluated so far.
    pub(crate) fn take(&self) -> Vec<RunReport> {
        std::mem::take(&mut *self.done())
    }

    fn done(&self) -> std::sync::MutexGuard<'_, Vec<RunReport>> {
        self.shared.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
