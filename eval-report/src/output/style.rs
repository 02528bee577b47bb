//! Colours and weights of words on a terminal.

use anstyle::{AnsiColor, Style};

pub const ERROR: Style = AnsiColor::Red.on_default().bold();
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
pub const BOLD: Style = Style::new().bold();

/// A word in a style.
pub fn styled(style: Style, word: &str) -> String {
    format!("{style}{word}{style:#}")
}
