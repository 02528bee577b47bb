//! The tokenizer and the stemmer. The scores that follow from the words are in `similarity`.

use eval_core::fuzzing::tokens;

use crate::naive::words as naive;
use crate::similarity;

/// Takes the first line as the expected answer and the rest as the actual one, and checks the rules for tokens and
/// scores. Also makes words of endings from the bytes, for the stemmer.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (expected, actual) = text.split_once('\n').unwrap_or((&text, ""));
    let ours = [expected, actual].map(check_tokens);
    // A blank separates: neither normalisation nor case nor the stemmer reaches across it.
    assert_eq!(words(&format!("{expected} {actual}")), ours.concat());
    if text.is_ascii() {
        assert_eq!(ours, [expected, actual].map(naive::tokens));
    }
    let spelt = spell(data);
    assert_eq!(words(&spelt), naive::tokens(&spelt), "{spelt:?}");
    similarity::check(expected, actual);
}

/// Endings that the stemmer looks for, and letters that its conditions distinguish.
const PIECES: &[&str] = &[
    " ", "a", "e", "i", "o", "u", "y", "b", "d", "l", "n", "r", "s", "t", "w", "x", "z", "1", "able", "al",
    "alism", "aliti", "alize", "alli", "ance", "anci", "ant", "at", "ate", "ation", "ational", "ative",
    "ator", "bl", "bli", "biliti", "ed", "eed", "eli", "ement", "ence", "enci", "ent", "entli", "er", "ful",
    "fulli", "fulness", "ible", "ic", "ical", "icate", "iciti", "ied", "ies", "ing", "ion", "ism", "iti",
    "ive", "iveness", "iviti", "iz", "ization", "ize", "izer", "logi", "ment", "ness", "ou", "ous", "ousli",
    "ousness", "sses", "tional",
];

/// Words of these pieces, one for each byte. Random letters hardly ever form an ending.
fn spell(data: &[u8]) -> String {
    data.iter().map(|byte| PIECES[usize::from(*byte) % PIECES.len()]).collect()
}

/// The tokens of a text.
pub(crate) fn words(text: &str) -> Vec<String> {
    let utf8 = |token| String::from_utf8(token).expect("a token is UTF-8");
    tokens(text).into_iter().map(utf8).collect()
}

fn check_tokens(text: &str) -> Vec<String> {
    let found = words(text);
    for token in &found {
        assert!(!token.is_empty() && !token.contains(char::is_whitespace), "{token:?}");
        if token.is_ascii() {
            assert!(token.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()), "{token:?}");
        } else {
            // Only words of ASCII are stemmed, so any other token is its own token.
            assert_eq!(words(token).len(), 1, "{token:?}");
        }
    }
    found
}
