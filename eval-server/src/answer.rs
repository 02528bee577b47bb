//! Answers: JSON in the envelope that agentevals has.

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

/// An answer: what was asked for.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Envelope<T> {
    /// The result.
    pub(crate) data: T,
    /// Always null: what is refused has a status of its own, and `detail`.
    pub(crate) error: Option<String>,
}

pub(crate) fn data<T: Serialize>(data: T) -> Response {
    json(StatusCode::OK, &Envelope { data, error: None })
}

pub(crate) fn json(status: StatusCode, document: &impl Serialize) -> Response {
    match serde_json::to_vec(document) {
        Ok(bytes) => of_bytes(status, "application/json", bytes),
        Err(error) => {
            let why = serde_json::json!({ "detail": format!("the answer cannot be written: {error}") });
            of_bytes(StatusCode::INTERNAL_SERVER_ERROR, "application/json", why.to_string())
        }
    }
}

/// An answer of bytes. No cache keeps it, and no browser takes it for something else.
pub(crate) fn of_bytes(status: StatusCode, kind: &'static str, bytes: impl Into<Bytes>) -> Response {
    of_body(status, kind, Body::from(bytes.into()))
}

pub(crate) fn of_body(status: StatusCode, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
