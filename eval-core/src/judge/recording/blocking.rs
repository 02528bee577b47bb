//! Work that may wait for a disk or for another process: it never holds up a thread that runs async tasks.

use std::future::pending;
use std::panic::resume_unwind;

use tokio::runtime::Handle;

/// Does the work on a thread that may block, and awaits it. Without a runtime of tokio there is no such thread, and none that
/// others wait for: the work is done at once.
///
/// The work goes on if the future is dropped.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let Ok(runtime) = Handle::try_current() else { return work() };
    match runtime.spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(payload) => resume_unwind(payload),
            // The runtime ends, and this task with it.
            Err(_) => pending().await,
        },
    }
}
