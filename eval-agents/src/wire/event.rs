//! ADK's events.

use eval_core::agent::Event;
use eval_core::format::options::DEFAULT_AUTHOR;
use eval_core::format::{Content, FunctionCall, FunctionResponse, Part, UsageMetadata};

use super::keys::{respelled_map, snake};
use super::read::{Misread, Reader};

/// Reads an event.
pub(crate) fn event(mut sent: Reader) -> Result<Event, Misread> {
    let author = sent.text("author")?.filter(|author| !author.is_empty());
    let mut event = Event::of(author.unwrap_or_else(|| DEFAULT_AUTHOR.to_owned()));
    event.content = sent.object("content", content)?;
    event.usage = sent.object("usage_metadata", usage)?;
    event.model_version = sent.text("model_version")?;
    event.grounding_metadata = sent.map("grounding_metadata")?.map(|map| respelled_map(map, snake));
    event.error_code = sent.text("error_code")?;
    event.error_message = sent.text("error_message")?;
    event.partial = sent.flag("partial")?.unwrap_or_default();
    if let Some(mut actions) = sent.object("actions", Ok)? {
        event.state_delta = actions.map("state_delta")?.unwrap_or_default();
        event.skip_summarization = actions.flag("skip_summarization")?.unwrap_or_default();
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
    Ok(event)
}

fn content(mut sent: Reader) -> Result<Content, Misread> {
    let mut content = Content::default();
    content.role = sent.text("role")?;
    content.parts = sent.each("parts", part)?;
    Ok(content)
}

fn part(mut sent: Reader) -> Result<Part, Misread> {
    let mut part = Part::default();
    part.text = sent.text("text")?;
    part.thought = sent.flag("thought")?;
    part.function_call = sent.object("function_call", call)?;
    part.function_response = sent.object("function_response", response)?;
    part.other = sent.rest();
    Ok(part)
}

fn call(mut sent: Reader) -> Result<FunctionCall, Misread> {
    let mut call = FunctionCall::default();
    call.id = sent.text("id")?;
    call.name = sent.text("name")?;
    call.args = sent.map("args")?;
    call.other = sent.rest();
    Ok(call)
}

fn response(mut sent: Reader) -> Result<FunctionResponse, Misread> {
    let mut response = FunctionResponse::default();
    response.id = sent.text("id")?;
    response.name = sent.text("name")?;
    response.response = sent.map("response")?;
    response.other = sent.rest();
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
    usage.other = sent.rest();
    Ok(usage)
}

#[cfg(test)]
mod tests {
    use eval_core::format::Value;

    use super::*;

    fn read(text: &str) -> Result<Event, Misread> {
        event(Reader::new(Value::parse(text).unwrap(), "event")?)
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
    fn an_error_without_a_code_is_one() {
        assert_eq!(read(r#"{"errorMessage": "no"}"#).unwrap().error_code.as_deref(), Some("UNKNOWN_ERROR"));
        assert_eq!(read("{}").unwrap(), Event::of("agent"));
    }
}
