//! The page at the root, which says what is served, and the way to further pages.

use axum::extract::Request;
use axum::http::header::{ACCEPT, CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY, SET_COOKIE};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;

use crate::access::{Caller, query};
use crate::answer;
use crate::app::App;
use crate::refusal::Refusal;

/// Nothing is loaded, run, framed or sent.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

/// The page.
pub(super) async fn page() -> Response {
    overview()
}

fn overview() -> Response {
    let mut response = answer::of_bytes(StatusCode::OK, "text/html; charset=utf-8", PAGE);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // The URL may have the token.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

const PAGE: &str = include_str!("page.html");

/// Whether a path is one of a page, if there are pages.
pub(super) fn is_page(path: &str) -> bool {
    !path.starts_with("/api/") && path != "/openapi.json"
}

/// What a browser gets instead of a page. If its URL has the token, a cookie and a URL without it; if it has none, the page
/// that says what is served. `None` if it gets the page.
pub(super) fn entrance(app: &App, caller: Caller, request: &Request) -> Option<Response> {
    let uri = request.uri();
    if request.method() != Method::GET || !is_page(uri.path()) {
        return None;
    }
    if caller == Caller::Trusted {
        query(uri, "token")?;
        let url = without_token(uri.path(), uri.query().unwrap_or_default());
        return Some(with_cookie(&app.access.set_cookie(request.headers()), &url));
    }
    if uri.path() == "/" {
        return Some(overview());
    }
    is_for_a_person(request).then(closed)
}

/// What a browser gets whose URL has a token that is not the one of this server: the page that says which URL has it.
pub(super) fn wrong_token(refusal: &Refusal, request: &Request) -> Option<Response> {
    let is_of_token = refusal.status() == StatusCode::UNAUTHORIZED;
    (is_of_token && is_page(request.uri().path()) && is_for_a_person(request)).then(closed)
}

fn is_for_a_person(request: &Request) -> bool {
    let accepts = request.headers().get(ACCEPT).and_then(|accepts| accepts.to_str().ok());
    request.method() == Method::GET && accepts.is_some_and(|accepts| accepts.contains("text/html"))
}

fn closed() -> Response {
    let mut response = overview();
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    response
}

/// The URL without the token, on this server.
fn without_token(path: &str, query: &str) -> String {
    // With two slashes it would be another server. Browsers take a backslash for a slash.
    let path = format!("/{}", path.trim_start_matches(['/', '\\']));
    let rest: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("token=")).collect();
    if rest.is_empty() { path } else { format!("{path}?{}", rest.join("&")) }
}

fn with_cookie(cookie: &str, location: &str) -> Response {
    let mut response = answer::of_bytes(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
    let headers = [(LOCATION, location), (SET_COOKIE, cookie)];
    for (name, value) in headers {
        // A URL that was read, and a token of plain characters, can be written.
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    response.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_loses_its_token_and_stays_on_this_server() {
        for (path, query, expected) in [
            ("/", "token=x", "/"),
            ("/runs/a", "token=x&b=1", "/runs/a?b=1"),
            ("//example.com/", "token=x", "/example.com/"),
            ("/\\example.com/", "token=x", "/example.com/"),
            ("/\\/example.com/", "token=x", "/example.com/"),
        ] {
            assert_eq!(without_token(path, query), expected, "{path}");
        }
    }
}
