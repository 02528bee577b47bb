//! Documents held to a JSON Schema. A field that the schema does not name is a fault here. A reader takes such a field for one of
//! a later version.

use serde_json::{Value, json};

/// The faults of a document against the schema.
pub(crate) fn faults(schema: &str, document: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let mut faults = Vec::new();
    check(document, &schema, &schema, "", &mut faults);
    faults
}

fn check(value: &Value, by: &Value, root: &Value, at: &str, faults: &mut Vec<String>) {
    for (keyword, rule) in by.as_object().expect("a schema is an object") {
        let mut found = |is_right: bool, fault: String| faults.extend((!is_right).then_some(fault));
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let pointer = rule.as_str().and_then(|to| to.strip_prefix('#')).expect("a local reference");
                check(value, root.pointer(pointer).expect("a definition"), root, at, faults);
            }
            "type" => {
                let one = std::slice::from_ref(rule);
                let kinds = rule.as_array().map_or(one, Vec::as_slice);
                let is_one = kinds.iter().any(|kind| is(value, kind.as_str().expect("a type")));
                found(is_one, format!("{at} is {value}, and no {rule}"));
            }
            "const" => found(value == rule, format!("{at} is {value}, and not {rule}")),
            "enum" => {
                let is_one = rule.as_array().expect("a list").contains(value);
                found(is_one, format!("{at} is {value}, and none of {rule}"));
            }
            "minimum" => {
                let is_below = value.is_number() && value.as_f64() < rule.as_f64();
                found(!is_below, format!("{at} is {value}, below {rule}"));
            }
            "maximum" => found(value.as_f64() <= rule.as_f64(), format!("{at} is {value}, above {rule}")),
            "minItems" | "maxItems" => {
                let items = json!(value.as_array().map(Vec::len));
                found(!value.is_array() || items == *rule, format!("{at} has {items} items, and not {rule}"));
            }
            "required" => {
                let missing = rule.as_array().expect("a list").iter().filter(|name| {
                    value
                        .as_object()
                        .is_some_and(|fields| !fields.contains_key(name.as_str().expect("a name")))
                });
                faults.extend(missing.map(|name| format!("{at} lacks {name}")));
            }
            "properties" => {
                for (name, field) in value.as_object().into_iter().flatten() {
                    match rule.get(name) {
                        Some(rule) => check(field, rule, root, &format!("{at}/{name}"), faults),
                        None => faults.push(format!("{at} has `{name}`, of which the schema does not tell")),
                    }
                }
            }
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(item, rule, root, &format!("{at}/{number}"), faults);
                }
            }
            other => panic!("this test does not know the keyword `{other}`"),
        }
    }
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("`{other}` is no type"),
    }
}
