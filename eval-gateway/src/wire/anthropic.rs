//! Anthropic's Messages.

use eval_format::{Map, Value};

use super::parts::{Parts, list};
use crate::canonical::Canonical;
use crate::usage::{Usage, number};

pub(super) fn parts(body: &Map, canonical: &mut Canonical<'_>) -> Parts {
    let system = body.get("system").map(|system| canonical.part("system", system));
    let messages = list(canonical, "messages", body.get("messages"));
    let tools = body.get("tools").map(|tools| canonical.part("tools", tools));
    let taken = ["model", "system", "messages", "tools"];
    let options = canonical.options(body.iter().filter(|(key, _)| !taken.contains(key)));
    Parts { options, system, tools, messages }
}

/// Tokens of a message, or of the event that ends one, which repeats the output alone.
pub(super) fn usage(answer: &Value) -> Option<Usage> {
    let usage = answer.as_object()?.get("usage")?.as_object()?;
    let read = number(usage, "cache_read_input_tokens").unwrap_or(0);
    let written = number(usage, "cache_creation_input_tokens").unwrap_or(0);
    Some(Usage {
        input: number(usage, "input_tokens").unwrap_or(0) + read + written,
        output: number(usage, "output_tokens").unwrap_or(0),
        cached: read,
    })
}

/// Whether an event of a stream says why its answer ends.
pub(super) fn is_finished(event: &Value) -> bool {
    let delta = event.as_object().and_then(|map| map.get("delta")).and_then(Value::as_object);
    delta.is_some_and(|delta| delta.get("stop_reason").is_some_and(|reason| !reason.is_null()))
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "authentication_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let error = Map::from([("type", kind), ("message", message)]);
    Value::Object(Map::from([
        ("type", Value::from("error")),
        ("error", Value::Object(error)),
        ("request_id", Value::from("req_evalset")),
    ]))
}
