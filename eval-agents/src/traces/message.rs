//! Messages in the forms that instrumentations write: OpenTelemetry's, OpenAI's, Anthropic's and Google's.

use std::sync::Arc;

use eval_core::format::{Map, Value};
use eval_support::key_case::{camel, snake};

const PLACEHOLDERS: &[&str] = &["", "<REDACTED>", "<elided>", "__REDACTED__"];

/// The beginning of a message in which ADK tells an agent about another agent, and a mark in it since 2.13.
const ADK_CONTEXT: &str = "For context:";
const ADK_QUOTE: &str = "<<<BEGIN_QUOTED_AGENT_CONTENT>>>";

/// Parts that are neither text nor calls of the agent's tools. Tools of the provider are not the agent's.
const DATA: &[&str] = &[
    "blob",
    "uri",
    "file",
    "image",
    "image_url",
    "input_image",
    "audio",
    "input_audio",
    "video",
    "document",
    "inline_data",
    "file_data",
    "executable_code",
    "code_execution_result",
    "server_tool_call",
    "server_tool_call_response",
    "server_tool_use",
    "web_search_tool_result",
    "compaction",
    "refusal",
    "cache_control",
];

const THOUGHTS: &[&str] = &["reasoning", "thinking", "redacted_thinking", "thought_signature"];

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    pub(super) role: String,
    pub(super) parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Text(String),
    Redacted,
    Thought,
    Call(PartCall),
    Response(Arc<Response>),
    Data,
    Unknown(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct PartCall {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) args: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Response {
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    /// Shared with the span of the tool, and with each model call that was sent it again.
    pub(super) value: Arc<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoContent {
    /// There is nothing, or a placeholder.
    NotCaptured,
    Unreadable,
}

pub(super) fn is_placeholder(text: &str) -> bool {
    PLACEHOLDERS.contains(&text.trim())
}

/// A string as the JSON that it holds; other values as they are. `None` if the string holds no JSON.
pub(super) fn json(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => Value::parse(text).ok(),
        other => Some(other.clone()),
    }
}

pub(super) fn json_or_raw(value: Value) -> Value {
    match &value {
        Value::String(text) => Value::parse(text).unwrap_or(value),
        _ => value,
    }
}

impl Message {
    pub(super) fn new(role: &str, parts: Vec<Part>) -> Self {
        Self { role: role.to_owned(), parts }
    }

    pub(super) fn text(&self) -> Option<String> {
        text_of(&self.parts)
    }

    /// Whether the user wrote it. ADK tells an agent about other agents as the user.
    pub(super) fn is_users(&self) -> bool {
        let mut texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.trim()),
            _ => None,
        });
        let Some(first) = texts.next().filter(|_| self.role == "user") else { return false };
        let is_told = match first.strip_prefix(ADK_CONTEXT) {
            Some("") => texts.next().is_some_and(|next| next.starts_with('[')),
            Some(more) => more.contains(ADK_QUOTE),
            None => false,
        };
        !is_told
    }
}

impl Part {
    pub(super) fn has_content(&self) -> bool {
        *self != Self::Redacted
    }
}

pub(super) fn captured(
    messages: Vec<Message>,
    is_of_use: fn(&Part) -> bool,
) -> Result<Vec<Message>, NoContent> {
    let is_captured = messages.iter().flat_map(|message| &message.parts).any(is_of_use);
    if is_captured { Ok(messages) } else { Err(NoContent::NotCaptured) }
}

pub(super) fn text_of<'p>(parts: impl IntoIterator<Item = &'p Part>) -> Option<String> {
    let texts = parts.into_iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let text: String = texts.collect();
    (!text.is_empty()).then_some(text)
}

/// A list of messages: a list, a JSON string of one, or a single message.
pub(super) fn messages(value: &Value) -> Result<Vec<Message>, NoContent> {
    let parsed;
    let value = match value {
        Value::String(text) if is_placeholder(text) => return Err(NoContent::NotCaptured),
        Value::String(text) => {
            parsed = Value::parse(text).map_err(|_| NoContent::Unreadable)?;
            &parsed
        }
        other => other,
    };
    let items = match value {
        Value::Array(items) => items.as_slice(),
        Value::Object(_) => std::slice::from_ref(value),
        Value::Null => return Err(NoContent::NotCaptured),
        _ => return Err(NoContent::Unreadable),
    };
    captured(
        items.iter().map(message).collect::<Option<_>>().ok_or(NoContent::Unreadable)?,
        Part::has_content,
    )
}

/// One message. Its parts are in `parts` (OpenTelemetry, Google) or in OpenAI's `content` and `tool_calls`.
pub(super) fn message(value: &Value) -> Option<Message> {
    let map = value.as_object()?;
    let role = map["role"].as_str().filter(|role| !role.is_empty()).unwrap_or("user");
    let mut parts = match &map["parts"] {
        Value::Array(parts) => parts.iter().map(part).collect(),
        _ if role == "tool" && ["tool_call_id", "content"].iter().any(|key| map.contains_key(key)) => {
            vec![openai_result(map)]
        }
        _ => content_parts(&map["content"]),
    };
    parts.extend(["tool_calls", "toolCalls"].iter().flat_map(|key| openai_calls(&map[*key])));
    let legacy = ["function_call", "functionCall"].iter().find_map(|key| map[*key].as_object());
    parts.extend(legacy.map(openai_call));
    Some(Message { role: role.to_owned(), parts })
}

/// A message of the role `tool`, as OpenAI has it.
pub(super) fn openai_result(map: &Map) -> Part {
    let content = &map["content"];
    let nested: Vec<Part> = content.as_array().unwrap_or_default().iter().map(part).collect();
    if let Some(response) = nested.iter().find(|part| matches!(part, Part::Response(_))) {
        return response.clone();
    }
    let text = text_of(&nested).map_or_else(|| content.clone(), Value::from);
    let id = [&map["tool_call_id"], &map["id"]].into_iter().find_map(Value::as_str);
    response(id, map["name"].as_str(), json_or_raw(text))
}

/// The content of a message: a string, a list of items with types, or Google's object of parts.
pub(super) fn content_parts(content: &Value) -> Vec<Part> {
    match content {
        Value::Null => Vec::new(),
        Value::String(_) => vec![text(content)],
        Value::Array(items) => items.iter().map(part).collect(),
        Value::Object(map) => match &map["parts"] {
            Value::Array(parts) => parts.iter().map(part).collect(),
            _ => vec![text(content)],
        },
        other => vec![text(other)],
    }
}

/// A text. A value that is no string is written as JSON.
fn text(value: &Value) -> Part {
    match value {
        Value::Null => Part::Redacted,
        Value::String(text) if is_placeholder(text) => Part::Redacted,
        Value::String(text) => Part::Text(text.clone()),
        other => Part::Text(other.to_string()),
    }
}

pub(super) fn part(value: &Value) -> Part {
    let Some(map) = value.as_object() else { return text(value) };
    let Some(kind) = map["type"].as_str() else { return google_part(map) };
    let str_of = |key: &str| map[key].as_str();
    match kind {
        "text" | "input_text" | "output_text" => {
            text(if map.contains_key("content") { &map["content"] } else { &map["text"] })
        }
        "tool_call" | "function_call" => {
            call(str_of("id").or(str_of("call_id")), str_of("name"), arguments(map, &["arguments", "args"]))
        }
        "tool_use" => call(str_of("id"), str_of("name"), arguments(map, &["input"])),
        "function" => openai_call(map),
        "tool_call_response" | "function_call_output" => {
            let value = ["response", "result", "output"].into_iter().find(|key| map.contains_key(key));
            let value = value.map_or(Value::Null, |key| json_or_raw(map[key].clone()));
            response(str_of("id").or(str_of("call_id")), str_of("name"), value)
        }
        "tool_result" => response(str_of("tool_use_id"), None, json_or_raw(flat(&map["content"]))),
        kind if THOUGHTS.contains(&kind) => Part::Thought,
        kind if DATA.contains(&kind) => Part::Data,
        kind => Part::Unknown(kind.to_owned()),
    }
}

/// The content of a result: its text if it is text alone.
pub(super) fn flat(content: &Value) -> Value {
    let parts = content_parts(content);
    let is_text = !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::Text(_)));
    let joined = is_text.then(|| text_of(&parts)).flatten();
    joined.map_or_else(|| content.clone(), Value::from)
}

/// The arguments under the first of these keys. A model that calls a tool without parameters may write an empty string.
fn arguments(map: &Map, keys: &[&str]) -> Option<Value> {
    let value = keys.iter().map(|key| &map[*key]).find(|value| !value.is_null())?;
    match value {
        Value::String(text) if text.trim().is_empty() => Some(Map::new().into()),
        Value::String(text) if is_placeholder(text) => None,
        // JSON that cannot be parsed was truncated: the arguments are not known.
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => Value::parse(text).ok(),
        other => Some(json_or_raw(other.clone())),
    }
}

fn owned(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

fn call(id: Option<&str>, name: Option<&str>, args: Option<Value>) -> Part {
    match owned(name) {
        Some(name) => Part::Call(PartCall { id: owned(id), name, args }),
        None => Part::Unknown("tool_call without a name".to_owned()),
    }
}

fn response(id: Option<&str>, name: Option<&str>, value: Value) -> Part {
    Part::Response(Arc::new(Response { id: owned(id), name: owned(name), value: Arc::new(value) }))
}

pub(super) fn openai_calls(value: &Value) -> Vec<Part> {
    let unknown = || Part::Unknown("tool_calls".to_owned());
    let one = |item: &Value| item.as_object().map_or_else(unknown, openai_call);
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().map(one).collect(),
        _ => vec![unknown()],
    }
}

fn openai_call(map: &Map) -> Part {
    let function = map["function"].as_object().unwrap_or(map);
    call(map["id"].as_str(), function["name"].as_str(), arguments(function, &["arguments"]))
}

fn google_part(map: &Map) -> Part {
    let either = |key: &str| map[key].as_object().or_else(|| map[&*camel(key)].as_object());
    if !map["text"].is_null() {
        return if map["thought"].as_bool() == Some(true) { Part::Thought } else { text(&map["text"]) };
    }
    if let Some(call_of) = either("function_call") {
        return call(call_of["id"].as_str(), call_of["name"].as_str(), arguments(call_of, &["args"]));
    }
    if let Some(answer) = either("function_response") {
        return response(answer["id"].as_str(), answer["name"].as_str(), answer["response"].clone());
    }
    let Some((kind, _)) = map.iter().find(|(_, value)| !value.is_null()) else { return Part::Redacted };
    match &*snake(kind) {
        "inline_data" | "file_data" | "executable_code" | "code_execution_result" | "video_metadata" => {
            Part::Data
        }
        "thought_signature" | "thought" => Part::Thought,
        _ => Part::Unknown(kind.to_owned()),
    }
}

/// A message as Google has it. A message of results alone has the role `tool`.
pub(super) fn google_message(content: &Value, default_role: &str) -> Option<Message> {
    let map = content.as_object()?;
    let parts: Vec<Part> = map["parts"].as_array().unwrap_or_default().iter().map(part).collect();
    let is_result = !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::Response(_)));
    let role = match map["role"].as_str().unwrap_or(default_role) {
        _ if is_result => "tool",
        "model" => "assistant",
        role => role,
    };
    Some(Message::new(role, parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Value {
        Value::parse(text).unwrap()
    }

    /// The arguments of the only call, as JSON; `None` if they are not known.
    fn args(text: &str) -> Option<String> {
        let Part::Call(call) =
            part(&parse(&format!(r#"{{"type": "tool_call", "name": "f", "arguments": {text}}}"#)))
        else {
            panic!("{text}")
        };
        call.args.map(|args| args.to_string())
    }

    #[test]
    fn arguments_are_those_that_were_written_none_or_not_known() {
        let known = |json: &str| Some(json.to_owned());
        // Models write nothing for a tool without parameters.
        assert_eq!(
            (args(r#""""#), args(r#"" \n""#), args(r#""{}""#)),
            (known("{}"), known("{}"), known("{}"))
        );
        assert_eq!(
            (args(r#"{"a": 1}"#), args(r#""{\"a\": 1}""#)),
            (known(r#"{"a":1}"#), known(r#"{"a":1}"#))
        );
        for hidden in ["null", r#""<REDACTED>""#, r#"" <elided> ""#, r#""__REDACTED__""#] {
            assert_eq!(args(hidden), None, "{hidden}");
        }
        for cut in [r#""{\"a\": ""#, r#"" [1, ""#] {
            assert_eq!(args(cut), None, "{cut}");
        }
        // A value that is no object is kept: it is no truncated JSON.
        assert_eq!(
            (args(r#""Paris""#), args(r#""5""#), args("[1]")),
            (known("\"Paris\""), known("5"), known("[1]"))
        );
    }

    #[test]
    fn each_kind_of_part_is_text_a_call_a_result_data_a_thought_or_unknown() {
        let kind = |text: &str| match part(&parse(text)) {
            Part::Text(text) => format!("text {text}"),
            Part::Redacted => "redacted".to_owned(),
            Part::Thought => "thought".to_owned(),
            Part::Call(call) => format!("call {} {:?}", call.name, call.id),
            Part::Response(response) => format!("result {:?} {}", response.id, response.value),
            Part::Data => "data".to_owned(),
            Part::Unknown(kind) => format!("unknown {kind}"),
        };
        for (given, expected) in [
            (r#""Hi""#, "text Hi"),
            ("5", "text 5"),
            (r#"{"type": "text", "content": "Hi"}"#, "text Hi"),
            (r#"{"type": "output_text", "text": "Hi"}"#, "text Hi"),
            (r#"{"type": "text", "text": "<elided>"}"#, "redacted"),
            (r#"{"type": "text"}"#, "redacted"),
            (
                r#"{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}"#,
                "call f Some(\"c\")",
            ),
            (r#"{"type": "tool_use", "id": "c", "name": "f", "input": {}}"#, "call f Some(\"c\")"),
            (
                r#"{"type": "function", "id": "", "function": {"name": "f", "arguments": "{}"}}"#,
                "call f None",
            ),
            (r#"{"type": "tool_call", "name": ""}"#, "unknown tool_call without a name"),
            (
                r#"{"type": "tool_call_response", "id": "c", "result": null, "output": 1}"#,
                "result Some(\"c\") null",
            ),
            (
                r#"{"type": "function_call_output", "call_id": "c", "output": "{\"a\": 1}"}"#,
                r#"result Some("c") {"a":1}"#,
            ),
            (
                r#"{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "5"}]}"#,
                "result Some(\"c\") 5",
            ),
            (r#"{"type": "thinking", "thinking": "hm"}"#, "thought"),
            (r#"{"type": "image_url"}"#, "data"),
            (r#"{"type": "mystery"}"#, "unknown mystery"),
            (r#"{"text": "hm", "thought": true}"#, "thought"),
            (r#"{"text": "Hi"}"#, "text Hi"),
            (r#"{"functionCall": {"name": "f"}}"#, "call f None"),
            (
                r#"{"function_response": {"id": "c", "name": "f", "response": {"a": 1}}}"#,
                r#"result Some("c") {"a":1}"#,
            ),
            (r#"{"inlineData": {}}"#, "data"),
            (r#"{"thoughtSignature": "x"}"#, "thought"),
            (r#"{"mystery": 1}"#, "unknown mystery"),
            (r#"{"text": null}"#, "redacted"),
        ] {
            assert_eq!(kind(given), expected, "{given}");
        }
    }

    #[test]
    fn the_content_of_a_result_is_its_text_if_it_is_text_alone() {
        let content = |text: &str| flat(&parse(text)).to_string();
        assert_eq!(content(r#"[{"type": "text", "text": "1"}, {"type": "text", "text": "2"}]"#), "\"12\"");
        for kept in
            [r#"[{"type":"text","text":"1"},{"type":"image"}]"#, r#"[{"type":"image"}]"#, "[]", "5", "null"]
        {
            assert_eq!(content(kept), if kept == "5" { "\"5\"" } else { kept }, "{kept}");
        }
    }

    #[test]
    fn a_list_of_messages_is_read_as_a_whole_or_not_captured_or_unreadable() {
        let read = |text: &str| messages(&Value::from(text)).map(|read| read.len());
        assert_eq!(
            read(r#"[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]"#),
            Ok(2)
        );
        assert_eq!(read(r#"{"role": "user", "content": "Hi"}"#), Ok(1));
        assert_eq!(read(r#"[{"content": "Hi"}, 5]"#), Err(NoContent::Unreadable));
        assert_eq!((read("5"), read("[{")), (Err(NoContent::Unreadable), Err(NoContent::Unreadable)));
        for hidden in ["", "<REDACTED>", "[]", "null", r#"[{"role": "user", "content": "<elided>"}]"#] {
            assert_eq!(read(hidden), Err(NoContent::NotCaptured), "{hidden}");
        }
        // The message of a tool: by its id, or as one part that holds the result.
        let result = |text: &str| message(&parse(text)).unwrap().parts;
        let by_id = result(r#"{"role": "tool", "tool_call_id": "c", "content": "5"}"#);
        let nested =
            r#"{"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "5"}]}"#;
        assert_eq!(by_id, result(nested));
        assert!(matches!(&by_id[..], [Part::Response(found)] if found.id.as_deref() == Some("c")));
        // A text that only the model is told is no message of the user.
        let is_users = |text: &str| message(&parse(text)).unwrap().is_users();
        assert!(is_users(r#"{"role": "user", "content": "For context: Paris"}"#));
        assert!(is_users(r#"{"role": "user", "content": "For context:"}"#));
        assert!(!is_users(
            r#"{"role": "user", "parts": [{"text": "For context:"}, {"text": "[a] said: x"}]}"#
        ));
        assert!(!is_users(r#"{"role": "assistant", "content": "Hi"}"#));
        assert!(!is_users(r#"{"role": "user", "content": [{"type": "image"}]}"#));
    }

    #[test]
    fn a_message_of_google_with_results_alone_is_one_of_a_tool() {
        let role = |text: &str| google_message(&parse(text), "user").map(|message| message.role);
        let result = r#"{"function_response": {"name": "f", "response": {}}}"#;
        assert_eq!(role(&format!(r#"{{"role": "user", "parts": [{result}]}}"#)).as_deref(), Some("tool"));
        assert_eq!(
            role(&format!(r#"{{"role": "user", "parts": [{result}, {{"text": "Hi"}}]}}"#)).as_deref(),
            Some("user")
        );
        assert_eq!(role(r#"{"role": "model", "parts": []}"#).as_deref(), Some("assistant"));
        assert_eq!((role(r#"{"parts": []}"#).as_deref(), role("5")), (Some("user"), None));
    }
}
