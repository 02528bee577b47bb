//! Answers: pages, JSON, and failures.

use eval_server::axum::body::Body;
use eval_server::axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use eval_server::axum::http::{HeaderValue, StatusCode};
use eval_server::axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::output::{CommandError, mask};

#[derive(Debug)]
pub(super) struct Failure {
    pub(super) status: StatusCode,
    pub(super) error: CommandError,
}

impl Failure {
    pub(super) fn new(status: StatusCode, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { status, error: CommandError::new(message, help) }
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message, "the other pages are not affected")
    }

    pub(super) fn bad(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message, help)
    }

    pub(super) fn not_found(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message, help)
    }
}

/// An error of the disk or of an edit.
impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        Self { status: StatusCode::CONFLICT, error }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let CommandError { message, help } = self.error;
        json_as(self.status, &json!({ "error": message, "help": help }))
    }
}

pub(super) fn json(value: &Value) -> Response {
    json_as(StatusCode::OK, value)
}

fn json_as(status: StatusCode, value: &Value) -> Response {
    of_body(status, "application/json", mask(&value.to_string()).into_owned().into())
}

/// A page with its policy. Its texts are [masked](crate::page::line) already. The policy has hashes of the
/// rest, which must not change.
pub(super) fn page(text: &str, policy: &str) -> Response {
    let mut response = of_body(StatusCode::OK, "text/html; charset=utf-8", text.to_owned().into());
    let policy = HeaderValue::from_str(&format!("{policy}; frame-ancestors 'none'"));
    if let Ok(policy) = policy {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// A response that is not cached, and whose type browsers do not guess.
pub(super) fn of_body(status: StatusCode, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
