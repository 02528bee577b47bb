//! Ids of traces and spans.

use std::fmt;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, PAD};

/// The id of a span or trace. An id of the standard size is stored as a number.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Id {
    Span(u64),
    /// Sixteen bytes, of traces. Two halves, as the alignment of a `u128` would make each id a third larger.
    Trace([u64; 2]),
    Other(Box<str>),
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Span(id) => write!(f, "{id:016x}"),
            Self::Trace([high, low]) => write!(f, "{high:016x}{low:016x}"),
            Self::Other(id) => f.write_str(id),
        }
    }
}

impl Id {
    /// The id of a span; `None` for an empty text, and for zeros of an id's length.
    pub(super) fn span(text: &str) -> Option<Self> {
        bytes::<8>(text).map_or_else(
            || other(text, 16),
            |bytes| Some(u64::from_be_bytes(bytes)).filter(|id| *id != 0).map(Self::Span),
        )
    }

    pub(super) fn trace(text: &str) -> Option<Self> {
        bytes::<16>(text).map_or_else(
            || other(text, 32),
            |bytes| {
                let id = u128::from_be_bytes(bytes);
                #[expect(clippy::cast_possible_truncation, reason = "the lower half is what is meant")]
                let halves = [(id >> 64) as u64, id as u64];
                (id != 0).then_some(Self::Trace(halves))
            },
        )
    }
}

fn other(text: &str, digits: usize) -> Option<Id> {
    let text = text.trim();
    let is_zero = text.len() == digits && text.bytes().all(|digit| digit == b'0');
    (!text.is_empty() && !is_zero).then(|| Id::Other(text.to_lowercase().into()))
}

/// `N` bytes, written in hexadecimal or base64.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let hex = text.trim();
    if hex.len() == 2 * N && hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        let mut bytes = [0; N];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
        }
        return Some(bytes);
    }
    // Sixteen bytes have 24 characters of base64, eight have 12. Longer ones are not looked at.
    (text.len() == N.div_ceil(3) * 4).then(|| base64(text)).flatten()?.try_into().ok()
}

/// The bytes of base64 in either alphabet, or in both. Some encoders set bits behind the last byte.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(&STANDARD, PAD.with_decode_allow_trailing_bits(true));
    LENIENT.decode(text.replace('-', "+").replace('_', "/")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_hexadecimal_base64_and_as_they_are() {
        let span = |text: &str| Id::span(text).map(|id| id.to_string());
        assert_eq!(span("00000000000000AB").as_deref(), Some("00000000000000ab"));
        assert_eq!(span("AAAAAAAAAKs=").as_deref(), Some("00000000000000ab"));
        assert_eq!(span("Root-1").as_deref(), Some("root-1"));
        assert_eq!((span(""), span("0000000000000000"), span("AAAAAAAAAAA=")), (None, None, None));
        let trace = |text: &str| Id::trace(text).map(|id| id.to_string());
        assert_eq!(trace("AAAAAAAAAAAAAAAAAAAAqw==").as_deref(), Some("000000000000000000000000000000ab"));
        // As long as an id is, or as empty ones are.
        for other in
            ["zzzzzzzzzzzzzzzz", "+1+1+1+1+1+1+1+1", "aéééééééb", "0000", "00000000000000000", "AAAAAAAAAKs"]
        {
            assert_eq!(span(other), Some(other.to_lowercase()), "{other}");
        }
        assert_eq!(
            trace("0000000000000000").as_deref(),
            Some("0000000000000000"),
            "it is as long as that of a span"
        );
        assert_eq!(
            (trace(&"0".repeat(32)), trace("AAAAAAAAAAAAAAAAAAAAAA=="), trace(" ")),
            (None, None, None)
        );
    }

    #[test]
    fn base64_has_four_digits_for_three_bytes_and_at_most_two_of_padding() {
        for (text, bytes) in [
            ("", &[][..]),
            ("AQID", &[1, 2, 3]),
            ("AQI=", &[1, 2]),
            ("AQ==", &[1]),
            ("09az", &[0xd3, 0xd6, 0xb3]),
            ("ZmFp", b"fai"),
            ("+/+/", &[0xfb, 0xff, 0xbf]),
            ("-_-_", &[0xfb, 0xff, 0xbf]),
            ("+_-/", &[0xfb, 0xff, 0xbf]),
            ("AQJ=", &[1, 2]),
            ("AR==", &[1]),
            ("AQIDAQIDAQIDAQI=", &[1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2]),
        ] {
            assert_eq!(base64(text).as_deref(), Some(bytes), "{text}");
        }
        for wrong in ["AQI", "AQIDA", "A===", "AQ!D", "AQ=D"] {
            assert_eq!(base64(wrong), None, "{wrong}");
        }
    }
}
