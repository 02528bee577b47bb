//! The page at the root with the list of routes, the links to further pages, and the page of the live sessions.
//!
//! The page of the live sessions contains no data: its script requests the data, with the token in the page's
//! address.

use std::sync::LazyLock;

use askama::filters::{Escaper, Html};
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY, SET_COOKIE};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;
use eval_report::page;

use crate::access::{Caller, query};
use crate::answer;
use crate::app::{App, Shared};
use crate::refusal::Refusal;

/// A content security policy: nothing is loaded, run, framed or sent.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

pub(super) fn overview() -> Response {
    html(include_str!("page.html"), POLICY)
}

fn html(page: impl Into<Bytes>, policy: &'static str) -> Response {
    let mut response = answer::of_bytes(StatusCode::OK, "text/html; charset=utf-8", page);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    // The URL may have the token.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

pub(super) fn is_page(path: &str) -> bool {
    !path.starts_with("/api/") && path != "/openapi.json"
}

/// The response to a browser in place of a page; `None` if the page follows. A URL with the token gets a
/// cookie and a redirect to the URL without it. A caller without the token gets the page of the routes.
pub(super) fn response_before_page(app: &App, caller: Caller, request: &Request) -> Option<Response> {
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

/// The response to a browser whose URL has a wrong token: the page that says which URL has the right one.
pub(super) fn wrong_token(refusal: &Refusal, request: &Request) -> Option<Response> {
    let is_of_token = refusal.status == StatusCode::UNAUTHORIZED;
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

fn without_token(path: &str, query: &str) -> String {
    // Two slashes in front would name another server. Browsers take a backslash for a slash.
    let path = format!("/{}", path.trim_start_matches(['/', '\\']));
    let rest: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("token=")).collect();
    if rest.is_empty() { path } else { format!("{path}?{}", rest.join("&")) }
}

fn with_cookie(cookie: &str, location: &str) -> Response {
    let mut response = answer::of_bytes(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
    let headers = [(LOCATION, location), (SET_COOKIE, cookie)];
    for (name, value) in headers {
        // A parsed URL, and a cookie of plain characters, are valid headers.
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    response.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// A content security policy: only the page's own script and style, and answers of this server. No text becomes HTML.
const SESSIONS_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                           frame-ancestors 'none'; base-uri 'none'; form-action 'none'; \
                           require-trusted-types-for 'script'; trusted-types 'none'";

pub(super) async fn sessions(State(app): State<Shared>) -> Response {
    let own = [("Sessions", SESSIONS_PATH)];
    let links = if app.options.links.is_empty() { &own } else { app.options.links.as_slice() };
    let links: String = links.iter().map(|(name, path)| link(name, path)).collect();
    html(include_str!("sessions_page.html").replacen("<!-- links -->", links.trim_end(), 1), SESSIONS_POLICY)
}

const SESSIONS_PATH: &str = "/sessions";

fn link(name: &str, path: &str) -> String {
    let mark = if path == SESSIONS_PATH { " aria-current=\"page\"" } else { "" };
    format!("<a href=\"{}\"{mark}>{}</a>\n", escaped(path), escaped(name))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    // Writing to a `String` does not fail.
    let _ = Html.write_escaped_str(&mut escaped, text);
    escaped
}

/// The style of the page of a run, and of the elements that only this page has.
static STYLE: LazyLock<String> = LazyLock::new(|| [page::STYLE, include_str!("sessions_page.css")].concat());

/// The elements of the page of a run, and the script of this page.
static SCRIPT: LazyLock<String> =
    LazyLock::new(|| [page::COMPONENTS, include_str!("sessions_page.js")].concat());

pub(super) async fn style() -> Response {
    answer::of_bytes(StatusCode::OK, "text/css; charset=utf-8", STYLE.as_str())
}

pub(super) async fn script() -> Response {
    answer::of_bytes(StatusCode::OK, "text/javascript; charset=utf-8", SCRIPT.as_str())
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

    #[test]
    fn a_link_is_marked_where_it_leads_here_and_is_escaped() {
        for (name, path, expected) in [
            ("Runs", "/", r#"<a href="/">Runs</a>"#),
            ("Sessions", "/sessions", r#"<a href="/sessions" aria-current="page">Sessions</a>"#),
            ("R&D <1>", "/a\"b", r#"<a href="/a&#34;b">R&#38;D &#60;1&#62;</a>"#),
        ] {
            assert_eq!(link(name, path).trim_end(), expected);
        }
    }
}
