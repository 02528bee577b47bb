//! The messages of the protocol: `docs/protocol.md`.

use std::fmt;

use eval_core::Session;
use eval_core::format::{AppDetails, Map, Value};

use super::error::{ProcessError, cut};
use crate::wire::{self, ReadEvent, Reader};

pub(super) const PROTOCOL: i64 = 1;

/// The value of `tools` in `start` and `started`.
pub(super) const GOLDEN: &str = "golden";

/// The value of `tools` in the `started` of a program whose tools are servers of MCP.
pub(super) const MCP: &str = "mcp";

/// `mcp` is the address of the mock that answers the tools of MCP servers.
pub(super) fn start(session: &Session, mcp: Option<String>) -> Map {
    let mut message = Map::from([("type", "start")]);
    message.insert("protocol", PROTOCOL);
    message.insert("app_name", session.app_name.as_str());
    message.insert("user_id", session.user_id.as_str());
    message.insert("state", session.state.clone());
    if session.recorder().golden_tools().is_some() {
        message.insert("tools", GOLDEN);
    }
    if let Some(url) = mcp {
        message.insert("mcp", url);
    }
    message
}

pub(super) fn turn(content: Value) -> Map {
    let mut message = Map::from([("type", "turn")]);
    message.insert("content", content);
    message
}

/// The answer to a call: `result` or `error`.
pub(super) fn tool_result(id: String) -> Map {
    let mut message = Map::from([("type", "tool_result")]);
    message.insert("id", id);
    message
}

pub(super) fn end() -> Map {
    Map::from([("type", "end")])
}

pub(super) fn line(mut message: Map, session: &str) -> Vec<u8> {
    message.insert("session_id", session);
    format!("{}\n", Value::Object(message)).into_bytes()
}

#[derive(Debug)]
pub(super) struct Received {
    pub(super) session: Option<String>,
    pub(super) reply: Reply,
}

#[derive(Debug)]
pub(super) enum Reply {
    Hello,
    Started {
        details: AppDetails,
        tools: Option<String>,
    },
    Event(Box<ReadEvent>),
    Text {
        author: Option<String>,
        text: String,
    },
    ToolCall {
        author: Option<String>,
        name: String,
        args: Value,
        result: Value,
    },
    Tool(Asked),
    /// A recorded call that no tool answers.
    OwnCall {
        name: String,
    },
    TurnEnd {
        state: Option<Map>,
    },
    Error {
        message: String,
    },
}

/// A call whose golden answer a program asks for.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) args: Map,
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hello => "hello",
            Self::Started { .. } => "started",
            Self::Event(_) => "event",
            Self::Text { .. } => "text",
            Self::ToolCall { .. } => "tool_call",
            Self::Tool(_) => "tool",
            Self::OwnCall { .. } => "own_call",
            Self::TurnEnd { .. } => "turn_end",
            Self::Error { .. } => "error",
        })
    }
}

const TYPES: &str =
    "`hello`, `started`, `event`, `text`, `tool_call`, `tool`, `own_call`, `turn_end`, `error`";

pub(super) const HELLO: &str = r#"{"type": "hello", "protocol": 1}"#;

impl Received {
    pub(super) fn read(line: &str) -> Result<Self, ProcessError> {
        let wrong = |why: &str| {
            ProcessError::Protocol(format!(
                "the program wrote a line that is no message of the protocol: {why}: {}",
                cut(line)
            ))
        };
        let value = wire::parse(line).map_err(|why| {
            wrong(match why.strip_prefix("not JSON") {
                None => &why,
                Some(_) => "it is not JSON (its standard output is for messages alone; other text goes to its standard error)",
            })
        })?;
        let mut message = Reader::new(value, "message").map_err(|why| wrong(&why))?;
        let read = Self::from_reader(&mut message).map_err(|why| wrong(&why))?;
        if let Some(key) = message.left().next() {
            return Err(wrong(&format!("`{}` does not have the key `{}`", read.reply, cut(key))));
        }
        Ok(read)
    }

    fn from_reader(message: &mut Reader) -> Result<Self, String> {
        let needed = |found: Option<String>, key: &str| found.ok_or_else(|| format!("`{key}` is missing"));
        let kind = needed(message.text("type")?, "type")?;
        let reply = match kind.as_str() {
            "hello" => match message.value("protocol") {
                // It is the first message, so it belongs to no conversation.
                Some(version) if version.as_i64() == Some(PROTOCOL) => {
                    return Ok(Self { session: None, reply: Reply::Hello });
                }
                Some(version) => {
                    return Err(format!(
                        "its protocol is {}, and this is protocol {PROTOCOL}; write {HELLO}",
                        cut(&version.to_string())
                    ));
                }
                None => return Err(format!("`protocol` is missing; write {HELLO}")),
            },
            "started" => Reply::Started {
                details: message.object("details", wire::details)?.unwrap_or_default(),
                tools: message.text("tools")?,
            },
            "event" => {
                let event = message.object("event", wire::event)?.ok_or("`event` is missing")?;
                Reply::Event(Box::new(event))
            }
            "text" => {
                Reply::Text { author: message.text("author")?, text: needed(message.text("text")?, "text")? }
            }
            "tool_call" => Reply::ToolCall {
                author: message.text("author")?,
                name: needed(message.text("name")?, "name")?,
                args: message.map("args")?.ok_or("`args` is missing")?.into(),
                result: message.value("result").unwrap_or(Value::Null),
            },
            "tool" => Reply::Tool(Asked {
                id: needed(message.text("id")?, "id")?,
                name: needed(message.text("name")?, "name")?,
                args: message.map("args")?.ok_or("`args` is missing")?,
            }),
            "own_call" => Reply::OwnCall { name: needed(message.text("name")?, "name")? },
            "turn_end" => Reply::TurnEnd { state: message.map("state")? },
            "error" => Reply::Error { message: needed(message.text("message")?, "message")? },
            other => return Err(format!("there is no type `{}`; there are {TYPES}", cut(other))),
        };
        let session = match message.raw("session_id") {
            None => None,
            Some(Value::String(id)) if !id.is_empty() => Some(id),
            Some(other) => {
                return Err(format!(
                    "its `session_id` is {}; write the id of `start`, or leave the key out",
                    cut(&other.to_string())
                ));
            }
        };
        Ok(Self { session, reply })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_quoted_with_the_reason() {
        for (line, why) in [
            ("Loading model...", "it is not JSON"),
            (&"[".repeat(300), "nesting is too deep"),
            ("[1]", "`message` should be an object and is an array"),
            ("{}", "`type` is missing"),
            (r#"{"type": "texts"}"#, "there is no type `texts`; there are `hello`"),
            (r#"{"type": "text"}"#, "`text` is missing"),
            (r#"{"type": "text", "text": "x", "tone": 1}"#, "`text` does not have the key `tone`"),
            (r#"{"type": "hello", "protocol": 2}"#, "its protocol is 2, and this is protocol 1"),
            (
                r#"{"type": "hello", "protocol": 1.0}"#,
                r#"its protocol is 1.0, and this is protocol 1; write {"type": "hello", "protocol": 1}"#,
            ),
            (
                r#"{"type": "hello", "protocol": 1, "session_id": "s"}"#,
                "`hello` does not have the key `session_id`",
            ),
            (
                r#"{"type": "turn_end", "session_id": null}"#,
                "its `session_id` is null; write the id of `start`",
            ),
            (
                r#"{"type": "turn_end", "session_id": ""}"#,
                r#"its `session_id` is ""; write the id of `start`"#,
            ),
            (r#"{"type": "turn_end", "session_id": 7}"#, "its `session_id` is 7; write the id of `start`"),
            (r#"{"type": "turn_end", "session_id": ["s"]}"#, r#"its `session_id` is ["s"]; write"#),
            (r#"{"type": "turn_end", "sessionId": "s", "session_id": "t"}"#, "one key in two spellings"),
            (r#"{"type": "text", "text": "a", "text": "b"}"#, "key `text` is repeated in one object"),
            (r#"{"type": "text", "text": "a", "Text": "b"}"#, "`text` does not have the key `Text`"),
            (r#"{"type": "toolCall", "name": "f", "args": {}}"#, "there is no type `toolCall`"),
            (r#"{"type": "hello"}"#, "`protocol` is missing"),
            (r#"{"type": "tool_call", "name": "f", "args": 1}"#, "`message.args` should be an object"),
            (r#"{"type": "event", "event": {"content": 1}}"#, "`message.event.content` should be an object"),
        ] {
            let error = Received::read(line).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            assert!(error.contains(line), "{error}");
        }
    }

    #[test]
    fn the_schema_and_the_page_have_each_message() {
        let schema = Value::parse(include_str!("../../docs/protocol.schema.json")).unwrap();
        let page = include_str!("../../docs/protocol.md");
        let types = |of: &str| -> Vec<String> {
            let messages = schema["$defs"][of]["oneOf"].as_array().unwrap();
            messages
                .iter()
                .map(|of| format!("`{}`", of["properties"]["type"]["const"].as_str().unwrap()))
                .collect()
        };
        let mut written = types("of_the_program");
        let mut known: Vec<&str> = TYPES.split(", ").collect();
        written.sort_unstable();
        known.sort_unstable();
        assert_eq!(written, known);
        assert_eq!(types("to_the_program"), ["`start`", "`turn`", "`tool_result`", "`end`"]);
        for of_both in written.into_iter().chain(types("to_the_program")) {
            assert!(page.contains(&format!("| {of_both} |")), "{of_both}");
        }
    }

    #[test]
    fn requests_carry_their_session() {
        let line =
            String::from_utf8(line(start(&Session::new("a", "u").with_state("k", 1), None), "s")).unwrap();
        assert_eq!(
            line,
            "{\"type\":\"start\",\"protocol\":1,\"app_name\":\"a\",\"user_id\":\"u\",\"state\":{\"k\":1},\"session_id\":\"s\"}\n"
        );
    }
}
