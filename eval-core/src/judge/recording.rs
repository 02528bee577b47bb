//! Recordings: files of what judges answered.
//!
//! [`RecordingStore`] is a recording in use. [`RecordedJudge`] is a judge behind one. All stores of one file share what this
//! process knows of it, and ask a question once; see `shared.rs`. What is read from disk or written, and what waits for
//! another process, is on threads that may block.

mod file;
mod miss;
mod recorded_judge;
mod shared;
mod store;

pub(super) use miss::no_recording;
pub use recorded_judge::RecordedJudge;
pub(crate) use store::{RecordingStore, RecordingText};

#[cfg(test)]
mod tests;
