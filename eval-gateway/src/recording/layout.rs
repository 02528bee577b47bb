//! The layout of recordings on lines: short values on one line, each event of a stream on a line of its own.

use eval_format::__private::write_string;
use eval_format::Value;

/// The longest value that is written on one line, in bytes.
const MAX_LINE_BYTES: usize = 100;

/// The text of a value.
pub(super) fn laid_out(value: &Value) -> String {
    let mut text = String::new();
    write(value, "", 0, &mut text);
    text.push('\n');
    text
}

fn write(value: &Value, key: &str, level: usize, out: &mut String) {
    match value {
        Value::Array(items) if key == "events" => {
            let lines: Vec<String> = items.iter().map(Value::to_string).collect();
            broken(&lines, level, ('[', ']'), out);
        }
        Value::Array(items) if !is_short(value) => {
            let lines: Vec<String> = items.iter().map(|item| inner(item, "", level)).collect();
            broken(&lines, level, ('[', ']'), out);
        }
        Value::Object(map) if !is_short(value) => {
            let line = |(key, item): (&str, &Value)| {
                let mut line = String::new();
                // Writing to a text cannot fail.
                let _ = write_string(key, &mut line);
                line + ": " + &inner(item, key, level)
            };
            let lines: Vec<String> = map.iter().map(line).collect();
            broken(&lines, level, ('{', '}'), out);
        }
        short => out.push_str(&short.to_string()),
    }
}

fn inner(value: &Value, key: &str, level: usize) -> String {
    let mut text = String::new();
    write(value, key, level + 1, &mut text);
    text
}

fn is_short(value: &Value) -> bool {
    let is_empty = match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => return true,
    };
    is_empty || value.to_string().len() <= MAX_LINE_BYTES
}

fn broken(lines: &[String], level: usize, (open, close): (char, char), out: &mut String) {
    out.push(open);
    for (at, line) in lines.iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(level + 1));
        out.push_str(line);
    }
    if !lines.is_empty() {
        out.push('\n');
        out.push_str(&"  ".repeat(level));
    }
    out.push(close);
}
