//! Requests to providers, while calls are recorded or live.

use eval_format::__private::parse_value;
use eval_format::Value;
use eval_support::http::Clients;
use eval_support::message::cut;
use eval_support::secrets::{KEY_NOTE, key_ranges, mask, mask_shapes};
use eval_support::untrusted::one_line;
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION,
    TRANSFER_ENCODING,
};
use reqwest::{Method, Url};

use crate::deltas::{Edit, edited};
use crate::recording::{Answer, Body, KEPT_HEADERS};
use crate::sse::{Data, Event, Splitter};
use crate::store::hide_key;
use crate::wire::{Asked, Wire, with_usage};

static CLIENTS: Clients = Clients::new();

/// Headers of requests that are not handed on. The client of this process has its own.
const NOT_SENT: [&str; 10] = [
    "host",
    // The body was unpacked.
    "content-encoding",
    "content-length",
    "connection",
    "accept-encoding",
    "transfer-encoding",
    "expect",
    "proxy-authorization",
    "proxy-connection",
    "keep-alive",
];

/// Headers of requests with the key of the agent, which may be in no variable.
const KEY_HEADERS: [&str; 5] =
    ["authorization", "x-api-key", "api-key", "x-goog-api-key", "cf-aig-authorization"];

/// The size limit of an answer.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// An answer whose body is still to be read.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// The type of its content.
    pub(crate) kind: String,
    pub(crate) is_stream: bool,
    body: reqwest::Response,
    splitter: Splitter,
    /// The bytes of its body that were read.
    read: usize,
    is_over: bool,
    wire: Wire,
    /// Whether the body may have broken off: its length is not known, and what ends it did not come.
    lacks_end: bool,
}

/// The reason why a request was not answered.
#[derive(Debug)]
pub(crate) struct Unsent {
    pub(crate) why: String,
    /// Whether the same request would fail again.
    pub(crate) is_final: bool,
}

impl Unsent {
    fn for_good(why: String) -> Self {
        Self { why, is_final: true }
    }
}

/// Sends a request to its provider. A stream of OpenAI's chat is asked for its tokens, which it does not have otherwise.
pub(crate) async fn send(
    address: &str,
    asked: &Asked,
    method: &str,
    headers: &HeaderMap,
    body: Bytes,
) -> Result<Response, Unsent> {
    let url = Url::parse(address).map_err(|error| {
        let name = asked.provider.name();
        Unsent::for_good(format!("the address of {name}'s server is malformed: {error}"))
    })?;
    let counted = (asked.wire == Wire::OpenAiChat).then(|| with_usage(&body)).flatten();
    if let Some(counted) = counted {
        let response = send_to(asked.wire, url.clone(), method, headers, counted.into()).await?;
        // A server that speaks like OpenAI may not know this option.
        if !matches!(response.status, 400 | 422) {
            return Ok(response);
        }
    }
    send_to(asked.wire, url, method, headers, body).await
}

async fn send_to(
    wire: Wire,
    url: Url,
    method: &str,
    headers: &HeaderMap,
    body: Bytes,
) -> Result<Response, Unsent> {
    let host = url.host_str().unwrap_or_default().to_owned();
    url.query_pairs().filter(|(name, _)| name == "key").for_each(|(name, value)| hide_key(&name, &value));
    if url.scheme() == "https" && !cfg!(feature = "https") {
        return Err(Unsent::for_good(format!(
            "`{host}` is asked over https, which this build does not have: add the feature `record-models` of eval-core, or \
             `https` of cargo-evalset or eval-agents"
        )));
    }
    // The text of an error of the client would have the address, and an address may hold a key.
    let failed = |error: reqwest::Error| Unsent { why: failed(&host, error), is_final: false };
    let client = CLIENTS.client(&url, "evalset").map_err(failed)?;
    let method = Method::from_bytes(method.as_bytes()).unwrap_or(Method::POST);
    let mut sent = HeaderMap::new();
    for (name, value) in headers {
        if let (true, Ok(value)) = (KEY_HEADERS.contains(&name.as_str()), value.to_str()) {
            hide_key(name.as_str(), value);
        }
        if !NOT_SENT.contains(&name.as_str()) {
            sent.append(name.clone(), value.clone());
        }
    }
    let packing = if cfg!(feature = "https") { "gzip, identity" } else { "identity" };
    sent.insert(ACCEPT_ENCODING, HeaderValue::from_static(packing));
    let response = client.request(method, url).headers(sent).body(body).send().await.map_err(failed)?;
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    if response.status().is_redirection() {
        let (status, to) = (response.status().as_u16(), header(LOCATION.as_str()).unwrap_or_default());
        return Err(Unsent::for_good(redirected(&host, status, to)));
    }
    if let Some(packed) = header(CONTENT_ENCODING.as_str()).filter(|packed| *packed != "identity") {
        return Err(Unsent::for_good(format!(
            "`{host}` packed its answer ({packed}) although it was asked not to; the feature `record-models` of eval-core unpacks it"
        )));
    }
    let is_framed = header(CONTENT_LENGTH.as_str()).or(header(TRANSFER_ENCODING.as_str())).is_some();
    let kind = header(CONTENT_TYPE.as_str()).unwrap_or("application/json").to_owned();
    let kept =
        KEPT_HEADERS.iter().filter_map(|name| Some(((*name).to_owned(), header(name)?.to_owned()))).collect();
    Ok(Response {
        status: response.status().as_u16(),
        headers: kept,
        is_stream: kind.starts_with("text/event-stream"),
        kind,
        body: response,
        splitter: Splitter::default(),
        read: 0,
        is_over: false,
        wire,
        lacks_end: !is_framed,
    })
}

/// The sentence about a redirect. A key must not go to another server, so none is followed. The path of an address may hold a
/// key.
fn redirected(host: &str, status: u16, to: &str) -> String {
    let to = Url::parse(to).ok().and_then(|url| url.host_str().map(str::to_owned));
    let to = to.map(|host| format!(" to `{}`", one_line(&cut(&host, 80)))).unwrap_or_default();
    format!(
        "`{host}` answered {status}, a redirect{to}, which is not followed: `EVALSET_MODELS_UPSTREAM_..` has to name the server itself"
    )
}

fn failed(host: &str, error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = format!("`{host}` was not reached: {error}");
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    mask(&text).into_owned()
}

impl Response {
    /// The next events of a stream; `None` at its end.
    pub(crate) async fn events(&mut self) -> Result<Option<Vec<Event>>, String> {
        if self.is_over {
            return Ok(None);
        }
        let Some(bytes) = self.chunk("the stream").await? else {
            self.is_over = true;
            let last = self.splitter.finish();
            self.lacks_end &= !last.iter().any(|event| self.wire.ends(event));
            if self.lacks_end {
                return Err("the stream of the provider broke off: it has no end".to_owned());
            }
            return Ok(last.map(|last| vec![masked_event(last)]));
        };
        let events = self.splitter.push(&bytes);
        self.lacks_end &= !events.iter().any(|event| self.wire.ends(event));
        Ok(Some(events.into_iter().map(masked_event).collect()))
    }

    /// The next bytes of the body; `None` at its end. Fails beyond the limit.
    async fn chunk(&mut self, what: &str) -> Result<Option<Bytes>, String> {
        let read = self.body.chunk().await;
        let bytes =
            read.map_err(|error| format!("{what} of the provider broke off: {}", error.without_url()))?;
        self.read += bytes.as_ref().map_or(0, Bytes::len);
        if self.read > MAX_ANSWER_BYTES {
            let most = MAX_ANSWER_BYTES >> 20;
            return Err(format!("{what} of the provider has more than {most} MiB, which is the limit"));
        }
        Ok(bytes)
    }

    /// The whole answer.
    pub(crate) async fn whole(mut self) -> Result<Answer, String> {
        let mut bytes: Vec<u8> = Vec::new();
        while let Some(more) = self.chunk("the answer").await? {
            bytes.extend_from_slice(&more);
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let is_json = self.kind.starts_with("application/json");
        let body = match is_json.then(|| parse_value(&text).ok()).flatten() {
            Some(value) => Body::Json(value),
            None if is_json && self.lacks_end => {
                return Err("the answer of the provider broke off: its JSON is truncated".to_owned());
            }
            None => Body::Text { kind: self.kind.clone(), text },
        };
        Ok(self.answer(body))
    }

    /// The whole answer, also of a stream.
    pub(crate) async fn into_whole(mut self) -> Result<Answer, String> {
        if !self.is_stream {
            return self.whole().await;
        }
        let mut events = Vec::new();
        while let Some(more) = self.events().await? {
            events.extend(more);
        }
        Ok(self.answer(Body::Events(events)))
    }

    /// The answer with this body, for the recording.
    pub(crate) fn answer(self, body: Body) -> Answer {
        let Self { status, headers, .. } = self;
        Answer { run: 1, status, headers, body: masked(body) }
    }
}

/// A body without words that look like keys, also if a word is in several events.
fn masked(body: Body) -> Body {
    match body {
        Body::Json(value) => Body::Json(masked_value(&value)),
        Body::Events(events) => Body::Events(edited(events, |_, _, text| keys_in(text))),
        Body::Text { kind, text } => Body::Text { kind, text: mask_shapes(&text).into_owned() },
    }
}

fn keys_in(text: &str) -> Vec<Edit> {
    key_ranges(text).into_iter().map(|(begin, end)| Edit { begin, end, with: KEY_NOTE }).collect()
}

fn masked_event(event: Event) -> Event {
    let data = match event.data {
        Data::Json(value) => Data::Json(masked_value(&value)),
        Data::Text(text) => Data::Text(mask_shapes(&text).into_owned()),
    };
    Event { data, ..event }
}

fn masked_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(mask_shapes(text).into_owned()),
        Value::Array(items) => items.iter().map(masked_value).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, item)| (key, masked_value(item))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// `{"said":"It is sunny."}` in each packing.
    #[cfg(feature = "https")]
    #[rustfmt::skip]
    const PACKED: [(&str, &[u8]); 3] = [
        ("gzip", &[31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 42, 78, 204, 76, 81, 178, 82, 242, 44, 81, 200, 44, 86, 40, 46, 205, 203, 171, 212, 83, 170, 5, 0, 181, 191, 17, 39, 23, 0, 0, 0]),
        ("br", &[11, 11, 128, 123, 34, 115, 97, 105, 100, 34, 58, 34, 73, 116, 32, 105, 115, 32, 115, 117, 110, 110, 121, 46, 34, 125, 3]),
        ("zstd", &[40, 181, 47, 253, 32, 23, 185, 0, 0, 123, 34, 115, 97, 105, 100, 34, 58, 34, 73, 116, 32, 105, 115, 32, 115, 117, 110, 110, 121, 46, 34, 125]),
    ];

    /// The response of a server with these headers and this body.
    async fn response(headers: String, body: &'static [u8]) -> Response {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let head = format!("HTTP/1.1 200 OK\r\n{headers}\r\ncontent-length: {}\r\n\r\n", body.len());
            stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        });
        let url = Url::parse(&format!("http://{address}/v1/chat/completions")).unwrap();
        send_to(Wire::OpenAiChat, url, "POST", &HeaderMap::new(), Bytes::from("{}")).await.unwrap()
    }

    #[tokio::test]
    async fn an_answer_and_a_stream_beyond_the_limit_are_errors() {
        for (kind, what) in [("application/json", "the answer"), ("text/event-stream", "the stream")] {
            for (read, is_within) in [(MAX_ANSWER_BYTES - 11, true), (MAX_ANSWER_BYTES - 10, false)] {
                let mut response = response(format!("content-type: {kind}"), b"data: \"a\"\n\n").await;
                response.read = read;
                let error = format!("{what} of the provider has more than 64 MiB, which is the limit");
                let answer = response.into_whole().await.map(|answer| answer.status);
                assert_eq!(answer, if is_within { Ok(200) } else { Err(error) }, "{kind}");
            }
        }
    }

    #[cfg(feature = "https")]
    #[tokio::test]
    async fn answers_are_unpacked_and_recorded_as_text() {
        for (packing, bytes) in PACKED {
            let headers = format!("content-type: application/json\r\ncontent-encoding: {packing}");
            let response = response(headers, bytes).await;
            let answer = response.into_whole().await.unwrap();
            let Body::Json(value) = answer.body else { panic!("{packing}: {answer:?}") };
            assert_eq!(value.to_string(), r#"{"said":"It is sunny."}"#, "{packing}");
        }
    }
}
