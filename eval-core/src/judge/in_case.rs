//! The running case, for judges whose answers depend on earlier questions.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A case while it runs, and afterwards.
#[derive(Debug)]
pub(super) struct RunningCase {
    pub(super) eval_id: String,
    began: u64,
    /// 0 as long as it runs.
    ended: AtomicU64,
}

impl RunningCase {
    fn begin(eval_id: &str) -> Arc<Self> {
        Arc::new(Self { eval_id: eval_id.to_owned(), began: now(), ended: AtomicU64::new(0) })
    }

    /// The time when it ended; `None` as long as it runs.
    pub(super) fn ended(&self) -> Option<u64> {
        Some(self.ended.load(Ordering::Acquire)).filter(|ended| *ended > 0)
    }

    /// Whether another case still ran when this one, which is still running, began.
    pub(super) fn runs_beside(&self, other: &Self) -> bool {
        other.ended().is_none_or(|ended| ended > self.began)
    }
}

/// The next tick of a logical clock: each number is higher than the last.
fn now() -> u64 {
    static CLOCK: AtomicU64 = AtomicU64::new(1);
    CLOCK.fetch_add(1, Ordering::AcqRel)
}

tokio::task_local! {
    static CASE: Arc<RunningCase>;
}

/// Runs a case. Questions to a judge within `run` are attributed to the case.
pub(crate) async fn in_case<T>(eval_id: &str, run: impl Future<Output = T>) -> T {
    let case = RunningCase::begin(eval_id);
    let _end = End(Arc::clone(&case));
    CASE.scope(case, run).await
}

/// Attributes work to the current case, even if another task runs it.
pub(crate) fn inherited<T>(work: impl Future<Output = T>) -> impl Future<Output = T> {
    let case = current();
    async move {
        match case {
            Some(case) => CASE.scope(case, work).await,
            None => work.await,
        }
    }
}

/// Ends a case, also if its future is dropped.
struct End(Arc<RunningCase>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.ended.store(now(), Ordering::Release);
    }
}

/// The current case; `None` outside of a case, and in tasks that the user spawned.
pub(super) fn current() -> Option<Arc<RunningCase>> {
    CASE.try_with(Arc::clone).ok()
}
