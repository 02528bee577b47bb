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

    /// Whether a run is to be repeated that ended like this. Then it has waited.
    pub(super) async fn is_worth_it(&mut self, run: usize, error: Option<&RunError>) -> bool {
        let Some(error) = error.filter(|error| error.unreachable && self.most > 0) else { return false };
        if self.repeated.last().is_none_or(|last| last.run != run) {
            self.repeated.push(Repeated { run, times: 0, error: String::new() });
        }
        let Some(last) = self.repeated.last_mut() else { return false };
        last.error = error.to_string();
        if last.times == self.most {
            return false;
        }
        let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(last.times)).min(LONGEST_WAIT);
        last.times += 1;
        tokio::time::sleep(wait).await;
        true
    }

    /// What the report says of it.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        self.repeated.iter().map(|Repeated { run, times, error }| {
            let times = count(usize::try_from(*times).unwrap_or(usize::MAX), "time");
            format!("run {run} was repeated {times}, as the agent was not reached: {}", cut(error, SHOWN))
        })
    }
}
