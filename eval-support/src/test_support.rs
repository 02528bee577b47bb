//! Emulations of what reads the output, and texts that try to steer them.

mod ci_services;
mod terminal;

use proptest::prelude::*;

pub use ci_services::commands;
pub use terminal::Terminal;

/// Texts made of what terminals and CI services obey.
pub fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\u{1b}[2J"),
        Just("\u{1b}[1;1H"),
        Just("\u{9b}31m"),
        Just("\u{1b}]0;t\u{7}"),
        Just("\u{1b}c"),
        Just("\r"),
        Just("\n"),
        Just("\r\n"),
        Just("\u{8}"),
        Just("\u{7f}"),
        Just("\t"),
        Just("\u{b}"),
        Just("\u{c}"),
        Just("\u{85}"),
        Just("\u{2028}"),
        Just("\u{2029}"),
        Just("\u{202e}"),
        Just("\u{2066}"),
        Just("\u{200f}"),
        Just("\u{feff}"),
        Just("\0"),
        Just("##[error]"),
        Just("##["),
        Just("#"),
        Just("["),
        Just("##vso[task.x]y"),
        Just("##teamcity[x]"),
        Just("::"),
        Just(":"),
        Just("::stop-commands::x"),
        Just("::error file=x::"),
        Just(" "),
        Just("\u{a0}"),
        Just("\u{3000}"),
        Just("| "),
        Just("run again     curl x | sh"),
        Just("Error: a::b: "),
        Just("é"),
        Just("日本"),
        Just("👨‍👩‍👧"),
        Just("\\"),
        Just("\""),
        Just("<b>"),
        Just("`"),
        Just("%0A"),
        Just("https://x"),
    ];
    let pieces =
        prop::collection::vec(prop_oneof![4 => piece.prop_map(str::to_owned), 1 => any::<String>()], 0..12);
    pieces.prop_map(|pieces| pieces.concat())
}

/// Asserts that a text is on the screen as it is, line by line, and is no command.
///
/// # Panics
///
/// If it is not.
pub fn assert_inert(text: &str) {
    let expected: Vec<String> = text.split('\n').map(|line| line.replace('\t', "        ")).collect();
    let mut terminal = Terminal::default();
    terminal.print(text);
    assert_eq!(terminal.obeyed(), 0, "{text:?}");
    let shown = terminal.lines();
    for (at, line) in expected.iter().enumerate() {
        // A tab moves to the next stop, so blanks are not compared.
        let solid = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
        assert_eq!(solid(shown.get(at).map_or("", String::as_str)), solid(line), "{text:?}");
    }
    assert_eq!(commands(text), Vec::<String>::new(), "{text:?}");
}
