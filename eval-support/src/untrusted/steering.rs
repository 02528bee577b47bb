//! Characters that do something where they are shown, instead of being seen.

/// Whether a character steers a terminal, breaks a line, or changes the order or the look of what stands around it.
///
/// Line breaks and tabs are among them. The joiners of emoji and of scripts are not.
pub(super) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            // Marks, embeddings, overrides and isolates of the bidirectional algorithm.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
                // Line and paragraph separators.
                | '\u{2028}' | '\u{2029}'
                // Invisible: zero-width space, invisible operators, the byte order mark, annotations, tags.
                | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// Adds a character that steers, spelt out: `\u{1b}`, `\n`.
pub(super) fn spell(c: char, out: &mut String) {
    out.extend(c.escape_default());
}
