//! Excerpts of untrusted text for pages: masked, and truncated to a length that people read.

use super::text::{guard, name};
use crate::secrets::mask;

/// The number of characters shown of a text on lines of its own. A page with ten thousand longer ones would
/// not open.
pub const MAX_TEXT_CHARS: usize = 20_000;
/// The number of characters shown of a part of a line: a name, a reason, the arguments of a call.
pub const MAX_LINE_CHARS: usize = 2_000;

/// A text in full, or its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The shown text.
    pub shown: String,
    /// The number of characters that are left out.
    pub left_out: usize,
}

impl Excerpt {
    /// The text, followed by the number of characters that are left out.
    ///
    /// ```
    /// # use eval_support::untrusted::excerpt_line;
    /// assert_eq!(excerpt_line("a long name", 6).noted(), "a long … (5 more characters)");
    /// ```
    pub fn noted(self) -> String {
        let Self { shown, left_out } = self;
        if left_out == 0 { shown } else { format!("{shown} … ({left_out} more characters)") }
    }
}

/// The beginning of a text of its own, as [`guard`] shows it: lines and tabs stay.
pub fn excerpt(text: &str, longest: usize) -> Excerpt {
    let (beginning, left_out) = masked_beginning(text, longest);
    Excerpt { shown: guard(&beginning).into_owned(), left_out }
}

/// The beginning of a part of a line, as [`name`] shows it.
pub fn excerpt_line(text: &str, longest: usize) -> Excerpt {
    let (beginning, left_out) = masked_beginning(text, longest);
    Excerpt { shown: name(&beginning).into_owned(), left_out }
}

/// The first characters of a text without its secrets, and how many are left out.
pub fn masked_beginning(text: &str, longest: usize) -> (String, usize) {
    let Some((end, _)) = text.char_indices().nth(longest) else { return (mask(text).into_owned(), 0) };
    // The text is masked beyond the cut: half a key would not be recognised as one. Text far behind the cut
    // does not matter.
    let ahead = text[end..].char_indices().nth(MAX_LINE_CHARS).map_or(text.len(), |(at, _)| end + at);
    let masked = mask(&text[..ahead]);
    (masked.chars().take(longest).collect(), text[end..].chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_say_by_how_much() {
        assert_eq!(excerpt("a\nb", 3), Excerpt { shown: "a\nb".into(), left_out: 0 });
        let long = excerpt(&"ä".repeat(MAX_TEXT_CHARS + 7), MAX_TEXT_CHARS);
        assert_eq!((long.shown.chars().count(), long.left_out), (MAX_TEXT_CHARS, 7));
        assert!(long.noted().ends_with("ä … (7 more characters)"));
        assert_eq!(excerpt_line("a\nb", 2).noted(), "a\\n … (1 more characters)");
    }

    #[test]
    fn a_key_is_masked_wherever_the_text_is_cut() {
        let key = format!("sk-ant-{}", "abcde01234".repeat(6));
        for before in [0, 5, 80, 95, 99] {
            let text = format!("{}{key} {}", "x ".repeat(before), "y".repeat(99));
            for shown in [excerpt(&text, 200).shown, excerpt_line(&text, 200).shown] {
                assert!(!shown.contains("abcde"), "{shown}");
            }
        }
    }

    #[test]
    fn what_steers_is_spelt_out() {
        for shown in [excerpt("a\u{202e}b\u{1b}[2J", 99).shown, excerpt_line("a\u{202e}b\u{1b}[2J", 99).shown]
        {
            assert_eq!(shown, "a\\u{202e}b\\u{1b}[2J");
        }
    }
}
