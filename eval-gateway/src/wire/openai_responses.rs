//! OpenAI's Responses.

use eval_format::{Map, Value};

use super::parts::{Parts, history, instructions, list};
use crate::canonical::Canonical;

/// Fields that name what the provider keeps of the conversation.
const HISTORY: [&str; 2] = ["previous_response_id", "conversation"];

pub(super) fn parts(
    body: &Map,
    canonical: &mut Canonical<'_>,
    previous: &dyn Fn(&str) -> Option<String>,
) -> Parts {
    let system = body.get("instructions").filter(|system| !system.is_null());
    let system = system.map(|system| canonical.part("instructions", system));
    let mut messages = list(canonical, "input", body.get("input"));
    // Some clients send their instructions as messages.
    let rest = messages.split_off(instructions(&messages));
    let system = match (system, messages.is_empty()) {
        (system, true) => system,
        (system, false) => Some(Value::Array(system.into_iter().chain(messages).collect())),
    };
    let messages = rest;
    let tools = body.get("tools").map(|tools| canonical.part("tools", tools));
    let taken = ["model", "instructions", "input", "tools"];
    let is_option = |key: &str| !taken.contains(&key) && !HISTORY.contains(&key);
    let mut options = canonical.options(body.iter().filter(|(key, _)| is_option(key)));
    for key in HISTORY {
        match body.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::String(id)) => {
                options.insert(key, history(canonical, previous, id));
            }
            Some(other) => {
                options.insert(key, canonical.part(key, other));
            }
        }
    }
    Parts { options, system, tools, messages }
}
