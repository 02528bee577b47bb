//! The messages of MCP that the mock knows: JSON-RPC, one message at a time.

use std::sync::Arc;

use eval_core::format::{Map, Value};
use eval_core::tools::GoldenTools;

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
        let declared = Arc::new(declarations::of(&tools));
        Self { tools, declared }
    }
}

/// What becomes of a message.
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

/// The version that is answered to a client that names none.
const VERSION: &str = "2025-06-18";

pub(super) async fn reply(mock: &Mock, bytes: &[u8]) -> Reply {
    let text = std::str::from_utf8(bytes).ok();
    let Some(message) = text.and_then(|text| Value::parse(text.trim()).ok()) else {
        return Reply::Refused(error(Value::Null, PARSE_ERROR, "the message is no JSON"));
    };
    let Some(message) = message.as_object() else {
        let why = "the message is no object: send each message on its own, without a batch";
        return Reply::Refused(error(Value::Null, INVALID_REQUEST, why));
    };
    let part = |key: &str| message.get(key).cloned().unwrap_or(Value::Null);
    let (id, method, params) = (part("id"), part("method"), part("params"));
    match method.as_str() {
        // The mock asks nothing, so it has nothing to do with an answer.
        None if message.contains_key("result") || message.contains_key("error") => Reply::Accepted,
        None => Reply::Refused(error(id, INVALID_REQUEST, "the message has no `method`")),
        Some(_) if id.is_null() => Reply::Accepted,
        Some(method) => Reply::Answer(match answer(mock, method, &params).await {
            Ok(result) => {
                let mut answer = envelope(id);
                answer.insert("result", result);
                answer
            }
            Err((code, why)) => error(id, code, &why),
        }),
    }
}

async fn answer(mock: &Mock, method: &str, params: &Value) -> Result<Map, (i64, String)> {
    match method {
        "initialize" => Ok(initialized(params)),
        "ping" => Ok(Map::new()),
        "tools/list" => Ok(Map::from([("tools", Value::Array(mock.declared.to_vec()))])),
        "tools/call" => {
            let name = params["name"].as_str();
            let name = name.ok_or_else(|| (INVALID_PARAMS, "`tools/call` has no `name`".to_owned()))?;
            let none = Map::new();
            let args = match &params["arguments"] {
                Value::Object(args) => args,
                Value::Null => &none,
                _ => return Err((INVALID_PARAMS, "`arguments` is no object".to_owned())),
            };
            Ok(tool_result::of_call(&mock.tools, name, args).await)
        }
        other => {
            let other = eval_support::message::cut(other, 60);
            Err((METHOD_NOT_FOUND, format!("Method not found: {other}")))
        }
    }
}

/// The versions differ in what the mock does not have, so it takes the one of the client.
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

fn error(id: Value, code: i64, why: &str) -> Map {
    let mut error = Map::from([("code", code)]);
    error.insert("message", why);
    let mut message = envelope(id);
    message.insert("error", error);
    message
}
