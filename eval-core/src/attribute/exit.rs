//! A process that ends in the middle of a test.
//!
//! `std::process::exit` does not unwind. With code 0 the harness, cargo and nextest all take its tests for passed, those
//! that never began included. But systems drop the thread locals of the thread that exits, so one of them can tell. Only
//! the thread of the test is seen, not the workers of a multi-threaded runtime and not threads that an agent starts.
//!
//! A hook for the exit of the whole process (`atexit`) takes unsafe code, ours or that of a crate. The crate that offers
//! it as a safe function, `shutdown_hooks`, has not been kept since its first version, and every user would build it. No
//! hook sees `_exit` and `exec`. What sees them all is the journal: the test that was running has no verdict in it.

use std::cell::Cell;

use crate::compiled::Test;
use crate::failure;

thread_local! {
    static UNDERWAY: Underway = const { Underway(Cell::new(None)) };
}

struct Underway(Cell<Option<Test>>);

impl Drop for Underway {
    fn drop(&mut self) {
        // The guard of a test that came to its end has taken the test out.
        if let Some(test) = self.0.take() {
            eval_support::message::show_past_the_harness(&text(&test));
            std::process::abort();
        }
    }
}

fn text(test: &Test) -> String {
    const WHY: &str = "the process is aborted, since its exit code could pass for success";
    failure::harness(test, &format!("`std::process::exit` was called while this test ran; {WHY}"))
}

/// Until this is dropped, a process that exits on this thread is aborted.
pub(super) struct ExitGuard(());

impl ExitGuard {
    pub(super) fn of(test: Test) -> Self {
        set(Some(test));
        Self(())
    }
}

impl Drop for ExitGuard {
    fn drop(&mut self) {
        set(None);
    }
}

fn set(test: Option<Test>) {
    // It fails while the locals of the thread are dropped. There is no test then.
    let _ = UNDERWAY.try_with(|underway| underway.0.replace(test));
}
