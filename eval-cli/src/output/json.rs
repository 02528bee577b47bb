//! JSON documents for programs.

use serde::Serialize;

use super::error::CommandError;
use super::foreign;
use super::outcome::Outcome;

/// A document as text, with a line break at the end.
pub(crate) fn document(document: &impl Serialize) -> Result<String, CommandError> {
    match serde_json::to_string_pretty(document) {
        Ok(text) => Ok(foreign::json(&text) + "\n"),
        Err(error) => Err(CommandError::new(format!("cannot write JSON: {error}"), "use `--format human`")),
    }
}

/// An error as the document that a program gets in place of the answer.
pub(crate) fn error_document(error: &CommandError, command: Option<&str>) -> String {
    let said = serde_json::json!({ "message": error.message, "help": error.help });
    let answer = serde_json::json!({ "command": command, "outcome": Outcome::Unmeasurable, "error": said });
    // A value has no part that cannot be written.
    document(&answer).unwrap_or_default()
}

/// The number, if JSON can express it. Metrics of the user's own may return infinities and NaN.
pub(crate) fn finite(number: Option<f64>) -> Option<f64> {
    number.filter(|number| number.is_finite())
}
