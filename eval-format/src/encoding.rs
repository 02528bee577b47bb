//! Bytes to text, with a problem where they are not the UTF-8 that ADK reads.

use crate::problem::{Code, JsonPath, Problem};

/// The text of a file, and what is wrong with its encoding.
///
/// With a problem the text is what could be made of the bytes, so that the problem can be shown.
pub(crate) fn decode(bytes: &[u8]) -> (String, Option<Problem>) {
    if let Some(text) = utf16(bytes) {
        let end = text.chars().next().map_or(0, char::len_utf8);
        return (text, Some(problem("the file is UTF-16, not UTF-8", 0..end, "UTF-16 from here on")));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), byte_order_mark(text)),
        Err(error) => {
            // The text before the first bad byte is kept as it is, and the bad bytes become one
            // replacement character of three bytes.
            let start = error.valid_up_to();
            let text = String::from_utf8_lossy(bytes).into_owned();
            let end = start + char::REPLACEMENT_CHARACTER.len_utf8();
            (text, Some(problem("the file is not UTF-8", start..end, "these bytes are not UTF-8")))
        }
    }
}

/// ADK reads files without looking for a byte order mark and then stumbles over it.
pub(crate) fn byte_order_mark(text: &str) -> Option<Problem> {
    text.starts_with('\u{feff}').then(|| {
        problem(
            "the file begins with a byte order mark",
            0..'\u{feff}'.len_utf8(),
            "an invisible character that JSON does not allow",
        )
    })
}

fn problem(message: &str, range: std::ops::Range<usize>, label: &str) -> Problem {
    Problem::error(Code::Encoding, JsonPath::default(), range, message)
        .label(label)
        .help("save the file as UTF-8 without a byte order mark")
}

/// The text of a file that is UTF-16: one with its byte order mark, or whose first character is
/// an ASCII one in two bytes.
fn utf16(bytes: &[u8]) -> Option<String> {
    let little = match bytes {
        [0xff, 0xfe, ..] | [1..=0x7f, 0, ..] => true,
        [0xfe, 0xff, ..] | [0, 1..=0x7f, ..] => false,
        _ => return None,
    };
    let pairs = bytes.chunks_exact(2).map(|pair| {
        let pair = [pair[0], pair[1]];
        if little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
    });
    Some(
        char::decode_utf16(pairs)
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .filter(|char| *char != '\u{feff}')
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_plain_utf8_is_a_problem_with_a_place() {
        for (bytes, text, place) in [
            (&b"{\"a\": \"\xff\xfe\"}"[..], "{\"a\": \"\u{fffd}\u{fffd}\"}", Some(7..10)),
            (b"{\"a\": \"\xe4\xb8", "{\"a\": \"\u{fffd}", Some(7..10)),
            (b"\xef\xbb\xbf{}", "\u{feff}{}", Some(0..3)),
            (b"\xff\xfe{\0}\0", "{}", Some(0..1)),
            (b"\xfe\xff\0{\0}", "{}", Some(0..1)),
            (b"{\0}\0", "{}", Some(0..1)),
            (b"\xff\xfe", "", Some(0..0)),
            (b"{}", "{}", None),
            (b"", "", None),
        ] {
            let (found, problem) = decode(bytes);
            assert_eq!((found.as_str(), problem.map(|p| p.range)), (text, place), "{bytes:?}");
        }
    }
}
