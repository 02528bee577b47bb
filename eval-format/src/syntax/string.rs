//! Scanning strings. Those without escapes are slices of the text.

use std::borrow::Cow;

use super::scan::Scanner;
use super::syntax_error::{Fault, FaultKind};
use crate::value::plain_len;

impl<'a> Scanner<'a> {
    /// Skips a string literal, whose opening quote is the next byte, and returns its meaning.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        self.at += 1;
        let plain = self.plain();
        if self.byte() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(plain));
        }
        let mut meaning = plain.to_owned();
        loop {
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(meaning));
                }
                Some(b'\\') => meaning.push(self.escape()?),
                Some(_) => return Err(self.fault(FaultKind::ControlCharacter)),
                None => return Err(self.fault(FaultKind::EndInString)),
            }
            meaning.push_str(self.plain());
        }
    }

    /// Skips the text up to a quote, a backslash or a control character, and returns it.
    fn plain(&mut self) -> &'a str {
        let start = self.at;
        self.at += plain_len(&self.text.as_bytes()[start..]);
        &self.text[start..self.at]
    }

    /// Skips an escape, whose backslash is the next byte, and returns its character.
    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.at;
        self.at += 1;
        let meaning = match self.byte() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_point(start),
            Some(_) => return Err(self.fault(FaultKind::BadEscape)),
            None => return Err(self.fault(FaultKind::EndInString)),
        };
        self.at += 1;
        Ok(meaning)
    }

    /// Skips the rest of a `\u` escape, from its `u` on. A character of more than 16 bits is written as two such
    /// escapes, a surrogate pair.
    fn code_point(&mut self, start: usize) -> Result<char, Fault> {
        let unit = self.unit()?;
        let code = match unit {
            0xd800..0xdc00 if self.text.as_bytes()[self.at..].starts_with(br"\u") => {
                self.at += 1;
                match self.unit()? {
                    low @ 0xdc00..0xe000 => 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00),
                    _ => unit,
                }
            }
            _ => unit,
        };
        // Surrogates are the only numbers of 16 bits that are not characters.
        char::from_u32(code).ok_or(Fault { what: FaultKind::LoneSurrogate, at: start })
    }

    /// Skips a `u` and its four hexadecimal digits, and returns their number.
    fn unit(&mut self) -> Result<u32, Fault> {
        let mut unit = 0;
        for _ in 0..4 {
            self.at += 1;
            let byte = self.byte().ok_or_else(|| self.fault(FaultKind::EndInString))?;
            let digit = char::from(byte).to_digit(16).ok_or_else(|| self.fault(FaultKind::BadEscape))?;
            unit = unit << 4 | digit;
        }
        self.at += 1;
        Ok(unit)
    }
}
