//! Completeness of `CheckedSet::unwritten`: each value that it does not name is in the saved text. The documents are
//! google-adk's stored answers.

use eval_format::Value;
use eval_format::reader::check_set;

/// The values of a document, spelt alike: texts in upper case and in one alphabet of base64, numbers and booleans as
/// numbers. Without those that are default values.
fn values(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(value, &mut found);
    found.retain(|value| !matches!(value.as_str(), "" | "0"));
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Bool(flag) => found.push(u8::from(*flag).to_string()),
        Value::Number(number) => found.push(number.as_f64().to_string()),
        Value::String(text) => found.push(alike(text)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) => fields.iter().for_each(|(_, item)| collect(item, found)),
    }
}

/// A text as pydantic's lax conversions may have left it.
fn alike(text: &str) -> String {
    let plain = text.trim().trim_end_matches('=').replace('+', "-").replace('/', "_").to_uppercase();
    match plain.as_str() {
        "TRUE" | "YES" | "ON" | "Y" | "T" => "1".to_owned(),
        "FALSE" | "NO" | "OFF" | "N" | "F" => "0".to_owned(),
        _ => text.trim().replace('_', "").parse().map_or(plain, |number: f64| number.to_string()),
    }
}

#[test]
fn what_is_not_named_as_unwritten_is_written() {
    let text = include_str!("../vectors/shape_vectors.json");
    let vectors = Value::parse(text).expect("the vectors are JSON");
    let (mut whole, mut lossy) = (0, 0);
    for vector in vectors.as_array().expect("a list") {
        let (label, text) = (vector["label"].as_str(), vector["json"].as_str().expect("a document"));
        let checked = check_set("s.evalset.json", text.as_bytes(), None);
        let Some(set) = &checked.set else { continue };
        let document = Value::parse(text).expect("what is a set is JSON");
        let written = values(&set.to_value());
        let lost: Vec<_> = values(&document).into_iter().filter(|value| !written.contains(value)).collect();
        if checked.unwritten().is_empty() {
            assert!(lost.is_empty(), "{label:?}: {lost:?}");
            whole += 1;
        } else {
            lossy += 1;
        }
    }
    assert!(whole > 20 && lossy > 3, "{whole} whole, {lossy} lossy");
}
