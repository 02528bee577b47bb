//! Recordings: questions to judges with their answers, which tests replay.
//!
//! ```
//! use eval_format::recording::{RecordedQuestion, Recording};
//!
//! let question = RecordedQuestion::new("gemini-2.5-flash", "Is it polite?");
//! let mut recording = Recording::default();
//! recording.add(question.clone().case("refund").reply(0, "yes", None));
//! assert_eq!(recording.find(&question).unwrap().replies[0].text, "yes");
//! ```

mod check;
mod file;
pub(crate) mod lines;
mod question;

pub use check::{CheckedRecording, QuestionSpan, check_recording};
pub use file::Recording;
pub use question::{RecordedQuestion, RecordedReply};

#[cfg(test)]
mod tests;
