//! Emulations of terminals and services that read the output, texts that try to steer them, dice for
//! random changes, and what holds for each error.

use std::error::Error;

use proptest::prelude::*;

/// Holds that the text of an error has its cause, and that no printer of error chains repeats it.
///
/// # Panics
///
/// If it does not hold.
#[track_caller]
pub fn assert_said_once(error: &dyn Error, cause: &str) {
    let text = error.to_string();
    assert!(text.contains(cause), "{cause:?} is not in {text:?}");
    assert!(error.source().is_none(), "said twice: {text}");
}

/// A random number generator with the same numbers each time: xorshift64. The seed is not 0.
#[derive(Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// A number below `sides`; 0 if there are no sides.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides.max(1) as u64).unwrap_or_default()
    }
}

/// Texts made of sequences that terminals and CI services obey.
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

/// Asserts that a terminal shows a text unchanged, line by line, and that no part of it is a command.
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

/// The names of the commands that the runners of CI services find in the log of a job.
pub fn commands(log: &str) -> Vec<String> {
    // .NET's `ReadLine` ends lines at `\r`, `\n` and `\r\n`.
    log.split(['\r', '\n']).flat_map(of_line).collect()
}

fn of_line(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(github(line));
    for prefix in ["##[", "##vso[", "##teamcity["] {
        found.extend(bracketed(line, prefix));
    }
    found
}

/// `ActionCommand.TryParseV2` of GitHub's runner.
fn github(line: &str) -> Option<String> {
    let command = line.trim().strip_prefix("::")?;
    let (info, _) = command.split_once("::")?;
    let name = info.split(' ').next()?;
    // The runner knows a list of names, and while commands are stopped, any word may start them again.
    (!name.is_empty()).then(|| name.to_owned())
}

/// `ActionCommand.TryParse` of GitHub's runner, and the parsers of Azure Pipelines and `TeamCity`: anywhere in a line.
fn bracketed(line: &str, prefix: &str) -> Option<String> {
    let (_, command) = line.split_once(prefix)?;
    let (info, _) = command.split_once(']')?;
    Some(info.split(' ').next().unwrap_or_default().to_owned())
}

/// A small terminal: it prints characters into lines, and obeys what terminals obey.
#[derive(Debug, Default)]
pub struct Terminal {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    obeyed: usize,
}

impl Terminal {
    /// Prints a text, obeying everything in it.
    pub fn print(&mut self, text: &str) {
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\n' => {
                    self.row += 1;
                    self.column = 0;
                }
                '\t' => self.column = (self.column / 8 + 1) * 8,
                '\u{1b}' if chars.next_if_eq(&'[').is_some() => self.sequence(&mut chars),
                '\u{9b}' => self.sequence(&mut chars),
                // A title, a link: up to BEL or ST.
                '\u{1b}' if chars.next_if_eq(&']').is_some() => {
                    self.obeyed += 1;
                    chars.by_ref().take_while(|c| !matches!(c, '\u{7}' | '\u{9c}' | '\\')).for_each(drop);
                }
                '\u{1b}' => {
                    self.obeyed += 1;
                    chars.next();
                }
                '\r' => {
                    self.obeyed += 1;
                    self.column = 0;
                }
                '\u{8}' => {
                    self.obeyed += 1;
                    self.column = self.column.saturating_sub(1);
                }
                // Other controls, line separators, and characters that change the direction of text.
                c if c.is_control() || DIRECTIONS.contains(&c) => self.obeyed += 1,
                c => self.put(c),
            }
        }
    }

    /// A control sequence: parameters up to its final byte.
    fn sequence(&mut self, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        self.obeyed += 1;
        let parameters: String = std::iter::from_fn(|| chars.next_if(|c| !('@'..='~').contains(c))).collect();
        let number = parameters.split(';').next().and_then(|number| number.parse().ok()).unwrap_or(1_usize);
        match chars.next() {
            Some('A') => self.row = self.row.saturating_sub(number),
            Some('D') => self.column = self.column.saturating_sub(number),
            Some('H') => (self.row, self.column) = (0, 0),
            Some('J') => self.lines.clear(),
            Some('K') => {
                if let Some(line) = self.lines.get_mut(self.row) {
                    line.truncate(self.column);
                }
            }
            _ => {}
        }
    }

    fn put(&mut self, c: char) {
        if self.lines.len() <= self.row {
            self.lines.resize(self.row + 1, Vec::new());
        }
        let line = &mut self.lines[self.row];
        if line.len() <= self.column {
            line.resize(self.column + 1, ' ');
        }
        line[self.column] = c;
        self.column += 1;
    }

    /// The lines on the screen.
    pub fn lines(&self) -> Vec<String> {
        self.lines.iter().map(|line| line.iter().collect()).collect()
    }

    /// The number of characters and sequences that steered the terminal instead of being shown.
    pub fn obeyed(&self) -> usize {
        self.obeyed
    }
}

const DIRECTIONS: [char; 14] = [
    '\u{2028}', '\u{2029}', '\u{200e}', '\u{200f}', '\u{61c}', '\u{202a}', '\u{202b}', '\u{202c}',
    '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}',
];
