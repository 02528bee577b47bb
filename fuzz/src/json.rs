//! Compares the reader of JSON with `serde_json`: which texts are JSON, and which values they have.
//!
//! The two may differ only in points in which pydantic differs from the standard:
//!
//! * `NaN`, `Infinity` and `-Infinity` are numbers here.
//! * A number too large for a float is infinite here, or an exact integer; `serde_json` refuses it.
//! * Nesting ends at 201 levels here; `serde_json` is asked for any depth.
//! * An integer has at most 4300 digits here.
//! * A duplicate key of an object is an error here; `serde_json` keeps its last value.
//! * Integers beyond 64 bits are exact here and floats there, and `-0` is an integer here.
//!
//! Both refuse one half of a surrogate pair.

use eval_format::problem::ProblemCode;
use eval_format::{Number, Problem, Problems, Value};
use serde::Deserialize;

/// The deepest nesting that pydantic reads.
const MOST_LEVELS: usize = 201;

/// The longest integer that pydantic reads.
const MOST_DIGITS: usize = 4300;

/// The largest number of brackets with which `serde_json` is asked. It has no limit of depth here and could run out of
/// stack.
const MOST_BRACKETS: usize = 5_000;

/// Compares the two readers on a document. Returns whether it is JSON for our reader, apart from duplicate keys.
pub(crate) fn check(bytes: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(bytes) else {
        assert!(
            serde_json::from_slice::<serde_json::Value>(bytes).is_err(),
            "serde_json reads what is not UTF-8"
        );
        return false;
    };
    let ours = Value::parse(text);
    if text.matches(['[', '{']).count() <= MOST_BRACKETS {
        compare(text, ours.as_ref(), parse(text));
    }
    let value = match ours {
        Ok(value) => value,
        Err(problems) => return has_equal_keys(&problems),
    };
    if is_finite(&value) {
        assert_eq!(
            Value::parse(&value.to_string()).as_ref().ok(),
            Some(&value),
            "what is written reads differently"
        );
    }
    true
}

/// Whether duplicate keys are the only problems of a text.
fn has_equal_keys(problems: &Problems) -> bool {
    problems.iter().all(|problem| problem.code == ProblemCode::DuplicateKey)
}

/// Whether a problem says that the text is not JSON.
pub(crate) fn is_about_json(problem: &Problem) -> bool {
    problem.is_error()
        && matches!(problem.code, ProblemCode::Encoding | ProblemCode::Syntax | ProblemCode::TooDeep)
}

/// Whether JSON can represent every number in the value.
pub(crate) fn is_finite(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_integer() || number.as_f64().is_finite(),
        Value::Array(items) => items.iter().all(is_finite),
        Value::Object(map) => map.iter().all(|(_, value)| is_finite(value)),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

/// Whether a value is not too deep for a file.
pub(crate) fn is_shallow(value: &Value) -> bool {
    levels(value) <= MOST_LEVELS
}

fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or_default(),
        Value::Object(map) => 1 + map.iter().map(|(_, value)| levels(value)).max().unwrap_or_default(),
        // A scalar counts as a level, so the last level of a file may hold only empty arrays and objects.
        _ => 1,
    }
}

fn parse(text: &str) -> serde_json::Result<serde_json::Value> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let value = serde_json::Value::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

fn compare(text: &str, ours: Result<&Value, &Problems>, theirs: serde_json::Result<serde_json::Value>) {
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => assert!(same(ours, &theirs), "{ours} is not {theirs}"),
        (Err(_), Err(_)) => {}
        (Ok(_), Err(_)) => {
            if let Err(error) = parse(&without_constants(text)) {
                let is_range = error.to_string().starts_with("number out of range");
                assert!(is_range && has_number_beyond_floats(text), "only serde_json refuses this: {error}");
            }
        }
        (Err(problems), Ok(theirs)) => {
            let is_deep = levels(&theirs.into()) > MOST_LEVELS;
            let is_long = longest_run_of_digits(text) > MOST_DIGITS;
            assert!(
                is_deep || is_long || has_equal_keys(problems),
                "only serde_json accepts this:\n{problems}"
            );
        }
    }
}

fn same(ours: &Value, theirs: &serde_json::Value) -> bool {
    match (ours, theirs) {
        (Value::Null, serde_json::Value::Null) => true,
        (Value::Bool(a), serde_json::Value::Bool(b)) => a == b,
        (Value::Number(a), serde_json::Value::Number(b)) => same_number(a, b),
        (Value::String(a), serde_json::Value::String(b)) => a == b,
        (Value::Array(a), serde_json::Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), serde_json::Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|theirs| same(value, theirs)))
        }
        _ => false,
    }
}

fn same_number(ours: &Number, theirs: &serde_json::Number) -> bool {
    if !ours.is_integer() {
        return theirs.is_f64() && theirs.as_f64().map(f64::to_bits) == Some(ours.as_f64().to_bits());
    }
    if theirs.is_f64() {
        let has_no_other_form = ours.to_string().parse::<u64>().is_err() && ours.as_i64().is_none();
        return theirs.as_f64() == Some(ours.as_f64()) && (has_no_other_form || ours.as_i64() == Some(0));
    }
    theirs.to_string() == ours.to_string()
}

/// The document with a zero for each number that only pydantic reads.
fn without_constants(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_string = false;
    while let Some(c) = rest.chars().next() {
        let constant =
            ["NaN", "Infinity", "-Infinity"].into_iter().find(|name| !in_string && rest.starts_with(name));
        let taken = match (constant, c) {
            (Some(name), _) => name.len(),
            (None, '\\') if in_string => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            (None, _) => c.len_utf8(),
        };
        in_string ^= c == '"';
        out.push_str(if constant.is_some() { "0" } else { &rest[..taken] });
        rest = &rest[taken..];
    }
    out
}

/// Whether some number of the text is beyond the range of floats. A repeated key may have replaced it in the value.
fn has_number_beyond_floats(text: &str) -> bool {
    let is_outside = |c: char| !(c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E'));
    text.split(is_outside).any(|number| number.parse().is_ok_and(f64::is_infinite))
}

fn longest_run_of_digits(text: &str) -> usize {
    text.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or_default()
}
