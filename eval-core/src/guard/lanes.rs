//! Blame for blocked threads: concurrent cases measure how long they waited for a thread that another case blocked.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use eval_support::mutex::Mutex;

/// Pieces of work that may share threads.
///
/// While one of them is polled, the others may be waiting for its thread, or for timers that this thread
/// drives. That time does not count towards the limits of the others. So the case that blocks is blamed, and
/// not the cases that wait.
#[derive(Debug, Default)]
pub(crate) struct Lanes(Mutex<Busy>);

#[derive(Debug, Default)]
struct Busy {
    polled: usize,
    /// The end of the time in `total`; `None` while no lane is polled.
    since: Option<Instant>,
    /// Time during which at least one lane was polled, until `since`.
    total: Duration,
}

impl Busy {
    fn total(&self, now: Instant) -> Duration {
        self.total + self.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }
}

#[derive(Debug)]
pub(crate) struct Lane {
    lanes: Arc<Lanes>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    is_polled: bool,
    /// Time during which other lanes were polled, and this one was not.
    held_up: Duration,
    /// The total of all lanes at the end of the last poll of this one.
    left_at: Duration,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Lane>>> = const { RefCell::new(None) };
}

pub(super) fn current() -> Option<Arc<Lane>> {
    CURRENT.with(|current| current.borrow().clone())
}

impl Lanes {
    pub(crate) async fn run<T>(self: Arc<Self>, work: impl Future<Output = T>) -> T {
        let left_at = self.0.lock().total(Instant::now());
        let state = State { is_polled: false, held_up: Duration::ZERO, left_at };
        let lane = Arc::new(Lane { lanes: self, state: Mutex::new(state) });
        let mut work = pin!(work);
        poll_fn(move |context| {
            let _inside = Inside::enter(&lane);
            work.as_mut().poll(context)
        })
        .await
    }

    /// Changes the number of lanes that are polled. Returns how long at least one was polled so far.
    fn count(&self, change: impl FnOnce(usize) -> usize) -> Duration {
        let mut busy = self.0.lock();
        let now = Instant::now();
        busy.total = busy.total(now);
        busy.polled = change(busy.polled);
        busy.since = (busy.polled > 0).then_some(now);
        busy.total
    }
}

impl Lane {
    /// Time during which other lanes held this one up, from its beginning until it was last polled.
    pub(super) fn held_up(&self) -> Duration {
        self.state.lock().held_up
    }

    pub(super) fn waits(&self) -> bool {
        !self.state.lock().is_polled && self.lanes.0.lock().polled > 0
    }
}

struct Inside {
    lane: Arc<Lane>,
    /// The lane whose poll this one is nested in.
    outer: Option<Arc<Lane>>,
}

impl Inside {
    fn enter(lane: &Arc<Lane>) -> Self {
        let total = lane.lanes.count(|polled| polled + 1);
        let mut state = lane.state.lock();
        let held_up = total.saturating_sub(state.left_at);
        state.held_up += held_up;
        state.is_polled = true;
        drop(state);
        let outer = CURRENT.with(|current| current.borrow_mut().replace(lane.clone()));
        Self { lane: lane.clone(), outer }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let outer = self.outer.take();
        CURRENT.with(|current| *current.borrow_mut() = outer);
        let total = self.lane.lanes.count(|polled| polled - 1);
        let mut state = self.lane.state.lock();
        state.left_at = total;
        state.is_polled = false;
    }
}

#[derive(Debug)]
pub(super) struct Polls {
    lane: Option<Arc<Lane>>,
    state: Mutex<PollsState>,
}

#[derive(Debug, Default)]
struct PollsState {
    since: Option<Instant>,
    longest: Duration,
}

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
        self.state.lock().since = Some(begun);
        let result = call();
        let mut state = self.state.lock();
        state.since = None;
        state.longest = state.longest.max(begun.elapsed());
        result
    }

    pub(super) fn longest(&self) -> Duration {
        self.state.lock().longest
    }

    /// Time during which others held up the lane of the code, since the lane began.
    pub(super) fn held_up(&self) -> Duration {
        self.lane.as_ref().map(|lane| lane.held_up()).unwrap_or_default()
    }

    pub(super) fn if_late(&self) -> Late {
        match &self.lane {
            _ if self.state.lock().since.is_some() => Late::Blocks,
            Some(lane) if lane.waits() => Late::IsHeldUp,
            _ => Late::Waits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard;

    const BLOCKED: Duration = Duration::from_millis(120);

    /// The times during which two lanes are held up: one that sleeps a little, then blocks for its `own` time, and one that blocks at
    /// once.
    async fn beside_one_that_blocks(own: Duration) -> (Duration, Duration) {
        let lanes = Arc::<Lanes>::default();
        let work = |blocks: Duration, sleeps: Duration| {
            let lanes = lanes.clone();
            Box::pin(lanes.run(async move {
                tokio::time::sleep(sleeps).await;
                std::thread::sleep(blocks);
                current().map(|lane| lane.held_up()).unwrap_or_default()
            }))
        };
        let all = guard::all(2, [work(own, Duration::from_millis(20)), work(BLOCKED, Duration::ZERO)]).await;
        (all[0], all[1])
    }

    #[tokio::test]
    async fn time_in_which_another_one_blocks_is_told_apart() {
        let (innocent, guilty) = beside_one_that_blocks(Duration::ZERO).await;
        assert!(innocent >= BLOCKED, "{innocent:?}");
        assert!(guilty < BLOCKED, "{guilty:?}");
        assert!(current().is_none());
    }

    #[tokio::test]
    async fn ones_own_time_is_ones_own() {
        let lanes = Arc::<Lanes>::default();
        let alone = lanes.run(async {
            std::thread::sleep(BLOCKED);
            tokio::task::yield_now().await;
            current().map(|lane| lane.held_up())
        });
        assert!(alone.await.unwrap() < BLOCKED);
    }
}

#[cfg(test)]
mod polls_tests {
    use std::sync::Mutex;

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
            *waiting.lock().unwrap() = Some(Arc::new(Polls::new(current())));
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
