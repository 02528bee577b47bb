//! The messages of MCP that the mock knows: JSON-RPC, one message at a time.

use std::sync::Arc;

use eval_core::format::{Map, Value};
use eval_core::tools::GoldenTools;
use eval_support::message::cut;

use super::{declarations, tool_result};

/// The golden tools that answer in one conversation.
#[derive(Clone)]
pub(super) struct Mock {
    pub(super) tools: GoldenTools,
    /// The answer to `tools/list`.
    declared: Arc<Vec<Value>>,
}

impl Mock {
    pub(super) fn new(tools: GoldenTools) -> Self {
        let declared = declarations::of(&tools);
        Self { tools, declared }
    }
}

/// The reply to a message, by kind.
pub(super) enum Reply {
    /// An answer with its id.
    Answer(Map),
    /// A notification, which has no answer.
    Accepted,
    /// Something that is no message of the mock, with the answer that says so.
    Refused(Map),
}

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

/// The length of a message in the text about it.
const MAX_SHOWN_CHARS: usize = 200;

/// The version that is answered to a client that names none.
const VERSION: &str = "2025-06-18";

/// The reply to a message. A call is counted here, in the order in which messages come, and not when the future runs.
pub(super) fn reply(mock: &Mock, bytes: &[u8]) -> impl Future<Output = Reply> + Send + use<> {
    let called = called(mock, bytes);
    async move {
        match called {
            Ok((id, result)) => Reply::Answer(answer(id, result.await)),
            Err(reply) => reply,
        }
    }
}

/// The id and the result of a call of a tool, or the reply to any other message.
fn called(mock: &Mock, bytes: &[u8]) -> Result<(Value, impl Future<Output = Map> + Send + use<>), Reply> {
    let refused = |id, code, why: &str| Err(Reply::Refused(error(id, code, why)));
    let text = std::str::from_utf8(bytes).ok();
    let Some(message) = text.and_then(|text| Value::parse(text.trim()).ok()) else {
        return refused(Value::Null, PARSE_ERROR, "the message is no JSON");
    };
    let Some(keys) = message.as_object() else {
        let why = "the message is no object: send each message on its own, without a batch";
        return refused(Value::Null, INVALID_REQUEST, why);
    };
    let (id, params) = (message["id"].clone(), &message["params"]);
    match message["method"].as_str() {
        // The mock asks nothing, so it has nothing to do with an answer.
        None if keys.contains_key("result") || keys.contains_key("error") => Err(Reply::Accepted),
        None => refused(id, INVALID_REQUEST, "the message has no `method`"),
        Some("tools/call") => {
            let (code, why) = match (params["name"].as_str(), &params["arguments"]) {
                _ if id.is_null() => (INVALID_REQUEST, "`tools/call` has no `id`".to_owned()),
                (None, _) => (INVALID_PARAMS, "`tools/call` has no `name`".to_owned()),
                (Some(name), Value::Null) => {
                    return Ok((id, tool_result::of_call(&mock.tools, name, &Map::new())));
                }
                (Some(name), Value::Object(args)) => {
                    return Ok((id, tool_result::of_call(&mock.tools, name, args)));
                }
                (Some(_), other) => {
                    (INVALID_PARAMS, format!("`arguments` of `tools/call` is {}", other.kind()))
                }
            };
            // The agent's model may hide the error.
            mock.tools.miss(format!(
                "a client of the MCP mock sent a call that no tool can have: {why}; it sent {}",
                cut(&message.to_string(), MAX_SHOWN_CHARS)
            ));
            let answer = error(id.clone(), code, &why);
            Err(if id.is_null() { Reply::Refused(answer) } else { Reply::Answer(answer) })
        }
        Some(_) if id.is_null() => Err(Reply::Accepted),
        Some("initialize") => Err(Reply::Answer(answer(id, initialized(params)))),
        Some("ping") => Err(Reply::Answer(answer(id, Map::new()))),
        Some("tools/list") => {
            let tools = Value::Array(mock.declared.to_vec());
            Err(Reply::Answer(answer(id, Map::from([("tools", tools)]))))
        }
        Some(other) => {
            let why = format!("Method not found: {}", cut(other, 60));
            Err(Reply::Answer(error(id, METHOD_NOT_FOUND, &why)))
        }
    }
}

/// The versions differ only in parts that the mock lacks, so it takes the client's version.
fn initialized(params: &Value) -> Map {
    let version = params["protocolVersion"].as_str().unwrap_or(VERSION);
    let mut result = Map::from([("protocolVersion", version)]);
    result.insert("capabilities", Map::from([("tools", Map::new())]));
    result.insert("serverInfo", Map::from([("name", "evalset"), ("version", env!("CARGO_PKG_VERSION"))]));
    result
}

fn envelope(id: Value) -> Map {
    let mut message = Map::from([("jsonrpc", "2.0")]);
    message.insert("id", id);
    message
}

fn answer(id: Value, result: Map) -> Map {
    let mut message = envelope(id);
    message.insert("result", result);
    message
}

fn error(id: Value, code: i64, why: &str) -> Map {
    let mut error = Map::from([("code", code)]);
    error.insert("message", why);
    let mut message = envelope(id);
    message.insert("error", error);
    message
}

#[cfg(test)]
mod tests {
    use eval_core::format::{EvalCase, Invocation};

    use super::*;

    #[tokio::test]
    async fn calls_are_counted_in_the_order_in_which_their_messages_come() {
        let turn = Invocation::parse(
            r#"{"user_content": {}, "intermediate_data": {"tool_uses": [{"name": "f", "args": {}}],
                "tool_responses": [{"name": "f", "response": {"n": 1}}]}}"#,
        );
        let faults =
            Value::parse(r#"{"1": {"f#1": {"raises": "first"}, "f#2": {"raises": "second"}}}"#).unwrap();
        let tools = GoldenTools::new(&EvalCase::new("c").turn(turn.unwrap()).with_extra("_tools", faults));
        tools.begin_turn();
        let mock = Mock::new(tools);
        let call = br#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f"}}"#;
        let (first, second) = (reply(&mock, call), reply(&mock, call));
        for (reply, text) in [(second.await, "second"), (first.await, "first")] {
            let Reply::Answer(answer) = reply else { panic!("no answer") };
            assert_eq!(answer["result"]["content"][0]["text"].as_str(), Some(text));
        }
    }
}
