//! Two texts or values that differ, in a few words: `“sunny” → “rainy”`. The first difference of a line says which side is
//! which: `expected “sunny” → actual “rainy”`.
//!
//! Quotes are “ and ”, so that the page can keep what is between them apart: a text from right to left would turn the
//! words around it. Of texts without blanks a part would not be understood, so that the clause is quoted with both
//! parts in it: `“明日は午[後→前]から”`. The page marks them.

use std::collections::HashSet;
use std::time::Duration;

use eval_core::__private::TIMED_OUT;
use eval_format::Value;
use similar::DiffableStr;

use crate::page::{Block, Part, PartSide, line};

/// The longest value or text in a difference.
pub(super) const MAX_CHARS: usize = 40;
/// The longest text that only one of two answers has.
const MAX_ALONE_CHARS: usize = 80;
/// Marks of the sides of a difference, for [`told`]: no text that is shown has them.
const EXPECTED: char = '\u{1}';
const ACTUAL: char = '\u{2}';
/// Before a quote with both sides in it.
const BOTH: char = '\u{3}';
/// The signs on each side of a difference in a text without blanks.
const MAX_AROUND: usize = 10;
/// The most characters of each side of a phrase with several differences: a number alone would say nothing.
const MAX_PHRASE_CHARS: usize = 60;

/// The differences of a line, the first one of each form with words for its sides: `expected 3 → actual 2`.
pub(super) fn told(differences: &str) -> String {
    // A quote with both sides says it on its own: it looks unlike the others.
    let words = differences.replacen(EXPECTED, "expected ", 1).replacen(ACTUAL, "actual ", 1);
    words.replacen(BOTH, "expected → actual: ", 1).replace([EXPECTED, ACTUAL, BOTH], "")
}

fn sides(expected: &str, actual: &str) -> String {
    format!("{EXPECTED}{expected} → {ACTUAL}{actual}")
}

/// `business → economy`, `1 → “1”`, with the marks of the sides.
pub(super) fn change(expected: &Value, actual: &Value) -> String {
    match (expected.as_str(), actual.as_str()) {
        (Some(one), Some(other)) => replaced(&line(one), &line(other)),
        _ => {
            // Quotes alone are easily missed: `2 → “2”`.
            let is_other_type = expected.as_str().is_some() != actual.as_str().is_some();
            let shown = |value: &Value| match value.as_str() {
                Some(text) if is_other_type => format!("{} (text)", quoted(&line(text), MAX_CHARS)),
                Some(text) => quoted(&line(text), MAX_CHARS),
                None => shortened(&line(&value.in_words()), MAX_CHARS),
            };
            sides(&shown(expected), &shown(actual))
        }
    }
}

/// A value alone: `Fulda`, `“New York”`, `3`.
pub(super) fn shown_value(value: &Value) -> String {
    match value.as_str().map(line) {
        Some(text) if is_word(&text) => text,
        Some(text) => quoted(&text, MAX_CHARS),
        None => shortened(&line(&value.to_string()), MAX_CHARS),
    }
}

/// The difference between two answers, which are not equal. They are masked already. `blocks` is their comparison; empty
/// if they are too long.
pub(super) fn other_answer(expected: &str, actual: &str, blocks: &[Block]) -> String {
    let (one, other) = (plain(expected), plain(actual));
    if one == other {
        return "answer differs in blanks, or in what is masked or cut here".to_owned();
    }
    let all: Vec<(Weight, Found)> = blocks.iter().flat_map(of_block).collect();
    let most = all.iter().map(|(weight, _)| *weight).max();
    let first = all.iter().find(|(weight, _)| Some(*weight) == most).map(|(_, found)| found);
    let whole = Parts::of(&one, &other);
    match first {
        // Differences that are near each other are one phrase.
        Some(Found::Replaced(_)) if all.len() == 1 || whole.is_short() => Found::Replaced(whole).said(),
        Some(first) if all.len() == 1 => first.said(),
        Some(first) => format!("{}, and more", first.said()),
        None => Found::Replaced(whole).said(),
    }
}

/// The rank of a difference: numbers, then names, then length.
type Weight = (bool, bool, usize);

/// A difference between two answers.
enum Found {
    Missing(String),
    Extra(String),
    Replaced(Parts),
    /// In JSON, by its key.
    Key(String),
}

impl Found {
    fn said(&self) -> String {
        match self {
            Self::Missing(text) => format!("missing in the answer: {}", quoted(text, MAX_ALONE_CHARS)),
            Self::Extra(text) => format!("not expected in the answer: {}", quoted(text, MAX_ALONE_CHARS)),
            Self::Replaced(parts) => format!("answer differs: {}", parts.quoted()),
            Self::Key(text) => format!("answer differs: {text}"),
        }
    }
}

/// The differences of a block, each with its weight. All differences of keys have one weight.
fn of_block(block: &Block) -> Vec<(Weight, Found)> {
    match block {
        Block::Words { parts } => {
            regions(parts).into_iter().map(|it| (it.weight(), it.found(false))).collect()
        }
        Block::Lines { parts } => {
            regions(parts).into_iter().map(|it| (it.weight(), it.found(true))).collect()
        }
        Block::Keys(keys) => {
            let rows = keys.rows.iter().filter_map(|row| {
                let path =
                    if row.path.is_empty() { "the value".to_owned() } else { format!("`{}`", row.path) };
                let shown = |value: &Option<String>| {
                    let value = line(value.as_deref().unwrap_or_default());
                    if is_word(&value) { value } else { quoted(&value, MAX_CHARS) }
                };
                let said = match row.is {
                    "changed" => format!("{path} {}", sides(&shown(&row.expected), &shown(&row.actual))),
                    "missing" => format!("{path} missing"),
                    "extra" => format!("{path} not expected"),
                    _ => return None,
                };
                Some((Weight::default(), Found::Key(said)))
            });
            rows.collect()
        }
    }
}

/// Two differing texts and their common surroundings.
#[derive(Default)]
struct Parts {
    before: String,
    expected: String,
    actual: String,
    after: String,
}

impl Parts {
    /// The whole part in which two texts differ, in whole words: `sunny` and `sunset` differ, not `ny` and `set`.
    fn of(one: &str, other: &str) -> Self {
        let (a, b) = (one.tokenize_unicode_words(), other.tokenize_unicode_words());
        let shorter = a.len().min(b.len());
        let mut from = a.iter().zip(&b).take_while(|(one, other)| one == other).count();
        let same = a.iter().rev().zip(b.iter().rev()).take(shorter - from);
        let left = same.take_while(|(one, other)| one == other).count();
        // Of words that only one text has, the word before them tells the place.
        if from + left == shorter {
            let is_word = |token: &&str| token.chars().any(char::is_alphanumeric);
            from = a[..from].iter().rposition(is_word).unwrap_or(0);
        }
        let part = |of: &[&str]| of[from..of.len() - left].concat().trim().to_owned();
        Self {
            before: a[..from].concat(),
            expected: part(&a),
            actual: part(&b),
            after: a[a.len() - left..].concat(),
        }
    }

    /// The words that one side alone has, whatever their case. The first word of a sentence is no name.
    fn weight(&self) -> Weight {
        let goes_on = |c: char| c.is_alphanumeric() || matches!(c, ',' | ';');
        let mut weight = Weight::default();
        for (one, other) in [(&self.expected, &self.actual), (&self.actual, &self.expected)] {
            let other = other.to_lowercase();
            let known: HashSet<&str> = other.tokenize_unicode_words().into_iter().collect();
            let mut is_first = !self.before.trim_end().ends_with(goes_on);
            for word in one.tokenize_unicode_words() {
                if !word.contains(char::is_alphanumeric) {
                    is_first |= word.contains(['.', '!', '?', ':', '\n']);
                    continue;
                }
                if !known.contains(word.to_lowercase().as_str()) {
                    weight.0 |= word.contains(|c: char| c.is_ascii_digit());
                    weight.1 |= !is_first && word.starts_with(char::is_uppercase);
                    weight.2 += word.chars().count();
                }
                is_first = false;
            }
        }
        weight
    }

    fn found(self, is_code: bool) -> Found {
        let (one, other) = (plain(&self.expected), plain(&self.actual));
        match (one.is_empty(), other.is_empty()) {
            (false, true) => Found::Missing(one),
            (true, false) => Found::Extra(other),
            _ if is_code => Found::Replaced(Self::of(&one, &other)),
            _ => Found::Replaced(Self { expected: one, actual: other, ..self }),
        }
    }

    fn is_short(&self) -> bool {
        [&self.expected, &self.actual].iter().all(|text| text.chars().nth(MAX_PHRASE_CHARS).is_none())
    }

    /// Whether the difference is within words that no blank ends, as in Japanese.
    fn is_inside(&self) -> bool {
        let joins = |one: Option<char>, other: Option<char>| {
            one.is_some_and(char::is_alphanumeric) && other.is_some_and(char::is_alphanumeric)
        };
        let sides = [&self.expected, &self.actual];
        sides.iter().any(|it| {
            joins(self.before.chars().last(), it.chars().next())
                || joins(it.chars().last(), self.after.chars().next())
        })
    }

    /// `“sunny” → “rainy”`, `“明日は午[後→前]から”`.
    fn quoted(&self) -> String {
        let Self { before, expected, actual, after } = self;
        if !self.is_inside() || !self.is_short() {
            let most = if self.is_short() { MAX_PHRASE_CHARS } else { MAX_CHARS };
            return sides(&quoted(expected, most), &quoted(actual, most));
        }
        let before: Vec<char> = before.chars().collect();
        let begin = before.len().saturating_sub(MAX_AROUND);
        let cut = if begin > 0 { "…" } else { "" };
        let before: String = before[begin..].iter().collect();
        let after = shortened(after, MAX_AROUND);
        let clause = |text: &str| plain(&straight(text));
        format!(
            "{BOTH}“{cut}{}[{}→{}]{}”",
            clause(&before),
            straight(expected),
            straight(actual),
            clause(&after)
        )
    }
}

/// The time limit that ended a run: 1.5 seconds of `timed out after 1.5s (..)`.
pub(super) fn time_limit(message: &str) -> Option<Duration> {
    let (_, told) = message.split_once(TIMED_OUT)?;
    let limit = told.split([' ', '\n']).next()?;
    let (number, unit) = limit.split_at(limit.find(char::is_alphabetic)?);
    let seconds = match unit {
        "s" => 1.0,
        "ms" => 1e-3,
        "µs" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()
}

/// The differences between two texts, from the parts of their comparison.
fn regions(parts: &[Part]) -> Vec<Parts> {
    let mut all: Vec<Parts> = Vec::new();
    let mut before = String::new();
    let mut is_open = false;
    for part in parts {
        if part.side == PartSide::Both {
            // A long equal text is in several parts.
            if let Some(last) = all.last_mut().filter(|_| is_open) {
                last.after.clone_from(&part.text);
            }
            is_open = false;
            before.clone_from(&part.text);
            continue;
        }
        // What only a blank parts is one phrase.
        let follows = before.trim().is_empty() && !before.is_empty();
        match all.last_mut().filter(|_| !is_open && follows) {
            Some(last) => {
                last.expected.push_str(&before);
                last.actual.push_str(&before);
            }
            None if !is_open => all.push(Parts { before: before.clone(), ..Parts::default() }),
            None => {}
        }
        is_open = true;
        if let Some(last) = all.last_mut() {
            let side = if part.side == PartSide::Expected { &mut last.expected } else { &mut last.actual };
            side.push_str(&part.text);
        }
    }
    // Blanks alone are no words that are missing.
    all.retain(|it| plain(&it.expected) != plain(&it.actual));
    all
}

/// Two texts, as one value of a call: `business → economy`, `“too small” → “damaged”`. Of long texts the parts that differ.
fn replaced(one: &str, other: &str) -> String {
    let whole = Parts { expected: one.to_owned(), actual: other.to_owned(), ..Parts::default() };
    let parts = if whole.is_short() { whole } else { Parts::of(one, other) };
    if is_word(&parts.expected) && is_word(&parts.actual) {
        sides(&parts.expected, &parts.actual)
    } else {
        parts.quoted()
    }
}

/// Whether a text needs no quotes. A word of another script has quotes: it may be written from right to left.
fn is_word(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
    !text.is_empty() && text.chars().all(fits)
}

fn quoted(text: &str, most: usize) -> String {
    format!("“{}”", shortened(&straight(text), most))
}

/// A text without the quotes that begin and end it on the page.
fn straight(text: &str) -> String {
    text.replace(['“', '”'], "\"")
}

/// A text with one blank between its words.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn shortened(text: &str, most: usize) -> String {
    let mut shown: String = text.chars().take(most).collect();
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::page::texts;

    #[test]
    fn answers_differ_in_whole_words() {
        let long = "All is well in the town today. ".repeat(40);
        let end = "Gift cards that were sold before expire soon.";
        for (expected, actual, said) in [
            ("It is sunny.", "It is rainy.", "answer differs: expected “sunny” → actual “rainy”"),
            (
                "It is sunny today.",
                "It is sunset today.",
                "answer differs: expected “sunny” → actual “sunset”",
            ),
            ("a b c", "a x c", "answer differs: expected “b” → actual “x”"),
            ("sunny", "rainy", "answer differs: expected “sunny” → actual “rainy”"),
            ("21 degrees", "9 degrees", "answer differs: expected “21” → actual “9”"),
            // Two differences that are near each other are one phrase.
            (
                "53 degrees in F",
                "12 degrees in C",
                "answer differs: expected “53 degrees in F” → actual “12 degrees in C”",
            ),
            ("It is sunny", "It is sunny today", "not expected in the answer: “today”"),
            ("It is sunny. Good bye!", "It is sunny.", "missing in the answer: “Good bye!”"),
            (&format!("{long}\n\n{end}"), &long, &format!("missing in the answer: “{end}”")),
            (&format!("{end} {long}{end}"), &long, &format!("missing in the answer: “{end}”, and more")),
            (&long, &format!("No. {long} {end}"), &format!("not expected in the answer: “{end}”, and more")),
            // Of several differences the one is told that says most: numbers, then names, then the most words.
            (
                &format!("Yes, it is fine. {long} Leave at 9 today."),
                &format!("It is fine. {long} Leave at 10 today."),
                "answer differs: expected “9” → actual “10”, and more",
            ),
            (
                &format!("Certainly. {long} We met Ann today."),
                &format!("Surely not so. {long} We met Bo today."),
                "answer differs: expected “Ann” → actual “Bo”, and more",
            ),
            (
                &format!("Yes, it is. {long} It will be rainy today."),
                &format!("It is. {long} It will be wonderful today."),
                "answer differs: expected “rainy” → actual “wonderful”, and more",
            ),
            (
                &format!("One {long} two."),
                &format!("Six {long} ten."),
                "answer differs: expected “One” → actual “Six”, and more",
            ),
            // The clause is said once, with the sign that differs.
            (
                "明日の京都は午後から雨が降りますので、傘をお持ちください。",
                "明日の京都は午前から雨が降りますので、傘をお持ちください。",
                "answer differs: expected → actual: “明日の京都は午[後→前]から雨が降りますので…”",
            ),
            ("يوم الأربعاء صباحا", "يوم الخميس صباحا", "answer differs: expected “الأربعاء” → actual “الخميس”"),
            ("He said “no”.", "He said “yes”.", "answer differs: expected “no” → actual “yes”"),
            (
                r#"{"ok": true, "n": 2}"#,
                r#"{"ok": true, "n": 3}"#,
                "answer differs: `n` expected 2 → actual 3",
            ),
            (r#"{"a": 1, "b": "x y"}"#, r#"{"b": "z"}"#, "answer differs: `a` missing, and more"),
            ("a  b", "a b", "answer differs in blanks, or in what is masked or cut here"),
        ] {
            assert_eq!(told(&other_answer(expected, actual, &texts(expected, actual))), said);
        }
        // Texts that are too long to compare have their beginning and their end compared.
        let said = told(&other_answer("It is sunny.", "It is rainy.", &[]));
        assert_eq!(said, "answer differs: expected “sunny” → actual “rainy”");
        let said = told(&other_answer(&"a ".repeat(100), &"b ".repeat(100), &[]));
        assert!(said.chars().count() < 2 * MAX_CHARS + 45 && said.contains('…'), "{said}");
    }

    #[test]
    fn values_have_quotes_unless_they_are_plain_words() {
        for (expected, actual, said) in [
            (json!("business"), json!("economy"), "expected business → actual economy"),
            (json!("too small"), json!("damaged"), "expected “too small” → actual “damaged”"),
            (json!(1), json!("1"), "expected 1 → actual “1” (text)"),
            (json!("2"), json!(null), "expected “2” (text) → actual null"),
            (json!("Oslo"), json!("Oslo, Norway"), "expected “Oslo” → actual “Oslo, Norway”"),
            (json!("الأربعاء"), json!("الخميس"), "expected “الأربعاء” → actual “الخميس”"),
            (json!("東京"), json!("京都"), "expected “東京” → actual “京都”"),
            (json!("2026-11-22"), json!("2026-11-23"), "expected 2026-11-22 → actual 2026-11-23"),
            (json!("in New York"), json!("in Old York"), "expected “in New York” → actual “in Old York”"),
        ] {
            assert_eq!(told(&change(&Value::from(expected), &Value::from(actual))), said);
        }
        for (value, said) in
            [(json!("Fulda"), "Fulda"), (json!("New York"), "“New York”"), (json!([1]), "[1]")]
        {
            assert_eq!(shown_value(&Value::from(value)), said);
        }
    }

    #[test]
    fn the_first_difference_of_a_line_says_which_side_is_which() {
        let change = |one: i64, other: i64| change(&Value::from(one), &Value::from(other));
        let inside = other_answer("午後から", "午前から", &texts("午後から", "午前から"));
        for (line, said) in [
            (
                format!("f `a` {}, `b` {}", change(3, 2), change(1, 0)),
                "f `a` expected 3 → actual 2, `b` 1 → 0",
            ),
            (
                format!("{inside}; `b` {}", change(1, 0)),
                "answer differs: expected → actual: “午[後→前]から”; `b` expected 1 → actual 0",
            ),
            (
                format!("`b` {}; {inside}", change(1, 0)),
                "`b` expected 1 → actual 0; answer differs: expected → actual: “午[後→前]から”",
            ),
            ("f not called".to_owned(), "f not called"),
        ] {
            assert_eq!(told(&line), said);
        }
    }

    #[test]
    fn a_time_limit_is_read_as_it_was_told() {
        for limit in [Duration::from_secs(3), Duration::from_millis(1500), Duration::from_micros(2)] {
            assert_eq!(time_limit(&format!("run 1: {TIMED_OUT}{limit:?} (x)")), Some(limit));
        }
        assert_eq!(time_limit("timed out after 3s"), Some(Duration::from_secs(3)));
        assert_eq!(time_limit("gone"), None);
    }
}
