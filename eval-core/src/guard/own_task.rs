//! Work that gets a task of its own, and ends with the one who waits for it.

use std::future::Future;
use std::panic::resume_unwind;

use tokio::task::JoinHandle;

/// Why a task has no result: its runtime shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShutDown;

/// Does work on a task of its own, on any thread of the runtime. The task ends if the caller stops waiting for it.
///
/// A panic of the work is one of the caller.
pub(crate) async fn on_own_task<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, ShutDown> {
    let mut task = Task(tokio::spawn(work));
    match (&mut task.0).await {
        Ok(result) => Ok(result),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(ShutDown),
        },
    }
}

struct Task<T>(JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_task_ends_with_the_one_who_waits_for_it() {
        let alive = Arc::new(());
        let held = alive.clone();
        let work = on_own_task(async move {
            std::future::pending::<()>().await;
            drop(held);
        });
        assert!(tokio::time::timeout(Duration::from_millis(20), work).await.is_err());
        tokio::task::yield_now().await;
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[tokio::test]
    #[should_panic(expected = "oh")]
    async fn a_panic_is_handed_on() {
        let _ = on_own_task(async { panic!("oh") }).await;
    }
}
