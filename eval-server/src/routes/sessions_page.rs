//! The page of the live sessions. It has no data of its own: its script asks for them, with the token in the page's address.

use axum::http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;

use crate::answer;

/// Nothing but its own script and style, and answers of this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

pub(super) async fn page() -> Response {
    let page = include_str!("sessions_page.html");
    let mut response = answer::of_bytes(StatusCode::OK, "text/html; charset=utf-8", page);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // The URL may have the token.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

pub(super) async fn style() -> Response {
    answer::of_bytes(StatusCode::OK, "text/css; charset=utf-8", include_str!("sessions_page.css"))
}

pub(super) async fn script() -> Response {
    answer::of_bytes(StatusCode::OK, "text/javascript; charset=utf-8", include_str!("sessions_page.js"))
}
