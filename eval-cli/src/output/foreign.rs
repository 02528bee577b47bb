//! Text that this program did not write: file names, and what models and tests said.

/// A text without line breaks and other characters that control a terminal. File names may contain any character.
pub(crate) fn one_line(text: &str) -> String {
    replaced(text, |c| c.is_control() || is_directional(c))
}

/// A text of several lines without what controls a terminal: escape sequences, and characters that change the direction
/// of the text after them.
pub(crate) fn harmless(text: &str) -> String {
    let is_control = |c: char| c.is_control() && c != '\n' && c != '\t';
    replaced(&text.replace("\r\n", "\n"), |c| is_control(c) || is_directional(c))
}

fn replaced(text: &str, is_harmful: impl Fn(char) -> bool) -> String {
    text.chars().map(|c| if is_harmful(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Whether a character changes the direction in which the rest of its line is shown.
fn is_directional(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_not_obeyed() {
        assert_eq!(one_line("a\u{1b}[2Jb\nc"), "a\u{fffd}[2Jb\u{fffd}c");
        assert_eq!(harmless("a\u{1b}[2Jb\r\n\tc\u{202e}d\u{9b}"), "a\u{fffd}[2Jb\n\tc\u{fffd}d\u{fffd}");
    }
}
