//! Values as text in the layout of a file.

use crate::value::{Value, write_string};

/// How a file lays out its values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    /// The lines of what has several; `None` if all stands on one line.
    pub(super) lines: Option<Lines>,
    /// What stands between a key and its value.
    pub(super) colon: String,
    /// What stands after a comma on the same line.
    pub(super) gap: String,
}

/// How lines begin and end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lines {
    /// The end of a line.
    pub(super) end: &'static str,
    /// The indentation of the line that a value begins on.
    pub(super) base: String,
    /// What each level adds.
    pub(super) unit: String,
}

/// The text of a value.
pub(super) fn print(value: &Value, layout: &Layout) -> String {
    let mut text = String::new();
    Printer { layout, text: &mut text }.value(value, 0);
    text
}

struct Printer<'a> {
    layout: &'a Layout,
    text: &'a mut String,
}

impl Printer<'_> {
    fn value(&mut self, value: &Value, level: usize) {
        match value {
            Value::Array(items) if !items.is_empty() => {
                self.text.push('[');
                for (at, item) in items.iter().enumerate() {
                    self.separate(at, level + 1);
                    self.value(item, level + 1);
                }
                self.line(level);
                self.text.push(']');
            }
            Value::Object(map) if !map.is_empty() => {
                self.text.push('{');
                for (at, (key, item)) in map.iter().enumerate() {
                    self.separate(at, level + 1);
                    self.string(key);
                    self.text.push_str(&self.layout.colon);
                    self.value(item, level + 1);
                }
                self.line(level);
                self.text.push('}');
            }
            Value::String(text) => self.string(text),
            plain => self.text.push_str(&plain.to_string()),
        }
    }

    fn string(&mut self, text: &str) {
        // Writing to a string cannot fail.
        let _ = write_string(text, self.text);
    }

    fn separate(&mut self, at: usize, level: usize) {
        if at > 0 {
            self.text.push(',');
            if self.layout.lines.is_none() {
                self.text.push_str(&self.layout.gap);
            }
        }
        self.line(level);
    }

    fn line(&mut self, level: usize) {
        if let Some(lines) = &self.layout.lines {
            self.text.push_str(lines.end);
            self.text.push_str(&lines.base);
            self.text.extend(std::iter::repeat_n(lines.unit.as_str(), level));
        }
    }
}
