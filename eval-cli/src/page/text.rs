//! Foreign text on the page: without secrets and what steers a reader's eyes, and cut if it is very long.
//!
//! Secrets are masked here, and not in the finished page: there a secret with a `<` or a `&` is written in another way, and a
//! secret that is a word of our own script would break it.

use eval_core::__private::mask;
use eval_core::foreign::guard;
use serde::Serialize;

/// A text in full, or its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Text {
    /// What is shown.
    #[serde(rename = "t")]
    pub(crate) shown: String,
    /// How many characters are left out.
    #[serde(rename = "cut", skip_serializing_if = "is_zero")]
    pub(crate) left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Characters of a message. A page with ten thousand longer ones would not open.
const LONGEST: usize = 20_000;
/// Characters of a part of a line: a name, a reason, the arguments of a call.
const LONGEST_LINE: usize = 2_000;

/// A message: lines and tabs stay.
pub(crate) fn text(foreign: &str) -> Text {
    cut(foreign, LONGEST)
}

/// A part of a line of ours. What is left out is said in it.
pub(crate) fn line(foreign: &str) -> String {
    let Text { shown, left_out } = cut(foreign, LONGEST_LINE);
    let shown = shown.replace('\n', "\\n");
    if left_out == 0 { shown } else { format!("{shown} … ({left_out} more characters)") }
}

fn cut(foreign: &str, longest: usize) -> Text {
    let end = foreign.char_indices().nth(longest).map(|(end, _)| end);
    let Some(end) = end else { return Text { shown: guard(&mask(foreign)).into_owned(), left_out: 0 } };
    // Half a key would not be recognised as one. What is far behind the cut does not matter.
    let ahead = foreign[end..].char_indices().nth(LONGEST_LINE).map_or(foreign.len(), |(at, _)| end + at);
    let masked = mask(&foreign[..ahead]);
    let shown: String = masked.chars().take(longest).collect();
    Text { shown: guard(&shown).into_owned(), left_out: foreign[end..].chars().count() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_say_by_how_much() {
        assert_eq!(text("a\nb"), Text { shown: "a\nb".into(), left_out: 0 });
        let long = text(&"ä".repeat(LONGEST + 7));
        assert_eq!((long.shown.chars().count(), long.left_out), (LONGEST, 7));
        assert!(line(&"x".repeat(LONGEST_LINE + 1)).ends_with(" … (1 more characters)"));
        assert_eq!(line("a\nb"), "a\\nb");
    }

    #[test]
    fn a_key_at_the_cut_is_masked() {
        let key = format!("sk-ant-{}", "abcde01234".repeat(6));
        let long = text(&format!("{}{key} {}", "x ".repeat(LONGEST / 2 - 6), "y".repeat(99)));
        assert!(!long.shown.contains("abcde"), "{}", &long.shown[LONGEST - 40..]);
    }

    #[test]
    fn a_key_is_masked_in_a_short_text_too() {
        let key = format!("sk-ant-{}", "abcde01234".repeat(6));
        for shown in [text(&key).shown, line(&key)] {
            assert!(!shown.contains("abcde"), "{shown}");
        }
    }

    #[test]
    fn what_turns_the_order_of_letters_around_is_spelt_out() {
        assert_eq!(text("a\u{202e}b\u{1b}[2J").shown, "a\\u{202e}b\\u{1b}[2J");
    }
}
