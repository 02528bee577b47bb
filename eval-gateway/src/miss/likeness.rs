//! The likeness of two requests, for a search in a whole recording: a comparison of lines would take seconds.

use std::collections::HashMap;

use eval_format::Value;

use crate::wire::Parts;

/// The words of a request, each with the number of times it is there.
#[derive(Debug, Default)]
pub(super) struct Words {
    counts: HashMap<String, u64>,
    total: u64,
}

/// The words of all parts of a request.
pub(super) fn words(parts: &Parts) -> Words {
    let mut words = Words::default();
    let options = parts.options.iter().map(|(_, value)| value);
    let values = options.chain(&parts.system).chain(&parts.tools).chain(&parts.messages);
    values.for_each(|value| add(value, &mut words));
    words
}

fn add(value: &Value, words: &mut Words) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| add(item, words)),
        Value::Object(map) => map.iter().for_each(|(_, item)| add(item, words)),
        Value::String(text) => add_text(text, words),
        other => add_text(&other.to_string(), words),
    }
}

fn add_text(text: &str, words: &mut Words) {
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        words.total += 1;
        match words.counts.get_mut(word) {
            Some(count) => *count += 1,
            None => drop(words.counts.insert(word.to_owned(), 1)),
        }
    }
}

/// The share of their words that two requests have in common, in millionths.
pub(super) fn likeness(one: &Words, other: &Words) -> u64 {
    let in_other = |word: &String| other.counts.get(word).copied().unwrap_or(0);
    let common: u64 = one.counts.iter().map(|(word, count)| in_other(word).min(*count)).sum();
    (2_000_000 * common).checked_div(one.total + other.total).unwrap_or(1_000_000)
}
