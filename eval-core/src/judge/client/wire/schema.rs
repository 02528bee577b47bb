//! JSON schemas in the form that providers of structured output accept.

use serde_json::Value;

/// A schema whose objects allow only the keys that they name, and whether each of them requires all of its keys.
///
/// Providers that decode by a schema accept no other one, and OpenAI accepts it as strict only if every key is
/// required. An object with an `additionalProperties` of its own stays as it is.
pub(super) fn closed(schema: &Value) -> (Value, bool) {
    let mut schema = schema.clone();
    let strict = close(&mut schema);
    (schema, strict)
}

fn close(schema: &mut Value) -> bool {
    let mut strict = true;
    each_part(schema, &mut |part| strict &= close(part));
    let Some(object) = schema.as_object_mut() else { return strict };
    let keys = object.get("properties").and_then(Value::as_object);
    let Some(keys) = keys else { return strict && object.get("type") != Some(&Value::from("object")) };
    let required = object.get("required").and_then(Value::as_array).map_or(0, |required| {
        required.iter().filter(|key| key.as_str().is_some_and(|key| keys.contains_key(key))).count()
    });
    strict &= required == keys.len();
    let others = object.entry("additionalProperties").or_insert(Value::Bool(false));
    strict && *others == Value::Bool(false)
}

/// Calls a function for each schema that stands directly in a schema.
fn each_part(schema: &mut Value, call: &mut dyn FnMut(&mut Value)) {
    let Some(object) = schema.as_object_mut() else { return };
    for (key, value) in object {
        match (key.as_str(), value) {
            ("properties" | "$defs" | "definitions", Value::Object(parts)) => {
                parts.values_mut().for_each(&mut *call);
            }
            ("anyOf" | "allOf" | "oneOf" | "prefixItems", Value::Array(parts)) => {
                parts.iter_mut().for_each(&mut *call);
            }
            ("items", part) => call(part),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_closed_at_every_depth() {
        let schema = json!({
            "type": "object",
            "properties": {
                "verdicts": {"type": "array", "items": {"type": "object", "properties": {"a": {}}}},
                "either": {"anyOf": [{"type": "string"}, {"properties": {}}]},
                "open": {"type": "object", "properties": {}, "additionalProperties": true}
            }
        });
        let (closed, _) = closed(&schema);
        assert_eq!(closed["additionalProperties"], false);
        assert_eq!(closed["properties"]["verdicts"]["items"]["additionalProperties"], false);
        assert_eq!(closed["properties"]["either"]["anyOf"][1]["additionalProperties"], false);
        assert_eq!(closed["properties"]["either"]["anyOf"][0], json!({"type": "string"}));
        assert_eq!(closed["properties"]["open"]["additionalProperties"], true);
    }

    #[test]
    fn strict_is_a_schema_that_requires_everything() {
        let all = json!({"type": "object", "properties": {"a": {}}, "required": ["a"]});
        for (schema, strict) in [
            (all.clone(), true),
            (json!({"items": all}), true),
            (json!({"type": "string"}), true),
            (json!({"type": "object", "properties": {"a": {}}}), false),
            (json!({"items": {"properties": {"a": {}}}}), false),
            (json!({"type": "object"}), false),
            (json!({"properties": {}, "additionalProperties": true}), false),
        ] {
            assert_eq!(closed(&schema).1, strict, "{schema}");
        }
    }
}
