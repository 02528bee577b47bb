//! Work that may wait for a disk or another process, on threads that may block.

use tokio::runtime::Handle;
use tokio::task::JoinError;

/// Does the work on a thread that may block, and awaits it. Without a tokio runtime the current thread does
/// the work, as no other task waits for this thread. The work goes on if the future is dropped.
#[cfg(feature = "judges")]
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match outcome_of_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(payload) => std::panic::resume_unwind(payload),
            // The runtime ends, and this task with it.
            Err(_) => std::future::pending().await,
        },
    }
}

/// Does the work as [`blocking`] does. A panic in it, and the end of the runtime, are errors.
pub(crate) async fn outcome_of_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    match Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(work).await,
        Err(_) => Ok(work()),
    }
}
