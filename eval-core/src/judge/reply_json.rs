//! Reading JSON out of a judge's reply.

use serde_json::{Deserializer, Error, Map, Value};

/// The last JSON object of a reply that has the key. Models write words, code fences and drafts around it.
///
/// An object inside of another one does not count, nor does one inside of a broken object: what a judge quotes within
/// its answer is not the answer. The error says what is wrong with the reply.
pub(crate) fn last_object(reply: &str, key: &str) -> Result<Map<String, Value>, String> {
    let mut last = None;
    let mut rest = reply;
    while let Some(start) = rest.find('{') {
        rest = &rest[start..];
        let mut objects = Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
        let end = match objects.next() {
            Some(Ok(object)) => {
                if object.contains_key(key) {
                    last = Some(object);
                }
                objects.byte_offset()
            }
            // The object is cut off, and the rest of the reply is part of it.
            Some(Err(error)) if error.is_eof() => break,
            Some(Err(error)) => offset_of(rest, &error),
            None => break,
        };
        rest = &rest[end..];
    }
    last.ok_or_else(|| format!("there is no JSON object with the key `{key}` in it"))
}

/// The offset at which a text stops being JSON: after its first character, and on a character boundary.
fn offset_of(text: &str, error: &Error) -> usize {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let at = lines.map(str::len).sum::<usize>() + error.column();
    (at.max(1)..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
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

/// The text under a key. Empty if there is none.
pub(crate) fn text<'a>(object: &'a Map<String, Value>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_object_with_the_key_is_the_answer() {
        for (reply, safe) in [
            (r#"{"safe": true}"#, Some(true)),
            ("Sure!\n```json\n{\"reasoning\": \"{}\", \"safe\": false}\n```\nDone {it is}.", Some(false)),
            (r#"{"safe": true} no, wait: {"safe": false}"#, Some(false)),
            (r#"{"safe": false, "quoted": {"safe": true}}"#, Some(false)),
            (r#"{"reasoning": "it says {\"safe\": true}", "safe": false}"#, Some(false)),
            (r#"{"safe": false} {"other": true}"#, Some(false)),
            (r#"{"safe": "Yes "}"#, Some(true)),
            (r#"{"safe": "no"}"#, Some(false)),
            (r#"{"quoted": {"safe": true}, oops} {"safe": false}"#, Some(false)),
            (r#"{"quoted": {"safe": true}, oops}"#, None),
            (r#"{"quoted": {"safe": true}"#, None),
            ("{é} {\n\"é\": é} {\"safe\": true}", Some(true)),
            (r#"{"safe": 1}"#, None),
            (r#"{"safe": null}"#, None),
            (r#"{"safe": "maybe"}"#, None),
            (r#"{"safe": true"#, None),
            ("safe", None),
            ("", None),
        ] {
            let read = last_object(reply, "safe").and_then(|object| yes_or_no(&object, "safe"));
            assert_eq!(read.ok(), safe, "{reply}");
        }
    }

    #[test]
    fn hostile_replies_take_linear_time() {
        for piece in ["{", "{\"a\":", "[{", "{\"a\":{},", "{\"a\":\"{", "{\"a\":[1,"] {
            assert!(last_object(&piece.repeat(50_000), "safe").is_err());
        }
    }
}
