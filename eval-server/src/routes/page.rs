//! The page at the root: what is served, for people.

use axum::http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;

use crate::answer;

/// Nothing is loaded, run, framed or sent.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

/// The page.
pub(super) async fn page() -> Response {
    let mut response = answer::of_bytes(StatusCode::OK, "text/html; charset=utf-8", PAGE);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // The URL may have the token.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

const PAGE: &str = include_str!("page.html");
