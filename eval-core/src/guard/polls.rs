//! The polls of guarded code: how long they took, and whether one is going on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::lanes::Lane;

/// The polls of one piece of guarded code.
#[derive(Debug)]
pub(super) struct Polls {
    /// Where the code runs among others.
    lane: Option<Arc<Lane>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// When the poll that is going on began.
    since: Option<Instant>,
    /// How long the longest one took that ended.
    longest: Duration,
}

/// What late code is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Late {
    /// It is being polled: it blocks its thread.
    Blocks,
    /// It waits, and other code of the same runner is being polled.
    IsHeldUp,
    /// It waits for something that this process does not see.
    Waits,
}

impl Polls {
    pub(super) fn new(lane: Option<Arc<Lane>>) -> Self {
        Self { lane, state: Mutex::default() }
    }

    /// Counts a call as a poll. The call must not panic.
    pub(super) fn during<T>(&self, call: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        self.state().since = Some(begun);
        let result = call();
        let mut state = self.state();
        state.since = None;
        state.longest = state.longest.max(begun.elapsed());
        result
    }

    /// How long the longest poll took that ended.
    pub(super) fn longest(&self) -> Duration {
        self.state().longest
    }

    /// How long others held up the lane of the code, since the lane began.
    pub(super) fn held_up(&self) -> Duration {
        self.lane.as_ref().map(|lane| lane.held_up()).unwrap_or_default()
    }

    /// What the code is doing right now, if it is late.
    pub(super) fn if_late(&self) -> Late {
        match &self.lane {
            _ if self.state().since.is_some() => Late::Blocks,
            Some(lane) if lane.waits() => Late::IsHeldUp,
            _ => Late::Waits,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::lanes::{self, Lanes};
    use super::*;
    use crate::guard;

    #[test]
    fn late_code_blocks_only_while_it_is_polled() {
        let polls = Arc::new(Polls::new(None));
        assert_eq!(polls.if_late(), Late::Waits);
        assert_eq!(polls.during(|| polls.if_late()), Late::Blocks);
        assert_eq!(polls.if_late(), Late::Waits);
    }

    #[tokio::test]
    async fn late_code_is_held_up_while_another_lane_is_polled() {
        let lanes = Arc::<Lanes>::default();
        let waiting: Mutex<Option<Arc<Polls>>> = Mutex::default();
        let waits = lanes.clone().run(async {
            *waiting.lock().unwrap() = Some(Arc::new(Polls::new(lanes::current())));
            tokio::task::yield_now().await;
            Late::Waits
        });
        let blocks = lanes.run(async {
            let polls = waiting.lock().unwrap().take().unwrap();
            polls.if_late()
        });
        let seen =
            guard::all(2, [Box::pin(waits) as crate::agent::BoxFuture<'_, Late>, Box::pin(blocks)]).await;
        assert_eq!(seen[1], Late::IsHeldUp);
    }
}
