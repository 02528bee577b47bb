//! ADK's own attributes.

use eval_core::format::Value;

use super::current::tool_arguments;
use super::filler::{Filler, there};
use crate::traces::attributes::Attributes;
use crate::traces::message::{Message, NoContent, captured, google_message, json};
use crate::traces::view::Source;

/// The span that merges several calls of tools, which have spans of their own.
pub(super) const MERGED_SPAN: &str = "execute_tool (merged)";
pub(super) const MERGED_TOOL: &str = "(merged tools)";

const REQUEST: &str = "gcp.vertex.agent.llm_request";
const RESPONSE: &str = "gcp.vertex.agent.llm_response";

/// The names of token counts, in the order of `Tokens`.
const TOKENS: [&[&str]; 5] = [
    &["prompt_token_count"],
    &["candidates_token_count"],
    &["cached_content_token_count"],
    &[],
    &["thoughts_token_count"],
];

pub(super) fn apply(filler: &mut Filler<'_>, attributes: &Attributes) {
    if let Some(request) = attributes.get(REQUEST) {
        match object(request) {
            Some(request) => {
                filler.view.adk_without_content =
                    request.as_object().is_some_and(eval_core::format::Map::is_empty);
                let contents = request["contents"].as_array().unwrap_or_default();
                let read: Vec<Message> =
                    contents.iter().filter_map(|content| google_message(content, "user")).collect();
                filler.input(Source::Adk, captured(read, |_| true));
                filler.model(Source::Adk, Some(&request["model"]), |it| &mut it.request_model);
            }
            None => filler.input(Source::Adk, Err(NoContent::Unreadable)),
        }
    }
    if let Some(response) = attributes.get(RESPONSE) {
        match object(response) {
            Some(response) => from_response(filler, &response),
            None => filler.output(Source::Adk, Err(NoContent::Unreadable)),
        }
    }
    let args = there(attributes, "gcp.vertex.agent.tool_call_args");
    if let Some(args) = args.filter(|args| args.as_str() != Some("N/A")) {
        filler.view.tool_mut().args.offer_read(Source::Adk, tool_arguments(args));
    }
    if let Some(result) = there(attributes, "gcp.vertex.agent.tool_response") {
        filler.result(Source::Adk, result);
    }
    filler.agent(attributes, "gcp.vertex.agent.agent_name");
}

fn object(value: &Value) -> Option<Value> {
    json(value).filter(|value| value.as_object().is_some())
}

fn from_response(filler: &mut Filler<'_>, response: &Value) {
    let said = google_message(&response["content"], "assistant");
    filler.output(Source::Adk, captured(said.into_iter().collect(), |_| true));
    filler.finish(Source::Adk, response["finish_reason"].as_str().map(str::to_lowercase));
    filler.model(Source::Adk, Some(&response["model_version"]), |it| &mut it.response_model);
    let usage = &response["usage_metadata"];
    filler.tokens(Source::Adk, TOKENS.map(|names| names.iter().map(|name| &usage[*name])));
}
