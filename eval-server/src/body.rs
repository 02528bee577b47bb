//! Bodies of requests: read within limits of size, memory and time, then taken apart.

use std::io::Read;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::multipart::MultipartError;
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use eval_support::file::GZIP;
use flate2::bufread::GzDecoder;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::limits::Limits;
use crate::refusal::Refusal;
use crate::work::{Wanted, complete};

#[derive(Debug)]
pub(crate) struct Received {
    headers: HeaderMap,
    pub(crate) bytes: Bytes,
    memory: HeldMemory,
    /// The bytes that unpacking may still produce.
    pub(crate) left: usize,
    pub(crate) wanted: Wanted,
}

/// The most bytes of a small body, whose answer is computed faster than another thread wakes up.
const SMALL_BODY_BYTES: usize = 16 << 10;

pub(crate) async fn receive(request: Request, memory: &Memory, limits: &Limits) -> Result<Received, Refusal> {
    let (head, body) = request.into_parts();
    let size = match head.headers.get(CONTENT_LENGTH) {
        Some(length) => length
            .to_str()
            .ok()
            .and_then(|length| length.parse().ok())
            .ok_or_else(|| Refusal::bad("`Content-Length` is no number"))?,
        // The body comes in chunks.
        None => 0,
    };
    let too_large = || {
        let why = format!("the body has more than {} bytes", limits.body);
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, why)
    };
    if size > limits.body {
        return Err(too_large());
    }
    let read = async {
        let mut received = Received {
            headers: head.headers,
            bytes: Bytes::new(),
            memory: memory.of_request(),
            left: limits.body,
            wanted: Wanted::default(),
        };
        let mut body = Limited::new(body, limits.body);
        let mut pieces: Vec<u8> = Vec::new();
        // Memory is taken for bytes that have arrived. A promised length takes none from other requests.
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                // Other errors are errors of the connection, and then no client reads the answer.
                if error.is::<LengthLimitError>() {
                    too_large()
                } else {
                    Refusal::bad("the body ends too early")
                }
            })?;
            let Ok(piece) = frame.into_data() else { continue };
            received.memory.grow(piece.len())?;
            // A single piece is not copied: most bodies come in one.
            if received.bytes.is_empty() && pieces.is_empty() {
                received.bytes = piece;
            } else {
                pieces.extend_from_slice(&std::mem::take(&mut received.bytes));
                pieces.extend_from_slice(&piece);
            }
        }
        if !pieces.is_empty() {
            received.bytes = Bytes::from(pieces);
        }
        Ok(received)
    };
    timeout(limits.time, read)
        .await
        .unwrap_or_else(|_| Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time")))
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) file: Option<String>,
    pub(crate) bytes: Bytes,
}

const MAX_FIELDS: usize = 1000;

impl Received {
    pub(crate) fn is_small(&self) -> bool {
        // Packed data contains the first byte of gzip, which no text has.
        let is_plain = || !self.headers.contains_key(CONTENT_ENCODING) && !self.bytes.contains(&GZIP[0]);
        self.bytes.len() <= SMALL_BODY_BYTES && is_plain()
    }

    /// Unpacks a body that is packed as a whole.
    pub(crate) fn unpack(&mut self) -> Result<(), Refusal> {
        let mut encodings = self.headers.get_all(CONTENT_ENCODING).iter();
        let Some(encoding) = encodings.next() else { return Ok(()) };
        if encodings.next().is_some() {
            return Err(unknown_encoding("several encodings"));
        }
        match encoding.as_bytes().to_ascii_lowercase().as_slice() {
            b"identity" => Ok(()),
            b"gzip" | b"x-gzip" => {
                let bytes = self.bytes.clone();
                self.bytes = self.unpacked(&bytes, "the body")?;
                Ok(())
            }
            other => Err(unknown_encoding(&String::from_utf8_lossy(other))),
        }
    }

    pub(crate) fn unpacked(&mut self, packed: &[u8], what: &str) -> Result<Bytes, Refusal> {
        let Self { memory, left, .. } = self;
        unpacked(packed, what, left, |bytes| memory.grow(bytes)).map(Bytes::from)
    }

    pub(crate) fn fields(&self) -> Result<Vec<Field>, Refusal> {
        let kind = self.headers.get(CONTENT_TYPE);
        if self.bytes.is_empty() && kind.is_none() {
            return Ok(Vec::new());
        }
        let mut request = Request::new(Body::from(self.bytes.clone()));
        if let Some(kind) = kind {
            request.headers_mut().insert(CONTENT_TYPE, kind.clone());
        }
        // The body is in memory already.
        DefaultBodyLimit::disable().apply(&mut request);
        complete(async {
            let mut form = Multipart::from_request(request, &()).await.map_err(|error| {
                let why =
                    format!("the body is no form with files (`multipart/form-data`): {}", error.body_text());
                Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, why)
            })?;
            let mut fields = Vec::new();
            let broken =
                |error: MultipartError| Refusal::bad(format!("the form is broken: {}", error.body_text()));
            while let Some(field) = form.next_field().await.map_err(broken)? {
                if fields.len() == MAX_FIELDS {
                    return Err(Refusal::bad(format!("the form has more than {MAX_FIELDS} fields")));
                }
                let name = field.name().unwrap_or_default().to_owned();
                // A browser sends an empty name where no file was chosen.
                let file = field.file_name().filter(|name| !name.is_empty()).map(str::to_owned);
                let bytes = field.bytes().await.map_err(broken)?;
                fields.push(Field { name, file, bytes });
            }
            Ok(fields)
        })
    }
}

fn unknown_encoding(name: &str) -> Refusal {
    let name: String = name.chars().take(40).collect();
    let why = format!("the body is packed with `{name}`; send it with `Content-Encoding: gzip`, or as it is");
    Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why)
}

const MEMORY_UNIT_BYTES: usize = 1024;

#[derive(Debug)]
pub(crate) struct Memory(Arc<Semaphore>);

/// Memory of one request, until it is dropped.
#[derive(Debug)]
pub(crate) struct HeldMemory {
    all: Arc<Semaphore>,
    bytes: usize,
    units: Option<OwnedSemaphorePermit>,
}

impl Memory {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self(Arc::new(Semaphore::new(limits.bodies.max(limits.body).div_ceil(MEMORY_UNIT_BYTES))))
    }

    pub(crate) fn of_request(&self) -> HeldMemory {
        HeldMemory { all: Arc::clone(&self.0), bytes: 0, units: None }
    }
}

impl HeldMemory {
    /// Takes memory for more bytes, or fails at once: requests could wait for each other for ever.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.bytes = self.bytes.saturating_add(bytes);
        let has = self.units.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let lacks = self.bytes.div_ceil(MEMORY_UNIT_BYTES).saturating_sub(has);
        if lacks == 0 {
            return Ok(());
        }
        let lacks = u32::try_from(lacks).unwrap_or(u32::MAX);
        match (Arc::clone(&self.all).try_acquire_many_owned(lacks), &mut self.units) {
            (Ok(more), Some(units)) => units.merge(more),
            (Ok(first), none) => *none = Some(first),
            (Err(_), _) => {
                return Err(Refusal::busy("other requests have all the memory; send it again later"));
            }
        }
        Ok(())
    }
}

const PIECE_BYTES: usize = 32 << 10;

/// The most parts (gzip members) of a packed file: even an empty one costs time.
const MAX_PARTS: usize = 1000;

/// Unpacks at most `left` bytes, and subtracts their number. `grow` takes memory for a piece.
pub(crate) fn unpacked(
    packed: &[u8],
    what: &str,
    left: &mut usize,
    mut grow: impl FnMut(usize) -> Result<(), Refusal>,
) -> Result<Vec<u8>, Refusal> {
    let (mut rest, mut all, most) = (packed, Vec::new(), *left);
    let mut piece = vec![0; PIECE_BYTES];
    for _ in 0..MAX_PARTS {
        let mut part = GzDecoder::new(&mut rest);
        loop {
            let read = part.read(&mut piece).map_err(|error| {
                Refusal::bad(format!("{what} is packed with gzip, and cannot be unpacked: {error}"))
            })?;
            if read == 0 {
                break;
            }
            *left = left.checked_sub(read).ok_or_else(|| {
                let why = format!("{what} has more than {most} bytes when it is unpacked");
                Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, why)
            })?;
            grow(read)?;
            all.extend_from_slice(&piece[..read]);
        }
        if rest.is_empty() {
            return Ok(all);
        }
    }
    Err(Refusal::bad(format!("{what} is packed with gzip in more than {MAX_PARTS} parts")))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    impl Memory {
        pub(crate) fn is_free(&self, limits: &Limits) -> bool {
            self.0.available_permits() == limits.bodies.max(limits.body).div_ceil(MEMORY_UNIT_BYTES)
        }
    }

    #[test]
    fn requests_have_the_memory_of_what_they_hold_until_they_end() {
        let limits = Limits::default().body(16 << 10);
        let memory = Memory::new(&limits);
        let mut one = memory.of_request();
        // Small pieces count by their total size.
        for _ in 0..4096 {
            one.grow(1).unwrap();
        }
        let mut rest: Vec<HeldMemory> = (0..16).map(|_| memory.of_request()).collect();
        let given = rest.iter_mut().filter_map(|held| held.grow(16 << 10).ok()).count();
        assert_eq!(given, 15, "4 KiB of the 256 are taken");
        assert!(one.grow(16 << 10).is_err());
        drop((one, rest));
        assert!(memory.is_free(&limits));
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn unpack(packed: &[u8], mut left: usize) -> Result<Vec<u8>, String> {
        unpacked(packed, "it", &mut left, |_| Ok(())).map_err(|refusal| format!("{refusal:?}"))
    }

    #[test]
    fn what_fits_is_unpacked_also_in_several_parts() {
        let text = "traces ".repeat(10_000);
        assert_eq!(unpack(&packed(text.as_bytes()), text.len()).as_deref(), Ok(text.as_bytes()));
        let parts = [packed(b"one, "), packed(b""), packed(b"two")].concat();
        assert_eq!(unpack(&parts, 100).as_deref(), Ok(&b"one, two"[..]));
    }

    #[test]
    fn bombs_are_refused_before_they_are_unpacked() {
        let bomb = packed(&vec![0; 64 << 20]);
        let mut taken = 0;
        let refused = unpacked(&bomb, "it", &mut (1 << 20), |bytes| {
            taken += bytes;
            Ok(())
        });
        let why = format!("{:?}", refused.unwrap_err());
        assert!(why.contains("413") && why.contains("more than 1048576 bytes"), "{why}");
        assert!(taken <= 1 << 20, "{taken}");
        // Empty parts.
        let why = unpack(&packed(b"").repeat(MAX_PARTS + 1), 100).unwrap_err();
        assert!(why.contains("more than 1000 parts"), "{why}");
    }

    #[test]
    fn what_is_broken_is_refused() {
        let whole = packed(b"traces");
        for broken in [&whole[..whole.len() - 1], &[&whole[..], b"x"].concat(), &[0x1f, 0x8b], b"text"] {
            let why = unpack(broken, 100).unwrap_err();
            assert!(why.contains("cannot be unpacked"), "{why}");
        }
    }
}
