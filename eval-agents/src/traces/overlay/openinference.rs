//! `OpenInference`'s attributes.

use eval_core::format::{Map, Value};

use super::current::tool_arguments;
use super::filler::{Filler, filled};
use super::numbered::{messages, numbered};
use crate::traces::attributes::Attributes;
use crate::traces::message::{self, Message};
use crate::traces::view::{Class, Source};

/// The names of tokens, in the order of a view.
const TOKENS: [&str; 5] = [
    "llm.token_count.prompt",
    "llm.token_count.completion",
    "llm.token_count.prompt_details.cache_read",
    "llm.token_count.prompt_details.cache_write",
    "llm.token_count.completion_details.reasoning",
];

pub(super) fn apply(filler: &mut Filler<'_>, attributes: &Attributes) {
    let Some(kind) = filled(attributes, "openinference.span.kind") else { return };
    if let Some(read) = messages(attributes, "llm.input_messages.", one) {
        filler.input(Source::OpenInference, read);
    }
    if let Some(read) = messages(attributes, "llm.output_messages.", one) {
        filler.output(Source::OpenInference, read);
    }
    filler.tokens(Source::OpenInference, TOKENS.map(|name| attributes.get(name)));
    if let Some(model) = filler.shared(attributes, "llm.model_name") {
        filler.view.model_mut().request_model.offer(Source::OpenInference, model);
    }
    if filler.view.agent.is_none() {
        filler.view.agent = filler.agent(attributes, "agent.name");
    }
    filler.view.other_class = match &*kind.to_uppercase() {
        "LLM" => Some(Class::Inference),
        "AGENT" => Some(Class::Agent),
        "TOOL" => Some(Class::Tool),
        "CHAIN" => None,
        _ => Some(Class::Other),
    };
    if filler.view.other_class == Some(Class::Tool) {
        if filler.view.tool().name.is_none() {
            filler.view.tool_mut().name = filler.shared(attributes, "tool.name");
        }
        let args = ["input.value", "tool.parameters"].into_iter().find_map(|key| attributes.get(key));
        if let Some(args) = args {
            filler.view.tool_mut().args.offer_read(Source::OpenInference, tool_arguments(args));
        }
        if let Some(result) = attributes.get("output.value") {
            filler.result(Source::OpenInference, result);
        }
    }
}

/// The message of these fields, put together as OpenAI has it.
fn one(fields: &[(&str, &Value)]) -> Option<Message> {
    let fields: Vec<(&str, &Value)> =
        fields.iter().filter_map(|(name, value)| Some((name.strip_prefix("message.")?, *value))).collect();
    let mut map: Map =
        fields.iter().filter(|(name, _)| !name.contains('.')).map(|(name, value)| (*name, *value)).collect();
    let stripped = |fields: Vec<(&str, &Value)>, prefix: &str| -> Map {
        let named = fields
            .into_iter()
            .filter_map(|(name, value)| Some((name.strip_prefix(prefix)?.to_owned(), value)));
        named.collect()
    };
    let contents = numbered(fields.iter().copied(), "contents.");
    let contents: Vec<Map> =
        contents.into_values().map(|fields| stripped(fields, "message_content.")).collect();
    if !contents.is_empty() && !map.contains_key("content") {
        map.insert("content", contents);
    }
    let calls = numbered(fields.iter().copied(), "tool_calls.").into_values().map(|fields| {
        let call = stripped(fields, "tool_call.");
        let mut one = Map::new();
        one.insert("id", &call["id"]);
        one.insert("name", &call["function.name"]);
        one.insert("arguments", &call["function.arguments"]);
        one
    });
    let calls: Vec<Map> = calls.collect();
    if !calls.is_empty() {
        map.insert("tool_calls", calls);
    }
    message::message(&map.into())
}
