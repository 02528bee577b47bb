//! Two texts word by word.

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// A part of a text, and whether the other text has it too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Piece {
    #[serde(rename = "t")]
    pub text: String,
    #[serde(rename = "d")]
    pub differs: bool,
}

/// The most words, of both texts together, that are compared: with more, the page would take minutes to write.
const MAX_WORDS: usize = 4_000;

/// Both texts in pieces; `None` if they are too long to compare.
pub fn words(expected: &str, actual: &str) -> Option<(Vec<Piece>, Vec<Piece>)> {
    let count = |text: &str| text.split_whitespace().count();
    if count(expected) + count(actual) > MAX_WORDS {
        return None;
    }
    Some(sides(&TextDiff::from_words(expected, actual)))
}

/// Both calls of a tool in pieces, compared by names, numbers and single characters: `days: 1)` and
/// `days: 7)` differ in a digit.
pub fn calls(expected: &str, actual: &str) -> Option<(Vec<Piece>, Vec<Piece>)> {
    let (expected, actual) = (tokens(expected), tokens(actual));
    if expected.len() + actual.len() > MAX_WORDS {
        return None;
    }
    Some(sides(&TextDiff::from_slices(&expected, &actual)))
}

/// Runs of letters and digits, and the characters between them.
fn tokens(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if is_part(first) { rest.find(|c| !is_part(c)) } else { Some(first.len_utf8()) };
        let (token, after) = rest.split_at(end.unwrap_or(rest.len()));
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn sides<'t>(diff: &TextDiff<'t, 't, '_, str>) -> (Vec<Piece>, Vec<Piece>) {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for change in diff.iter_all_changes() {
        let text = change.value();
        match change.tag() {
            ChangeTag::Equal => {
                push(&mut left, text, false);
                push(&mut right, text, false);
            }
            ChangeTag::Delete => push(&mut left, text, true),
            ChangeTag::Insert => push(&mut right, text, true),
        }
    }
    (left, right)
}

fn push(pieces: &mut Vec<Piece>, text: &str, differs: bool) {
    match pieces.last_mut() {
        Some(last) if last.differs == differs => last.text.push_str(text),
        _ => pieces.push(Piece { text: text.to_owned(), differs }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[Piece]) -> String {
        let piece = |piece: &Piece| {
            if piece.differs { format!("[{}]", piece.text) } else { piece.text.clone() }
        };
        pieces.iter().map(piece).collect()
    }

    #[test]
    fn words_that_differ_are_marked_on_their_side() {
        let (left, right) = words("It is sunny in Paris.", "It is rainy in Paris today.").unwrap();
        assert_eq!(shown(&left), "It is [sunny] in [Paris.]");
        assert_eq!(shown(&right), "It is [rainy] in [Paris today.]");
    }

    #[test]
    fn of_calls_the_arguments_that_differ_are_marked() {
        let (left, right) = calls("f(city: \"Oslo\", days: 1)", "f(city: \"Oslo\", days: 7)").unwrap();
        assert_eq!(
            (shown(&left), shown(&right)),
            ("f(city: \"Oslo\", days: [1])".into(), "f(city: \"Oslo\", days: [7])".into())
        );
        assert_eq!(calls(&"a ".repeat(MAX_WORDS), "b"), None);
    }

    #[test]
    fn a_call_is_cut_into_names_numbers_and_signs() {
        assert_eq!(tokens("f(a_b-1.5, 日x)"), ["f", "(", "a_b-1.5", ",", " ", "日x", ")"]);
        assert_eq!(tokens("\"\u{e9}\""), ["\"", "\u{e9}", "\""]);
    }

    #[test]
    fn the_longest_texts_are_compared() {
        let half = "a ".repeat(MAX_WORDS / 2);
        assert!(words(&half, &half).is_some() && words(&half, &(half.clone() + "a")).is_none());
        let half = "a,".repeat(MAX_WORDS / 4);
        assert!(calls(&half, &half).is_some() && calls(&half, &(half.clone() + "a")).is_none());
    }

    #[test]
    fn the_pieces_of_a_side_are_its_text() {
        for (expected, actual) in [("", "x"), ("a\nb  c", "a\nc"), ("</script>", "<img>"), ("日本", "日 本")]
        {
            for (left, right) in [words(expected, actual).unwrap(), calls(expected, actual).unwrap()] {
                let joined =
                    |pieces: &[Piece]| pieces.iter().map(|piece| piece.text.as_str()).collect::<String>();
                assert_eq!((joined(&left), joined(&right)), (expected.to_owned(), actual.to_owned()));
            }
        }
        assert_eq!(words(&"a ".repeat(MAX_WORDS), "b"), None);
    }
}
