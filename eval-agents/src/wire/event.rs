//! ADK's events.

use eval_core::agent::Event;
use eval_core::format::__private::Piece;
use eval_core::format::options::DEFAULT_AUTHOR;
use eval_core::format::{Content, FunctionCall, FunctionResponse, Map, Part, UsageMetadata};

use super::read::{Misread, Reader};

/// Keys of ADK's events that are not read.
const NOT_READ: [&str; 27] = [
    "avg_logprobs",
    "branch",
    "cache_metadata",
    "citation_metadata",
    "custom_metadata",
    "environment_id",
    "finish_reason",
    "go_away",
    "id",
    "input_transcription",
    "interaction_id",
    "interaction_status",
    "interrupted",
    "invocation_id",
    "isolation_scope",
    "live_session_id",
    "live_session_resumption_update",
    "logprobs_result",
    "message_as_output",
    "node_info",
    "output",
    "output_for",
    "output_transcription",
    "timestamp",
    "turn_complete",
    "turn_complete_reason",
    "voice_activity",
];

const ACTIONS_NOT_READ: [&str; 13] = [
    "agent_state",
    "artifact_delta",
    "compaction",
    "end_of_agent",
    "escalate",
    "render_ui_widgets",
    "requested_auth_configs",
    "requested_tool_confirmations",
    "rewind_before_invocation_id",
    "route",
    "set_model_response",
    "transfer_reason",
    "transfer_to_agent",
];

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReadEvent {
    pub(crate) event: Event,
    /// The paths of keys that ADK's events do not have.
    pub(crate) unread: Vec<String>,
}

pub(crate) fn event(mut sent: Reader) -> Result<ReadEvent, Misread> {
    let author = sent.text("author")?.filter(|author| !author.is_empty());
    let mut event = Event::empty(author.unwrap_or_else(|| DEFAULT_AUTHOR.to_owned()));
    event.content = sent.object("content", content)?;
    event.usage = sent.object("usage_metadata", usage)?;
    event.model_version = sent.text("model_version")?;
    event.grounding_metadata = sent.object("grounding_metadata", Reader::rest)?;
    event.error_code = sent.text("error_code")?;
    event.error_message = sent.text("error_message")?;
    event.partial = sent.flag("partial")?.unwrap_or_default();
    if let Some(actions) = sent.object("actions", actions)? {
        (event.state_delta, event.skip_summarization) = actions;
    }
    for id in sent.list("long_running_tool_ids")?.unwrap_or_default() {
        let id = id
            .as_str()
            .ok_or_else(|| format!("`{}` should be a list of strings", sent.path("long_running_tool_ids")))?;
        event.long_running_tool_ids.push(id.to_owned());
    }
    // A message without a code would not be seen as an error.
    if event.error_code.is_none() && event.error_message.is_some() {
        event.error_code = Some("UNKNOWN_ERROR".to_owned());
    }
    sent.end(&NOT_READ)?;
    let unread = sent.unread().take();
    Ok(ReadEvent { event, unread })
}

fn actions(mut sent: Reader) -> Result<(Map, bool), Misread> {
    let state_delta = sent.map("state_delta")?.unwrap_or_default();
    let skip_summarization = sent.flag("skip_summarization")?.unwrap_or_default();
    sent.end(&ACTIONS_NOT_READ)?;
    Ok((state_delta, skip_summarization))
}

fn content(mut sent: Reader) -> Result<Content, Misread> {
    let mut content = Content::default();
    content.role = sent.text("role")?;
    content.parts = sent.each("parts", part)?;
    sent.end(&[])?;
    Ok(content)
}

fn part(mut sent: Reader) -> Result<Part, Misread> {
    let mut part = Part::default();
    part.text = sent.text("text")?;
    part.thought = sent.flag("thought")?;
    part.function_call = sent.object("function_call", call)?;
    part.function_response = sent.object("function_response", response)?;
    part.other = sent.rest_of(Piece::Part)?;
    Ok(part)
}

fn call(mut sent: Reader) -> Result<FunctionCall, Misread> {
    let mut call = FunctionCall::default();
    call.id = sent.text("id")?;
    call.name = sent.text("name")?;
    call.args = sent.map("args")?;
    call.other = sent.rest_of(Piece::FunctionCall)?;
    Ok(call)
}

fn response(mut sent: Reader) -> Result<FunctionResponse, Misread> {
    let mut response = FunctionResponse::default();
    response.id = sent.text("id")?;
    response.name = sent.text("name")?;
    response.response = sent.map("response")?;
    response.other = sent.rest_of(Piece::FunctionResponse)?;
    Ok(response)
}

fn usage(mut sent: Reader) -> Result<UsageMetadata, Misread> {
    let mut usage = UsageMetadata::default();
    usage.prompt_token_count = sent.int("prompt_token_count")?;
    usage.candidates_token_count = sent.int("candidates_token_count")?;
    usage.total_token_count = sent.int("total_token_count")?;
    usage.cached_content_token_count = sent.int("cached_content_token_count")?;
    usage.thoughts_token_count = sent.int("thoughts_token_count")?;
    usage.tool_use_prompt_token_count = sent.int("tool_use_prompt_token_count")?;
    usage.other = sent.rest()?;
    Ok(usage)
}

#[cfg(test)]
mod tests {
    use eval_core::format::Value;

    use super::*;

    fn read(text: &str) -> Result<Event, Misread> {
        event(Reader::new(Value::parse(text).unwrap(), "event")?).map(|read| read.event)
    }

    #[test]
    fn an_event_is_read_in_either_spelling() {
        let camel = r#"{"author": "a", "partial": null, "errorCode": "E", "modelVersion": "m",
            "content": {"role": "model", "parts": [
                {"text": "x", "thought": true, "thoughtSignature": "c2ln"},
                {"functionCall": {"id": "1", "name": "f", "args": {"cityName": "Oslo"}, "willContinue": false}},
                {"functionResponse": {"id": "1", "name": "f", "response": {"skyIs": "blue"}}},
                {"inlineData": {"mimeType": "image/png", "data": "aGk="}}]},
            "usageMetadata": {"promptTokenCount": 3, "promptTokensDetails": [{"tokenCount": 3}]},
            "actions": {"stateDelta": {"lastCity": "Oslo"}, "skipSummarization": true},
            "longRunningToolIds": ["1"], "nodeInfo": {"path": "a@1"}, "timestamp": 1}"#;
        let snake = r#"{"author": "a", "error_code": "E", "model_version": "m",
            "content": {"role": "model", "parts": [
                {"text": "x", "thought": true, "thought_signature": "c2ln"},
                {"function_call": {"id": "1", "name": "f", "args": {"cityName": "Oslo"}, "will_continue": false}},
                {"function_response": {"id": "1", "name": "f", "response": {"skyIs": "blue"}}},
                {"inline_data": {"mime_type": "image/png", "data": "aGk="}}]},
            "usage_metadata": {"prompt_token_count": 3, "prompt_tokens_details": [{"token_count": 3}]},
            "actions": {"state_delta": {"lastCity": "Oslo"}, "skip_summarization": true},
            "long_running_tool_ids": ["1"]}"#;
        let event = read(camel).unwrap();
        assert_eq!(event, read(snake).unwrap());
        assert_eq!(event.calls().next().unwrap().to_string(), r#"f(cityName: "Oslo")"#);
        assert_eq!(event.parts()[3].other["inline_data"]["mime_type"].as_str(), Some("image/png"));
        assert_eq!(event.usage.unwrap().other["prompt_tokens_details"][0]["token_count"].as_i64(), Some(3));
        assert_eq!(event.state_delta["lastCity"].as_str(), Some("Oslo"));
        assert_eq!(event.long_running_tool_ids, ["1"]);
    }

    #[test]
    fn what_has_the_wrong_type_is_named_with_its_path() {
        for (text, why) in [
            ("[]", "`event` should be an object and is an array"),
            (r#"{"author": 1}"#, "`event.author` should be a string and is a number"),
            (
                r#"{"content": {"parts": [{"text": "x"}, {"functionCall": {"args": []}}]}}"#,
                "`event.content.parts[1].function_call.args` should be an object and is an array",
            ),
            (r#"{"longRunningToolIds": [1]}"#, "`event.long_running_tool_ids` should be a list of strings"),
        ] {
            assert_eq!(read(text).unwrap_err(), why);
        }
    }

    #[test]
    fn nothing_that_looks_like_a_key_is_passed_over() {
        for (text, why) in [
            (
                r#"{"content": {"parts": [{"functionCall": {"name": "rm"}, "function_call": {"name": "ls"}}]}}"#,
                "`event.content.parts[0]` has `functionCall` and `function_call`, which are one key in two spellings",
            ),
            (
                r#"{"content": {"parts": [{"text": "garbage", "Text": "It is sunny."}]}}"#,
                "`event.content.parts[0]` has the key `Text`, which nothing reads; is `text` meant?",
            ),
            (
                r#"{"content": {"parts": [{"functionCall": {"name": "rm", "arguments": {}}}]}}"#,
                "`event.content.parts[0].function_call` has the key `arguments`, which nothing reads; write `args`",
            ),
            (
                r#"{"content": {"parts": [{"inlineData": {"mimeType": "a", "mime_type": "b"}}]}}"#,
                "`event.content.parts[0].inline_data` has `mimeType` and `mime_type`",
            ),
            (r#"{"actions": {"state_deltas": {"k": 1}}}"#, "is `stateDelta` meant?"),
            (r#"{"errorcode": "429"}"#, "is `errorCode` meant?"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        let noted = r#"{"mood": 1, "content": {"parts": [{"text": "hi", "smile": true}]}, "id": "1", "branch": null}"#;
        let read = event(Reader::new(Value::parse(noted).unwrap(), "event").unwrap()).unwrap();
        assert_eq!(read.unread, ["event.content.parts[0].smile", "event.mood"]);
    }

    #[test]
    fn an_error_without_a_code_is_one() {
        assert_eq!(read(r#"{"errorMessage": "no"}"#).unwrap().error_code.as_deref(), Some("UNKNOWN_ERROR"));
        assert_eq!(read("{}").unwrap(), Event::empty("agent"));
    }
}
