//! Bodies of requests: read within limits of size, memory and time, then taken apart.

use axum::body::{Body, Bytes};
use axum::extract::multipart::MultipartError;
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::timeout;

use crate::limits::Limits;
use crate::memory::{HeldMemory, Memory};
use crate::packed::{self, may_hold_packed};
use crate::refusal::Refusal;
use crate::work::{Wanted, complete};

/// A body that has arrived, with the memory that it holds.
#[derive(Debug)]
pub(crate) struct Received {
    headers: HeaderMap,
    pub(crate) bytes: Bytes,
    memory: HeldMemory,
    /// How many bytes more there may be when what is packed is unpacked.
    left: usize,
    /// Whether the client still waits.
    pub(crate) wanted: Wanted,
}

/// Up to this size a body is small: what it asks for is computed in less time than it takes to wake another thread for it, or in
/// a millisecond at most.
const SMALL: usize = 16 << 10;

/// Reads the body of a request.
pub(crate) async fn receive(request: Request, memory: &Memory, limits: &Limits) -> Result<Received, Refusal> {
    let (head, body) = request.into_parts();
    let size = match head.headers.get(CONTENT_LENGTH) {
        Some(length) => length
            .to_str()
            .ok()
            .and_then(|length| length.parse().ok())
            .ok_or_else(|| Refusal::bad("`Content-Length` is no number"))?,
        // It comes in chunks.
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
        // Memory is taken for what has come: what is only promised keeps nobody waiting.
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                // What else can go wrong is the connection, and then nobody reads the answer.
                if error.is::<LengthLimitError>() {
                    too_large()
                } else {
                    Refusal::bad("the body ends too early")
                }
            })?;
            let Ok(piece) = frame.into_data() else { continue };
            received.memory.grow(piece.len())?;
            // One piece is not copied, as most bodies come in one.
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

/// A field of a form.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// The name of the file, if the field is one.
    pub(crate) file: Option<String>,
    pub(crate) bytes: Bytes,
}

/// The most fields of a form.
const MOST_FIELDS: usize = 1000;

impl Received {
    /// Whether its work is small, so that it is not worth another thread.
    pub(crate) fn is_small(&self) -> bool {
        let is_plain = || !self.headers.contains_key(CONTENT_ENCODING) && !may_hold_packed(&self.bytes);
        self.bytes.len() <= SMALL && is_plain()
    }

    /// Lets what is unpacked be so many times as large as a body.
    pub(crate) fn allow_unpacked(&mut self, times: usize) {
        self.left = self.left.saturating_mul(times);
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

    /// What packed bytes of this body are when they are unpacked.
    pub(crate) fn unpacked(&mut self, packed: &[u8], what: &str) -> Result<Bytes, Refusal> {
        let Self { memory, left, .. } = self;
        packed::unpacked(packed, what, left, |bytes| memory.grow(bytes)).map(Bytes::from)
    }

    /// The fields of a form; none if there is no body.
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
                if fields.len() == MOST_FIELDS {
                    return Err(Refusal::bad(format!("the form has more than {MOST_FIELDS} fields")));
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
