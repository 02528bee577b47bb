//! Text for people and programs: words, times, styles, JSON, and how a command ended.

pub mod again;
mod error;
pub mod json;
mod outcome;
pub mod problem;
pub mod style;
pub mod time;
pub mod width;

pub use error::{CommandError, read, unreadable};
pub use outcome::Outcome;

use std::io::Write;

use eval_support::secrets::mask;
use eval_support::untrusted::guard_styled;

/// Prints lines of progress on standard error, without secrets.
pub fn tell(lines: &str) {
    tell_to(&mut anstream::stderr(), lines);
}

/// Prints lines of progress. The work goes on also if they cannot be written.
pub(crate) fn tell_to(out: &mut dyn Write, lines: &str) {
    let text = guard_styled(&mask(lines));
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
