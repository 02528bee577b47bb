//! Lengths of files, and functions that are `#[inline]`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::tree::Sources;

/// The files with more lines than allowed, as `path: lines`.
pub(crate) fn too_long(sources: &Sources, most: usize) -> Vec<String> {
    let lengths = sources.iter().map(|(path, text)| (path, text.lines().count()));
    lengths.filter(|(_, lines)| *lines > most).map(|(path, lines)| format!("{path}: {lines} lines")).collect()
}

/// The number of lines of the file in the middle. Of two in the middle, the longer.
pub(crate) fn median(sources: &Sources) -> usize {
    let mut lengths: Vec<_> = sources.values().map(|text| text.lines().count()).collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied().unwrap_or(0)
}

/// An attribute that asks for a function to be compiled where it is called.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Inline {
    /// `path:line`.
    pub(crate) place: String,
    /// Whether a comment right above it has a number in it.
    pub(crate) is_measured: bool,
}

/// All attributes `#[inline]` of some files, those in `cfg_attr` and in macros too.
///
/// # Errors
///
/// A sentence, if a file does not consist of Rust's tokens.
pub(crate) fn inlines(sources: &Sources) -> Result<Vec<Inline>, String> {
    let mut found = Vec::new();
    for (path, text) in sources {
        let tokens: TokenStream = text.parse().map_err(|error| format!("{path}: {error}"))?;
        let mut lines = Vec::new();
        collect(tokens, &mut lines);
        found.extend(
            lines
                .into_iter()
                .map(|line| Inline { place: format!("{path}:{line}"), is_measured: is_measured(text, line) }),
        );
    }
    Ok(found)
}

fn collect(tokens: TokenStream, lines: &mut Vec<usize>) {
    let mut is_attribute = false;
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            if is_attribute && group.delimiter() == Delimiter::Bracket && is_inline(group.stream()) {
                lines.push(group.span_open().start().line);
            } else {
                collect(group.stream(), lines);
            }
        }
        is_attribute = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
    }
}

/// Whether the tokens of an attribute are `inline`, `inline(..)` or `cfg_attr(.., inline)`.
fn is_inline(attribute: TokenStream) -> bool {
    let mut tokens = attribute.into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Ident(name)), _) if name == "inline" => true,
        (Some(TokenTree::Ident(name)), Some(TokenTree::Group(group))) if name == "cfg_attr" => group
            .stream()
            .into_iter()
            .any(|token| matches!(token, TokenTree::Ident(name) if name == "inline")),
        _ => false,
    }
}

/// Whether the lines right above a line are a comment with a digit. Documentation is no such comment.
fn is_measured(text: &str, line: usize) -> bool {
    let above: Vec<_> = text.lines().take(line - 1).collect();
    let comment =
        above.iter().rev().map(|line| line.trim_start()).take_while(|line| {
            line.starts_with("//") && !line.starts_with("///") && !line.starts_with("//!")
        });
    comment.into_iter().any(|line| line.contains(|sign: char| sign.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> Sources {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn long_files_are_named() {
        let sources = sources(&[("a.rs", "1\n2\n3\n"), ("b.rs", "1\n2\n"), ("c.rs", "")]);
        assert_eq!(too_long(&sources, 2), ["a.rs: 3 lines"]);
        assert_eq!(median(&sources), 2);
    }

    #[test]
    fn every_inline_is_found_and_wants_a_number() {
        let text = "\
//! Of `#[inline]` in 1 sentence.

/// Not measured: documentation with a 5.
#[inline]
fn documented() {}

// Called 3 times a word: 12 % of the time of a run.
// It stays small.
#[inline(always)]
fn measured() {}

// Faster.
#[cfg_attr(feature = \"fast\", inline)]
fn asserted() {}

const TEXT: &str = \"#[inline]\";

macro_rules! fast {
    () => {
        #[inline]
        fn made() {}
    };
}
";
        let found = inlines(&sources(&[("a.rs", text)])).unwrap();
        let places: Vec<_> = found.iter().map(|inline| (&*inline.place, inline.is_measured)).collect();
        assert_eq!(places, [("a.rs:4", false), ("a.rs:9", true), ("a.rs:13", false), ("a.rs:20", false)]);
    }
}
