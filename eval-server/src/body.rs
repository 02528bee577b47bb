//! Bodies of requests: read within limits of size, memory and time, then taken apart.

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::multipart::MultipartError;
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use http_body_util::LengthLimitError;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::limits::Limits;
use crate::refusal::Refusal;

/// The memory for bodies, in units.
#[derive(Debug)]
pub(crate) struct Memory(Arc<Semaphore>);

/// The unit in which memory is given away.
const UNIT: usize = 1024;

/// A body that has arrived, with the memory that it holds.
#[derive(Debug)]
pub(crate) struct Received {
    head: Parts,
    pub(crate) bytes: Bytes,
    _memory: OwnedSemaphorePermit,
}

impl Memory {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self(Arc::new(Semaphore::new(limits.bodies.max(limits.body).div_ceil(UNIT))))
    }

    /// Reads the body of a request.
    pub(crate) async fn receive(&self, request: Request, limits: &Limits) -> Result<Received, Refusal> {
        let (head, body) = request.into_parts();
        let size = match head.headers.get(CONTENT_LENGTH) {
            Some(length) => length
                .to_str()
                .ok()
                .and_then(|length| length.parse().ok())
                .ok_or_else(|| Refusal::bad("`Content-Length` is no number"))?,
            // It comes in chunks.
            None => limits.body,
        };
        let too_large = || {
            let why = format!("the body has more than {} bytes", limits.body);
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, why)
        };
        if size > limits.body {
            return Err(too_large());
        }
        let units = u32::try_from(size.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let read = async {
            let memory = self
                .0
                .clone()
                .acquire_many_owned(units)
                .await
                .map_err(|_| Refusal::busy("the server ends"))?;
            let bytes = to_bytes(body, limits.body).await.map_err(|error| {
                // What else can go wrong is the connection, and then nobody reads the answer.
                if is_length_limit(&error) { too_large() } else { Refusal::bad("the body ends too early") }
            })?;
            Ok(Received { head, bytes, _memory: memory })
        };
        timeout(limits.time, read).await.unwrap_or_else(|_| {
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"))
        })
    }
}

fn is_length_limit(error: &axum::Error) -> bool {
    std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<LengthLimitError>)
}

/// A field of a form.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// The name of the file; empty for a field that is none.
    pub(crate) file: String,
    pub(crate) bytes: Bytes,
}

/// The most fields of a form.
const MOST_FIELDS: usize = 1000;

impl Received {
    /// The fields of a form; none if there is no body. It is read on a thread that computes.
    pub(crate) fn fields(self) -> Result<Vec<Field>, Refusal> {
        if self.bytes.is_empty() && !self.head.headers.contains_key(CONTENT_TYPE) {
            return Ok(Vec::new());
        }
        let mut request = Request::from_parts(self.head, Body::from(self.bytes));
        // The body is in memory already.
        DefaultBodyLimit::disable().apply(&mut request);
        Handle::current().block_on(async {
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
                let file = field.file_name().unwrap_or_default().to_owned();
                let bytes = field.bytes().await.map_err(broken)?;
                fields.push(Field { name, file, bytes });
            }
            Ok(fields)
        })
    }
}
