//! `OpenLLMetry`'s attributes: one for each field of each message, with the message number in its name.

use std::collections::BTreeMap;

use eval_core::format::{Map, Value};

use super::filler::Filler;
use crate::traces::attributes::Attributes;
use crate::traces::message::{self, Message, NoContent, captured};
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

pub(super) type Field<'a> = (&'a str, &'a Value);

/// The attributes with a prefix, by the number after it: the rest of each name, and the value.
pub(super) fn numbered<'a>(
    attributes: impl IntoIterator<Item = Field<'a>>,
    prefix: &str,
) -> BTreeMap<u64, Vec<Field<'a>>> {
    let mut by_number: BTreeMap<u64, Vec<Field<'_>>> = BTreeMap::new();
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

fn below<'a>(attributes: &'a Attributes, prefix: &'a str) -> impl Iterator<Item = Field<'a>> {
    let from = attributes.range(prefix.to_owned()..);
    from.map(|(name, value)| (name.as_str(), value)).take_while(move |(name, _)| name.starts_with(prefix))
}

pub(super) fn plain(fields: &[Field<'_>]) -> Map {
    fields.iter().filter(|(name, _)| !name.contains('.')).map(|(name, value)| (*name, *value)).collect()
}

/// The messages below a prefix, each of which `one` puts together; `None` if there are none.
pub(super) fn messages(
    attributes: &Attributes,
    prefix: &str,
    one: fn(&[Field<'_>]) -> Option<Message>,
) -> Option<Result<Vec<Message>, NoContent>> {
    let by_number = numbered(below(attributes, prefix), prefix);
    if by_number.is_empty() {
        return None;
    }
    let messages: Vec<Message> = by_number.into_values().filter_map(|fields| one(&fields)).collect();
    Some(captured(messages, |_| true))
}
