//! In which encoding the body of an export is.

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;

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
}
