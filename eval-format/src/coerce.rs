//! Pydantic's lax conversions from JSON to the scalar types of ADK's models.
//!
//! Each function returns the value as ADK would hold it, or `None` if pydantic rejects it. The rules were found by
//! running pydantic 2.14. Callers handle `null`.

use crate::syntax::{Kind, MAX_DIGITS, Node};
use crate::value::Number;

/// A float field: numbers, booleans, and strings in Python's float syntax.
pub(crate) fn float(node: &Node<'_>) -> Option<f64> {
    match &node.kind {
        Kind::Number(text) => Number::parse(text).map(|number| number.as_f64()),
        Kind::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Kind::String(text) => float_text(text),
        _ => None,
    }
}

/// A float field of a model of google.genai or of a config, to which pydantic gives Python's numbers. Python has no
/// float for an integer beyond the largest one, so it is rejected where [`float`] gives an infinity.
pub(crate) fn python_float(node: &Node<'_>) -> Option<f64> {
    let read = float(node)?;
    let is_integer = |text| Number::parse(text).is_some_and(|number| number.is_integer());
    let overflows = matches!(node.kind, Kind::Number(text) if read.is_infinite() && is_integer(text));
    (!overflows).then_some(read)
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

/// An enum field of ADK's configs: one of a few strings, or the position of one if ADK numbers them.
pub(crate) fn choice(node: &Node<'_>, values: &[&'static str], numbered: bool) -> Option<&'static str> {
    if let Some(text) = node.string() {
        return choice_text(text, values);
    }
    let position = int(node).filter(|_| numbered)?.as_i64()?;
    usize::try_from(position).ok().and_then(|at| values.get(at)).copied()
}

/// The value that a text names. The text is trimmed, may be in any case, and may have `-` or blanks for `_`.
pub(crate) fn choice_text(text: &str, values: &[&'static str]) -> Option<&'static str> {
    // Characters that Python's `strip` removes besides Unicode's white space.
    let blank = |c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}');
    let text = text.trim_matches(blank).to_uppercase().replace(['-', ' '], "_");
    values.iter().copied().find(|value| value.to_uppercase() == text)
}

/// A bytes field: base64 in the standard or the URL-safe alphabet, but not in both, with any part of its padding. Returned URL-safe
/// and padded, as ADK writes it.
pub(crate) fn base64_text(text: &str) -> Option<String> {
    let digits = text.trim_end_matches('=');
    let most = match digits.len() % 4 {
        1 => return None,
        0 => 0,
        over => 4 - over,
    };
    if text.len() - digits.len() > most || digits.contains(['+', '/']) && digits.contains(['-', '_']) {
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

/// The integer that a float is equal to, if there is one. Pydantic accepts none beyond 64 bits from a float.
fn integral(float: f64) -> Option<Number> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (float.abs() < LIMIT && float.fract() == 0.0)
        .then(|| Number::parse(&format!("{:.0}", float + 0.0)))
        .flatten()
}

/// A float as Rust reads it, with blanks around it or with single underscores inside, but not with both.
fn float_text(text: &str) -> Option<f64> {
    let number = text.trim().parse().ok();
    number.or_else(|| without_underscores(text)?.parse().ok())
}

/// An integer with a sign, zeros in front, single underscores inside, and a fraction of zeros.
///
/// The steps are pydantic's, in its order. Oddities that follow from this order are accepted too: `0-5` is -5.
fn int_text(text: &str) -> Option<Number> {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix('+') {
        Some(digits) if digits.starts_with('-') => return None,
        Some(digits) => ("", digits),
        None => text.strip_prefix('-').map_or(("", text), |digits| ("-", digits)),
    };
    let text = format!("{sign}{}", without_leading_zeros(digits)?);
    let text = without_zero_fraction(&text);
    let plain = without_underscores(text);
    let text = plain.as_deref().unwrap_or(text);
    let number = if text == "-0" { Some(Number::from(0_i64)) } else { Number::parse(text) };
    // Python refuses to read longer integers.
    number.filter(|number| number.is_integer() && text.len() <= MAX_DIGITS)
}

/// The text without leading zeros and underscores; one zero stays before a point and at the end of the text.
/// `None` if the text begins with, or continues after the zeros with, any other character.
fn without_leading_zeros(text: &str) -> Option<&str> {
    let counts = text.find(|c| !matches!(c, '0' | '_')).unwrap_or(text.len());
    match (text.bytes().next()?, text.as_bytes().get(counts)) {
        (b'1'..=b'9' | b'-', _) => Some(text),
        (b'0', None) => text.get(text.len() - 1..),
        (b'0', Some(b'1'..=b'9' | b'-')) => text.get(counts..),
        (b'0', Some(b'.')) => text.get(counts - 1..),
        _ => None,
    }
}

fn without_zero_fraction(text: &str) -> &str {
    match text.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => whole,
        _ => text,
    }
}

/// The text without its underscores; `None` if it has none, two in a row, or one at an end.
fn without_underscores(text: &str) -> Option<String> {
    let single = text.contains('_') && !text.contains("__");
    (single && !text.starts_with('_') && !text.ends_with('_')).then(|| text.replace('_', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<T>(text: &str, read: impl Fn(&Node<'_>) -> Option<T>) -> Option<T> {
        read(&crate::syntax::parse(text, &mut Vec::new()).unwrap())
    }

    #[test]
    fn integers_beyond_floats_are_infinite_unless_python_reads_them() {
        let [largest, beyond] = [308, 400].map(|zeros| format!("1{}", "0".repeat(zeros)));
        for (text, plain, python) in [
            (largest.as_str(), Some(1e308), Some(1e308)),
            (&beyond, Some(f64::INFINITY), None),
            (&format!("-{beyond}"), Some(f64::NEG_INFINITY), None),
            (&format!("\"{beyond}\""), Some(f64::INFINITY), Some(f64::INFINITY)),
            ("1e400", Some(f64::INFINITY), Some(f64::INFINITY)),
            ("Infinity", Some(f64::INFINITY), Some(f64::INFINITY)),
            ("1", Some(1.0), Some(1.0)),
        ] {
            assert_eq!((with(text, float), with(text, python_float)), (plain, python), "{text}");
        }
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
            (r#""1._5""#, 1.5),
            (r#""1e_5""#, 1e5),
            (r#""-_0""#, -0.0),
            (r#""inf""#, f64::INFINITY),
            (r#""-Infinity""#, f64::NEG_INFINITY),
        ] {
            assert_eq!(with(text, float), Some(value), "{text}");
        }
        assert!(with(r#""NaN""#, float).unwrap().is_nan());
        for bad in [
            r#""""#,
            r#""0x5""#,
            r#""1,0""#,
            r#""1__0""#,
            r#""_1""#,
            r#""infinit""#,
            r#"" 1_0""#,
            "null",
            "[]",
        ] {
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
            (r#""-0""#, "0"),
            (r#""-007""#, "-7"),
            (r#""0_1""#, "1"),
            (r#""0.0""#, "0"),
            (r#""0-5""#, "-5"),
            ("9223372036854774784.0", "9223372036854774784"),
            ("9223372036854775808", "9223372036854775808"),
            (r#""9223372036854775808""#, "9223372036854775808"),
            ("1000000000000000000000000000000", "1000000000000000000000000000000"),
        ] {
            assert_eq!(with(text, int).map(|n| n.to_string()).as_deref(), Some(value), "{text}");
        }
        for bad in ["5.5", "1e400", "1e30", "9223372036854775808.0", "-9223372036854775808.0", "NaN", "null"]
        {
            assert_eq!(with(bad, int), None, "{bad}");
        }
        for bad in ["1e3", "0x5", "", "1.", "+-1", "-_1", "0_", "0-05", "--1", "0 1", "\u{663}"] {
            assert_eq!(with(&format!("{bad:?}"), int), None, "{bad}");
        }
    }

    #[test]
    fn ints_in_strings_have_at_most_4300_digits() {
        let digits = |count: usize| format!("\"{}\"", "9".repeat(count));
        assert!(with(&digits(4300), int).is_some());
        assert!(with(&digits(4301), int).is_none());
        assert!(with(&format!("\"{}7\"", "0".repeat(5000)), int).is_some());
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
            ("YQ=", "YQ=="),
            ("", ""),
        ] {
            assert_eq!(
                with(&format!("{text:?}"), |node| base64_text(node.string()?)).as_deref(),
                Some(value),
                "{text}"
            );
        }
        for bad in ["!!", "a", "a===", "aGVsbG8==", "AAAA=", "NaN", "aGVsbG9=", "YR", "YR==", "+A_A", "-A/A"]
        {
            assert_eq!(with(&format!("{bad:?}"), |node| base64_text(node.string()?)), None, "{bad}");
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
