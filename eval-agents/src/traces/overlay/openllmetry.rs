//! `OpenLLMetry`'s attributes: one for each field of each message, with its number in the name.

use std::collections::BTreeMap;

use eval_core::format::{Map, Value};

use super::filler::Filler;
use crate::traces::attributes::Attributes;
use crate::traces::message::{self, Message, NoContent};
use crate::traces::view::Source;

pub(super) fn apply(filler: &mut Filler<'_>, attributes: &Attributes) {
    if let Some(read) = messages(attributes, "gen_ai.prompt.") {
        filler.input(Source::Indexed, read);
    }
    if let Some(read) = messages(attributes, "gen_ai.completion.") {
        filler.output(Source::Indexed, read);
    }
}

/// The attributes below a prefix, by their number: the rest of the name, and the value.
pub(super) fn numbered<'a>(
    attributes: impl IntoIterator<Item = (&'a str, &'a Value)>,
    prefix: &str,
) -> BTreeMap<u64, Vec<(&'a str, &'a Value)>> {
    let mut by_number: BTreeMap<u64, Vec<(&str, &Value)>> = BTreeMap::new();
    for (name, value) in attributes {
        let Some((number, field)) = name.strip_prefix(prefix).and_then(|rest| rest.split_once('.')) else {
            continue;
        };
        if let Some(number) = number.parse().ok().filter(|_| !field.is_empty()) {
            by_number.entry(number).or_default().push((field, value));
        }
    }
    by_number
}

/// The attributes whose names begin so.
pub(super) fn below<'a>(
    attributes: &'a Attributes,
    prefix: &'a str,
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let from = attributes.range(prefix.to_owned()..);
    from.map(|(name, value)| (name.as_str(), value)).take_while(move |(name, _)| name.starts_with(prefix))
}

fn messages(attributes: &Attributes, prefix: &str) -> Option<Result<Vec<Message>, NoContent>> {
    let by_number = numbered(below(attributes, prefix), prefix);
    if by_number.is_empty() {
        return None;
    }
    let messages: Vec<Message> = by_number.into_values().filter_map(|fields| one(&fields)).collect();
    let has_content = messages.iter().any(|message| !message.parts.is_empty());
    Some(if has_content { Ok(messages) } else { Err(NoContent::NotCaptured) })
}

/// The message of these fields, put together as OpenAI has it.
fn one(fields: &[(&str, &Value)]) -> Option<Message> {
    let mut map: Map =
        fields.iter().filter(|(name, _)| !name.contains('.')).map(|(name, value)| (*name, *value)).collect();
    if let Some(Value::String(text)) = map.get("content")
        && text.trim_start().starts_with('[')
        && let Ok(items @ Value::Array(_)) = Value::parse(text)
        && items.as_array().is_some_and(|items| {
            !items.is_empty() && items.iter().all(|item| item["type"].as_str().is_some())
        })
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
