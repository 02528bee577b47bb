//! OpenAI's Chat Completions and embeddings.

use eval_format::__private::parse_value;
use eval_format::{Map, Value};

use super::parts::{Parts, instructions, list};
use crate::canonical::Canonical;
use crate::sse::Event;
use crate::usage::{Usage, number};

pub(super) fn parts(body: &Map, canonical: &mut Canonical<'_>) -> Parts {
    let of_chat = body.get("messages").and_then(Value::as_array);
    let (system, messages) = match of_chat {
        Some(messages) => {
            let (system, rest) = messages.split_at(instructions(messages));
            let system: Vec<Value> =
                system.iter().map(|message| canonical.part("messages", message)).collect();
            let rest = rest.iter().map(|message| canonical.part("messages", message)).collect();
            (Some(system).filter(|system| !system.is_empty()).map(Value::Array), rest)
        }
        None => (None, list(canonical, "input", body.get("input"))),
    };
    let tools = body.get("tools").map(|tools| canonical.part("tools", tools));
    let taken = ["model", "messages", "input", "tools"];
    let options = canonical.options(body.iter().filter(|(key, _)| !taken.contains(key)));
    Parts { options, system, tools, messages }
}

pub(super) fn usage(answer: &Value) -> Option<Usage> {
    let usage = answer.as_object()?.get("usage")?.as_object()?;
    let input = number(usage, "prompt_tokens").or_else(|| number(usage, "input_tokens"))?;
    let details =
        ["prompt_tokens_details", "input_tokens_details"].iter().find_map(|key| usage.get(key)?.as_object());
    Some(Usage {
        input,
        output: number(usage, "completion_tokens").or_else(|| number(usage, "output_tokens")).unwrap_or(0),
        cached: details.and_then(|details| number(details, "cached_tokens")).unwrap_or(0),
    })
}

/// The body of a streamed request with a wish for the tokens at the end; `None` if it is no stream or has that wish.
pub(crate) fn with_usage(body: &[u8]) -> Option<Vec<u8>> {
    const WISH: &str = "stream_options";
    let Value::Object(mut body) = parse_value(std::str::from_utf8(body).ok()?).ok()? else { return None };
    if body.get("stream") != Some(&Value::Bool(true)) || has_wish(&body) {
        return None;
    }
    let mut options = body.get(WISH).and_then(Value::as_object).cloned().unwrap_or_default();
    options.insert("include_usage", true);
    body.insert(WISH, Value::Object(options));
    Some(Value::Object(body).to_string().into_bytes())
}

/// Whether a client waits for the tokens at the end of a stream.
pub(crate) fn wants_usage(body: &[u8]) -> bool {
    let text = std::str::from_utf8(body).ok().filter(|text| text.contains("include_usage"));
    text.and_then(|text| parse_value(text).ok()).is_some_and(|body| body.as_object().is_some_and(has_wish))
}

fn has_wish(body: &Map) -> bool {
    let options = body.get("stream_options").and_then(Value::as_object);
    options.is_some_and(|options| options.get("include_usage") == Some(&Value::Bool(true)))
}

/// Whether an event of a stream has its tokens, and nothing else.
pub(crate) fn is_usage(event: &Event) -> bool {
    let Some(map) = event.json().and_then(Value::as_object) else { return false };
    let says_nothing = map.get("choices").and_then(Value::as_array).is_some_and(<[_]>::is_empty);
    says_nothing && map.get("usage").is_some_and(|usage| !usage.is_null())
}

/// Whether an event of a stream says why its answer ends.
pub(super) fn is_finished(part: &Value) -> bool {
    let choices = part.as_object().and_then(|map| map.get("choices")).and_then(Value::as_array);
    let ends = |choice: &Value| {
        choice.as_object().is_some_and(|map| map.get("finish_reason").is_some_and(|end| !end.is_null()))
    };
    choices.is_some_and(|choices| choices.iter().any(ends))
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let (kind, code) = match status {
        429 => ("rate_limit_error", Value::from("rate_limit_exceeded")),
        500.. => ("server_error", Value::Null),
        _ => ("invalid_request_error", Value::Null),
    };
    let error = Map::from([
        ("message", Value::from(message)),
        ("type", Value::from(kind)),
        ("param", Value::Null),
        ("code", code),
    ]);
    Value::Object(Map::from([("error", Value::Object(error))]))
}
