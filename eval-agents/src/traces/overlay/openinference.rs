//! `OpenInference`'s attributes.

use eval_core::format::{Map, Value};

use super::current::tool_arguments;
use super::filler::{Filler, filled};
use super::numbered::{messages, numbered};
use crate::traces::attributes::Attributes;
use crate::traces::message::{self, Message, NoContent, flat, json};
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
    filler.view.is_chain = filler.view.other_class.is_none();
    match filler.view.other_class {
        Some(Class::Inference) => model_call(filler, attributes),
        Some(Class::Tool) => tool(filler, attributes),
        // Spans of chains and agents may have a first message only, which need not be of their turn.
        _ => {}
    }
}

fn model_call(filler: &mut Filler<'_>, attributes: &Attributes) {
    if let Some(read) = messages(attributes, "llm.input_messages.", one) {
        filler.input(Source::OpenInference, read);
    }
    if let Some(read) = messages(attributes, "llm.output_messages.", one) {
        filler.output(Source::OpenInference, read);
    }
    if let Some(reason) = filled(attributes, "llm.finish_reason") {
        filler.view.model_mut().finish.offer(Source::OpenInference, vec![reason]);
    }
}

fn tool(filler: &mut Filler<'_>, attributes: &Attributes) {
    if filler.view.tool().name.is_none() {
        filler.view.tool_mut().name = filler.shared(attributes, "tool.name");
    }
    let id = ["tool.id", "tool_call.id"].into_iter().find_map(|key| filled(attributes, key));
    let output = attributes.get("output.value");
    let of_langchain = output.and_then(json).and_then(|output| tool_message(&output));
    // LangChain writes the only argument of a tool without its name, so that a text of JSON looks like arguments.
    let is_json = attributes.get("input.mime_type").and_then(Value::as_str) == Some("application/json");
    if let Some(args) = attributes.get("input.value").filter(|_| is_json && of_langchain.is_none()) {
        let read = tool_arguments(args)
            .and_then(|args| if args.as_object().is_some() { Ok(args) } else { Err(NoContent::NotCaptured) });
        filler.view.tool_mut().args.offer_read(Source::ToolInput, read);
    }
    let (result, message_id) = match of_langchain {
        Some((content, id)) => (Some(content), id),
        None => (output.cloned(), None),
    };
    if let Some(result) = result {
        filler.result(Source::OpenInference, &result);
    }
    if filler.view.tool().call_id.is_none() {
        filler.view.tool_mut().call_id = message_id.or(id);
    }
}

/// The content of a message of `LangChain` that has the result of a tool, and the id of the call.
fn tool_message(value: &Value) -> Option<(Value, Option<Box<str>>)> {
    let fields = [&value["data"], &value["kwargs"]].into_iter().find(|it| it.as_object().is_some())?;
    let id = fields["tool_call_id"].as_str()?;
    let content = match flat(&fields["content"]) {
        Value::Null => return None,
        content => content,
    };
    Some((content, Some(id.into())))
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
        // Empty arguments are left out.
        match &call["function.arguments"] {
            Value::Null => one.insert("arguments", Map::new()),
            arguments => one.insert("arguments", arguments),
        };
        one
    });
    let calls: Vec<Map> = calls.collect();
    if !calls.is_empty() {
        map.insert("tool_calls", calls);
    }
    message::message(&map.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_in_a_message_of_langchain_is_its_content() {
        let read =
            |text: &str| tool_message(&Value::parse(text).unwrap()).map(|(content, _)| content.to_string());
        let dumped = r#"{"type": "tool", "data": {"content": "12:00", "tool_call_id": "c1"}}"#;
        assert_eq!(read(dumped).as_deref(), Some("\"12:00\""));
        let made =
            r#"{"lc": 1, "kwargs": {"content": [{"type": "text", "text": "12:00"}], "tool_call_id": "c1"}}"#;
        assert_eq!(read(made).as_deref(), Some("\"12:00\""));
        for other in [r#"{"data": {"content": "12:00"}}"#, r#"{"data": 5}"#, r#"{"city": "Paris"}"#, "[]"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
