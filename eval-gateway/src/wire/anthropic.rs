//! Anthropic's Messages.

use eval_format::{Map, Value};

use super::parts::{Parts, history, list};
use crate::canonical::Canonical;
use crate::usage::{Usage, number};

/// The field that names the conversation which the provider keeps, and the answer in it that a request goes on from.
const THREAD: &str = "thread";
const PREVIOUS: &str = "previous_message_id";

/// The model in a path of Vertex: `/publishers/anthropic/models/m:rawPredict`.
pub(super) fn vertex_model(path: &str) -> Option<String> {
    let (before, method) = path.rsplit_once(':')?;
    let (_, model) = before.split_once("/publishers/anthropic/models/")?;
    matches!(method, "rawPredict" | "streamRawPredict").then(|| model.to_owned())
}

pub(super) fn parts(
    body: &Map,
    canonical: &mut Canonical<'_>,
    previous: &dyn Fn(&str) -> Option<String>,
) -> Parts {
    let system = body.get("system").map(|system| canonical.part("system", system));
    let messages = list(canonical, "messages", body.get("messages"));
    let tools = body.get("tools").map(|tools| canonical.part("tools", tools));
    let taken = ["model", "system", "messages", "tools"];
    let is_option = |key: &str| !taken.contains(&key) && key != THREAD;
    let mut options = canonical.options(body.iter().filter(|(key, _)| is_option(key)));
    if let Some(thread) = body.get(THREAD) {
        let mut canonical_thread = canonical.part(THREAD, thread);
        let id = thread.as_object().and_then(|thread| thread.get(PREVIOUS)).and_then(Value::as_str);
        if let (Value::Object(map), Some(id)) = (&mut canonical_thread, id) {
            map.insert(PREVIOUS, history(canonical, previous, id));
        }
        options.insert(THREAD, canonical_thread);
    }
    Parts { options, system, tools, messages }
}

/// Tokens of a message, or of the event that ends one, which repeats the output alone.
pub(super) fn usage(answer: &Value) -> Option<Usage> {
    let usage = answer.as_object()?.get("usage")?.as_object()?;
    let read = number(usage, "cache_read_input_tokens").unwrap_or(0);
    let written = number(usage, "cache_creation_input_tokens").unwrap_or(0);
    Some(Usage {
        input: number(usage, "input_tokens").unwrap_or(0).saturating_add(read).saturating_add(written),
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
