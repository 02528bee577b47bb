//! Runs in which the agent was not reached, which are repeated if the options say so.

use std::time::Duration;

use eval_support::message::cut;
use eval_support::words::count;

use super::evaluated::Evaluated;
use crate::agent::{Agent as _, BoxAgent};
use crate::guard::{What, fenced};
use crate::report::RunReport;
use crate::transcript::RunError;

/// The wait before a run is repeated; it doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const MAX_WAIT: Duration = Duration::from_secs(8);

const MAX_ERROR_CHARS: usize = 300;

#[derive(Debug)]
pub(super) struct Again {
    most: u32,
    repeated: Vec<Evaluated>,
}

impl Again {
    pub(super) fn new(most: u32) -> Self {
        Self { most, repeated: Vec::new() }
    }

    fn times(&self, run: usize) -> u32 {
        let of_run = self.repeated.iter().rev().take_while(|repeated| repeated.report.number == run);
        u32::try_from(of_run.count()).unwrap_or(u32::MAX)
    }

    pub(super) fn may_repeat(&self, run: usize) -> bool {
        self.times(run) < self.most
    }

    /// Waits until the agent of a repeated run can be reached. If it cannot be, the run itself reports that.
    pub(super) async fn wait_until_reachable(
        &self,
        run: usize,
        what: What,
        agent: &mut BoxAgent,
        limit: Duration,
    ) {
        if self.times(run) > 0 {
            let what = what.doing("waiting until the agent can be reached");
            let waits = || async move {
                agent.wait_until_reachable().await;
                Ok(())
            };
            drop(fenced(limit, what, waits).await);
        }
    }

    /// Keeps an attempt whose agent was not reached, and waits before the next one.
    pub(super) async fn wait(&mut self, ended: Evaluated) {
        let wait =
            FIRST_WAIT.saturating_mul(2_u32.saturating_pow(self.times(ended.report.number))).min(MAX_WAIT);
        self.repeated.push(ended);
        tokio::time::sleep(wait).await;
    }

    /// The errors of repeated attempts in which something was recorded too late, with the number of the run.
    pub(super) fn late(&self) -> impl Iterator<Item = (usize, RunError)> {
        self.repeated.iter().filter_map(|repeated| {
            let late = repeated.late()?;
            let message = format!("in an attempt that was repeated: {}", late.message);
            Some((repeated.report.number, RunError { message, ..late }))
        })
    }

    pub(super) fn into_runs(self) -> Vec<RunReport> {
        self.repeated.into_iter().map(|repeated| repeated.report).collect()
    }
}

/// The note of a report about repeated runs: their number, and the errors of the attempts.
pub(super) fn notes(repeated: &[RunReport]) -> impl Iterator<Item = String> {
    repeated.chunk_by(|one, next| one.number == next.number).map(|of_run| {
        let errors =
            (1..).zip(of_run).filter_map(|(attempt, run)| Some((attempt, run.error.as_ref()?.to_string())));
        let errors: Vec<(usize, String)> = errors.collect();
        let alike = errors.windows(2).all(|two| two[0].1 == two[1].1);
        let said = match errors.first() {
            Some((_, error)) if alike => cut(error, MAX_ERROR_CHARS),
            _ => {
                let said = errors
                    .iter()
                    .map(|(attempt, error)| format!("attempt {attempt}: {}", cut(error, MAX_ERROR_CHARS)));
                said.collect::<Vec<_>>().join("; ")
            }
        };
        let (run, times) = (of_run[0].number, count(of_run.len(), "time"));
        format!("run {run} was repeated {times}, as the agent was not reached: {said}")
    })
}
