//! Guards around user code: time limits, panics, blocked threads, concurrency.

mod concurrent;
mod fence;
mod lanes;
mod watchdog;

#[cfg(any(test, feature = "judges"))]
pub(crate) use concurrent::all;
pub(crate) use concurrent::{ShutDown, all_until, on_own_task};
pub use fence::TIMED_OUT;
#[cfg(feature = "judges")]
pub(crate) use fence::watched;
pub(crate) use fence::{
    Fault, LIMIT_IS_TIMEOUT, Waited, catch_panic, fenced, fenced_but_for, not_async, panic_message,
};
pub(crate) use lanes::Lanes;
pub(crate) use watchdog::{Watch, What};
