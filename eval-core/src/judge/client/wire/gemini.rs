//! Google's Gemini API: `models/<name>:generateContent`.

use eval_format::UsageMetadata;
use serde_json::{Map, Value, json};

use super::options::options;
use super::{Answer, End, Wire, WireRequest, failure, texts, unfinished, usage};
use crate::judge::JudgeError;

pub(in crate::judge) struct Gemini;

/// Options and their fields in `generationConfig`.
pub(super) const FIELDS: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("top_p", "topP"),
    ("top_k", "topK"),
    ("max_output_tokens", "maxOutputTokens"),
    ("stop_sequences", "stopSequences"),
    ("seed", "seed"),
    ("presence_penalty", "presencePenalty"),
    ("frequency_penalty", "frequencyPenalty"),
    ("thinking_config", "thinkingConfig"),
    ("safety_settings", SAFETY),
];

/// The only field that belongs beside `generationConfig`.
const SAFETY: &str = "safetySettings";

impl Wire for Gemini {
    fn path(&self, model: &str) -> Vec<String> {
        vec!["v1beta".to_owned(), "models".to_owned(), format!("{model}:generateContent")]
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("x-goog-api-key", key.to_owned())
    }

    fn body(&self, asked: &WireRequest<'_>) -> Result<Value, JudgeError> {
        let options = options(asked, FIELDS)?;
        let mut body =
            json!({ "contents": [{ "role": "user", "parts": [{ "text": asked.request.prompt }] }] });
        let mut config = Map::new();
        for (field, value) in options.fields {
            if field == SAFETY {
                body[SAFETY] = value;
            } else {
                config.insert(field.to_owned(), value);
            }
        }
        if let Some(schema) = &asked.request.schema {
            config.insert("responseMimeType".to_owned(), "application/json".into());
            // This field takes JSON schemas as they are, unlike the older `responseSchema`.
            config.insert("responseJsonSchema".to_owned(), schema.clone().into());
        }
        if !config.is_empty() {
            body["generationConfig"] = config.into();
        }
        if let Some(system) = options.system {
            body["systemInstruction"] = json!({ "parts": [{ "text": system }] });
        }
        Ok(body)
    }

    fn answer(&self, body: &Value) -> Result<Answer, &'static str> {
        if let Some(end) = failure(body) {
            return Ok(Answer { text: String::new(), end, usage: None });
        }
        let Some(candidate) = body["candidates"].get(0) else {
            let blocked = body["promptFeedback"]["blockReason"].as_str().ok_or("no `candidates`")?;
            return Ok(Answer { text: String::new(), end: End::Refused(blocked.to_owned()), usage: None });
        };
        let parts = candidate["content"]["parts"].as_array().into_iter().flatten();
        let end = match candidate["finishReason"].as_str() {
            Some("MAX_TOKENS") => End::Cut,
            Some(
                reason @ ("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"),
            ) => End::Refused(reason.to_owned()),
            Some("STOP") => End::Complete,
            _ => unfinished(&candidate["finishReason"]),
        };
        let count = |key: &str| body["usageMetadata"][key].as_i64();
        let mut counted = UsageMetadata::default();
        counted.prompt_token_count = count("promptTokenCount");
        counted.candidates_token_count = count("candidatesTokenCount");
        counted.total_token_count = count("totalTokenCount");
        counted.cached_content_token_count = count("cachedContentTokenCount");
        counted.thoughts_token_count = count("thoughtsTokenCount");
        Ok(Answer { text: texts(parts.filter(|part| part["thought"] != true)), end, usage: usage(counted) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::JudgeRequest;

    fn body(request: &JudgeRequest) -> Value {
        Gemini.body(&WireRequest { request, model: "m", provider: "Gemini", is_own: true }).unwrap()
    }

    fn answer(body: &Value) -> Result<Answer, &'static str> {
        Gemini.answer(body)
    }

    #[test]
    fn the_prompt_the_options_and_the_schema_are_sent() {
        let plain = body(&JudgeRequest::new("m", "fine?"));
        assert_eq!(plain, json!({"contents": [{"role": "user", "parts": [{"text": "fine?"}]}]}));
        let schema = json!({"type": "object"});
        let config: eval_format::Value = json!({
            "topK": 3,
            "thinking_config": {"thinking_budget": 0},
            "safety_settings": [{"category": "C", "threshold": "OFF"}],
            "system_instruction": "be strict"
        })
        .into();
        let request = JudgeRequest {
            temperature: Some(0.5),
            schema: Some(schema.clone().into()),
            config: config.as_object().cloned().unwrap(),
            ..JudgeRequest::new("m", "fine?")
        };
        assert_eq!(
            body(&request),
            json!({
                "contents": [{"role": "user", "parts": [{"text": "fine?"}]}],
                "generationConfig": {
                    "temperature": 0.5,
                    "topK": 3,
                    "thinkingConfig": {"thinking_budget": 0},
                    "responseMimeType": "application/json",
                    "responseJsonSchema": schema
                },
                "safetySettings": [{"category": "C", "threshold": "OFF"}],
                "systemInstruction": {"parts": [{"text": "be strict"}]}
            })
        );
    }

    fn read(candidate: &Value) -> Answer {
        answer(&json!({ "candidates": [candidate] })).unwrap()
    }

    #[test]
    fn answers_are_read_without_thoughts() {
        for (parts, finish, text, end) in [
            (json!([{"text": "yes"}]), "STOP", "yes", End::Complete),
            (
                json!([{"text": "no, or", "thought": true}, {"text": "y"}, {"text": "es"}]),
                "STOP",
                "yes",
                End::Complete,
            ),
            (json!([{"text": "no, or", "thought": true}]), "STOP", "", End::Complete),
            (json!([{"text": "y"}]), "MAX_TOKENS", "y", End::Cut),
            (json!(null), "SAFETY", "", End::Refused("SAFETY".into())),
        ] {
            let candidate = json!({"content": {"parts": parts}, "finishReason": finish});
            assert_eq!(read(&candidate), Answer { text: text.to_owned(), end, usage: None });
        }
        assert_eq!(read(&json!({})).end, End::Unfinished(None));
        for reason in ["OTHER", "MALFORMED_FUNCTION_CALL", "FINISH_REASON_UNSPECIFIED", "NEW"] {
            assert_eq!(read(&json!({ "finishReason": reason })).end, End::Unfinished(Some(reason.into())));
        }
    }

    #[test]
    fn a_blocked_prompt_is_a_refusal_and_anything_else_no_answer() {
        let blocked = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}});
        assert_eq!(answer(&blocked).unwrap().end, End::Refused("PROHIBITED_CONTENT".into()));
        for body in [json!({}), json!([]), json!(null), json!({"candidates": []}), json!("yes")] {
            assert_eq!(answer(&body), Err("no `candidates`"));
        }
    }

    #[test]
    fn tokens_are_counted() {
        let body = json!({
            "candidates": [{}],
            "usageMetadata": {
                "promptTokenCount": 10, "candidatesTokenCount": 2, "totalTokenCount": 17,
                "thoughtsTokenCount": 5, "cachedContentTokenCount": 4
            }
        });
        let usage = answer(&body).unwrap().usage.unwrap();
        assert_eq!((usage.prompt_token_count, usage.candidates_token_count), (Some(10), Some(2)));
        assert_eq!((usage.total_token_count, usage.thoughts_token_count), (Some(17), Some(5)));
        assert_eq!(usage.cached_content_token_count, Some(4));
    }
}
