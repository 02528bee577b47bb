//! Recorded cases as reports.

use eval_core::journal::{Decided, Ran};
use eval_core::report::{CaseReport, Location, MetricReport, RunReport, Transcript};
use eval_format::EvalCase;

use super::read::{Attempt, Evaluation};

impl Attempt {
    /// The report of the case as it was recorded, for its exports. `None` if the case has no verdict, or if a run lacks the
    /// score of a metric that decided: a report never leaves a metric out.
    ///
    /// A journal does not hold what a case expects, so the case is given. It should be the one that ran:
    /// [`Started::asks`](eval_core::journal::Started::asks) and [`expects`](eval_core::journal::Started::expects) tell.
    pub fn report(&self, case: EvalCase) -> Option<CaseReport> {
        let Decided { verdict, metrics, passed_runs, elapsed, notes, .. } = self.decided.clone()?;
        if !self.evaluations.iter().all(|evaluation| is_whole(evaluation, &metrics)) {
            return None;
        }
        let started = &self.started;
        let location =
            || Some(Location { file: started.file.clone()?, line: started.line?, column: started.column? });
        Some(CaseReport {
            eval_set_id: started.eval_set_id.clone(),
            case,
            location: location(),
            label: started.label.clone(),
            runs: self.evaluations.iter().map(run).collect(),
            metrics,
            passed_runs,
            gate: started.gate,
            verdict,
            elapsed,
            notes,
            repeated: self.repeated_reports(),
        })
    }

    /// What happened in the runs, in order, to be scored again.
    pub fn transcripts(&self) -> Vec<Transcript> {
        self.evaluations.iter().map(|evaluation| evaluation.ran.transcript.clone()).collect()
    }

    /// The reports of the runs that `retry` repeated. None of them was scored.
    pub fn repeated_reports(&self) -> Vec<RunReport> {
        self.repeated.iter().map(unscored).collect()
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
fn unscored(ran: &Ran) -> RunReport {
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
