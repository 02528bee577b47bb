//! Answers in JSON.

use serde_json::{Deserializer, Error, Map, Value};

/// The last JSON object of a reply that holds a key: models put words, fences and drafts around it.
///
/// Objects within objects do not count, nor those within what is not quite an object: what a judge quotes inside of
/// its answer is not the answer.
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
            // It is cut off: all that follows is a part of it.
            Some(Err(error)) if error.is_eof() => break,
            Some(Err(error)) => place(rest, &error),
            None => break,
        };
        rest = &rest[end..];
    }
    last.ok_or_else(|| format!("there is no JSON object with the key `{key}` in it"))
}

/// Where a text stopped being JSON: behind its first character, on a boundary.
fn place(text: &str, error: &Error) -> usize {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let at = lines.map(str::len).sum::<usize>() + error.column();
    (at.max(1)..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// A yes or no under a key: `true` and `false`, or the same and `yes` and `no` as text.
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

/// The text under a key; empty where there is none.
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
