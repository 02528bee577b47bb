//! The body of an export: in which encoding it is, and what it is when it is unpacked.

use std::io::Read;

use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use flate2::bufread::MultiGzDecoder;

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

/// Why a body cannot be unpacked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// It is packed in a way that is not known.
    Unknown(String),
    /// It would be larger than this when it is unpacked.
    TooLarge(usize),
    /// It is no gzip, or ends in the middle.
    Broken(String),
}

/// Unpacks a body, up to a number of bytes; `None` if it is not packed.
pub(crate) fn unpacked(headers: &HeaderMap, bytes: &[u8], most: usize) -> Result<Option<Vec<u8>>, BodyError> {
    let named = headers.get(CONTENT_ENCODING).map_or(Ok("identity"), |name| name.to_str());
    let named = named.unwrap_or("?").trim();
    if named.is_empty() || named.eq_ignore_ascii_case("identity") {
        return Ok(None);
    }
    if !named.eq_ignore_ascii_case("gzip") {
        return Err(BodyError::Unknown(named.chars().take(40).collect()));
    }
    let mut unpacked = Vec::new();
    // One more byte than is allowed says that there are more.
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let read = MultiGzDecoder::new(bytes).take(limit).read_to_end(&mut unpacked);
    read.map_err(|error| BodyError::Broken(error.to_string()))?;
    if unpacked.len() > most { Err(BodyError::TooLarge(most)) } else { Ok(Some(unpacked)) }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use axum::http::{HeaderName, HeaderValue};
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
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
    fn a_body_is_unpacked_up_to_a_size() {
        let gzip = headers(CONTENT_ENCODING, "GZIP");
        let bomb = packed(&vec![0; 1 << 20]);
        assert!(bomb.len() < 4096);
        assert_eq!(unpacked(&gzip, &bomb, 1 << 20).unwrap().unwrap().len(), 1 << 20);
        assert_eq!(unpacked(&gzip, &bomb, (1 << 20) - 1), Err(BodyError::TooLarge((1 << 20) - 1)));
        assert!(matches!(unpacked(&gzip, &bomb[..100], 1 << 20), Err(BodyError::Broken(_))));
        assert!(matches!(unpacked(&gzip, b"{}", 1 << 20), Err(BodyError::Broken(_))));
        assert_eq!(unpacked(&HeaderMap::new(), b"{}", 1), Ok(None));
        assert_eq!(unpacked(&headers(CONTENT_ENCODING, "identity"), b"{}", 1), Ok(None));
        let brotli = unpacked(&headers(CONTENT_ENCODING, "br"), b"{}", 1);
        assert_eq!(brotli, Err(BodyError::Unknown("br".to_owned())));
    }
}
