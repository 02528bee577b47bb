//! Differences between two texts or values that look the same when they are printed.
//!
//! `é` can be one code point or two, a space can be a no-break space, a letter can come from another alphabet, and JSON
//! writes `NaN` as `null`. A failure that prints two equal lines explains nothing.

use eval_format::Value;

/// A difference of at most this many characters is shown by code points.
const MAX_CODE_POINTS: usize = 4;

/// The difference of two texts that look alike, to follow the word "differs"; `None` if they are equal or differ
/// visibly.
pub(super) fn texts(expected: &str, actual: &str) -> Option<String> {
    let (wanted, found): (Vec<char>, Vec<char>) = (expected.chars().collect(), actual.chars().collect());
    if wanted == found {
        return None;
    }
    let same = wanted.iter().zip(&found).take_while(|(one, other)| one == other).count();
    let (wanted, found) = (&wanted[same..], &found[same..]);
    let rest = wanted.iter().rev().zip(found.iter().rev()).take_while(|(one, other)| one == other).count();
    let (wanted, found) = (&wanted[..wanted.len() - rest], &found[..found.len() - rest]);
    let is_short = wanted.len() <= MAX_CODE_POINTS && found.len() <= MAX_CODE_POINTS;
    let mut differing = wanted.iter().chain(found);
    let is_plain =
        differing.clone().all(|char| matches!(char, ' '..='~')) && differing.any(char::is_ascii_graphic);
    if (!is_short || is_plain) && !look_the_same(expected, actual) {
        return None;
    }
    let at = same + 1;
    Some(format!(" from character {at} on: expected {}, actual {}", code_points(wanted), code_points(found)))
}

/// The difference of two unequal values, to follow the word "differs", if their texts look alike.
pub(super) fn values(expected: &Value, actual: &Value) -> Option<String> {
    match (expected, actual) {
        (Value::String(expected), Value::String(actual)) => texts(expected, actual),
        (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
            expected.iter().zip(actual).find_map(|(expected, actual)| values(expected, actual))
        }
        (Value::Object(expected), Value::Object(actual)) if expected.len() == actual.len() => {
            expected.iter().find_map(|(key, expected)| values(expected, actual.get(key)?))
        }
        _ => match (number(expected), number(actual)) {
            (Some("NaN"), Some("NaN")) => Some(": `NaN` equals nothing, `NaN` neither".to_owned()),
            (Some(expected), Some(actual)) if expected == actual => None,
            (None, None) => None,
            (wanted, found) => {
                let shown = |number: Option<&str>, value: &Value| {
                    number.map_or_else(|| value.to_string(), str::to_owned)
                };
                Some(format!(": expected {}, actual {}", shown(wanted, expected), shown(found, actual)))
            }
        },
    }
}

/// The name of a number that JSON has no text for.
fn number(value: &Value) -> Option<&'static str> {
    match value.as_f64()? {
        number if number.is_nan() => Some("NaN"),
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        _ => None,
    }
}

/// Whether two texts differ only in the form of characters, in kinds of spaces, and in characters without
/// width.
fn look_the_same(one: &str, other: &str) -> bool {
    use unicode_normalization::UnicodeNormalization;
    let seen = |text: &str| -> String {
        let visible = text.chars().filter(|char| !has_no_width(*char));
        visible.map(|char| if char.is_whitespace() { ' ' } else { char }).nfc().collect()
    };
    seen(one) == seen(other)
}

// Fewer than `is_invisible` has on purpose: a Hangul filler or a blank pattern of Braille takes room, so such texts look different.
fn has_no_width(char: char) -> bool {
    matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// The first characters as code points: `U+00E9`.
fn code_points(chars: &[char]) -> String {
    if chars.is_empty() {
        return "nothing".to_owned();
    }
    let shown = chars.iter().take(MAX_CODE_POINTS).map(|char| format!("U+{:04X}", u32::from(*char)));
    let more = if chars.len() > MAX_CODE_POINTS { " .." } else { "" };
    format!("{}{more}", shown.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use eval_format::Number;
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_that_look_the_same_are_told_by_code_points() {
        for (expected, actual, difference) in [
            (
                "Montr\u{e9}al",
                "Montre\u{301}al",
                " from character 6 on: expected U+00E9, actual U+0065 U+0301",
            ),
            ("New York", "New\u{a0}York", " from character 4 on: expected U+0020, actual U+00A0"),
            ("Paris", "P\u{430}ris", " from character 2 on: expected U+0061, actual U+0430"),
            ("Paris", "Par\u{200b}is", " from character 4 on: expected nothing, actual U+200B"),
            ("a b", "a\tb", " from character 2 on: expected U+0020, actual U+0009"),
            ("Paris", "Paris ", " from character 6 on: expected nothing, actual U+0020"),
            (
                "\u{e9}t\u{e9} \u{e0} \u{e9}v\u{ea}",
                "e\u{301}te\u{301} a\u{300} e\u{301}ve\u{302}",
                " from character 1 on: expected U+00E9 U+0074 U+00E9 U+0020 .., actual U+0065 U+0301 U+0074 U+0065 ..",
            ),
        ] {
            assert_eq!(texts(expected, actual).as_deref(), Some(difference), "{expected} {actual}");
        }
    }

    #[test]
    fn texts_that_differ_visibly_need_no_code_points() {
        for (expected, actual) in
            [("a", "a"), ("Paris", "Oslo"), ("sunny", "sunni"), ("晴れです東京", "雨が降る大阪")]
        {
            assert_eq!(texts(expected, actual), None, "{expected} {actual}");
        }
    }

    #[test]
    fn numbers_that_json_cannot_write_are_named() {
        let number = |number: f64| Value::Number(Number::from(number));
        let nested = |value: Value| Value::Array(vec![Value::Null, value]);
        for (expected, actual, difference) in [
            (Value::Null, number(f64::NAN), Some(": expected null, actual NaN")),
            (number(f64::INFINITY), Value::Null, Some(": expected Infinity, actual null")),
            (number(f64::NAN), number(f64::NAN), Some(": `NaN` equals nothing, `NaN` neither")),
            (
                nested(Value::Null),
                nested(number(f64::NEG_INFINITY)),
                Some(": expected null, actual -Infinity"),
            ),
            (json!({ "a": 1 }).into(), json!({ "a": 2 }).into(), None),
            (
                json!({ "a": ["x y"] }).into(),
                json!({ "a": ["x\u{a0}y"] }).into(),
                Some(" from character 2 on: expected U+0020, actual U+00A0"),
            ),
        ] {
            assert_eq!(values(&expected, &actual).as_deref(), difference, "{expected} {actual}");
        }
    }
}
