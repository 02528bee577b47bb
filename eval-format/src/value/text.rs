//! Values as JSON text.

use std::fmt::{self, Write};

use super::tree::Value;

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = if f.alternate() { Layout::of_adk() } else { Layout::compact() };
        laid_out(self, &layout, 0, f)
    }
}

/// The text of a value, indented by two blanks, as ADK saves its files.
pub(crate) fn to_pretty(value: &Value) -> String {
    print(value, &Layout::of_adk())
}

pub(crate) fn print(value: &Value, layout: &Layout) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = laid_out(value, layout, 0, &mut text);
    text
}

impl Value {
    /// The value on one line, for people: as compact JSON, in which `NaN` and the infinities have their names.
    #[doc(hidden)]
    pub fn in_words(&self) -> String {
        print(self, &Layout::for_people())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    /// The form of lines; `None` if everything is on one line.
    pub(crate) lines: Option<Lines>,
    /// The text between a key and its value.
    pub(crate) colon: String,
    /// The text after a comma on the same line.
    pub(crate) gap: String,
    /// Whether `NaN` and the infinities have their names, for people. JSON has no text for them.
    pub(crate) is_for_people: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lines {
    pub(crate) end: &'static str,
    /// The indentation of the line that a value begins on.
    pub(crate) base: String,
    /// The indentation that each level adds.
    pub(crate) unit: String,
}

impl Layout {
    fn of_adk() -> Self {
        let lines = Lines { end: "\n", base: String::new(), unit: "  ".to_owned() };
        Self { lines: Some(lines), colon: ": ".to_owned(), ..Self::compact() }
    }

    fn compact() -> Self {
        Self { lines: None, colon: ":".to_owned(), gap: String::new(), is_for_people: false }
    }

    /// One line for people.
    pub(crate) fn for_people() -> Self {
        Self { is_for_people: true, ..Self::compact() }
    }

    fn separate(&self, at: usize, level: usize, out: &mut dyn Write) -> fmt::Result {
        if at > 0 {
            out.write_char(',')?;
            if self.lines.is_none() {
                out.write_str(&self.gap)?;
            }
        }
        self.line(level, out)
    }

    fn line(&self, level: usize, out: &mut dyn Write) -> fmt::Result {
        let Some(lines) = &self.lines else { return Ok(()) };
        out.write_str(lines.end)?;
        out.write_str(&lines.base)?;
        (0..level).try_for_each(|_| out.write_str(&lines.unit))
    }
}

/// Writes JSON; characters outside ASCII are not escaped.
fn laid_out(value: &Value, layout: &Layout, level: usize, out: &mut dyn Write) -> fmt::Result {
    match value {
        Value::Array(items) if !items.is_empty() => {
            out.write_char('[')?;
            for (at, item) in items.iter().enumerate() {
                layout.separate(at, level + 1, out)?;
                laid_out(item, layout, level + 1, out)?;
            }
            layout.line(level, out)?;
            out.write_char(']')
        }
        Value::Object(map) if !map.is_empty() => {
            out.write_char('{')?;
            for (at, (key, item)) in map.iter().enumerate() {
                layout.separate(at, level + 1, out)?;
                write_string(key, out)?;
                out.write_str(&layout.colon)?;
                laid_out(item, layout, level + 1, out)?;
            }
            layout.line(level, out)?;
            out.write_char('}')
        }
        Value::Array(_) => out.write_str("[]"),
        Value::Object(_) => out.write_str("{}"),
        Value::Null => out.write_str("null"),
        Value::Bool(flag) => out.write_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => match number.as_f64() {
            float if layout.is_for_people && !number.is_integer() && !float.is_finite() => {
                out.write_str(not_finite(float))
            }
            _ => write!(out, "{number}"),
        },
        Value::String(text) => write_string(text, out),
    }
}

/// The name of a number that is not finite, as ADK's files have it.
fn not_finite(float: f64) -> &'static str {
    match float {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}

/// Writes a string as JSON: in quotes, with escapes for quotes, backslashes and control characters alone.
pub fn write_string(text: &str, out: &mut dyn Write) -> fmt::Result {
    out.write_char('"')?;
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain_len(rest.as_bytes()));
        out.write_str(plain)?;
        let Some(byte) = special.bytes().next() else { break };
        match byte {
            b'"' => out.write_str("\\\"")?,
            b'\\' => out.write_str("\\\\")?,
            b'\n' => out.write_str("\\n")?,
            b'\r' => out.write_str("\\r")?,
            b'\t' => out.write_str("\\t")?,
            0x08 => out.write_str("\\b")?,
            0x0c => out.write_str("\\f")?,
            _ => write!(out, "\\u{byte:04x}")?,
        }
        rest = &special[1..];
    }
    out.write_char('"')
}

/// The number of bytes before the first one that a JSON string cannot hold as it is: a control character, a quote or a
/// backslash.
///
/// Tests read sets and write journals without optimisation, so eight bytes are looked at at once. In `special`, the lowest
/// bit that is set belongs to the first such byte. Higher bits may be borrows.
pub(crate) fn plain_len(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let zeros = |eight: u64| eight.wrapping_sub(ONES) & !eight;
    let mut at = 0;
    while let Some(eight) = bytes[at..].first_chunk() {
        let eight = u64::from_le_bytes(*eight);
        let controls = eight.wrapping_sub(ONES * u64::from(b' ')) & !eight;
        let others = zeros(eight ^ (ONES * u64::from(b'"'))) | zeros(eight ^ (ONES * u64::from(b'\\')));
        let special = (controls | others) & (ONES * 0x80);
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while at < bytes.len() && !matches!(bytes[at], 0..b' ' | b'"' | b'\\') {
        at += 1;
    }
    at
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

    /// Each character alone among letters, and among characters that are next to the special ones.
    #[test]
    fn plain_text_ends_before_its_first_special_byte_wherever_it_stands_in_eight() {
        for character in '\0'..='\u{ff}' {
            for at in 0..8 {
                for other in ['a', '!', '#', '[', ']', '\u{7f}', '\u{80}', '\u{ff}'] {
                    let mut eight = [other; 8];
                    eight[at] = character;
                    let text = String::from_iter(eight);
                    let expected = text.find(|c: char| c < ' ' || matches!(c, '"' | '\\'));
                    assert_eq!(plain_len(text.as_bytes()), expected.unwrap_or(text.len()), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn special_bytes_are_found_wherever_they_stand() {
        let written = |text: &str| Value::from(text).to_string();
        for special in (0..b' ').chain([b'"', b'\\']).map(char::from) {
            for at in 0..40 {
                let (before, after) = ("~".repeat(at), "~".repeat(39 - at));
                let text = format!("{before}{special}{after}");
                assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
            }
        }
        let plain: String = (' '..='\u{ff}').filter(|c| !"\"\\".contains(*c)).collect();
        assert_eq!(written(&plain), format!("\"{plain}\""));
    }
}
