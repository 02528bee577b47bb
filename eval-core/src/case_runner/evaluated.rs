//! A run that was played and scored, until the verdict on its case.

use std::sync::Arc;

use crate::agent::Log;
use crate::journal::TestLog;
use crate::play;
use crate::report::RunReport;
use crate::transcript::{RunError, Transcript};

/// A run that was played and scored. Until the verdict it can still turn out to be broken.
#[derive(Clone, Debug)]
pub(crate) struct Evaluated {
    report: RunReport,
    /// What the agent recorded, and what came too late.
    events: Arc<Log>,
    /// The number of the evaluation in the journal; `None` if no journal is written.
    number: Option<u32>,
}

/// What a test body did in one run.
pub(crate) struct EndedBody {
    /// The evaluations that came to their end, in the order in which they did.
    pub(crate) evaluated: Vec<Evaluated>,
    /// Why the run cannot be decided, if an evaluation is missing.
    pub(crate) undone: Option<RunError>,
    /// The body's own error: an assertion, a panic, an `Err`.
    pub(crate) failed: Option<RunError>,
}

impl Evaluated {
    pub(super) fn new(report: RunReport, events: Arc<Log>, number: Option<u32>) -> Self {
        Self { report, events, number }
    }

    /// A run in which no conversation took place. It is recorded.
    pub(crate) fn broken(run: usize, error: RunError, log: &TestLog) -> Self {
        let mut transcript = Transcript { error: Some(error.clone()), ..Transcript::default() };
        let number = log.ran(run, false, &mut transcript, Vec::new()).map(|written| written.evaluation());
        let report = RunReport { number: run, transcript, error: Some(error), metrics: Vec::new() };
        Self { report, events: Arc::default(), number }
    }

    /// A run whose agent was not reached, and which is repeated. It was recorded, and is never scored.
    pub(super) fn unreached(run: usize, transcript: Transcript, events: Arc<Log>) -> Self {
        let error = transcript.error.clone();
        Self {
            report: RunReport { number: run, transcript, error, metrics: Vec::new() },
            events,
            number: None,
        }
    }

    pub(crate) fn report(&self) -> &RunReport {
        &self.report
    }

    pub(crate) fn into_report(self) -> RunReport {
        self.report
    }

    /// Makes the run an error if something was recorded after its turn had ended.
    pub(super) fn look_for_late_events(&mut self, log: &TestLog) {
        if let (None, Some(error)) = (&self.report.error, self.late()) {
            self.fail(error, log);
        }
    }

    /// What is wrong if something was recorded after its turn had ended; `None` if nothing was.
    pub(super) fn late(&self) -> Option<RunError> {
        play::late(&self.events)
    }

    /// Makes the run an error, in the journal too: whoever scores it again must not take it for a whole one.
    pub(super) fn fail(&mut self, error: RunError, log: &TestLog) {
        log.broke_later(self.report.number, self.number, &error);
        self.report.transcript.error = Some(error.clone());
        self.report.error = Some(error);
    }
}
