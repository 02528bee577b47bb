//! A small terminal: it prints characters into lines, and obeys what terminals obey.

/// What is on the screen, where the cursor is, and how much was obeyed.
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
                // Other controls, line separators, and what turns the order of letters around.
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

    /// How many characters and sequences did something else than being seen.
    pub fn obeyed(&self) -> usize {
        self.obeyed
    }
}

const DIRECTIONS: [char; 14] = [
    '\u{2028}', '\u{2029}', '\u{200e}', '\u{200f}', '\u{61c}', '\u{202a}', '\u{202b}', '\u{202c}',
    '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}',
];
