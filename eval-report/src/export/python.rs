//! Values as Python prints them: tables of ADK hold numbers and tool calls in this form.

use std::fmt::Write;

use eval_format::{FunctionCall, Map, Number, Value};
use eval_support::category::{Category, category};

/// `repr` of a float: the shortest text that reads back the same.
pub(super) fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return format!("{number}");
    }
    // `Number` prints floats as Pydantic does, with Python's digits in almost the same notation.
    // `split_at(1)` is safe: an exponent always has a sign, and four zeros are always followed by a digit.
    let text = Number::from(number).to_string();
    if let Some((digits, exponent)) = text.split_once('e') {
        let (sign, exponent) = exponent.split_at(1);
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    let (sign, unsigned) = text.strip_prefix('-').map_or(("", &*text), |unsigned| ("-", unsigned));
    let Some(digits) = unsigned.strip_prefix("0.0000") else { return text };
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}e-05")
}

/// `str` of a `FunctionCall`: all of its fields on a line, partial arguments each on lines of their own.
pub(super) fn call(call: &FunctionCall) -> String {
    let mut out = String::from("id=");
    optional_text(call.id.as_deref(), &mut out);
    out.push_str(" args=");
    match &call.args {
        Some(args) => dict(args, &mut out),
        None => out.push_str("None"),
    }
    out.push_str(" name=");
    optional_text(call.name.as_deref(), &mut out);
    out.push_str(" partial_args=");
    match call.other.get("partial_args") {
        Some(Value::Array(parts)) => sequence(parts, &mut out, partial_arg),
        _ => out.push_str("None"),
    }
    out.push_str(" will_continue=");
    value(call.other.get("will_continue").unwrap_or(&Value::Null), &mut out);
    out
}

fn optional_text(text: Option<&str>, out: &mut String) {
    match text {
        Some(text) => string(text, out),
        None => out.push_str("None"),
    }
}

/// `repr` of a value that was read from JSON.
fn value(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(flag) => out.push_str(if *flag { "True" } else { "False" }),
        Value::Number(number) => out.push_str(&self::number(number)),
        Value::String(text) => string(text, out),
        Value::Array(items) => sequence(items, out, self::value),
        Value::Object(map) => dict(map, out),
    }
}

fn number(number: &Number) -> String {
    if number.is_integer() { number.to_string() } else { float(number.as_f64()) }
}

fn sequence(items: &[Value], out: &mut String, each: fn(&Value, &mut String)) {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        each(item, out);
    }
    out.push(']');
}

fn dict(map: &Map, out: &mut String) {
    out.push('{');
    for (at, (key, item)) in map.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        string(key, out);
        out.push_str(": ");
        value(item, out);
    }
    out.push('}');
}

/// `repr` of a string: in single quotes, unless it contains those and no double ones.
fn string(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if c == quote => out.extend(['\\', c]),
            _ if is_printable(c) => out.push(c),
            _ => escape(u32::from(c), out),
        }
    }
    out.push(quote);
}

fn escape(code: u32, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match code {
        0..=0xff => write!(out, "\\x{code:02x}"),
        0x100..=0xffff => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}

/// Python's `str.isprintable`. A Python with an older Unicode escapes newer characters.
fn is_printable(c: char) -> bool {
    c == ' ' || category(c) != Category::Hidden
}

/// A `PartialArg` as google-genai prints it: a line for each field that is set.
fn partial_arg(arg: &Value, out: &mut String) {
    const FIELDS: [&str; 6] =
        ["bool_value", "json_path", "null_value", "number_value", "string_value", "will_continue"];
    let set: Vec<(&str, &Value)> =
        FIELDS.iter().map(|name| (*name, &arg[*name])).filter(|(_, value)| !value.is_null()).collect();
    out.push_str("PartialArg(");
    for (at, (name, field)) in set.iter().enumerate() {
        out.push_str(if at > 0 { ",\n  " } else { "\n  " });
        out.push_str(name);
        out.push('=');
        match field {
            Value::String(text) if text.contains('\n') => {
                let _ = write!(out, "\"\"\"{}\"\"\"", text.replace("\"\"\"", "\\\"\\\"\\\""));
            }
            field => value(field, out),
        }
    }
    out.push_str(if set.is_empty() { ")" } else { "\n)" });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn floats_are_pythons() {
        for (number, expected) in [
            (1.0, "1.0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (-0.0, "-0.0"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-0.000_012_5, "-1.25e-05"),
            (209.0 / 2_097_152.0, "9.965896606445312e-05"),
            // Halfway between two decimals: the even one.
            (3_683_392_859_314_133.0 / 4.0, "920848214828533.2"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (12_345_678_901_234_567.0, "1.2345678901234568e+16"),
            (1e300, "1e+300"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(float(number), expected);
        }
    }

    #[test]
    fn texts_are_quoted_and_escaped_as_in_python() {
        for (text, expected) in [
            ("plain", "'plain'"),
            ("it's", "\"it's\""),
            ("it's \"q\"", "'it\\'s \"q\"'"),
            ("a\\b\n\r\t", "'a\\\\b\\n\\r\\t'"),
            ("\0\u{1f}\u{7f}\u{a0}\u{ad}", "'\\x00\\x1f\\x7f\\xa0\\xad'"),
            ("\u{200b}\u{2028}\u{e000}\u{378}", "'\\u200b\\u2028\\ue000\\u0378'"),
            ("\u{e0001}", "'\\U000e0001'"),
            ("é 天 🎉", "'é 天 🎉'"),
        ] {
            let mut out = String::new();
            string(text, &mut out);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn calls_are_printed_with_all_fields() {
        let args = json!({ "sides": 6, "b": [1.0, null, true, "x", {}] });
        assert_eq!(
            call(&FunctionCall::new("roll", args)),
            "id=None args={'b': [1.0, None, True, 'x', {}], 'sides': 6} name='roll' partial_args=None will_continue=None"
        );
        let partial = json!([{ "json_path": "$.x", "number_value": 1.0, "string_value": "a\nb" }, {}]);
        let partial = FunctionCall::default()
            .with_id("1")
            .with_other("partial_args", partial)
            .with_other("will_continue", true);
        assert_eq!(
            call(&partial),
            "id='1' args=None name=None partial_args=[PartialArg(\n  json_path='$.x',\n  number_value=1.0,\n  \
             string_value=\"\"\"a\nb\"\"\"\n), PartialArg()] will_continue=True"
        );
    }
}
