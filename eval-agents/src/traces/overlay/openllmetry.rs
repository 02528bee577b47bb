//! `OpenLLMetry`'s attributes: one for each field of each message, with its number in the name.

use eval_core::format::{Map, Value};

use super::filler::Filler;
use super::numbered::{Field, messages, numbered, plain};
use crate::traces::attributes::Attributes;
use crate::traces::message::{self, Message};
use crate::traces::view::Source;

pub(super) fn apply(filler: &mut Filler<'_>, attributes: &Attributes) {
    if let Some(read) = messages(attributes, "gen_ai.prompt.", one) {
        filler.input(Source::Indexed, read);
    }
    if let Some(read) = messages(attributes, "gen_ai.completion.", one) {
        filler.output(Source::Indexed, read);
    }
}

/// The message of these fields, put together as OpenAI has it.
fn one(fields: &[Field<'_>]) -> Option<Message> {
    let mut map = plain(fields);
    if let Some(Value::String(text)) = map.get("content")
        && text.trim_start().starts_with('[')
        && let Ok(Value::Array(items)) = Value::parse(text)
        && !items.is_empty()
        && items.iter().all(|item| item["type"].as_str().is_some())
    {
        map.insert("content", items);
    }
    let calls = numbered(fields.iter().copied(), "tool_calls.");
    let calls: Vec<Map> = calls.into_values().map(|fields| fields.into_iter().collect()).collect();
    if !calls.is_empty() {
        map.insert("tool_calls", calls);
    }
    message::message(&map.into())
}
