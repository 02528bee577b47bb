//! The page of the live sessions. It has no data of its own: its script asks for them, with the token in the page's address.

use askama::filters::{Escaper, Html};
use axum::extract::State;
use axum::http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;

use crate::answer;
use crate::app::Shared;

/// Nothing but its own script and style, and answers of this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// The page, with the links that the server was given.
pub(super) async fn page(State(app): State<Shared>) -> Response {
    let own = [("Sessions", HERE)];
    let links = if app.options.links.is_empty() { &own } else { app.options.links.as_slice() };
    let links: String = links.iter().map(|(name, path)| link(name, path)).collect();
    let page = include_str!("sessions_page.html").replacen("<!-- links -->", links.trim_end(), 1);
    let mut response = answer::of_bytes(StatusCode::OK, "text/html; charset=utf-8", page);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // The URL may have the token.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// Where this page stands.
const HERE: &str = "/sessions";

fn link(name: &str, path: &str) -> String {
    let mark = if path == HERE { " aria-current=\"page\"" } else { "" };
    format!("<a href=\"{}\"{mark}>{}</a>\n", escaped(path), escaped(name))
}

/// The text in HTML, also between quotes.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    // A `String` takes everything.
    let _ = Html.write_escaped_str(&mut escaped, text);
    escaped
}

pub(super) async fn style() -> Response {
    answer::of_bytes(StatusCode::OK, "text/css; charset=utf-8", include_str!("sessions_page.css"))
}

pub(super) async fn script() -> Response {
    answer::of_bytes(StatusCode::OK, "text/javascript; charset=utf-8", include_str!("sessions_page.js"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
