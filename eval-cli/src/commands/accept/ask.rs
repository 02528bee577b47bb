//! Asking on a terminal.

use std::io::{self, BufRead, Write};

/// What somebody decides about a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Accept,
    /// It stays a draft.
    Keep,
    /// Nothing more is asked.
    Quit,
}

/// Asks until there is an answer. The end of the input is no consent.
pub(super) fn ask(question: &str, input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<Decision> {
    loop {
        write!(output, "{question} [y = yes, n = stays a draft, q = quit] ")?;
        output.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            writeln!(output)?;
            return Ok(Decision::Quit);
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(Decision::Accept),
            "n" | "no" => return Ok(Decision::Keep),
            "q" | "quit" => return Ok(Decision::Quit),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_accepts() {
        for (typed, expected, asked) in [
            ("y\n", Decision::Accept, 1),
            ("YES\r\n", Decision::Accept, 1),
            ("n\n", Decision::Keep, 1),
            ("q\n", Decision::Quit, 1),
            ("", Decision::Quit, 1),
            ("\nyy\nno\n", Decision::Keep, 3),
            ("\n", Decision::Quit, 2),
        ] {
            let mut output = Vec::new();
            assert_eq!(
                ask("accept?", &mut typed.as_bytes(), &mut output).expect("it reads"),
                expected,
                "{typed:?}"
            );
            let output = String::from_utf8(output).expect("UTF-8");
            assert_eq!(output.matches("accept? [y = yes").count(), asked, "{typed:?}");
        }
    }
}
