//! JSON documents for programs.

use eval_support::untrusted;
use serde::Serialize;

use super::CommandError;

/// A document as text, with a line break at the end.
pub fn document(document: &impl Serialize) -> Result<String, CommandError> {
    match serde_json::to_string_pretty(document) {
        Ok(text) => Ok(untrusted::json(&text) + "\n"),
        Err(error) => Err(CommandError::new(format!("cannot write JSON: {error}"), "use `--format human`")),
    }
}

/// The number, if JSON can express it. Metrics of the user's own may return infinities and NaN.
pub fn finite(number: Option<f64>) -> Option<f64> {
    number.filter(|number| number.is_finite())
}
