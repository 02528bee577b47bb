//! Recordings: what judges were asked and what they answered, to be replayed.

mod check;
mod file;
mod growing;
mod layout;
mod lines;
mod question;

pub use check::{CheckedRecording, QuestionSpan, check_recording};
pub use file::Recording;
#[doc(hidden)]
pub use growing::GrowingRecording;
#[doc(hidden)]
pub use lines::{line_of, questions_of_lines};
pub use question::{RecordedQuestion, RecordedReply};

#[cfg(test)]
mod tests;
