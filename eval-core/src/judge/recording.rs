//! Recordings: files of what judges answered.
//!
//! [`RecordingStore`] is a recording in use. [`RecordedJudge`] is a judge behind one.

mod error;
mod file;
mod label;
mod lock;
mod miss;
mod recorded_judge;
mod secrets;
mod store;

pub(super) use miss::no_recording;
pub use recorded_judge::RecordedJudge;
pub(crate) use store::{RecordingStore, RecordingText};

#[cfg(test)]
mod tests;
