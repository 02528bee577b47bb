//! Building the text line by line.

/// A headline is cut to about this many characters.
pub(super) const HEADLINE: usize = 300;

/// Adds a line.
pub(super) fn line(out: &mut String, text: &str) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(text);
}
