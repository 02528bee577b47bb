//! The running case, for judges whose answers depend on earlier questions.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

#[derive(Debug)]
pub(super) struct RunningCase {
    pub(super) eval_id: String,
    began: Instant,
    pub(super) ended: OnceLock<Instant>,
}

impl RunningCase {
    /// Whether the other case was still running when this one began.
    pub(super) fn runs_beside(&self, other: &Self) -> bool {
        other.ended.get().is_none_or(|ended| *ended > self.began)
    }
}

tokio::task_local! {
    static CASE: Arc<RunningCase>;
}

/// Runs a case. Questions to a judge within `run` are attributed to the case.
pub(crate) async fn in_case<T>(eval_id: &str, run: impl Future<Output = T>) -> T {
    let (eval_id, began) = (eval_id.to_owned(), Instant::now());
    let case = Arc::new(RunningCase { eval_id, began, ended: OnceLock::new() });
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
        let _ = self.0.ended.set(Instant::now());
    }
}

pub(super) fn current() -> Option<Arc<RunningCase>> {
    CASE.try_with(Arc::clone).ok()
}
