//! OpenAI's Chat Completions and embeddings.

use eval_format::{Map, Value};

use super::parts::{Parts, instructions, list};
use crate::canonical::Canonical;
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
