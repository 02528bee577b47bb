//! Anthropic's API: `/v1/messages`.

use eval_format::UsageMetadata;
use serde_json::{Value, json};

use super::options::{closed, options};
use super::{Answer, End, Wire, WireRequest, failure, texts, unfinished, usage};
use crate::judge::JudgeError;

pub(in crate::judge) struct Anthropic;

/// The limit of tokens if a request sets none. The API requires a limit, and no verdict takes as many tokens.
const MAX_TOKENS: u32 = 8192;

pub(super) const FIELDS: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("top_p", "top_p"),
    ("top_k", "top_k"),
    ("max_output_tokens", "max_tokens"),
    ("stop_sequences", "stop_sequences"),
];

impl Wire for Anthropic {
    fn path(&self, _: &str) -> Vec<String> {
        vec!["v1".to_owned(), "messages".to_owned()]
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("x-api-key", key.to_owned())
    }

    fn body(&self, asked: &WireRequest<'_>) -> Result<Value, JudgeError> {
        let options = options(asked, FIELDS)?;
        let mut body = json!({
            "model": asked.model,
            "max_tokens": MAX_TOKENS,
            "messages": [{ "role": "user", "content": asked.request.prompt }]
        });
        for (field, value) in options.fields {
            body[field] = value;
        }
        if let Some(system) = options.system {
            body["system"] = system.into();
        }
        if let Some(schema) = &asked.request.schema {
            let (schema, _) = closed(&schema.clone().into());
            body["output_config"] = json!({ "format": { "type": "json_schema", "schema": schema } });
        }
        Ok(body)
    }

    fn answer(&self, body: &Value) -> Result<Answer, &'static str> {
        if let Some(end) = failure(body) {
            return Ok(Answer { text: String::new(), end, usage: None });
        }
        let content = body["content"].as_array().ok_or("no `content`")?;
        let end = match body["stop_reason"].as_str() {
            Some("refusal") => End::Refused("refusal".to_owned()),
            Some("max_tokens" | "model_context_window_exceeded") => End::Cut,
            Some("end_turn" | "stop_sequence") => End::Complete,
            _ => unfinished(&body["stop_reason"]),
        };
        Ok(Answer {
            text: texts(content.iter().filter(|block| block["type"] == "text")),
            end,
            usage: read_usage(&body["usage"]),
        })
    }
}

fn read_usage(counts: &Value) -> Option<UsageMetadata> {
    let count = |key: &str| counts[key].as_i64();
    let cached = count("cache_read_input_tokens");
    let input = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    let prompt =
        count("input_tokens").map(|_| input.into_iter().filter_map(count).fold(0, i64::saturating_add));
    let output = count("output_tokens");
    let mut counted = UsageMetadata::default();
    counted.prompt_token_count = prompt;
    counted.candidates_token_count = output;
    counted.total_token_count = prompt.zip(output).map(|(prompt, output)| prompt.saturating_add(output));
    counted.cached_content_token_count = cached;
    usage(counted)
}

#[cfg(test)]
mod tests {
    use eval_format::Map;

    use super::*;
    use crate::judge::JudgeRequest;

    fn body(request: &JudgeRequest) -> Value {
        let asked = WireRequest { request, model: "claude-x", provider: "Anthropic", is_own: true };
        Anthropic.body(&asked).unwrap()
    }

    fn answer(body: &Value) -> Result<Answer, &'static str> {
        Anthropic.answer(body)
    }

    #[test]
    fn the_prompt_the_options_and_the_schema_are_sent() {
        let plain = body(&JudgeRequest::new("claude-x", "fine?"));
        let messages = json!([{"role": "user", "content": "fine?"}]);
        assert_eq!(plain, json!({"model": "claude-x", "max_tokens": 8192, "messages": messages}));
        let schema = json!({"type": "object", "properties": {"fine": {"type": "boolean"}}});
        let request = JudgeRequest {
            temperature: Some(0.5),
            schema: Some(schema.into()),
            config: Map::from([("max_output_tokens", 9)]),
            ..JudgeRequest::new("claude-x", "fine?")
        };
        let sent = body(&request);
        assert_eq!((&sent["max_tokens"], &sent["temperature"]), (&json!(9), &json!(0.5)));
        assert_eq!(sent["output_config"]["format"]["schema"]["additionalProperties"], false);
        let config = Map::from([("system_instruction", "be strict")]);
        let sent = body(&JudgeRequest { config, ..request });
        assert_eq!(sent["system"], "be strict");
    }

    #[test]
    fn answers_are_read_without_thoughts() {
        for (content, reason, text, end) in [
            (json!([{"type": "text", "text": "yes"}]), "end_turn", "yes", End::Complete),
            (
                json!([{"type": "thinking", "thinking": "no, or", "text": "no"}, {"type": "text", "text": "yes"}]),
                "end_turn",
                "yes",
                End::Complete,
            ),
            (json!([{"type": "text", "text": "y"}]), "max_tokens", "y", End::Cut),
            (json!([]), "refusal", "", End::Refused("refusal".into())),
            (json!([]), "end_turn", "", End::Complete),
            (json!([]), "pause_turn", "", End::Unfinished(Some("pause_turn".into()))),
            (json!([]), "whatever", "", End::Unfinished(Some("whatever".into()))),
        ] {
            let read = answer(&json!({"content": content, "stop_reason": reason})).unwrap();
            assert_eq!(read, Answer { text: text.to_owned(), end, usage: None });
        }
        for body in [json!({}), json!([]), json!(null), json!("yes")] {
            assert_eq!(answer(&body), Err("no `content`"));
        }
    }

    #[test]
    fn tokens_from_and_into_the_cache_are_part_of_the_prompt() {
        let counts = json!({
            "input_tokens": 3, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 5, "output_tokens": 2
        });
        let usage = read_usage(&counts).unwrap();
        assert_eq!((usage.prompt_token_count, usage.candidates_token_count), (Some(12), Some(2)));
        assert_eq!((usage.total_token_count, usage.cached_content_token_count), (Some(14), Some(4)));
        assert_eq!(read_usage(&Value::Null), None);
    }
}
