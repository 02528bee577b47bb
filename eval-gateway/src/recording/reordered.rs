//! Recordings of a time in which results of parallel calls were kept in the order in which they came.

use std::collections::HashMap;

use eval_format::Value;

use super::Exchange;
use crate::wire::key;

/// Puts the results of each answer into the order of its calls, as requests are read now.
pub(super) fn in_order(exchanges: &mut [Exchange]) {
    let mut renamed: HashMap<String, String> = HashMap::new();
    for exchange in exchanges.iter_mut() {
        if let Some(messages) = exchange.wire.reordered(&exchange.parts.messages) {
            exchange.parts.messages = messages;
            rename(exchange, &mut renamed);
        }
    }
    if renamed.is_empty() {
        return;
    }
    // A request whose history is at the provider names the key of the request before it. Each pass settles one of a chain.
    for _ in 0..exchanges.len() {
        let mut is_settled = true;
        for exchange in exchanges.iter_mut() {
            let options = Value::Object(exchange.parts.options.clone());
            if let Value::Object(now) = with_names(&options, &renamed)
                && now != exchange.parts.options
            {
                exchange.parts.options = now;
                rename(exchange, &mut renamed);
                is_settled = false;
            }
        }
        if is_settled {
            return;
        }
    }
}

fn rename(exchange: &mut Exchange, renamed: &mut HashMap<String, String>) {
    let now = key(exchange.wire, &exchange.model, &exchange.parts);
    let before = std::mem::replace(&mut exchange.key, now.clone());
    renamed.insert(before, now);
}

fn with_names(value: &Value, renamed: &HashMap<String, String>) -> Value {
    match value {
        Value::String(text) => Value::String(renamed.get(text).unwrap_or(text).clone()),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key, with_names(value, renamed))).collect())
        }
        other => other.clone(),
    }
}
