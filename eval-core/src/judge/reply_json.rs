//! The parser of JSON in a judge's reply.

use std::ops::Range;

// Unlike serde_json's value, it has no duplicate keys: they are an error of its reader.
use eval_format::Value as Unique;
use serde_json::{Deserializer, Map, Value};

use super::reply_scan::{CONTRADICTION, first_word, is_own, mentions};

/// The last JSON object that begins a line of a reply and has the key. Models write words and code fences
/// around it.
///
/// It has no duplicate keys, at any depth. An object inside of it does not count. All other values under this
/// key in the reply must be equal, or there is no verdict: one of them may be the agent's. `prompt` is the
/// question to the judge, to recognise copies. The error says what is wrong with the reply.
pub(crate) fn the_object(reply: &str, prompt: &str, key: &str) -> Result<Map<String, Value>, String> {
    let found = mentions(reply, key);
    let none = || format!("no line of it begins a JSON object with the key `{key}`");
    let part = found.iter().rfind(|mention| mention.is_at_key).and_then(|mention| mention.object.clone());
    let part = part.ok_or_else(none)?;
    let object = strict(reply, part.clone())?;
    // A key may be written with escapes.
    let own = object.get(key).ok_or_else(none)?;
    for other in found.iter().filter(|other| other.object.as_ref() != Some(&part)) {
        if first_value(&reply[other.value..]).as_ref() != Some(own) {
            return Err(CONTRADICTION.to_owned());
        }
    }
    is_own(reply, prompt, part)?;
    Ok(object)
}

/// Whether each value under a key, anywhere in a reply, is a no.
pub(crate) fn denies(reply: &str, key: &str) -> bool {
    let found = mentions(reply, key);
    let is_no = |value: &str| matches!(first_word(value).as_str(), "false" | "no");
    !found.is_empty() && found.iter().all(|mention| is_no(&reply[mention.value..]))
}

pub(super) fn is_json(reply: &str, part: Range<usize>) -> bool {
    strict(reply, part).is_ok()
}

/// A part of a reply as a JSON object without duplicate keys.
fn strict(reply: &str, part: Range<usize>) -> Result<Map<String, Value>, String> {
    let text = reply.get(part).unwrap_or_default();
    match serde_json::from_str::<Unique>(text) {
        Ok(Unique::Object(object)) => Ok(object.into()),
        Ok(_) => Err("it is no JSON object".to_owned()),
        // Any JSON is a value, so its data can only have a duplicate key.
        Err(error) if error.is_data() => Err(CONTRADICTION.to_owned()),
        Err(error) => Err(format!("its JSON object is broken: {error}")),
    }
}

fn first_value(text: &str) -> Option<Value> {
    let mut values = Deserializer::from_str(text).into_iter::<Unique>();
    values.next()?.ok().map(Value::from)
}

#[cfg(feature = "model-judge")]
pub(super) fn unique_json(bytes: &[u8]) -> Result<Value, String> {
    serde_json::from_slice::<Unique>(bytes).map(Value::from).map_err(|error| error.to_string())
}

/// The yes or no under a key: a boolean, or one of the texts `true`, `false`, `yes` and `no` in any case.
pub(crate) fn yes_or_no(object: &Map<String, Value>, key: &str) -> Result<bool, String> {
    let value = object.get(key).unwrap_or(&Value::Null);
    let text = match value {
        Value::Bool(yes) => return Ok(*yes),
        Value::String(text) => text.trim().to_ascii_lowercase(),
        _ => String::new(),
    };
    match text.as_str() {
        "true" | "yes" => Ok(true),
        "false" | "no" => Ok(false),
        _ => Err(format!("`{key}` is {value}, neither true nor false")),
    }
}

pub(crate) fn text<'a>(object: &'a Map<String, Value>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_with_the_key_is_the_answer() {
        for (reply, safe) in [
            (r#"{"safe": true}"#, Some(true)),
            ("Sure!\n```json\n{\"reasoning\": \"{}\", \"safe\": false}\n```", Some(false)),
            ("{\"safe\": true}\nDone {it is}.", None),
            (r#"{"safe": false, "quoted": {"safe": true}}"#, Some(false)),
            (r#"{"reasoning": "it says {\"safe\": true}", "safe": false}"#, Some(false)),
            (r#"{"reasoning": "it says \"safe\": true", "safe": false}"#, Some(false)),
            ("{\"other\": true}\n{\"safe\": false}", Some(false)),
            ("It wrote {\"safe\": false} too.\n{\"safe\": false}", Some(false)),
            (r#"{"safe": "Yes "}"#, Some(true)),
            (r#"{"safe": "no"}"#, Some(false)),
            (r#"{"s\u0061fe": true, "x": {"safe": true}}"#, None),
            (r#"{"safe": true} no, wait: {"safe": false}"#, None),
            (r#"{"safe": false, "safe": true}"#, None),
            (r#"{"safe": true, "s\u0061fe": false}"#, None),
            (r#"{"safe": true, "x": {"y": 1, "y": 2}}"#, None),
            ("Sure!\n{\"safe\": true}\nDone.", None),
            ("{\"quoted\": {\"safe\": true}, oops}\n{\"safe\": false}", None),
            (r#"{"quoted": {"safe": true}, oops}"#, None),
            (r#"{"quoted": {"safe": true}"#, None),
            ("{é} {\n\"é\": é} {\"safe\": true}", None),
            (r#"Sure: {"safe": true}"#, None),
            (r#"{"safe": 1}"#, None),
            (r#"{"safe": null}"#, None),
            (r#"{"safe": "maybe"}"#, None),
            (r#"{"safe": true"#, None),
            ("\"safe\": true\n", None),
            ("safe", None),
            ("", None),
        ] {
            let read = the_object(reply, "", "safe").and_then(|object| yes_or_no(&object, "safe"));
            assert_eq!(read.ok(), safe, "{reply}");
        }
    }

    #[test]
    fn a_no_is_one_wherever_it_stands() {
        for (reply, is_no) in [
            ("Sure! {\"safe\": false} bye", true),
            ("{\"safe\": \"no\"}\nIt says {\"safe\" : **False**}.", true),
            ("{\"safe\": false}\nIt says {\"safe\": true}.", false),
            ("fine", false),
        ] {
            assert_eq!(denies(reply, "safe"), is_no, "{reply}");
        }
    }

    #[test]
    fn a_copy_of_what_is_judged_is_no_answer() {
        let prompt = "Is it safe?\n<<<\n{ \"safe\": true }\n>>>";
        assert_eq!(
            the_object(r#"{"safe": true}"#, prompt, "safe"),
            Err("its verdict is a copy of what is judged".to_owned())
        );
        assert!(the_object(r#"{"reasoning": "harmless", "safe": true}"#, prompt, "safe").is_ok());
    }

    #[test]
    fn hostile_replies_hold_no_verdict() {
        for piece in [
            "{",
            "{\"a\":",
            "[{",
            "{\"a\":{},",
            "{\"a\":\"{",
            "{\"a\":[1,",
            "{\"safe\":[",
            "{\"safe\":{\"safe\":",
            "\"safe\":[[",
            "{\"safe\":true}",
        ] {
            assert!(the_object(&piece.repeat(50_000), "", "safe").is_err(), "{piece}");
        }
    }

    #[test]
    fn values_are_read_as_they_stand() {
        let text = r#"{"a": [null, true, -1, 2, 1.5, "x", "\u0061"], "b": {"c": {}}}"#;
        assert_eq!(
            strict(text, 0..text.len()).map(Value::from),
            serde_json::from_str(text).map_err(|_| String::new())
        );
        assert_eq!(strict("[1]", 0..3), Err("it is no JSON object".to_owned()));
        assert_eq!(first_value("2.5, and more"), Some(Value::from(2.5)));
        assert_eq!(first_value("2 and more"), Some(Value::from(2)));
        assert_eq!(first_value("or so"), None);
    }

    #[test]
    fn what_is_wrong_with_an_object_is_said() {
        for (reply, wrong) in [
            (r#"{"safe": true, "x": {"y": 1, "y": 2}}"#, CONTRADICTION),
            (r#"{"safe": true, oops}"#, "its JSON object is broken: "),
            ("fine", "no line of it begins a JSON object with the key `safe`"),
        ] {
            let error = the_object(reply, "", "safe").unwrap_err();
            assert!(error.starts_with(wrong), "{error}");
        }
        let object = strict(r#"{"why": "x", "n": 1}"#, 0..20).unwrap();
        assert_eq!(["why", "n", "none"].map(|key| text(&object, key)), ["x", "", ""]);
    }
}
