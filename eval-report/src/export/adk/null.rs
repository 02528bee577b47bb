//! `null`, which ADK writes for each field without a value.

use eval_format::Value;

/// The value, or `null`.
pub(super) fn or_null(value: Option<impl Into<Value>>) -> Value {
    value.map_or(Value::Null, Into::into)
}
