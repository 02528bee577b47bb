//! `judge_model_config`: what of it can be sent, and what each wire calls it.

use serde_json::Value;

use super::Provider;
use crate::judge::{JudgeError, JudgeErrorKind, JudgeRequest};

/// The options of a request in the words of a wire.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Options {
    /// Fields and their values.
    pub(super) fields: Vec<(&'static str, Value)>,
    /// What ADK calls the system instruction.
    pub(super) system: Option<String>,
    /// Gemini's safety settings, which do not stand beside the other fields.
    pub(super) safety: Option<Value>,
}

/// A key of ADK's `GenerateContentConfig`, and its name on the wires that have it.
struct Known {
    key: &'static str,
    gemini: Option<&'static str>,
    open_ai: Option<&'static str>,
    anthropic: Option<&'static str>,
}

const fn known(
    key: &'static str,
    gemini: Option<&'static str>,
    open_ai: Option<&'static str>,
    anthropic: Option<&'static str>,
) -> Known {
    Known { key, gemini, open_ai, anthropic }
}

const KNOWN: &[Known] = &[
    known("temperature", Some("temperature"), Some("temperature"), Some("temperature")),
    known("top_p", Some("topP"), Some("top_p"), Some("top_p")),
    known("top_k", Some("topK"), None, Some("top_k")),
    known("max_output_tokens", Some("maxOutputTokens"), Some("max_tokens"), Some("max_tokens")),
    known("stop_sequences", Some("stopSequences"), Some("stop"), Some("stop_sequences")),
    known("seed", Some("seed"), Some("seed"), None),
    known("presence_penalty", Some("presencePenalty"), Some("presence_penalty"), None),
    known("frequency_penalty", Some("frequencyPenalty"), Some("frequency_penalty"), None),
    known("thinking_config", Some("thinkingConfig"), None, None),
];

/// Reads the options of a request. What cannot be sent is an error: a judge that is not asked as the
/// criterion says gives another score.
pub(super) fn options(request: &JudgeRequest, provider: Provider) -> Result<Options, JudgeError> {
    let mut options = Options::default();
    if let Some(temperature) = request.temperature {
        options.fields.push(("temperature", temperature.into()));
    }
    for (written, value) in request.config.iter().filter(|(_, value)| !value.is_null()) {
        let key = snake_case(written);
        let field = KNOWN.iter().find(|known| known.key == key).and_then(|known| match provider {
            Provider::Gemini => known.gemini,
            Provider::OpenAi | Provider::Ollama => known.open_ai,
            Provider::Anthropic => known.anthropic,
        });
        match (key.as_str(), value.as_str()) {
            _ if field.is_some() => {
                options.fields.extend(field.map(|field| (field, value.clone().into())));
            }
            ("system_instruction", Some(text)) => options.system = Some(text.to_owned()),
            ("safety_settings", _) if provider == Provider::Gemini => {
                options.safety = Some(value.clone().into());
            }
            // Without tools nothing is called, and one candidate is what everybody sends.
            ("automatic_function_calling", _) => {}
            ("candidate_count", _) if value.as_i64() == Some(1) => {}
            _ => return Err(not_sent(written, &key, provider)),
        }
    }
    Ok(options)
}

fn not_sent(written: &str, key: &str, provider: Provider) -> JudgeError {
    let instead = match key {
        "http_options" => "set `EVALSET_JUDGE_TIMEOUT` and `EVALSET_JUDGE_RETRIES` instead",
        "candidate_count" => "`num_samples` says how often a judge is asked",
        "system_instruction" => "it has to be a text",
        "response_mime_type" | "response_schema" | "response_json_schema" => {
            "the metric decides the form of the answer; remove it"
        }
        _ => "remove it, or choose a model that has it",
    };
    let message = format!("`{written}` in `judge_model_config` cannot be sent to {provider}: {instead}");
    JudgeError::new(JudgeErrorKind::Failed, message)
}

/// `topP` as `top_p`; ADK reads both.
fn snake_case(key: &str) -> String {
    let mut snake = String::with_capacity(key.len());
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use eval_format::{Map, json};

    use super::*;

    fn read(config: Value, provider: Provider) -> Result<Options, JudgeError> {
        let config: eval_format::Value = config.into();
        let config: Map = config.as_object().cloned().unwrap_or_default();
        options(&JudgeRequest { config, ..JudgeRequest::new("m", "p") }, provider)
    }

    #[test]
    fn both_spellings_become_the_wires_own() {
        for config in
            [json!({"top_p": 0.5, "max_output_tokens": 9}), json!({"topP": 0.5, "maxOutputTokens": 9})]
        {
            for (provider, top_p, max) in [
                (Provider::Gemini, "topP", "maxOutputTokens"),
                (Provider::OpenAi, "top_p", "max_tokens"),
                (Provider::Ollama, "top_p", "max_tokens"),
                (Provider::Anthropic, "top_p", "max_tokens"),
            ] {
                let options = read(config.clone(), provider).unwrap();
                assert_eq!(options.fields, [(max, json!(9)), (top_p, json!(0.5))], "{provider}");
            }
        }
    }

    #[test]
    fn nulls_and_what_changes_nothing_are_left_out() {
        let config = json!({
            "seed": null,
            "http_options": null,
            "candidate_count": 1,
            "automatic_function_calling": {"disable": true}
        });
        assert_eq!(read(config, Provider::Anthropic).unwrap(), Options::default());
    }

    #[test]
    fn what_cannot_be_sent_is_an_error() {
        for (config, provider, says) in [
            (
                json!({"seed": 1}),
                Provider::Anthropic,
                "`seed` in `judge_model_config` cannot be sent to Anthropic",
            ),
            (json!({"topK": 1}), Provider::OpenAi, "`topK` in `judge_model_config` cannot be sent to OpenAI"),
            (json!({"tools": []}), Provider::Gemini, "`tools`"),
            (json!({"safety_settings": []}), Provider::Ollama, "`safety_settings`"),
            (json!({"http_options": {}}), Provider::Gemini, "EVALSET_JUDGE_TIMEOUT"),
            (json!({"candidate_count": 3}), Provider::Gemini, "num_samples"),
            (json!({"system_instruction": {"parts": []}}), Provider::Gemini, "has to be a text"),
            (json!({"response_schema": {}}), Provider::Gemini, "the metric decides"),
        ] {
            let error = read(config, provider).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
            assert!(!error.is_transient());
        }
    }
}
