//! Display of agents' texts: without secrets, without control characters, and truncated. Drafts and scores are made of the whole
//! text.

use std::fmt::Display;

use eval_format::{Map, Value};
use eval_support::secrets::is_secret_under;
use eval_support::untrusted::{MAX_LINE_CHARS, MAX_TEXT_CHARS, excerpt, excerpt_line};
use serde::Serializer;

const MAX_PREVIEW_CHARS: usize = 200;
const MAX_VALUE_CHARS: usize = 50_000;

/// A text of its own: lines and tabs stay.
pub(crate) fn text(foreign: &str) -> String {
    excerpt(foreign, MAX_TEXT_CHARS).noted()
}

/// A part of a line.
pub(crate) fn line(foreign: &str) -> String {
    excerpt_line(foreign, MAX_LINE_CHARS).noted()
}

pub(crate) fn as_line<S: Serializer>(foreign: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&line(foreign))
}

pub(crate) fn as_lines<S: Serializer>(foreign: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(lines(foreign))
}

pub(crate) fn as_text<S: Serializer>(own: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(own)
}

pub(crate) fn lines(foreign: &[String]) -> Vec<String> {
    foreign.iter().map(|text| line(text)).collect()
}

pub(crate) fn preview(foreign: &str) -> String {
    excerpt_line(foreign, MAX_PREVIEW_CHARS).shown
}

pub(crate) fn value(foreign: &Value) -> Value {
    Walk { left: MAX_VALUE_CHARS }.value(foreign, "")
}

struct Walk {
    left: usize,
}

impl Walk {
    fn value(&mut self, foreign: &Value, under: &str) -> Value {
        self.left = self.left.saturating_sub(1);
        match foreign {
            Value::String(text) if is_secret_under(under, text) => Value::from("(a secret)"),
            Value::String(text) => Value::from(self.text(text)),
            // An integer can have any number of digits.
            Value::Number(number) if number.as_i64().is_none() => match number.to_string() {
                long if long.len() > MAX_LINE_CHARS => Value::from(self.text(&long)),
                _ => foreign.clone(),
            },
            Value::Array(items) => {
                let mut list = Vec::new();
                for item in items {
                    if self.left == 0 {
                        list.push(Value::from(format!("… ({} more)", items.len() - list.len())));
                        break;
                    }
                    list.push(self.value(item, under));
                }
                Value::Array(list)
            }
            Value::Object(map) => {
                let mut entries: Vec<(String, Value)> = Vec::new();
                for (at, (key, value)) in map.iter().enumerate() {
                    if self.left == 0 {
                        entries.push(("…".to_owned(), Value::from(format!("({} more)", map.len() - at))));
                        break;
                    }
                    let line = line(key);
                    self.left = self.left.saturating_sub(line.len());
                    let value = self.value(value, key);
                    // A changed key gets its number, so that different keys stay different.
                    let line = if line == *key { line } else { format!("{line} ({})", at + 1) };
                    entries.push((line, value));
                }
                Value::Object(entries.into_iter().collect::<Map>())
            }
            other => other.clone(),
        }
    }

    fn text(&mut self, foreign: &str) -> String {
        let shown = excerpt(foreign, MAX_TEXT_CHARS.min(self.left)).noted();
        self.left = self.left.saturating_sub(shown.len());
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_spelt_out_and_keys_are_masked() {
        assert_eq!(text("a\u{202e}b\u{1b}[2J\nc"), "a\\u{202e}b\\u{1b}[2J\nc");
        assert_eq!(line("a\nb"), "a\\nb");
        let key = format!("sk-ant-{}", "abcde01234".repeat(6));
        for shown in [text(&key), line(&key), preview(&format!("{}{key}", "x ".repeat(95)))] {
            assert!(!shown.contains("abcde"), "{shown}");
        }
    }

    #[test]
    fn what_is_long_is_cut_and_says_by_how_much() {
        assert_eq!(text("ä"), "ä");
        assert!(text(&"ä".repeat(MAX_TEXT_CHARS + 7)).ends_with("ä … (7 more characters)"));
        assert!(line(&"ä".repeat(MAX_LINE_CHARS + 1)).ends_with("ä … (1 more characters)"));
        assert_eq!(preview(&"ä".repeat(300)).chars().count(), MAX_PREVIEW_CHARS);
    }

    #[test]
    fn values_are_shown_like_texts() {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let plain = read(r#"{"city": "Paris", "days": [1, 2.5, null, true], "key": "a1b2c3d4e5f6"}"#);
        assert_eq!(value(&plain), plain);
        let hostile = read(r#"{"a\u001b": "\u202e", "a\u0000": {"api_key": "0f9e8d7c6b5a4f3e"}}"#);
        let shown = value(&hostile);
        assert_eq!(
            shown.to_string(),
            r#"{"a\\u{1b} (1)":"\\u{202e}","a\\u{0} (2)":{"api_key":"(a secret)"}}"#
        );
        let many = value(&Value::from(vec![1; 90_000]));
        let list = many.as_array().unwrap();
        assert_eq!(list.last().unwrap().as_str(), Some(&*format!("… ({} more)", 90_000 + 1 - list.len())));
        let long = value(&Value::from(vec!["x".repeat(30_000); 300]));
        for large in [many, long, value(&Value::from(vec![Value::from(vec!["x"; 900]); 900]))] {
            assert!(large.to_string().len() < 500_000, "{}", large.to_string().len());
        }
        let map: Map = (0..90_000).map(|at| (format!("k{at}"), Value::from(at))).collect();
        let map = value(&Value::from(map));
        let map = map.as_object().unwrap();
        assert_eq!(map["…"], format!("({} more)", 90_000 + 1 - map.len()).as_str());
        let digits = Value::from(eval_format::Number::parse(&"9".repeat(1 << 20)).unwrap());
        assert!(value(&digits).to_string().len() < 30_000);
    }
}
