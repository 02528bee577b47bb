//! Scanning white space, literals and numbers. [`string`](super::string) scans strings.

use super::syntax_error::{Fault, FaultKind, MAX_DIGITS};

/// A text and the position up to which it has been read.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next byte, white space or not.
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte after white space. Skips the white space.
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                next => return next,
            }
        }
    }

    /// The first byte of the value that must follow. Skips white space.
    pub(super) fn value(&mut self) -> Result<u8, Fault> {
        self.peek().ok_or_else(|| self.fault(FaultKind::EndBeforeValue))
    }

    /// Skips `null`, `NaN` or another word. The caller checks what follows it.
    pub(super) fn word(&mut self, word: &str) -> Result<(), Fault> {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(());
        }
        let cut_off = word.as_bytes().starts_with(rest);
        Err(self.fault(if cut_off { FaultKind::EndBeforeValue } else { FaultKind::NoValue }))
    }

    /// Skips a number, `NaN` or an infinity, and returns its text.
    pub(super) fn number(&mut self) -> Result<&'a str, Fault> {
        let start = self.at;
        self.pass(b"-");
        match self.byte() {
            Some(b'N') if self.at == start => self.word("NaN")?,
            Some(b'I') => self.word("Infinity")?,
            _ => self.decimal()?,
        }
        Ok(&self.text[start..self.at])
    }

    fn decimal(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let digits = self.digits()?;
        if digits > 1 && self.text.as_bytes()[start] == b'0' {
            return Err(Fault { what: FaultKind::BadNumber, at: start + 1 });
        }
        if digits > MAX_DIGITS {
            return Err(Fault { what: FaultKind::TooManyDigits, at: start + MAX_DIGITS });
        }
        if self.pass(b".") {
            self.digits()?;
        }
        if self.pass(b"eE") {
            self.pass(b"+-");
            self.digits()?;
        }
        Ok(())
    }

    /// Skips at least one digit, and returns how many.
    fn digits(&mut self) -> Result<usize, Fault> {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        match self.byte() {
            _ if self.at > start => Ok(self.at - start),
            Some(_) => Err(self.fault(FaultKind::BadNumber)),
            None => Err(self.fault(FaultKind::EndBeforeValue)),
        }
    }

    /// Skips the next byte if it is one of these. Returns whether it was.
    fn pass(&mut self, any_of: &[u8]) -> bool {
        let passed = self.byte().is_some_and(|byte| any_of.contains(&byte));
        self.at += usize::from(passed);
        passed
    }

    pub(super) fn fault(&self, what: FaultKind) -> Fault {
        Fault { what, at: self.at }
    }
}
