//! Bodies of requests, within a limit, unpacked.

use std::io::Read;

use eval_support::untrusted::one_line;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::Request;
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{CONTENT_ENCODING, HeaderMap};

/// The size limit of a request, also after it was unpacked.
pub(super) const MAX_BODY_BYTES: usize = 64 << 20;

/// The whole body of a request. The error is a sentence.
pub(super) async fn read(request: Request<Incoming>) -> Result<Bytes, String> {
    let packings = packings(request.headers())?;
    unpacked(&packings, as_sent(request.into_body()).await?)
}

/// The body of a request as it was sent. The error is a sentence.
pub(super) async fn as_sent(body: Incoming) -> Result<Bytes, String> {
    // A body that says its length is refused before it is sent.
    if body.size_hint().lower() > MAX_BODY_BYTES as u64 {
        return Err(too_large());
    }
    match Limited::new(body, MAX_BODY_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(_) => Err("a call of a model broke off before its body ended".to_owned()),
    }
}

/// A body that was sent with these headers, unpacked. The error is a sentence.
pub(super) fn read_again(headers: &HeaderMap, sent: &Bytes) -> Result<Bytes, String> {
    unpacked(&packings(headers)?, sent.clone())
}

fn unpacked(packings: &[Packing], body: Bytes) -> Result<Bytes, String> {
    // What was packed last is unpacked first.
    packings.iter().rev().try_fold(body, |body, packing| packing.unpack(&body).map(Bytes::from))
}

fn too_large() -> String {
    format!("a call of a model has more than {} MiB, which is the limit", MAX_BODY_BYTES >> 20)
}

/// A way in which a body is packed.
#[derive(Clone, Copy, Debug)]
enum Packing {
    Gzip,
    Deflate,
    #[cfg(feature = "https")]
    Brotli,
    #[cfg(feature = "https")]
    Zstd,
}

/// The ways in which a body was packed, in order.
fn packings(headers: &HeaderMap) -> Result<Vec<Packing>, String> {
    let headers = headers.get_all(CONTENT_ENCODING);
    let named = headers.iter().map(|header| String::from_utf8_lossy(header.as_bytes()).to_ascii_lowercase());
    let named: Vec<String> = named
        .flat_map(|header| header.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>())
        .collect();
    named
        .iter()
        .filter(|name| !matches!(name.as_str(), "" | "identity"))
        .map(|name| Packing::named(name))
        .collect()
}

impl Packing {
    fn named(name: &str) -> Result<Self, String> {
        match name {
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            "deflate" => Ok(Self::Deflate),
            #[cfg(feature = "https")]
            "br" => Ok(Self::Brotli),
            #[cfg(feature = "https")]
            "zstd" => Ok(Self::Zstd),
            #[cfg(not(feature = "https"))]
            "br" | "zstd" => Err(format!(
                "a call of a model is packed ({name}), which this build does not read: add the feature `record-models` of \
                 eval-core, or `https` of cargo-evalset or eval-agents"
            )),
            other => {
                let name = one_line(other);
                Err(format!(
                    "a call of a model is packed ({name}), which the gateway does not read; it reads gzip and deflate"
                ))
            }
        }
    }

    fn unpack(self, packed: &[u8]) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let most = MAX_BODY_BYTES as u64 + 1;
        let read = match self {
            Self::Gzip => flate2::read::MultiGzDecoder::new(packed).take(most).read_to_end(&mut bytes),
            Self::Deflate => flate2::read::ZlibDecoder::new(packed).take(most).read_to_end(&mut bytes),
            #[cfg(feature = "https")]
            Self::Brotli => {
                brotli_decompressor::Decompressor::new(packed, 4096).take(most).read_to_end(&mut bytes)
            }
            #[cfg(feature = "https")]
            Self::Zstd => zstd::stream::read::Decoder::new(packed)
                .and_then(|decoder| decoder.take(most).read_to_end(&mut bytes)),
        };
        match read {
            Ok(_) if bytes.len() > MAX_BODY_BYTES => Err(too_large()),
            Ok(_) => Ok(bytes),
            Err(error) => Err(format!("the body of a call of a model cannot be unpacked: {error}")),
        }
    }
}
