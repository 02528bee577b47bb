//! Keeping keys and tokens out of recordings.

use eval_format::{Map, Value};
use eval_support::secrets::secret_variables;

use crate::judge::{JudgeError, JudgeErrorKind};

/// The entries of a model's configuration that hold headers or keys, in small letters and without `_` and `-`.
const SECRET_KEYS: [&str; 7] =
    ["headers", "extraheaders", "defaultheaders", "httpoptions", "apikey", "authorization", "credentials"];

/// Fails if a text holds the value of a variable that is named like a secret.
pub(super) fn refuse(text: &str, what: &str, recording: &str) -> Result<(), JudgeError> {
    match secret_variables().find(|(_, value)| text.contains(value.as_str())) {
        None => Ok(()),
        Some((name, _)) => Err(JudgeError::new(
            JudgeErrorKind::Failed,
            format!(
                "cannot record: {what} holds the value of `{name}`, which must not stand in `{recording}`; keep it \
                 out of what the agent says, or unset the variable"
            ),
        )),
    }
}

/// The configuration of a model without headers and keys.
pub(super) fn without(config: &Map) -> Map {
    let kept = config.iter().filter(|(key, _)| {
        let key: String = key.chars().filter(|c| !matches!(c, '_' | '-')).collect();
        !SECRET_KEYS.contains(&key.to_ascii_lowercase().as_str())
    });
    kept.map(|(key, value)| (key.to_owned(), plain(value))).collect()
}

fn plain(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(without(map)),
        Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn headers_and_keys_of_a_configuration_are_left_out_and_limits_of_tokens_stay() {
        let config = Value::from(json!({
            "max_output_tokens": 10, "http_options": { "x": 1 }, "extra-headers": { "a": "b" },
            "nested": [{ "apiKey": "k", "top_k": 3 }],
        }));
        let kept = without(config.as_object().unwrap());
        let expected = json!({ "max_output_tokens": 10, "nested": [{ "top_k": 3 }] });
        assert_eq!(Value::from(kept), Value::from(expected));
    }
}
