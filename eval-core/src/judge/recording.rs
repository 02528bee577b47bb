//! Recordings: files with the answers of judges.
//!
//! [`RecordingStore`] is a recording in use. [`RecordedJudge`] is a judge behind one. All stores of one file
//! share one state in this process, and ask a question once; see `shared.rs`. Disk access and waiting for
//! other processes happen on threads that may block.

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
