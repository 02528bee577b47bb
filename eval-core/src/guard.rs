//! Guards around code of others: time limits, panics, blocked threads, and how much of it runs at once.

mod concurrent;
mod fence;
mod watchdog;

pub(crate) use concurrent::all;
pub(crate) use fence::{Fault, Waited, catch_panic, fenced, fenced_but_for, panic_message};
pub(crate) use watchdog::Watch;
