//! One request over HTTP, with a time limit, a size limit, and no redirect.

use std::error::Error as _;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use eval_support::http::{Clients, error_body};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Response, StatusCode, Url};
use serde_json::Value;

use crate::judge::reply_json::unique_json;

/// The maximum size of an answer in bytes. No verdict is longer, and a longer answer must not fill the
/// memory.
pub(super) const MAX_ANSWER_BYTES: usize = 8 << 20;

/// The failure of a request. Texts are as they were received: keys in them have to be masked.
#[derive(Debug)]
pub(super) enum Fault {
    Timeout,
    Broken(String),
    Impossible(String),
    Large,
    Redirect { status: StatusCode, to: Option<String> },
    Status { status: StatusCode, body: String, retry_after: Option<Duration> },
    NotJson(String),
}

/// Posts a JSON body and reads a JSON answer. Redirects are not followed.
pub(super) async fn post(
    clients: &Clients,
    url: Url,
    headers: Vec<(&'static str, HeaderValue)>,
    body: &Value,
    timeout: Duration,
) -> Result<Value, Fault> {
    let mut all = HeaderMap::new();
    all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in headers {
        all.insert(HeaderName::from_static(name), value);
    }
    let user_agent = concat!("eval-core/", env!("CARGO_PKG_VERSION"));
    let client = clients.client(&url, user_agent).map_err(|error| Fault::Impossible(causes(error)))?;
    let request = client.post(url).headers(all).timeout(timeout).body(body.to_string());
    let mut response = request.send().await.map_err(fault)?;
    let status = response.status();
    if status.is_redirection() {
        let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
        let to = to.and_then(|to| response.url().join(to).ok()?.host_str().map(str::to_owned));
        return Err(Fault::Redirect { status, to });
    }
    if !status.is_success() {
        let wait = wait(response.headers(), SystemTime::now());
        let body = error_body(&mut response).await;
        let retry_after = wait.or_else(|| wait_in_body(&body));
        return Err(Fault::Status { status, body, retry_after });
    }
    let body = read(&mut response, MAX_ANSWER_BYTES).await?;
    unique_json(&body).map_err(Fault::NotJson)
}

async fn read(response: &mut Response, limit: usize) -> Result<Vec<u8>, Fault> {
    if response.content_length().is_some_and(|length| length > limit as u64) {
        return Err(Fault::Large);
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(fault)? {
        if body.len() + chunk.len() > limit {
            return Err(Fault::Large);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn fault(error: reqwest::Error) -> Fault {
    if error.is_timeout() {
        Fault::Timeout
    } else if error.is_builder() {
        Fault::Impossible(causes(error))
    } else {
        Fault::Broken(causes(error))
    }
}

/// An error with its causes. It is shown without the address, which may hold a password.
fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    text
}

fn wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |name| text(name)?.parse::<f64>().ok();
    if let Some(milliseconds) = number("retry-after-ms") {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    if let Some(seconds) = number(RETRY_AFTER.as_str()) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(text(RETRY_AFTER.as_str())?).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// The wait that a body asks for. The Gemini API asks in the body alone.
fn wait_in_body(body: &str) -> Option<Duration> {
    let body: Value = serde_json::from_str(body).ok()?;
    let details = body["error"]["details"].as_array()?;
    let delay = details.iter().find_map(|detail| detail["retryDelay"].as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_of_asking_to_wait_are_read() {
        let now = httpdate::parse_http_date("Tue, 01 Sep 2026 12:00:00 GMT").unwrap();
        for (name, value, expected) in [
            ("retry-after", "7", Some(7.0)),
            ("retry-after", " 1.5 ", Some(1.5)),
            ("retry-after", "Tue, 01 Sep 2026 12:00:30 GMT", Some(30.0)),
            ("retry-after", "Tue, 01 Sep 2026 11:00:00 GMT", Some(0.0)),
            ("retry-after-ms", "250", Some(0.25)),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
            ("retry-after", "1e300", None),
            ("retry-after", "NaN", None),
            ("date", "7", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
            assert_eq!(wait(&headers, now), expected.map(Duration::from_secs_f64), "{name}: {value}");
        }
    }

    #[test]
    fn the_wait_in_a_body_is_read() {
        for (body, expected) in [
            (r#"{"error": {"details": [{"@type": "Help"}, {"retryDelay": "34.5s"}]}}"#, Some(34.5)),
            (r#"{"error": {"details": [{"retryDelay": "soon"}]}}"#, None),
            (r#"{"error": "no"}"#, None),
            ("<html>", None),
        ] {
            assert_eq!(wait_in_body(body), expected.map(Duration::from_secs_f64), "{body}");
        }
    }
}
