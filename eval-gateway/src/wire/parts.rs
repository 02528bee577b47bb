//! Parts of a request that all wires have.

use eval_format::{Map, Value};

use crate::canonical::Canonical;

/// The parts of a request in their canonical form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// The fields that are no other part, such as the temperature.
    pub options: Map,
    /// The instructions.
    pub system: Option<Value>,
    /// The declarations of tools.
    pub tools: Option<Value>,
    /// The messages, or what takes their place.
    pub messages: Vec<Value>,
}

/// Takes the messages of a body that lie in an array under a key, or the single one.
pub(super) fn list(canonical: &mut Canonical<'_>, key: &str, value: Option<&Value>) -> Vec<Value> {
    match value {
        None => Vec::new(),
        Some(Value::Array(items)) => items.iter().map(|item| canonical.part(key, item)).collect(),
        Some(single) => vec![canonical.part(key, single)],
    }
}

/// The canonical form of the id of an answer. The history before it is at the provider: it is the request that had the answer.
pub(super) fn history(
    canonical: &mut Canonical<'_>,
    previous: &dyn Fn(&str) -> Option<String>,
    id: &str,
) -> Value {
    canonical.seen.push(id.to_owned());
    previous(id).map_or_else(|| canonical.id(id), Value::from)
}

/// The number of messages at the beginning that are instructions.
pub(super) fn instructions(messages: &[Value]) -> usize {
    let is_instruction = |message: &&Value| {
        let role = message.as_object().and_then(|map| map.get("role")).and_then(Value::as_str);
        matches!(role, Some("system" | "developer"))
    };
    messages.iter().take_while(is_instruction).count()
}
