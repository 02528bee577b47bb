//! `OpenInference`'s attributes.

use eval_core::format::{Map, Value};

use super::current::tool_arguments;
use super::filler::{Filler, filled};
use super::openllmetry::{Field, messages, numbered, plain};
use crate::traces::attributes::Attributes;
use crate::traces::message::{self, Message, NoContent, flat, json};
use crate::traces::view::{Class, Source};

/// The names of token counts, in the order of `Tokens`.
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
    filler.model(Source::OpenInference, attributes.get("llm.model_name"), |it| &mut it.request_model);
    filler.agent(attributes, "agent.name");
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
        // Messages in chain and agent spans are not read: they may be the first message alone, of another
        // turn.
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
    filler.finish(Source::OpenInference, filled(attributes, "llm.finish_reason"));
}

fn tool(filler: &mut Filler<'_>, attributes: &Attributes) {
    filler.tool(attributes, "tool.name");
    let id = ["tool.id", "tool_call.id"].into_iter().find_map(|key| filled(attributes, key));
    let output = attributes.get("output.value");
    let of_langchain = output.and_then(json).and_then(|output| tool_message(&output));
    // LangChain writes a tool's only argument without its name: JSON in it would look like the arguments.
    let is_json = attributes.get("input.mime_type").and_then(Value::as_str) == Some("application/json");
    if let Some(args) = attributes.get("input.value").filter(|_| is_json && of_langchain.is_none()) {
        let read = tool_arguments(args)
            .and_then(|args| if args.as_object().is_some() { Ok(args) } else { Err(NoContent::NotCaptured) });
        filler.view.tool_mut().args.offer_read(Source::ToolInput, read);
    }
    let (result, message_id) = of_langchain.unzip();
    if let Some(result) = result.as_ref().or(output) {
        filler.result(Source::OpenInference, result);
    }
    if filler.view.tool().call_id.is_none() {
        filler.view.tool_mut().call_id = message_id.or(id);
    }
}

/// The tool result in a message of `LangChain`, and the id of its call.
fn tool_message(value: &Value) -> Option<(Value, Box<str>)> {
    let fields = [&value["data"], &value["kwargs"]].into_iter().find(|it| it.as_object().is_some())?;
    let id = fields["tool_call_id"].as_str()?;
    let content = Some(flat(&fields["content"])).filter(|content| !content.is_null())?;
    Some((content, id.into()))
}

fn one(fields: &[Field<'_>]) -> Option<Message> {
    let fields: Vec<Field<'_>> =
        fields.iter().filter_map(|(name, value)| Some((name.strip_prefix("message.")?, *value))).collect();
    let mut map = plain(&fields);
    let each = |list: &str, prefix: &str| -> Vec<Map> {
        let stripped =
            |(name, value): Field<'_>| Some((name.strip_prefix(prefix)?.to_owned(), value.clone()));
        let all = numbered(fields.iter().copied(), list).into_values();
        all.map(|fields| fields.into_iter().filter_map(stripped).collect()).collect()
    };
    let contents = each("contents.", "message_content.");
    if !contents.is_empty() && !map.contains_key("content") {
        map.insert("content", contents);
    }
    let calls = each("tool_calls.", "tool_call.").into_iter().map(|call| {
        // Empty arguments are left out.
        let args = Some(&call["function.arguments"]).filter(|args| !args.is_null());
        let args = args.cloned().unwrap_or_else(|| Map::new().into());
        Map::from([("id", call["id"].clone()), ("name", call["function.name"].clone()), ("arguments", args)])
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
