//! The answer to `tools/list`: the stored list of the real server, else declarations guessed from the calls of the case.

use std::collections::HashMap;
use std::sync::Arc;

use eval_core::format::{FunctionCall, Map, Value};
use eval_core::tools::GoldenTools;

/// The declarations of the tools of a case.
pub(super) fn of(tools: &GoldenTools) -> Arc<Vec<Value>> {
    tools.declarations().unwrap_or_else(|| Arc::new(guessed(&tools.calls())))
}

/// A declaration for each tool, in the order in which the case calls them. Arguments have the types of the values that they
/// have there. None is required, and others may come.
fn guessed(calls: &[FunctionCall]) -> Vec<Value> {
    let mut names: Vec<&str> = Vec::new();
    let mut arguments: HashMap<&str, Map> = HashMap::new();
    for call in calls {
        let name = call.name.as_deref().unwrap_or_default();
        let known = arguments.entry(name).or_insert_with(|| {
            names.push(name);
            Map::new()
        });
        for (key, value) in call.args.iter().flatten() {
            let schema = kind(value).map_or_else(Map::new, |kind| Map::from([("type", kind)]));
            // Values of two types: any value may come.
            let schema = match known.get(key) {
                Some(before) if before.as_object() != Some(&schema) => Map::new(),
                _ => schema,
            };
            known.insert(key, schema);
        }
    }
    let declared = names.into_iter().map(|name| {
        let mut schema = Map::from([("type", "object")]);
        schema.insert("properties", arguments.remove(name).unwrap_or_default());
        let mut tool = Map::from([("name", name), ("description", name)]);
        tool.insert("inputSchema", schema);
        Value::Object(tool)
    });
    declared.collect()
}

/// The type of a value in JSON Schema; `None` for null, which says nothing of the others.
fn kind(value: &Value) -> Option<&'static str> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(_) => "boolean",
        // Whole numbers of a case are numbers of its tool, as 9 is where 9.5 may be.
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    })
}

#[cfg(test)]
mod tests {
    use eval_core::json;

    use super::*;

    #[test]
    fn declarations_are_guessed_from_all_calls_of_a_tool() {
        let calls = [
            FunctionCall::new("refund", json!({"id": "A", "amount": 9, "why": null})),
            FunctionCall::new("lookup", json!({})),
            FunctionCall::new("refund", json!({"id": 7, "all": true, "lines": [1]})),
        ];
        let declared: Vec<String> = guessed(&calls).iter().map(ToString::to_string).collect();
        assert_eq!(
            declared,
            [
                r#"{"name":"refund","description":"refund","inputSchema":{"type":"object","properties":{"amount":{"type":"number"},"id":{},"why":{},"all":{"type":"boolean"},"lines":{"type":"array"}}}}"#,
                r#"{"name":"lookup","description":"lookup","inputSchema":{"type":"object","properties":{}}}"#,
            ]
        );
    }
}
