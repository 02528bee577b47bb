//! Spans of tools by other signs than OpenTelemetry's operation: attributes of traceloop, MCP, Vercel's AI SDK and Langfuse, or
//! their name alone.

use eval_core::format::Value;

use super::current::tool_arguments;
use super::filler::{Filler, filled};
use crate::traces::attributes::Attributes;
use crate::traces::message::{NoContent, json};
use crate::traces::view::{Class, Source};

pub(super) const TRACELOOP_KIND: &str = "traceloop.span.kind";
pub(super) const MCP_METHOD: &str = "mcp.method.name";
pub(super) const VERCEL_TOOL: &str = "ai.toolCall.name";
pub(super) const LANGFUSE_KIND: &str = "langfuse.observation.type";

/// The tool in the name of a span, as OpenTelemetry and MCP have it: `execute_tool get_weather`.
pub(in crate::traces) fn named(span: &str) -> Option<&str> {
    let mut words = span.split_whitespace();
    let is_of_tool = matches!(words.next(), Some("execute_tool" | "tools/call"));
    words.next().filter(|_| is_of_tool)
}

pub(super) fn apply(filler: &mut Filler<'_>, span: &str, attributes: &Attributes) {
    traceloop(filler, attributes);
    vercel(filler, attributes);
    langfuse(filler, span, attributes);
    if let Some(method) = filled(attributes, MCP_METHOD) {
        filler.view.other_class = Some(if &*method == "tools/call" { Class::Tool } else { Class::Other });
    }
    if filler.view.other_class.is_none() && named(span).is_some() {
        filler.view.other_class = Some(Class::Tool);
    }
}

fn traceloop(filler: &mut Filler<'_>, attributes: &Attributes) {
    let kind = filled(attributes, TRACELOOP_KIND).map(|kind| kind.to_ascii_lowercase());
    match kind.as_deref() {
        Some("tool") => filler.view.other_class = Some(Class::Tool),
        Some("agent") => filler.view.other_class = Some(Class::Agent),
        Some("workflow") => filler.view.is_chain = true,
        _ => return,
    }
    match filler.view.other_class {
        Some(Class::Tool) => {
            filler.tool(attributes, "traceloop.entity.name");
            if let Some(input) = attributes.get("traceloop.entity.input") {
                filler.view.tool_mut().args.offer_read(Source::ToolInput, arguments(input));
            }
            if let Some(output) = attributes.get("traceloop.entity.output") {
                filler.result(Source::ToolInput, output);
            }
        }
        Some(Class::Agent) => filler.agent(attributes, "traceloop.entity.name"),
        _ => {}
    }
}

fn vercel(filler: &mut Filler<'_>, attributes: &Attributes) {
    if filled(attributes, VERCEL_TOOL).is_none() {
        return;
    }
    filler.view.other_class = Some(Class::Tool);
    filler.tool(attributes, VERCEL_TOOL);
    let tool = filler.view.tool_mut();
    tool.call_id = tool.call_id.take().or_else(|| filled(attributes, "ai.toolCall.id"));
    if let Some(args) = attributes.get("ai.toolCall.args") {
        tool.args.offer_read(Source::ToolInput, tool_arguments(args));
    }
    if let Some(result) = attributes.get("ai.toolCall.result") {
        filler.result(Source::ToolInput, result);
    }
}

/// A tool that Langfuse observed has the name of its span.
fn langfuse(filler: &mut Filler<'_>, span: &str, attributes: &Attributes) {
    if !filled(attributes, LANGFUSE_KIND).is_some_and(|kind| kind.eq_ignore_ascii_case("tool")) {
        return;
    }
    filler.view.other_class = Some(Class::Tool);
    let tool = filler.view.tool_mut();
    tool.name = tool.name.take().or_else(|| (!span.trim().is_empty()).then(|| span.trim().into()));
    if let Some(input) = attributes.get("langfuse.observation.input") {
        tool.args.offer_read(Source::ToolInput, tool_arguments(input));
    }
    if let Some(output) = attributes.get("langfuse.observation.output") {
        filler.result(Source::ToolInput, output);
    }
}

/// The arguments of a decorated function, if all have names. The names of positional arguments are not known.
fn arguments(input: &Value) -> Result<Value, NoContent> {
    let input = json(input).ok_or(NoContent::Unreadable)?;
    let is_by_name = input["args"].as_array().is_some_and(<[Value]>::is_empty);
    match &input["kwargs"] {
        named @ Value::Object(_) if is_by_name => Ok(named.clone()),
        _ => Err(NoContent::NotCaptured),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_spans_that_say_so_are_of_tools() {
        assert_eq!(named("execute_tool get_weather"), Some("get_weather"));
        assert_eq!(named("tools/call get_weather"), Some("get_weather"));
        assert_eq!(
            (named("execute_tool"), named("execute_tools x"), named("get_weather")),
            (None, None, None)
        );
    }

    #[test]
    fn arguments_by_place_have_no_names_so_that_they_are_not_known() {
        let read = |text: &str| arguments(&Value::from(text)).map(|args| args.to_string());
        assert_eq!(read(r#"{"args": [], "kwargs": {"a": 1}}"#).as_deref(), Ok(r#"{"a":1}"#));
        assert_eq!(read(r#"{"args": [2], "kwargs": {"a": 1}}"#), Err(NoContent::NotCaptured));
        assert_eq!(read(r#"{"inputs": {"a": 1}}"#), Err(NoContent::NotCaptured));
        assert_eq!(read("{"), Err(NoContent::Unreadable));
    }
}
