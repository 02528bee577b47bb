//! OpenTelemetry's current names, and their former names.

use std::sync::Arc;

use eval_core::format::Value;

use super::filler::{Filler, filled, there};
use crate::traces::attributes::Attributes;
use crate::traces::message::{NoContent, is_placeholder, json_or_raw, messages};
use crate::traces::view::{Class, Source};

const MODEL: &str = "gen_ai.request.model";

/// The names of token counts, in the order of `Tokens`: the current name, then former names.
const TOKENS: [&[&str]; 5] = [
    &["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"],
    &["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"],
    &["gen_ai.usage.cache_read.input_tokens"],
    &["gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_creation.input_tokens"],
    &["gen_ai.usage.reasoning.output_tokens"],
];

const NOT_SPECIFIED: &str = "<not specified>";

pub(super) fn apply(filler: &mut Filler<'_>, attributes: &Attributes) {
    filler.content(Source::Current, attributes);
    filler.scalars(Source::Current, attributes);
    filler.tokens(
        Source::Alias,
        TOKENS.map(|names| names[1..].iter().filter_map(|name| attributes.get(*name))),
    );
    filler.finish(Source::Alias, filled(attributes, "gen_ai.response.finish_reason"));
    filler.agent(attributes, "gen_ai.agent.name");
    let view = &mut *filler.view;
    view.operation =
        filled(attributes, "gen_ai.operation.name").map(|name| match &*name.to_ascii_lowercase() {
            "chat" | "generate_content" | "text_completion" => Class::Inference,
            "invoke_agent" => Class::Agent,
            "invoke_workflow" => Class::Workflow,
            "execute_tool" => Class::Tool,
            _ => Class::Other,
        });
    view.records_a_call = records_a_call(attributes);
    view.error_type = filled(attributes, "error.type");
    if let Some(id) = filled(attributes, "gen_ai.tool.call.id").filter(|id| &**id != NOT_SPECIFIED) {
        view.tool_mut().call_id = Some(id);
    }
    if let Some(name) = filler.shared(attributes, "gen_ai.tool.name").filter(|name| &**name != NOT_SPECIFIED)
    {
        filler.view.tool_mut().name = Some(name);
    }
    if let Some(args) = there(attributes, "gen_ai.tool.call.arguments") {
        filler.view.tool_mut().args.offer_read(Source::Current, tool_arguments(args));
    }
    if let Some(result) = there(attributes, "gen_ai.tool.call.result") {
        filler.result(Source::Current, result);
    }
}

/// Whether the span is of a call. The model and its provider alone are often copied to every span.
fn records_a_call(attributes: &Attributes) -> bool {
    let has = |key| filled(attributes, key).is_some();
    let is_of_a_call = |key: &str| {
        key.starts_with("gen_ai.usage.")
            || key.starts_with("gen_ai.prompt.")
            || key.starts_with("gen_ai.completion.")
            || matches!(key, "gen_ai.input.messages" | "gen_ai.output.messages")
    };
    has(MODEL)
        && (has("gen_ai.system") || has("gen_ai.provider.name"))
        && attributes.keys().any(|key| is_of_a_call(key))
}

/// The arguments in an attribute. A text that begins like JSON but cannot be parsed was truncated.
pub(super) fn tool_arguments(value: &Value) -> Result<Value, NoContent> {
    match value {
        Value::String(text) if is_placeholder(text) || text == NOT_SPECIFIED => Err(NoContent::NotCaptured),
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            Value::parse(text).map_err(|_| NoContent::Unreadable)
        }
        other => Ok(json_or_raw(other.clone())),
    }
}

impl Filler<'_> {
    pub(super) fn result(&mut self, source: Source, value: &Value) {
        let is_placeholder =
            |value: &Value| value.as_str().is_some_and(|text| is_placeholder(text) || text == NOT_SPECIFIED);
        let value = json_or_raw(value.clone());
        let is_wrapped =
            value.as_object().is_some_and(|map| map.len() == 1 && is_placeholder(&map["result"]));
        let is_missing = is_wrapped || is_placeholder(&value);
        let read =
            if is_missing { Err(NoContent::NotCaptured) } else { Ok(self.copies.value(Arc::new(value))) };
        self.view.tool_mut().result.offer_read(source, read);
    }

    pub(super) fn content(&mut self, source: Source, attributes: &Attributes) {
        if let Some(value) = attributes.get("gen_ai.input.messages") {
            self.input(source, messages(value));
        }
        if let Some(value) = attributes.get("gen_ai.output.messages") {
            self.output(source, messages(value));
        }
    }

    pub(super) fn scalars(&mut self, source: Source, attributes: &Attributes) {
        self.tokens(source, TOKENS.map(|names| attributes.get(names[0])));
        self.model(source, attributes.get(MODEL), |it| &mut it.request_model);
        self.model(source, attributes.get("gen_ai.response.model"), |it| &mut it.response_model);
        let finish = attributes.get("gen_ai.response.finish_reasons").and_then(Value::as_array);
        self.finish(source, finish.unwrap_or_default().iter().filter_map(Value::as_str));
    }
}
