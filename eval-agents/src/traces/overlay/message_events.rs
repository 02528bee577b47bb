//! Events of single messages, OpenTelemetry's former convention.

use eval_core::format::{Map, Value};

use super::filler::{Event, Filler};
use crate::traces::message::{self, Message, Part, captured};
use crate::traces::view::Source;

const NAMES: &[&str] = &[
    "gen_ai.system.message",
    "gen_ai.user.message",
    "gen_ai.assistant.message",
    "gen_ai.tool.message",
    "gen_ai.choice",
];

pub(super) struct MessageEvent<'e> {
    name: &'e str,
    time: u64,
    body: Map,
}

impl<'e> MessageEvent<'e> {
    /// The event of a message. Its fields are the body of a log record, or the attributes of a span's event.
    pub(super) fn from_event(event: &'e Event) -> Option<Self> {
        let name = *NAMES.iter().find(|name| **name == event.name)?;
        let body = match &event.body {
            Value::Null => event.attributes.iter().map(|(key, value)| (key.as_str(), value)).collect(),
            Value::Object(map) => map.clone(),
            Value::String(text) => match Value::parse(text) {
                Ok(Value::Object(map)) => map,
                _ => Map::from([("content", text.as_str())]),
            },
            _ => Map::new(),
        };
        Some(Self { name, time: event.time, body })
    }
}

pub(super) fn apply(filler: &mut Filler<'_>, source: Source, mut events: Vec<MessageEvent<'_>>) {
    // Events of a span are in their order. Records of logs come in any order.
    if source == Source::MessageLog {
        events.sort_by_key(|event| event.time);
    }
    let (mut sent, mut put_out, mut finish) = (Vec::new(), Vec::new(), Vec::new());
    for MessageEvent { name, body, .. } in events {
        match name {
            "gen_ai.user.message" => {
                sent.push(Message::new("user", message::content_parts(&body["content"])));
            }
            "gen_ai.assistant.message" => sent.push(assistant(&body)),
            "gen_ai.tool.message" => sent.push(Message::new("tool", vec![message::openai_result(&body)])),
            "gen_ai.choice" => {
                put_out.push(choice(&body));
                finish.extend(body["finish_reason"].as_str().map(str::to_lowercase));
            }
            _ => {}
        }
    }
    if !sent.is_empty() {
        filler.input(source, captured(sent, Part::has_content));
    }
    if !put_out.is_empty() {
        filler.output(source, captured(put_out, Part::has_content));
    }
    filler.finish(source, finish);
}

fn assistant(body: &Map) -> Message {
    let mut parts = message::content_parts(&body["content"]);
    parts.extend(message::openai_calls(&message::json_or_raw(body["tool_calls"].clone())));
    Message::new("assistant", parts)
}

/// The output of a model: under `message`, as an object or as JSON in a string, or in the event itself.
fn choice(body: &Map) -> Message {
    match message::json_or_raw(body["message"].clone()) {
        Value::Object(message) => assistant(&message),
        Value::String(text) => Message::new("assistant", message::content_parts(&text.into())),
        _ => assistant(body),
    }
}
