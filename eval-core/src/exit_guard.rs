//! Threads on which an exit of the process aborts it.

use std::cell::RefCell;
use std::sync::Arc;

use eval_support::message::show_past_the_harness;

thread_local! {
    static UNDERWAY: Underway = const { Underway(RefCell::new(None)) };
}

/// The message of the guard on this thread. Its drop aborts a process that exits in the middle of a test.
/// `std::process::exit` does not unwind: with code 0 the harness, cargo and nextest all count its tests as
/// passed, even tests that never began. But systems drop the thread locals of the thread that exits the
/// process. Only the threads of the test and of [`local`](crate::agent::local) are seen, not the workers of a multi-threaded runtime
/// and not threads that an agent starts.
///
/// A hook for the exit of the whole process (`atexit`) takes unsafe code, and no hook sees `_exit` and `exec`.
/// The journal shows all of these exits: the test that was running has no verdict in it.
struct Underway(RefCell<Option<Arc<str>>>);

impl Drop for Underway {
    fn drop(&mut self) {
        // The guard of a test that came to its end has taken the message out.
        if let Some(message) = self.0.get_mut().take() {
            show_past_the_harness(&message);
            std::process::abort();
        }
    }
}

/// Until this is dropped, a process that exits on this thread is aborted, and the message shown.
pub(crate) struct ExitGuard(());

impl ExitGuard {
    pub(crate) fn new(message: Arc<str>) -> Self {
        set(Some(message));
        Self(())
    }

    /// The message of the guard on this thread, for a guard on another thread of the same test.
    pub(crate) fn message() -> Option<Arc<str>> {
        UNDERWAY.try_with(|underway| underway.0.borrow().clone()).ok().flatten()
    }
}

impl Drop for ExitGuard {
    fn drop(&mut self) {
        set(None);
    }
}

fn set(message: Option<Arc<str>>) {
    // It fails while the locals of the thread are dropped. There is no test then.
    let _ = UNDERWAY.try_with(|underway| underway.0.replace(message));
}
