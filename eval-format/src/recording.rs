//! Recordings: what judges were asked and what they answered, to be replayed.

mod check;
mod file;
mod growing;
mod layout;
mod question;

pub use check::{CheckedRecording, QuestionSpan, check_recording};
pub use file::Recording;
#[doc(hidden)]
pub use growing::GrowingRecording;
pub use question::{RecordedQuestion, RecordedReply};

#[cfg(test)]
mod tests;
