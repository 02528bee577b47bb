//! Recorded cases as reports.

use eval_format::EvalCase;

use crate::journal::{Attempt, Decided, Evaluation, Ran};
use crate::report::{CaseReport, Location, MetricReport, RunReport};

impl Attempt {
    /// The report of the case as it was recorded, for its exports. `None` if the case has no verdict, or if a run lacks the
    /// score of a metric that decided: a report never leaves a metric out.
    ///
    /// A journal does not hold what a case expects, so the case is given. It should be the one that ran:
    /// [`Started::asks`](crate::journal::Started::asks) and [`expects`](crate::journal::Started::expects) tell.
    pub fn report(&self, case: EvalCase) -> Option<CaseReport> {
        let Decided { verdict, metrics, passed_runs, elapsed, notes, .. } = self.decided.clone()?;
        if !self.evaluations.iter().all(|evaluation| is_whole(evaluation, &metrics)) {
            return None;
        }
        let started = &self.started;
        let location = || {
            Some(Location {
                file: started.file.as_deref()?.to_owned(),
                line: started.line?,
                column: started.column?,
            })
        };
        Some(CaseReport {
            eval_set_id: started.eval_set_id.as_deref().map(str::to_owned),
            case,
            location: location(),
            label: started.label.as_deref().map(str::to_owned),
            runs: self.evaluations.iter().map(run).collect(),
            metrics,
            passed_runs,
            gate: started.gate,
            verdict,
            elapsed,
            notes,
            repeated: self.repeated.iter().map(unscored).collect(),
        })
    }
}

fn run(Evaluation { ran, scored, .. }: &Evaluation) -> RunReport {
    let transcript = ran.transcript.clone();
    RunReport {
        number: ran.run,
        error: transcript.error.clone(),
        transcript,
        metrics: scored.as_ref().map(|scored| scored.metrics.clone()).unwrap_or_default(),
    }
}

/// The report of a run that was not scored, as it was repeated.
pub(super) fn unscored(ran: &Ran) -> RunReport {
    let transcript = ran.transcript.clone();
    RunReport { number: ran.run, error: transcript.error.clone(), transcript, metrics: Vec::new() }
}

/// Whether an evaluation has a score of each metric that decided. One that ended in an error was not scored.
fn is_whole(Evaluation { ran, scored, .. }: &Evaluation, decided: &[MetricReport]) -> bool {
    let names = || decided.iter().map(|metric| &metric.name);
    match scored {
        Some(scored) => decided.is_empty() || scored.metrics.iter().map(|metric| &metric.name).eq(names()),
        None => decided.is_empty() || ran.transcript.error.is_some(),
    }
}
