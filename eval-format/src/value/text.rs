//! Values as JSON text.

use std::fmt::{self, Write};

use super::tree::Value;

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() { pretty(self, 0, f) } else { compact(self, f) }
    }
}

/// The text of a value, indented by two blanks, as ADK saves its files.
pub(crate) fn to_pretty(value: &Value) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = pretty(value, 0, &mut text);
    text
}

/// Writes JSON without white space; characters outside ASCII are not escaped.
fn compact(value: &Value, out: &mut dyn Write) -> fmt::Result {
    match value {
        Value::Array(items) => {
            out.write_char('[')?;
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.write_char(',')?;
                }
                compact(item, out)?;
            }
            out.write_char(']')
        }
        Value::Object(map) => {
            out.write_char('{')?;
            for (at, (key, item)) in map.iter().enumerate() {
                if at > 0 {
                    out.write_char(',')?;
                }
                write_string(key, out)?;
                out.write_char(':')?;
                compact(item, out)?;
            }
            out.write_char('}')
        }
        Value::Null => out.write_str("null"),
        Value::Bool(flag) => out.write_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => write!(out, "{number}"),
        Value::String(text) => write_string(text, out),
    }
}

fn pretty(value: &Value, level: usize, out: &mut dyn Write) -> fmt::Result {
    match value {
        Value::Array(items) if !items.is_empty() => {
            out.write_char('[')?;
            for (at, item) in items.iter().enumerate() {
                new_line(at, level, out)?;
                pretty(item, level + 1, out)?;
            }
            write!(out, "\n{:1$}]", "", level * 2)
        }
        Value::Object(map) if !map.is_empty() => {
            out.write_char('{')?;
            for (at, (key, item)) in map.iter().enumerate() {
                new_line(at, level, out)?;
                write_string(key, out)?;
                out.write_str(": ")?;
                pretty(item, level + 1, out)?;
            }
            write!(out, "\n{:1$}}}", "", level * 2)
        }
        other => compact(other, out),
    }
}

fn new_line(at: usize, level: usize, out: &mut dyn Write) -> fmt::Result {
    write!(out, "{}\n{:2$}", if at > 0 { "," } else { "" }, "", (level + 1) * 2)
}

/// Writes a string as JSON: in quotes, with escapes for quotes, backslashes and control characters alone.
pub fn write_string(text: &str, out: &mut dyn Write) -> fmt::Result {
    out.write_char('"')?;
    let mut rest = text;
    while let Some(at) = first_special(rest.as_bytes()) {
        let (plain, special) = rest.split_at(at);
        out.write_str(plain)?;
        match special.as_bytes()[0] {
            b'"' => out.write_str("\\\"")?,
            b'\\' => out.write_str("\\\\")?,
            b'\n' => out.write_str("\\n")?,
            b'\r' => out.write_str("\\r")?,
            b'\t' => out.write_str("\\t")?,
            0x08 => out.write_str("\\b")?,
            0x0c => out.write_str("\\f")?,
            byte => write!(out, "\\u{byte:04x}")?,
        }
        rest = &special[1..];
    }
    out.write_str(rest)?;
    out.write_char('"')
}

/// The first byte that a string cannot hold as it is.
///
/// Sixteen bytes at a time: journals are written by tests, which are built without optimisation. There, a step for
/// each byte costs more than all the rest of a record.
fn first_special(bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = if bytes.len() < BLOCK { (&[][..], bytes) } else { bytes.as_chunks::<BLOCK>() };
    let mut at = 0;
    while at < blocks.len() {
        if has_special(u128::from_le_bytes(blocks[at])) {
            return position_of_special(&blocks[at]).map(|found| at * BLOCK + found);
        }
        at += 1;
    }
    let mut padded = [b' '; BLOCK];
    padded[..rest.len()].copy_from_slice(rest);
    if has_special(u128::from_le_bytes(padded)) {
        return position_of_special(rest).map(|found| blocks.len() * BLOCK + found);
    }
    None
}

const BLOCK: usize = 16;

fn position_of_special(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte < b' ' || *byte == b'"' || *byte == b'\\')
}

/// Whether one of sixteen bytes is special.
///
/// Subtracting a number from each byte sets the highest bit of those that are below it.
fn has_special(block: u128) -> bool {
    const ONES: u128 = u128::MAX / 0xff;
    const HIGHEST: u128 = ONES << 7;
    let has_zero = |block: u128| block.wrapping_sub(ONES) & !block & HIGHEST;
    let of = |byte: u8| ONES * u128::from(byte);
    let controls = block.wrapping_sub(of(b' ')) & !block & HIGHEST;
    controls | has_zero(block ^ of(b'"')) | has_zero(block ^ of(b'\\')) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_matches_serde_json_on_strings() {
        for text in ["", "plain", "q\"b\\s/", "\u{0}\u{1}\u{8}\u{c}\n\r\t\u{1f}\u{7f}", "é 天 🎉"] {
            assert_eq!(Value::from(text).to_string(), serde_json::to_string(text).unwrap());
        }
    }

    #[test]
    fn pretty_matches_serde_json() {
        let text = r#"{"a":{},"b":[],"c":[1,{"d":null}]}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        let out = to_pretty(&value);
        let theirs: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(out, serde_json::to_string_pretty(&theirs).unwrap());
    }

    #[test]
    fn special_bytes_are_found_wherever_they_stand() {
        for special in (0..b' ').chain([b'"', b'\\']) {
            for at in 0..40 {
                let mut bytes = [b'~'; 40];
                bytes[at] = special;
                assert_eq!(first_special(&bytes), Some(at), "{special}");
            }
        }
        let plain: Vec<u8> = (b' '..=0xff).filter(|byte| !b"\"\\".contains(byte)).collect();
        assert_eq!(first_special(&plain), None);
    }
}
