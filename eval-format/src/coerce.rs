//! Pydantic's lax conversions from JSON to the scalar types of ADK's models.
//!
//! Each function gives the value as ADK would hold it, or `None` where pydantic rejects it. The rules
//! were read off pydantic 2.14 by running it; `null` is the caller's business.

use crate::syntax::{Kind, Node};
use crate::value::Number;

/// A string field: strings only.
pub(crate) fn string<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    node.string()
}

/// A float field: numbers, booleans, and strings in Python's float syntax.
pub(crate) fn float(node: &Node<'_>) -> Option<f64> {
    match &node.kind {
        Kind::Number(text) => Number::parse(text).map(|number| number.as_f64()),
        Kind::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Kind::String(text) => float_text(text),
        _ => None,
    }
}

/// An int field: integers of any size, integral floats, booleans, and strings of digits.
pub(crate) fn int(node: &Node<'_>) -> Option<Number> {
    match &node.kind {
        Kind::Number(text) => {
            let number = Number::parse(text)?;
            if number.is_integer() { Some(number) } else { integral(number.as_f64()) }
        }
        Kind::Bool(flag) => Some(Number::from(i64::from(*flag))),
        Kind::String(text) => int_text(text),
        _ => None,
    }
}

/// A bool field: booleans, 0 and 1, and a few words in any case.
pub(crate) fn bool(node: &Node<'_>) -> Option<bool> {
    match &node.kind {
        Kind::Bool(flag) => Some(*flag),
        Kind::Number(text) => match Number::parse(text)?.as_f64() {
            0.0 => Some(false),
            1.0 => Some(true),
            _ => None,
        },
        Kind::String(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "y" | "t" | "1" => Some(true),
            "false" | "no" | "off" | "n" | "f" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// An enum field of ADK's configs: one of a few strings, or its position where ADK has a number for it.
pub(crate) fn choice(node: &Node<'_>, values: &[&'static str], numbered: bool) -> Option<&'static str> {
    if let Some(text) = node.string() {
        return choice_text(text, values);
    }
    let position = int(node).filter(|_| numbered)?.as_i64()?;
    usize::try_from(position).ok().and_then(|at| values.get(at)).copied()
}

/// The value that a text means: trimmed, in any case, `-` and blanks for `_`.
pub(crate) fn choice_text(text: &str, values: &[&'static str]) -> Option<&'static str> {
    // What Python's `strip` takes for blanks beyond Unicode's white space.
    let blank = |c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}');
    let text = text.trim_matches(blank).to_uppercase().replace(['-', ' '], "_");
    values.iter().copied().find(|value| value.to_uppercase() == text)
}

/// A bytes field: see [`base64_text`].
pub(crate) fn base64(node: &Node<'_>) -> Option<String> {
    base64_text(node.string()?)
}

/// Base64 in the standard or the URL-safe alphabet, padded or not, given back URL-safe and padded as ADK
/// writes it.
pub(crate) fn base64_text(text: &str) -> Option<String> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    if digits.len() % 4 == 1 || padding > 2 || (padding > 0 && !text.len().is_multiple_of(4)) {
        return None;
    }
    let mut out = String::with_capacity(digits.len().next_multiple_of(4));
    for byte in digits.bytes() {
        out.push(match byte {
            b'+' | b'-' => '-',
            b'/' | b'_' => '_',
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => char::from(byte),
            _ => return None,
        });
    }
    // The last digit may carry bits beyond the last byte; they must be zero.
    let spare = match digits.len() % 4 {
        2 => "AQgw",
        3 => "AEIMQUYcgkosw048",
        _ => "",
    };
    if !spare.is_empty() && !out.ends_with(|last| spare.contains(last)) {
        return None;
    }
    while !out.len().is_multiple_of(4) {
        out.push('=');
    }
    Some(out)
}

/// The integer that a float is equal to, if there is one.
fn integral(float: f64) -> Option<Number> {
    // `{:.0}` of a float writes its exact decimal expansion.
    (float.is_finite() && float.fract() == 0.0)
        .then(|| Number::parse(&format!("{:.0}", float + 0.0)))
        .flatten()
}

/// Python's `float(text)`: surrounding blanks, an optional sign, digits with single underscores
/// between them, and the words for the infinities and NaN in any case.
fn float_text(text: &str) -> Option<f64> {
    let text = text.trim();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let lower = unsigned.to_ascii_lowercase();
    if matches!(lower.as_str(), "nan" | "inf" | "infinity") {
        return text.parse().ok();
    }
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    without_underscores(text)?.parse().ok()
}

/// Digits with an optional sign, single underscores between digits, and a fraction of zeros.
fn int_text(text: &str) -> Option<Number> {
    let text = text.trim();
    let text = text.strip_prefix('+').unwrap_or(text);
    let text = match text.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => whole,
        Some(_) => return None,
        None => text,
    };
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    let digits = without_underscores(digits)?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    Number::parse(&format!("{sign}{}", if digits.is_empty() { "0" } else { digits }))
}

/// The text without underscores, each of which must stand between two digits.
fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let between_digits = |at: usize| {
        at > 0 && bytes[at - 1].is_ascii_digit() && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
    };
    let sound = (0..bytes.len()).all(|at| bytes[at] != b'_' || between_digits(at));
    sound.then(|| text.replace('_', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<T>(text: &str, read: impl Fn(&Node<'_>) -> Option<T>) -> Option<T> {
        read(&crate::syntax::parse(text, &mut Vec::new()).unwrap())
    }

    #[test]
    fn floats_are_read_as_pydantic_reads_them() {
        for (text, value) in [
            ("1", 1.0),
            ("true", 1.0),
            (r#"" 2 ""#, 2.0),
            (r#""1e3""#, 1e3),
            (r#""+5""#, 5.0),
            (r#"".5""#, 0.5),
            (r#""5.""#, 5.0),
            (r#""1_000""#, 1000.0),
            (r#""inf""#, f64::INFINITY),
            (r#""-Infinity""#, f64::NEG_INFINITY),
        ] {
            assert_eq!(with(text, float), Some(value), "{text}");
        }
        assert!(with(r#""NaN""#, float).unwrap().is_nan());
        for bad in [r#""""#, r#""0x5""#, r#""1,0""#, r#""1__0""#, r#""_1""#, r#""infinit""#, "null", "[]"] {
            assert_eq!(with(bad, float), None, "{bad}");
        }
    }

    #[test]
    fn integers_are_read_as_pydantic_reads_them() {
        for (text, value) in [
            ("5.0", "5"),
            ("1e3", "1000"),
            ("true", "1"),
            (r#""5""#, "5"),
            (r#"" 5 ""#, "5"),
            (r#""5.0""#, "5"),
            (r#""+5""#, "5"),
            (r#""1_000""#, "1000"),
            ("-0.0", "0"),
            ("1000000000000000000000000000000", "1000000000000000000000000000000"),
        ] {
            assert_eq!(with(text, int).map(|n| n.to_string()).as_deref(), Some(value), "{text}");
        }
        for bad in ["5.5", r#""1e3""#, r#""0x5""#, r#""""#, "1e400", "NaN", "null"] {
            assert_eq!(with(bad, int), None, "{bad}");
        }
    }

    #[test]
    fn booleans_are_read_as_pydantic_reads_them() {
        for yes in ["true", "1", "1.0", r#""Yes""#, r#""ON""#, r#""t""#, r#""1""#] {
            assert_eq!(with(yes, bool), Some(true), "{yes}");
        }
        for bad in ["2", r#""2""#, r#""""#, r#"" true""#, "null"] {
            assert_eq!(with(bad, bool), None, "{bad}");
        }
    }

    #[test]
    fn bytes_have_one_spelling_in_base64() {
        for (text, value) in [
            ("aGVsbG8=", "aGVsbG8="),
            ("aGVsbG8", "aGVsbG8="),
            ("/+8=", "_-8="),
            ("_-8=", "_-8="),
            ("YQ", "YQ=="),
            ("", ""),
        ] {
            assert_eq!(with(&format!("{text:?}"), base64).as_deref(), Some(value), "{text}");
        }
        for bad in ["!!", "a", "aGVsbG8===", "NaN", "aGVsbG9=", "YR", "YR=="] {
            assert_eq!(with(&format!("{bad:?}"), base64), None, "{bad}");
        }
    }

    #[test]
    fn choices_are_words_in_any_case_or_their_numbers() {
        let values = &["EXACT", "IN_ORDER", "subset"];
        for (text, value) in [
            (r#""EXACT""#, "EXACT"),
            (r#"" In-Order\n""#, "IN_ORDER"),
            (r#""in order""#, "IN_ORDER"),
            (r#""\u001fSUBSET""#, "subset"),
            ("0", "EXACT"),
            ("1.0", "IN_ORDER"),
            ("true", "IN_ORDER"),
        ] {
            assert_eq!(with(text, |node| choice(node, values, true)), Some(value), "{text}");
        }
        for bad in [r#""""#, r#""1""#, r#""INORDER""#, r#""in\torder""#, "3", "-1", "1.5", "null", "[]"] {
            assert_eq!(with(bad, |node| choice(node, values, true)), None, "{bad}");
        }
        assert_eq!(with("1", |node| choice(node, values, false)), None);
    }
}
