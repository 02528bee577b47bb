//! Foreign text on the page: without secrets and what steers a reader's eyes, and cut if it is very long.
//!
//! Secrets are masked here, and not in the finished page: there a secret with a `<` or a `&` is written in another way, and a
//! secret that is a word of our own script would break it.

use eval_support::untrusted::{Excerpt, LONGEST_LINE, LONGEST_TEXT, excerpt, excerpt_line};
use serde::Serialize;

/// A text in full, or its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Text {
    /// What is shown.
    #[serde(rename = "t")]
    pub shown: String,
    /// How many characters are left out.
    #[serde(rename = "cut", skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A message: lines and tabs stay.
pub fn text(foreign: &str) -> Text {
    let Excerpt { shown, left_out } = excerpt(foreign, LONGEST_TEXT);
    Text { shown, left_out }
}

/// A part of a line of ours. What is left out is said in it.
pub fn line(foreign: &str) -> String {
    excerpt_line(foreign, LONGEST_LINE).noted()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_say_by_how_much() {
        assert_eq!(text("a\nb"), Text { shown: "a\nb".into(), left_out: 0 });
        assert_eq!(text(&"ä".repeat(LONGEST_TEXT + 7)).left_out, 7);
        assert!(line(&"x".repeat(LONGEST_LINE + 1)).ends_with(" … (1 more characters)"));
        assert_eq!(line("a\nb"), "a\\nb");
    }

    #[test]
    fn a_key_is_masked_in_a_short_text_too() {
        let key = format!("sk-ant-{}", "abcde01234".repeat(6));
        for shown in [text(&key).shown, line(&key)] {
            assert!(!shown.contains("abcde"), "{shown}");
        }
    }
}
