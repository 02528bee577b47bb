//! Where a draft comes from, in words.

use eval_format::Value;
use eval_support::untrusted::one_line;

/// Where a draft comes from: what `from` says, else the whole mark.
pub(crate) fn origin(mark: &Value) -> String {
    match &mark["from"] {
        Value::String(from) => format!("from {}", one_line(from)),
        _ => one_line(&mark.to_string()),
    }
}
