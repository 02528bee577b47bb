//! From bytes to text, and to a value. Bytes that are not UTF-8 are a problem, which is shown in a readable
//! rendering of the bytes.

use std::ops::Range;

use crate::problem::{JsonPath, Problem, ProblemCode, in_order_of_places};
use crate::syntax::{self, Node};

/// Reads a document: its text, the value unless a problem is an error, and the problems in the order of the text.
/// `explain` may replace the problem of a text that is not JSON.
pub(crate) fn read<T>(
    bytes: &[u8],
    explain: impl FnOnce(&str, Problem) -> Problem,
    read: impl FnOnce(&Node<'_>, &mut Vec<Problem>) -> Option<T>,
) -> (String, Option<T>, Vec<Problem>) {
    let (text, broken) = decode(bytes);
    let mut problems = Vec::from_iter(broken);
    let mut value = None;
    if problems.is_empty() {
        match syntax::parse(&text, &mut problems) {
            Ok(root) => value = read(&root, &mut problems),
            Err(problem) => problems.push(explain(&text, *problem)),
        }
    }
    in_order_of_places(&mut problems);
    let is_sound = !problems.iter().any(Problem::is_error);
    (text, value.filter(|_| is_sound), problems)
}

/// The value of a JSON text with the numbers as they are written, or the sentence that says why there is none.
pub fn parse_value(text: &str) -> Result<crate::Value, String> {
    syntax::parse(text, &mut Vec::new()).map(|root| root.to_value()).map_err(|problem| problem.message)
}

/// The text of a file that must be UTF-8 without a byte order mark, as ADK requires. Beside a problem it is a
/// readable rendering of the bytes, which the problem points into.
pub(crate) fn decode(bytes: &[u8]) -> (String, Option<Problem>) {
    if let Some((name, text)) = wide(bytes) {
        let first = text.chars().next().map_or(0, char::len_utf8);
        let found = problem(0..first, format!("the file is {name}, not UTF-8"));
        return (text, Some(found.help("save it as UTF-8 without a byte order mark")));
    }
    match str::from_utf8(bytes) {
        Ok(text) if text.starts_with(MARK) => {
            let found = problem(0..MARK.len_utf8(), "the file begins with a byte order mark")
                .label("three invisible bytes: EF BB BF")
                .help("save it as UTF-8 without a byte order mark (BOM); ADK rejects it too");
            (text.to_owned(), Some(found))
        }
        Ok(text) => (text.to_owned(), None),
        Err(error) => not_utf8(bytes, error.valid_up_to()),
    }
}

const MARK: char = '\u{feff}';

fn problem(range: Range<usize>, message: impl Into<String>) -> Problem {
    Problem::error(ProblemCode::Encoding, JsonPath::default(), range, message)
}

fn not_utf8(bytes: &[u8], at: usize) -> (String, Option<Problem>) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    // The rendering keeps the bytes before the first invalid one, which became one replacement character.
    let range = at..at + char::REPLACEMENT_CHARACTER.len_utf8();
    let byte = bytes.get(at).copied().unwrap_or_default();
    let latin = if byte >= 0xA0 {
        format!("; in Latin-1 this byte is `{}`", char::from(byte))
    } else {
        String::new()
    };
    let found = problem(range, "the file is not UTF-8").label(format!("byte {byte:02X}"));
    (text, Some(found.help(format!("save it as UTF-8{latin}"))))
}

/// The text of a file in UTF-16 or UTF-32, recognised by its mark or by the zero bytes beside its first letters.
fn wide(bytes: &[u8]) -> Option<(&'static str, String)> {
    Some(match bytes {
        [0xFF, 0xFE, 0, 0, rest @ ..] => ("UTF-32", utf32(rest, u32::from_le_bytes)),
        [0, 0, 0xFE, 0xFF, rest @ ..] => ("UTF-32", utf32(rest, u32::from_be_bytes)),
        [0xFF, 0xFE, rest @ ..] => ("UTF-16", utf16(rest, u16::from_le_bytes)),
        [0xFE, 0xFF, rest @ ..] => ("UTF-16", utf16(rest, u16::from_be_bytes)),
        [1..=255, 0, 1..=255, 0, ..] => ("UTF-16", utf16(bytes, u16::from_le_bytes)),
        [0, 1..=255, 0, 1..=255, ..] => ("UTF-16", utf16(bytes, u16::from_be_bytes)),
        _ => return None,
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units: Vec<u16> = bytes.as_chunks().0.iter().map(|pair| unit(*pair)).collect();
    String::from_utf16_lossy(&units)
}

fn utf32(bytes: &[u8], unit: fn([u8; 4]) -> u32) -> String {
    let code_points = bytes.as_chunks().0.iter().map(|four| unit(*four));
    code_points.map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], text: &str, message: &str, marked: &str) {
        let (shown, problem) = decode(bytes);
        let problem = problem.unwrap();
        assert_eq!((shown.as_str(), problem.message.as_str()), (text, message));
        assert_eq!(problem.code, ProblemCode::Encoding);
        assert_eq!(&shown[problem.range], marked);
        assert!(problem.help.is_some());
    }

    #[test]
    fn utf8_is_taken_as_it_is() {
        for text in ["", "{}", "é 天 🎉", "a\u{feff}"] {
            assert_eq!(decode(text.as_bytes()), (text.to_owned(), None));
        }
    }

    #[test]
    fn other_encodings_are_named_and_shown() {
        let utf16 = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
        let little: Vec<u8> = utf16("\u{feff}{é}").into_iter().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = utf16("\u{feff}{é}").into_iter().flat_map(u16::to_be_bytes).collect();
        let long: Vec<u8> = "\u{feff}{é}".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        check(&little, "{é}", "the file is UTF-16, not UTF-8", "{");
        check(&big, "{é}", "the file is UTF-16, not UTF-8", "{");
        check(&little[2..], "{é}", "the file is UTF-16, not UTF-8", "{");
        check(&big[2..], "{é}", "the file is UTF-16, not UTF-8", "{");
        check(&long, "{é}", "the file is UTF-32, not UTF-8", "{");
        check(b"\xff\xfe", "", "the file is UTF-16, not UTF-8", "");
        check(b"\xff\xfe{", "", "the file is UTF-16, not UTF-8", "");
        check("\u{feff}{}".as_bytes(), "\u{feff}{}", "the file begins with a byte order mark", "\u{feff}");
        check(b"{caf\xe9}", "{caf\u{fffd}}", "the file is not UTF-8", "\u{fffd}");
        check(b"\xc3", "\u{fffd}", "the file is not UTF-8", "\u{fffd}");
    }
}
