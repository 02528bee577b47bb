//! A process that ends in the middle of a test.
//!
//! `std::process::exit` does not unwind. With code 0 the harness, cargo and nextest all take its tests for passed, those
//! that never began included. But systems drop the thread locals of the thread that exits, so one of them can tell: on the
//! thread of a test and on those of its runtime. Threads that an agent starts by itself are not seen.

use std::cell::RefCell;

use super::Test;
use crate::failure;

thread_local! {
    static UNDERWAY: Underway = const { Underway(RefCell::new(None)) };
}

/// For whom this thread works.
#[derive(Clone, Copy)]
enum Work {
    Of(Test),
    /// A thread of the runtime of a test.
    OfARuntime,
}

struct Underway(RefCell<Option<Work>>);

impl Drop for Underway {
    fn drop(&mut self) {
        // A thread that ends by itself has left its work before.
        if let Some(work) = self.0.take() {
            message::show_past_the_harness(&text(work));
            std::process::abort();
        }
    }
}

fn text(work: Work) -> String {
    const WHY: &str = "the process is aborted, since its exit code could pass for success";
    match work {
        Work::Of(test) => {
            failure::harness(&test, &format!("`std::process::exit` was called while this test ran; {WHY}"))
        }
        Work::OfARuntime => {
            format!("Error: `std::process::exit` was called on a thread of a test's runtime; {WHY}")
        }
    }
}

/// Until this is dropped, a process that exits on this thread is aborted.
pub(super) struct ExitGuard(());

impl ExitGuard {
    pub(super) fn of(test: Test) -> Self {
        set(Some(Work::Of(test)));
        Self(())
    }
}

impl Drop for ExitGuard {
    fn drop(&mut self) {
        set(None);
    }
}

/// A thread of a runtime begins.
pub(super) fn enter_runtime() {
    set(Some(Work::OfARuntime));
}

/// A thread of a runtime ends.
pub(super) fn leave_runtime() {
    set(None);
}

fn set(work: Option<Work>) {
    // A thread that is past its locals has nothing left to be told.
    let _ = UNDERWAY.try_with(|underway| underway.0.replace(work));
}
