//! OpenAI's API, which many other servers speak: `/chat/completions`.

use eval_format::UsageMetadata;
use serde_json::{Value, json};

use super::options::{closed, options};
use super::{Answer, End, Wire, WireRequest, failure, texts, unfinished, usage};
use crate::judge::JudgeError;

pub(in crate::judge) struct OpenAi {
    /// The field of the limit of tokens at the provider's own address.
    own_max_tokens: &'static str,
}

/// OpenAI itself. Its newer models refuse `max_tokens`, the only name that compatible servers know.
pub(in crate::judge) const OPEN_AI: OpenAi = OpenAi { own_max_tokens: "max_completion_tokens" };

pub(in crate::judge) const COMPATIBLE: OpenAi = OpenAi { own_max_tokens: MAX_TOKENS };

const MAX_TOKENS: &str = "max_tokens";

pub(super) const FIELDS: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("top_p", "top_p"),
    ("max_output_tokens", MAX_TOKENS),
    ("stop_sequences", "stop"),
    ("seed", "seed"),
    ("presence_penalty", "presence_penalty"),
    ("frequency_penalty", "frequency_penalty"),
];

impl Wire for OpenAi {
    fn path(&self, _: &str) -> Vec<String> {
        vec!["chat".to_owned(), "completions".to_owned()]
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    fn body(&self, asked: &WireRequest<'_>) -> Result<Value, JudgeError> {
        let options = options(asked, FIELDS)?;
        let mut messages = Vec::new();
        if let Some(system) = options.system {
            messages.push(json!({ "role": "system", "content": system }));
        }
        messages.push(json!({ "role": "user", "content": asked.request.prompt }));
        let mut body = json!({ "model": asked.model, "messages": messages });
        for (field, value) in options.fields {
            let field = if asked.is_own && field == MAX_TOKENS { self.own_max_tokens } else { field };
            body[field] = value;
        }
        if let Some(schema) = &asked.request.schema {
            let (schema, strict) = closed(&schema.clone().into());
            body["response_format"] = json!({
                "type": "json_schema",
                "json_schema": { "name": "verdict", "schema": schema, "strict": strict }
            });
        }
        Ok(body)
    }

    fn answer(&self, body: &Value) -> Result<Answer, &'static str> {
        let usage = read_usage(&body["usage"]);
        if let Some(end) = failure(body) {
            return Ok(Answer { text: String::new(), end, usage });
        }
        let choice = body["choices"].get(0).ok_or("no `choices`")?;
        let message = &choice["message"];
        let text = match &message["content"] {
            Value::String(text) => without_thoughts(text).to_owned(),
            content => texts(content.as_array().into_iter().flatten()),
        };
        let end = match (message["refusal"].as_str(), choice["finish_reason"].as_str()) {
            (Some(refusal), _) if !refusal.is_empty() => End::Refused(refusal.to_owned()),
            (_, Some("content_filter")) => End::Refused("content_filter".to_owned()),
            (_, Some("length")) => End::Cut,
            // Compatible servers send the last three.
            (_, Some("stop" | "eos" | "eos_token" | "stop_sequence")) => End::Complete,
            _ => unfinished(&choice["finish_reason"]),
        };
        Ok(Answer { text, end, usage })
    }
}

/// An answer without the leading thoughts, which open models often write between these tags.
fn without_thoughts(text: &str) -> &str {
    let Some(thoughts) = text.trim_start().strip_prefix("<think>") else { return text };
    thoughts.split_once("</think>").map_or("", |(_, answer)| answer.trim_start())
}

fn read_usage(counts: &Value) -> Option<UsageMetadata> {
    let thoughts = counts["completion_tokens_details"]["reasoning_tokens"].as_i64();
    let completion = counts["completion_tokens"].as_i64();
    let mut counted = UsageMetadata::default();
    counted.prompt_token_count = counts["prompt_tokens"].as_i64();
    // OpenAI counts thoughts as part of the completion. The count here is without them, as Gemini's is.
    counted.candidates_token_count = completion.map(|all| all.saturating_sub(thoughts.unwrap_or(0)));
    counted.total_token_count = counts["total_tokens"].as_i64();
    counted.cached_content_token_count = counts["prompt_tokens_details"]["cached_tokens"].as_i64();
    counted.thoughts_token_count = thoughts;
    usage(counted)
}

#[cfg(test)]
mod tests {
    use eval_format::Map;

    use super::*;
    use crate::judge::JudgeRequest;

    fn body(wire: &OpenAi, request: &JudgeRequest, is_own: bool) -> Value {
        wire.body(&WireRequest { request, model: "gpt-x", provider: "OpenAI", is_own }).unwrap()
    }

    fn answer(body: &Value) -> Result<Answer, &'static str> {
        OPEN_AI.answer(body)
    }

    fn request() -> JudgeRequest {
        JudgeRequest {
            temperature: Some(0.0),
            config: Map::from([("max_output_tokens", 9)]),
            ..JudgeRequest::new("m", "fine?")
        }
    }

    #[test]
    fn the_prompt_the_options_and_the_schema_are_sent() {
        let own = body(&OPEN_AI, &request(), true);
        assert_eq!(
            own,
            json!({
                "model": "gpt-x",
                "messages": [{"role": "user", "content": "fine?"}],
                "temperature": 0.0,
                "max_completion_tokens": 9
            })
        );
        let schema =
            json!({"type": "object", "properties": {"fine": {"type": "boolean"}}, "required": ["fine"]});
        let config = Map::from([("system_instruction", "be strict")]);
        let request = JudgeRequest { schema: Some(schema.into()), config, ..request() };
        let sent = body(&OPEN_AI, &request, false);
        assert_eq!(sent["messages"][0], json!({"role": "system", "content": "be strict"}));
        assert_eq!(sent["response_format"]["json_schema"]["strict"], true);
        assert_eq!(sent["response_format"]["json_schema"]["schema"]["additionalProperties"], false);
    }

    #[test]
    fn others_are_sent_the_older_name_of_the_limit() {
        for (wire, is_own) in [(OPEN_AI, false), (COMPATIBLE, true)] {
            let sent = body(&wire, &request(), is_own);
            assert_eq!(sent["max_tokens"], 9, "{sent}");
        }
    }

    fn read(message: &Value, finish: &str) -> Answer {
        answer(&json!({ "choices": [{ "message": message, "finish_reason": finish }] })).unwrap()
    }

    #[test]
    fn answers_are_read_without_thoughts() {
        for (message, finish, text, end) in [
            (json!({"content": "yes"}), "stop", "yes", End::Complete),
            (
                json!({"content": "yes", "refusal": null, "reasoning_content": "hm"}),
                "stop",
                "yes",
                End::Complete,
            ),
            (
                json!({"content": [{"type": "text", "text": "y"}, {"type": "text", "text": "es"}]}),
                "stop",
                "yes",
                End::Complete,
            ),
            (json!({"content": "<think>no, or</think>\n\nyes"}), "stop", "yes", End::Complete),
            (json!({"content": "<think>no, or"}), "length", "", End::Cut),
            (json!({"content": "a <think> is a tag"}), "stop", "a <think> is a tag", End::Complete),
            (json!({"content": null}), "stop", "", End::Complete),
            (json!({"content": null, "refusal": "I can't"}), "stop", "", End::Refused("I can't".into())),
            (json!({"content": ""}), "content_filter", "", End::Refused("content_filter".into())),
            (json!({"content": "yes"}), "eos_token", "yes", End::Complete),
            (json!({"content": "yes"}), "tool_calls", "yes", End::Unfinished(Some("tool_calls".into()))),
            (json!({"content": "yes"}), "abort", "yes", End::Unfinished(Some("abort".into()))),
        ] {
            assert_eq!(read(&message, finish), Answer { text: text.to_owned(), end, usage: None });
        }
    }

    #[test]
    fn tokens_of_thoughts_are_counted_apart() {
        let counts = json!({
            "prompt_tokens": 10, "completion_tokens": 7, "total_tokens": 17,
            "prompt_tokens_details": {"cached_tokens": 4},
            "completion_tokens_details": {"reasoning_tokens": 5}
        });
        let usage = read_usage(&counts).unwrap();
        assert_eq!((usage.prompt_token_count, usage.candidates_token_count), (Some(10), Some(2)));
        assert_eq!((usage.total_token_count, usage.thoughts_token_count), (Some(17), Some(5)));
        assert_eq!(usage.cached_content_token_count, Some(4));
        assert_eq!(read_usage(&Value::Null), None);
    }

    #[test]
    fn errors_with_a_good_status_are_errors() {
        let body = json!({"error": {"message": "busy", "code": 429}});
        assert_eq!(answer(&body).unwrap().end, End::Failed { status: Some(429), message: "busy".into() });
        let both =
            json!({"error": "down", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]});
        assert_eq!(answer(&both).unwrap().end, End::Failed { status: None, message: "down".into() });
        let silent = json!({"choices": [{"message": {"content": "yes"}}]});
        assert_eq!(answer(&silent).unwrap().end, End::Unfinished(None));
        let body = json!({"error": "down"});
        assert_eq!(answer(&body).unwrap().end, End::Failed { status: None, message: "down".into() });
        for body in [json!({}), json!([]), json!(null), json!({"choices": []}), json!("yes")] {
            assert_eq!(answer(&body), Err("no `choices`"));
        }
    }
}
