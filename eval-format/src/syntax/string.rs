//! String literals: those without escapes are slices of the text.

use std::borrow::Cow;

use super::scan::Scanner;
use super::syntax_error::{Fault, Stumble};

impl<'a> Scanner<'a> {
    /// Passes over the string literal whose opening quote is next; gives what it means.
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
                Some(_) => return Err(self.fault(Stumble::ControlCharacter)),
                None => return Err(self.fault(Stumble::EndInString)),
            }
            meaning.push_str(self.plain());
        }
    }

    /// Passes over everything that means itself: up to a quote, a backslash or a control character.
    fn plain(&mut self) -> &'a str {
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(eight) = bytes[self.at..].first_chunk() {
            let special = special_bytes(u64::from_le_bytes(*eight));
            if special != 0 {
                self.at += special.trailing_zeros() as usize / 8;
                return &self.text[start..self.at];
            }
            self.at += eight.len();
        }
        while self.byte().is_some_and(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// Passes over an escape, whose backslash is next.
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
            Some(_) => return Err(self.fault(Stumble::BadEscape)),
            None => return Err(self.fault(Stumble::EndInString)),
        };
        self.at += 1;
        Ok(meaning)
    }

    /// Passes over the rest of an escape by number, from its `u` on. Characters that need more than
    /// 16 bits are written as two of them, a surrogate pair.
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
        // Halves of a pair are the only numbers of 16 bits that are no characters.
        char::from_u32(code).ok_or(Fault { what: Stumble::LoneSurrogate, at: start })
    }

    /// Passes over a `u` and its four hexadecimal digits.
    fn unit(&mut self) -> Result<u32, Fault> {
        let mut unit = 0;
        for _ in 0..4 {
            self.at += 1;
            let byte = self.byte().ok_or_else(|| self.fault(Stumble::EndInString))?;
            let digit = char::from(byte).to_digit(16).ok_or_else(|| self.fault(Stumble::BadEscape))?;
            unit = unit << 4 | digit;
        }
        self.at += 1;
        Ok(unit)
    }
}

/// Marks the bytes of eight that end plain text by their highest bit. Right up to the first that is
/// marked; a borrow may mark others after it.
fn special_bytes(eight: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let zero_in = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
    let quotes = zero_in(eight ^ (ONES * u64::from(b'"')));
    let backslashes = zero_in(eight ^ (ONES * u64::from(b'\\')));
    let controls = eight.wrapping_sub(ONES * u64::from(b' ')) & !eight;
    (quotes | backslashes | controls) & (ONES * 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each byte alone among letters, and among bytes that are next to the marked ones.
    #[test]
    fn the_first_special_byte_of_eight_is_found() {
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                for others in [b'a', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xff] {
                    let mut eight = [others; 8];
                    eight[at] = byte;
                    let special = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\');
                    let expected = eight.iter().position(special).unwrap_or(8);
                    let found = special_bytes(u64::from_le_bytes(eight)).trailing_zeros() / 8;
                    assert_eq!(found as usize, expected, "{eight:?}");
                }
            }
        }
    }
}
