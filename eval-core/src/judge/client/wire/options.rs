//! The options of `judge_model_config` that a provider takes.

use eval_support::key_case::snake;
use serde_json::Value;

use super::WireRequest;
use crate::judge::JudgeError;

#[derive(Debug, Default, PartialEq)]
pub(super) struct RequestOptions {
    pub(super) fields: Vec<(&'static str, Value)>,
    pub(super) system: Option<String>,
}

/// Reads the options of a request. `names` are the options that the provider takes: the key in ADK's
/// `GenerateContentConfig`, and the provider's own field.
/// An option that cannot be sent is an error: without it, the judge could give another score.
pub(super) fn options(
    asked: &WireRequest<'_>,
    names: &[(&str, &'static str)],
) -> Result<RequestOptions, JudgeError> {
    let mut options = RequestOptions::default();
    let field_of = |key: &str| names.iter().find(|(name, _)| *name == key).map(|(_, field)| *field);
    if let Some(temperature) = asked.request.temperature {
        let key = "temperature";
        let field = field_of(key).ok_or_else(|| not_sent(key, key, asked.provider))?;
        options.fields.push((field, temperature.into()));
    }
    for (written, value) in asked.request.config.iter().filter(|(_, value)| !value.is_null()) {
        let key = snake(written);
        if let Some(field) = field_of(&key) {
            options.fields.push((field, value.clone().into()));
            continue;
        }
        match (key.as_str(), value.as_str()) {
            ("system_instruction", Some(text)) => options.system = Some(text.to_owned()),
            // No tools are sent, so none is called.
            ("automatic_function_calling", _) => {}
            // Every request is for one candidate.
            ("candidate_count", _) if value.as_i64() == Some(1) => {}
            _ => return Err(not_sent(written, &key, asked.provider)),
        }
    }
    Ok(options)
}

fn not_sent(written: &str, key: &str, provider: &str) -> JudgeError {
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
    JudgeError::failed(message)
}

/// A schema whose objects allow only their own keys, and whether each object requires all of its keys.
///
/// Providers that decode by a schema accept no other form. OpenAI accepts a schema as strict only if every
/// key is required. An object that sets `additionalProperties` itself stays as it is.
pub(super) fn closed(schema: &Value) -> (Value, bool) {
    let mut schema = schema.clone();
    let strict = close(&mut schema);
    (schema, strict)
}

fn close(schema: &mut Value) -> bool {
    let mut strict = true;
    each_part(schema, &mut |part| strict &= close(part));
    let Some(object) = schema.as_object_mut() else { return strict };
    let keys = object.get("properties").and_then(Value::as_object);
    let Some(keys) = keys else { return strict && object.get("type") != Some(&Value::from("object")) };
    let required = object.get("required").and_then(Value::as_array).map_or(0, |required| {
        required.iter().filter(|key| key.as_str().is_some_and(|key| keys.contains_key(key))).count()
    });
    strict &= required == keys.len();
    let others = object.entry("additionalProperties").or_insert(Value::Bool(false));
    strict && *others == Value::Bool(false)
}

fn each_part(schema: &mut Value, call: &mut dyn FnMut(&mut Value)) {
    let Some(object) = schema.as_object_mut() else { return };
    for (key, value) in object {
        match (key.as_str(), value) {
            ("properties" | "$defs" | "definitions", Value::Object(parts)) => {
                parts.values_mut().for_each(&mut *call);
            }
            ("anyOf" | "allOf" | "oneOf" | "prefixItems", Value::Array(parts)) => {
                parts.iter_mut().for_each(&mut *call);
            }
            ("items", part) => call(part),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use eval_format::Map;
    use serde_json::json;

    use super::super::{anthropic, gemini, open_ai};
    use super::*;
    use crate::judge::{JudgeRequest, Provider};

    fn read(config: Value, provider: Provider) -> Result<RequestOptions, JudgeError> {
        let config: eval_format::Value = config.into();
        let config: Map = config.as_object().cloned().unwrap_or_default();
        let request = JudgeRequest { config, ..JudgeRequest::new("m", "p") };
        let fields = match provider {
            Provider::Gemini => gemini::FIELDS,
            Provider::OpenAi | Provider::Ollama => open_ai::FIELDS,
            Provider::Anthropic => anthropic::FIELDS,
        };
        let name = provider.to_string();
        options(&WireRequest { request: &request, model: "m", provider: &name, is_own: true }, fields)
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
        assert_eq!(read(config, Provider::Anthropic).unwrap(), RequestOptions::default());
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

#[cfg(test)]
mod schema_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_closed_at_every_depth() {
        let schema = json!({
            "type": "object",
            "properties": {
                "verdicts": {"type": "array", "items": {"type": "object", "properties": {"a": {}}}},
                "either": {"anyOf": [{"type": "string"}, {"properties": {}}]},
                "open": {"type": "object", "properties": {}, "additionalProperties": true}
            }
        });
        let (closed, _) = closed(&schema);
        assert_eq!(closed["additionalProperties"], false);
        assert_eq!(closed["properties"]["verdicts"]["items"]["additionalProperties"], false);
        assert_eq!(closed["properties"]["either"]["anyOf"][1]["additionalProperties"], false);
        assert_eq!(closed["properties"]["either"]["anyOf"][0], json!({"type": "string"}));
        assert_eq!(closed["properties"]["open"]["additionalProperties"], true);
    }

    #[test]
    fn strict_is_a_schema_that_requires_everything() {
        let all = json!({"type": "object", "properties": {"a": {}}, "required": ["a"]});
        for (schema, strict) in [
            (all.clone(), true),
            (json!({"items": all}), true),
            (json!({"type": "string"}), true),
            (json!({"type": "object", "properties": {"a": {}}}), false),
            (json!({"items": {"properties": {"a": {}}}}), false),
            (json!({"type": "object"}), false),
            (json!({"properties": {}, "additionalProperties": true}), false),
        ] {
            assert_eq!(closed(&schema).1, strict, "{schema}");
        }
    }
}
