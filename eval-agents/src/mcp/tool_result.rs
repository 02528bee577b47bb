//! The result of a call in MCP, from the answer of a golden.

use eval_core::format::{Map, Value};
use eval_core::tools::{Answered, GoldenError, GoldenTools};

/// Asks the golden tools at once, and puts their answer into the form of MCP once it is there.
pub(super) fn of_call(
    tools: &GoldenTools,
    name: &str,
    args: &Map,
) -> impl Future<Output = Map> + Send + use<> {
    let (tools, name, answer) = (tools.clone(), name.to_owned(), tools.answer(name, args));
    async move {
        match answer.await {
            Ok(Answered { response, state, .. }) => {
                refuse_state(&tools, &name, &state);
                of_response(response)
            }
            Err(GoldenError { message, state, .. }) => {
                refuse_state(&tools, &name, &state);
                of_text(message, true)
            }
        }
    }
}

/// A server of MCP has no way to the session of its agent.
fn refuse_state(tools: &GoldenTools, name: &str, state: &Map) {
    if !state.is_empty() {
        tools.miss(format!(
            "a fault has `{name}` set the session state, which a tool of an MCP server cannot; take `state` out of `_tools`"
        ));
    }
}

/// A response that is a result of MCP is handed on as it is: ADK records the tools of MCP servers so. Any other becomes text,
/// and structured content if it is an object.
fn of_response(response: Value) -> Map {
    if let Value::Object(result) = &response
        && result.get("content").is_some_and(|content| content.as_array().is_some())
    {
        return result.clone();
    }
    let text = response.as_str().map_or_else(|| response.to_string(), str::to_owned);
    let mut result = of_text(text, false);
    if response.as_object().is_some() {
        result.insert("structuredContent", response);
    }
    result
}

fn of_text(text: String, is_error: bool) -> Map {
    let part = Map::from([("type", "text".to_owned()), ("text", text)]);
    let mut result = Map::from([("content", Value::Array(vec![part.into()]))]);
    result.insert("isError", is_error);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_of_mcp_is_handed_on_and_any_other_response_becomes_one() {
        for (response, result) in [
            (
                r#"{"content":[{"type":"text","text":"refunded"}],"isError":true,"x":1.50}"#,
                r#"{"content":[{"type":"text","text":"refunded"}],"isError":true,"x":1.50}"#,
            ),
            (
                r#"{"status":"shipped"}"#,
                r#"{"content":[{"type":"text","text":"{\"status\":\"shipped\"}"}],"isError":false,"structuredContent":{"status":"shipped"}}"#,
            ),
            (
                r#"{"content":"no list"}"#,
                r#"{"content":[{"type":"text","text":"{\"content\":\"no list\"}"}],"isError":false,"structuredContent":{"content":"no list"}}"#,
            ),
            (r#""<html>""#, r#"{"content":[{"type":"text","text":"<html>"}],"isError":false}"#),
            ("[1]", r#"{"content":[{"type":"text","text":"[1]"}],"isError":false}"#),
        ] {
            let made = Value::Object(of_response(Value::parse(response).unwrap()));
            assert_eq!(made, Value::parse(result).unwrap(), "{response}");
        }
    }
}
