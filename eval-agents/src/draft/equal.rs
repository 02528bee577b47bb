//! Which conversations are equal.

use eval_core::format::{EvalCase, Map, Value};

/// What differs between two recordings of one conversation: ids, times, tokens.
const OF_THE_RUN: [&str; 8] = [
    "invocation_id",
    "creation_timestamp",
    "duration",
    "model_duration",
    "tool_duration",
    "usage_metadata",
    "model_version",
    "app_details",
];

/// A text that two cases share if their conversations are equal: what was said and called, from the same state.
pub(super) fn key(case: &EvalCase) -> String {
    let mut turns = case.to_value();
    let turns = match &mut turns {
        Value::Object(map) => map.remove("conversation").unwrap_or_default(),
        _ => Value::Null,
    };
    let scenario =
        case.conversation_scenario.as_ref().map(|_| case.to_value()["conversation_scenario"].clone());
    let state = case.session_input.as_ref().map(|input| input.state.clone()).unwrap_or_default();
    format!("{}\n{}\n{}", same(turns, false), Value::from(scenario), sorted(state.into()))
}

/// A value without what belongs to one run. `free` says whether its keys are those of tools.
fn same(value: Value, free: bool) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| same(item, free)).collect(),
        Value::Object(map) if free => sorted(map.into()),
        Value::Object(map) => {
            let is_call = map.contains_key("name");
            let kept = map
                .into_iter()
                .filter(|(key, _)| !(OF_THE_RUN.contains(&key.as_str()) || is_call && key == "id"));
            let kept: Map = kept
                .map(|(key, value)| {
                    let free = key == "args" || key == "response";
                    (key, same(value, free))
                })
                .collect();
            kept.into()
        }
        other => other,
    }
}

/// A value whose objects have their keys in order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(entries.into_iter().collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eval_core::format::{FunctionCall, Invocation, SessionInput};
    use eval_core::json;

    #[test]
    fn ids_and_times_make_no_other_conversation() {
        let turn = |id: &str, args| {
            Invocation::user("Hi").call(FunctionCall::new("f", args).with_id(id)).response("Hello!")
        };
        let one = EvalCase::new("a").turn(turn("1", json!({ "x": 1, "id": "a" })).with_duration(1.0));
        let two = EvalCase::new("b")
            .turn(turn("2", json!({ "id": "a", "x": 1 })).with_invocation_id("e"))
            .with_session_input(SessionInput::new("app", "anna"));
        assert_eq!(key(&one), key(&two));
        for other in [
            EvalCase::new("a").turn(turn("1", json!({ "x": 2, "id": "a" }))),
            EvalCase::new("a").turn(turn("1", json!({ "x": 1, "id": "b" }))),
            one.clone().turn(Invocation::user("And?")),
            one.clone().state(Map::from([("k", 1)])),
            EvalCase::new("a").turn(Invocation::user("Hi").response("Hello!")),
        ] {
            assert_ne!(key(&one), key(&other), "{other:?}");
        }
    }
}
