//! Runs in which the agent was not reached, which are repeated if the options say so.

use std::time::Duration;

use crate::message::{count, cut};
use crate::transcript::RunError;

/// The wait before a run is repeated; it doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(8);

/// The most characters of an error in a note.
const SHOWN: usize = 300;

/// The runs of a case that were repeated.
#[derive(Debug)]
pub(super) struct Again {
    /// How often each may be.
    most: u32,
    repeated: Vec<Repeated>,
}

#[derive(Debug)]
struct Repeated {
    run: usize,
    times: u32,
    /// The last error.
    error: String,
}

impl Again {
    pub(super) fn new(most: u32) -> Self {
        Self { most, repeated: Vec::new() }
    }

    /// Whether a run begins anew if its agent is not reached.
    pub(super) fn may_repeat(&self, run: usize) -> bool {
        let times = self.repeated.last().filter(|last| last.run == run).map_or(0, |last| last.times);
        times < self.most
    }

    /// Waits before a run begins anew that ended like this.
    pub(super) async fn wait(&mut self, run: usize, error: &RunError) {
        let times = match self.repeated.last_mut() {
            Some(last) if last.run == run => {
                last.times += 1;
                last.error = error.to_string();
                last.times
            }
            _ => {
                self.repeated.push(Repeated { run, times: 1, error: error.to_string() });
                1
            }
        };
        let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(times - 1)).min(LONGEST_WAIT);
        tokio::time::sleep(wait).await;
    }

    /// How often runs were repeated.
    pub(super) fn count(&self) -> usize {
        self.repeated.iter().map(|repeated| usize::try_from(repeated.times).unwrap_or(usize::MAX)).sum()
    }

    /// What the report says of it.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        self.repeated.iter().map(|Repeated { run, times, error }| {
            let times = count(usize::try_from(*times).unwrap_or(usize::MAX), "time");
            format!("run {run} was repeated {times}, as the agent was not reached: {}", cut(error, SHOWN))
        })
    }
}
