//! What is exported, in which encoding, and the bytes by which an export is known again.

use std::hash::{BuildHasher, RandomState};

use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Signal {
    Traces,
    Logs,
    /// Nothing of metrics is kept.
    Metrics,
}

/// Why an export cannot be read at all.
#[derive(Debug)]
pub(crate) struct Unreadable(pub(crate) String);

/// How messages are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Protobuf,
    Json,
}

impl Encoding {
    /// The encoding that a request names; `None` if it is none of OTLP's.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?;
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if kind.eq_ignore_ascii_case("application/x-protobuf") {
            return Some(Self::Protobuf);
        }
        kind.eq_ignore_ascii_case("application/json").then_some(Self::Json)
    }
}

/// An export as it came.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) signal: Signal,
    pub(crate) bytes: Bytes,
}

/// Where the head of gzip has the time at which something was packed.
const PACKED_AT: std::ops::Range<usize> = 4..8;

impl Sent {
    /// What tells it from others. An export that is sent again is the same, but that it may be packed anew, at another time.
    pub(crate) fn identity(&self, keys: &RandomState) -> u64 {
        let (head, rest) = match self.bytes.get(PACKED_AT.end..) {
            Some(rest) if self.bytes.starts_with(&[0x1f, 0x8b]) => (&self.bytes[..PACKED_AT.start], rest),
            _ => (&self.bytes[..0], &self.bytes[..]),
        };
        keys.hash_one((self.signal, head, rest))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn the_encoding_is_the_one_that_is_named() {
        let table = [
            ("application/x-protobuf", Some(Encoding::Protobuf)),
            ("application/json", Some(Encoding::Json)),
            ("Application/JSON; charset=utf-8", Some(Encoding::Json)),
            ("application/protobuf", None),
            ("text/plain", None),
            ("", None),
        ];
        for (kind, encoding) in table {
            assert_eq!(Encoding::of(&headers(CONTENT_TYPE, kind)), encoding, "{kind}");
        }
        assert_eq!(Encoding::of(&HeaderMap::new()), None);
    }

    #[test]
    fn an_export_is_the_same_whenever_it_was_packed() {
        let keys = RandomState::new();
        let of = |signal, bytes: &[u8]| Sent { signal, bytes: Bytes::copy_from_slice(bytes) }.identity(&keys);
        let packed = |at: u8, more: u8| [0x1f, 0x8b, 8, 0, at, at, 0, 0, 2, 3, more];
        let first = of(Signal::Traces, &packed(1, 7));
        assert_eq!(of(Signal::Traces, &packed(2, 7)), first);
        for other in [packed(1, 8), [0x1f, 0x8c, 8, 0, 2, 2, 0, 0, 2, 3, 7]] {
            assert_ne!(of(Signal::Traces, &other), first);
        }
        assert_ne!(of(Signal::Logs, &packed(1, 7)), first);
        assert_ne!(of(Signal::Traces, b"{}"), of(Signal::Traces, b"[]"));
        assert_eq!(of(Signal::Traces, &[0x1f, 0x8b]), of(Signal::Traces, &[0x1f, 0x8b]));
    }
}
