//! The item around the attribute. The compiler does not tell a macro, so the source is read up to the attribute.
//!
//! Tests are functions in a module, and a module is allowed in modules only: in an `impl` it is a syntax error, and in
//! the body of a function no test runner sees it.

use std::fs;

use proc_macro2::Span;

/// An item that cannot hold a module of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surroundings {
    Impl,
    Trait,
    /// The body of a function.
    Body,
}

impl Surroundings {
    /// The item around the attribute. `None` if it is a module, or if the source is not known, as in an editor.
    pub(crate) fn of_attribute() -> Option<Self> {
        if !proc_macro::is_available() {
            return None;
        }
        // `unwrap` converts to the compiler's span. It panics only outside of a compiler, which was checked
        // above.
        let span = Span::call_site().unwrap();
        // An attribute in the first column, as most are, is in no other item: the source need not be read.
        if span.column() == 1 {
            return None;
        }
        let text = fs::read_to_string(span.local_file()?).ok()?;
        before(&text, span.line(), span.column()).and_then(Self::at_the_end_of)
    }

    fn at_the_end_of(text: &str) -> Option<Self> {
        let mut scan = Scan { text, at: 0 };
        let mut open: Vec<Option<Self>> = Vec::new();
        // The words since the last item or block ended.
        let mut header: Vec<&str> = Vec::new();
        let mut brackets = 0_usize;
        while let Some(token) = scan.token() {
            match token {
                "{" if brackets == 0 => {
                    open.push(block(&header));
                    header.clear();
                }
                "}" if brackets == 0 => {
                    // A bracket without its opening one: not Rust, or not understood.
                    open.pop()?;
                    header.clear();
                }
                ";" if brackets == 0 => header.clear(),
                "(" | "[" => brackets += 1,
                ")" | "]" => brackets = brackets.saturating_sub(1),
                "{" | "}" | ";" => {}
                word if brackets == 0 => header.push(word),
                _ => {}
            }
        }
        open.into_iter().rev().flatten().next()
    }
}

/// The text before a place, given as rustc counts: lines and characters from 1.
fn before(text: &str, line: usize, column: usize) -> Option<&str> {
    let start = match line.checked_sub(2) {
        Some(ends) => text.match_indices('\n').nth(ends)?.0 + 1,
        None => 0,
    };
    let rest = text.get(start..)?;
    let at = rest.char_indices().nth(column.checked_sub(1)?).map_or(rest.len(), |(at, _)| at);
    text.get(..start + at)
}

/// The kind of a block, by the words before it.
fn block(header: &[&str]) -> Option<Surroundings> {
    const QUALIFIERS: [&str; 9] = ["#", "!", "pub", "unsafe", "default", "async", "const", "safe", "extern"];
    let mut words = header.iter().skip_while(|word| QUALIFIERS.contains(word) || word.starts_with('"'));
    match *words.next()? {
        "impl" => Some(Surroundings::Impl),
        "trait" => Some(Surroundings::Trait),
        "fn" => Some(Surroundings::Body),
        _ => None,
    }
}

/// Cuts text into words, punctuation and strings; comments are passed over.
struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    fn token(&mut self) -> Option<&'t str> {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            let rest = &rest[blank..];
            if let Some(length) = comment(rest) {
                self.at += length;
                continue;
            }
            let length = literal(rest).unwrap_or_else(|| word(rest));
            self.at += length;
            return (length > 0).then(|| &rest[..length]);
        }
    }
}

/// The length of a comment.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    text.starts_with("/*").then(|| {
        let (mut depth, mut at) = (1_usize, 2);
        while depth > 0 {
            let Some(next) = text[at..].find("/*").into_iter().chain(text[at..].find("*/")).min() else {
                return text.len();
            };
            let opens = text[at + next..].starts_with("/*");
            depth = if opens { depth + 1 } else { depth - 1 };
            at += next + 2;
        }
        at
    })
}

/// The length of a string, a character or a lifetime.
fn literal(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let prefix = bytes.iter().take(2).take_while(|byte| matches!(byte, b'r' | b'b' | b'c')).count();
    let rest = &text[prefix..];
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    if text[..prefix].contains('r') && rest[hashes..].starts_with('"') {
        let end = format!("\"{}", "#".repeat(hashes));
        let from = prefix + hashes + 1;
        return Some(text[from..].find(&end).map_or(text.len(), |at| from + at + end.len()));
    }
    match rest.as_bytes().first()? {
        b'"' => Some(prefix + quoted(rest, '"')),
        b'\'' if rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'') => {
            Some(prefix + quoted(rest, '\''))
        }
        // A lifetime.
        b'\'' if prefix == 0 => Some(1 + word(&rest[1..])),
        _ => None,
    }
}

/// The length of text in quotes, in which a backslash escapes.
fn quoted(text: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == mark && !escaped {
            return at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// The length of a word, or of one other character.
fn word(text: &str) -> usize {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    if end > 0 { end } else { text.chars().next().map_or(0, char::len_utf8) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impl_and_a_body_are_seen() {
        let (implementation, body) = (Some(Surroundings::Impl), Some(Surroundings::Body));
        for (text, expected) in [
            ("", None),
            ("use a::{b, c};\n\n    ", None),
            ("#[cfg(test)]\nmod tests {\n    use super::*;\n    ", None),
            ("impl Weather {\n    ", implementation),
            ("impl<const N: usize> Show for [u8; N] where [u8; { N }]: Copy {\n    ", implementation),
            ("#[doc = \"x\"] pub unsafe trait T: Sized {\n    fn f();\n    ", Some(Surroundings::Trait)),
            ("impl A {\n    fn f() {}\n}\n\nmod b {\n    ", None),
            ("fn outer() {\n    ", body),
            ("pub(crate) async fn outer<T>(x: T) -> Result<T, E> where T: X {\n    let y = 1;\n    ", body),
            ("pub extern \"C\" fn outer() {\n    if x {\n        ", body),
            ("fn outer() {\n    mod inner {\n        ", body),
            ("fn outer() {}\n    ", None),
            ("fn outer() { match x { _ => {} } }\n    ", None),
            ("#![allow(dead_code)]\nfn outer() {\n    ", Some(Surroundings::Body)),
            ("const F: fn() = { ", None),
            ("suite! {\n    ", None),
            ("macro_rules! m {\n    () => {\n        ", None),
            ("struct S { x: u8 }\n    ", None),
            // Text that looks like code.
            ("// fn outer() {\n    ", None),
            ("/* impl X { /* fn f() { */ */\n    ", None),
            ("/// fn outer() {\nstatic A: &str = \"fn f() {\";\n    ", None),
            ("static A: &str = r#\"fn f() { \" {\"#;\n    ", None),
            ("static A: &str = \"\\\"{ impl\";\n    ", None),
            ("static A: [char; 3] = ['{', '\\'', '\"'];\n    ", None),
            ("static A: u8 = b'{';\n    fn f<'a>(x: &'a str) {}\n    ", None),
            ("static A: &str = \"天気 {\";\n    ", None),
            // Unclosed strings, comments and blocks.
            ("static A: &str = \"", None),
            ("/* impl X {", None),
            ("}\n    ", None),
        ] {
            assert_eq!(Surroundings::at_the_end_of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_place_is_found_as_rustc_counts() {
        let text = "a\n天気 x\nlast";
        for (line, column, expected) in
            [(1, 1, Some("")), (1, 2, Some("a")), (2, 4, Some("a\n天気 ")), (3, 99, Some(text)), (9, 1, None)]
        {
            assert_eq!(before(text, line, column), expected, "{line}:{column}");
        }
    }
}
