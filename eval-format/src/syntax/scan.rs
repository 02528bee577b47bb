//! The words of JSON: white space, literals and numbers; strings stand in [`string`](super::string).

use super::syntax_error::{Fault, Stumble};

/// Digits that pydantic's parser accepts before the point, as many as Python does.
pub(super) const MAX_DIGITS: usize = 4300;

/// A text, and how far it has been read.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The byte that is next, white space or not.
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The byte that is next after white space, which is passed over.
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                next => return next,
            }
        }
    }

    /// The first byte of a value, which has to follow here.
    pub(super) fn value(&mut self) -> Result<u8, Fault> {
        self.peek().ok_or_else(|| self.fault(Stumble::EndBeforeValue))
    }

    /// Passes over `null`, `NaN` and the like. What follows a word is for the caller to see.
    pub(super) fn word(&mut self, word: &str) -> Result<(), Fault> {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(());
        }
        let cut_off = word.as_bytes().starts_with(rest);
        Err(self.fault(if cut_off { Stumble::EndBeforeValue } else { Stumble::NoValue }))
    }

    /// Passes over a number, `NaN` or an infinity; gives its text.
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
            return Err(Fault { what: Stumble::BadNumber, at: start + 1 });
        }
        if digits > MAX_DIGITS {
            return Err(Fault { what: Stumble::TooManyDigits, at: start + MAX_DIGITS });
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

    /// Passes over digits, at least one; gives how many.
    fn digits(&mut self) -> Result<usize, Fault> {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        match self.byte() {
            _ if self.at > start => Ok(self.at - start),
            Some(_) => Err(self.fault(Stumble::BadNumber)),
            None => Err(self.fault(Stumble::EndBeforeValue)),
        }
    }

    /// Passes over one of these bytes, if one is next.
    fn pass(&mut self, any_of: &[u8]) -> bool {
        let passed = self.byte().is_some_and(|byte| any_of.contains(&byte));
        self.at += usize::from(passed);
        passed
    }

    /// Something wrong at the byte that is next.
    pub(super) fn fault(&self, what: Stumble) -> Fault {
        Fault { what, at: self.at }
    }
}
