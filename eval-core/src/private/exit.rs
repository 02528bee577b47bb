//! A process that ends in the middle of a test.
//!
//! `std::process::exit` does not unwind. With code 0 the harness, cargo and nextest all take its tests for
//! passed, those that never began included. But systems drop the thread locals of the thread that exits, so one of them
//! can tell. Other threads (those of `spawn_blocking`, workers of a multi-threaded runtime) are not seen.

use std::cell::RefCell;

use super::Test;
use crate::failure;

thread_local! {
    static UNDERWAY: Underway = const { Underway(RefCell::new(None)) };
}

/// The test that runs on this thread.
struct Underway(RefCell<Option<Test>>);

impl Drop for Underway {
    fn drop(&mut self) {
        // A thread that ends by itself has left its test before.
        if let Some(test) = self.0.take() {
            let message = "`std::process::exit` was called while this test ran; the process is aborted, since its exit \
                           code could pass for success";
            failure::show_past_the_harness(&failure::harness(&test, message));
            std::process::abort();
        }
    }
}

/// Until this is dropped, a process that exits on this thread is aborted.
pub(super) struct ExitGuard(());

impl ExitGuard {
    pub(super) fn of(test: Test) -> Self {
        UNDERWAY.with(|underway| underway.0.replace(Some(test)));
        Self(())
    }
}

impl Drop for ExitGuard {
    fn drop(&mut self) {
        // The thread may be past its locals already; then nothing is left to be told.
        let _ = UNDERWAY.try_with(|underway| underway.0.take());
    }
}
