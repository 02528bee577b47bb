//! The mock over HTTP: one message in each POST to the address of a conversation, and its answer as JSON.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use eval_core::format::{Map, Value};
use eval_gateway::loopback::{NO_CONVERSATION, NOT_THIS_MACHINE, is_of_this_machine, plain};
use eval_support::mutex::Mutex;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

use super::messages::{self, Mock, Reply};

/// The path of a mock, up to its token.
pub(super) const PREFIX: &str = "/mcp/";

/// The conversations in progress, by their tokens.
pub(super) static MOCKS: Mutex<BTreeMap<String, Mock>> = Mutex::new(BTreeMap::new());

/// The size limit of a message.
const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// The time for a message to arrive.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

type Answer = Response<Full<Bytes>>;

pub(super) async fn serve(stream: TcpStream) {
    let port = stream.local_addr().map_or(0, |address| address.port());
    let answers = service_fn(move |request| async move { Ok::<_, Infallible>(answer(request, port).await) });
    let mut http = hyper::server::conn::http1::Builder::new();
    let http = http.timer(TokioTimer::new()).header_read_timeout(READ_TIMEOUT);
    // A connection that breaks off is a client that gave up, and so the answer that it waited for.
    drop(http.serve_connection(TokioIo::new(stream), answers).await);
}

async fn answer(request: Request<Incoming>, port: u16) -> Answer {
    if !is_of_this_machine(request.headers(), port) {
        return plain(StatusCode::FORBIDDEN, NOT_THIS_MACHINE);
    }
    let token = request.uri().path().strip_prefix(PREFIX).unwrap_or_default();
    let mock = MOCKS.lock().get(token).cloned();
    let Some(mock) = mock else {
        return plain(StatusCode::NOT_FOUND, NO_CONVERSATION);
    };
    if request.method() != Method::POST {
        let mut answer =
            plain(StatusCode::METHOD_NOT_ALLOWED, "send a message with POST: the mock begins nothing itself");
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        return answer;
    }
    if !has_json(&request) {
        return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send a message as `application/json`");
    }
    let too_large = || {
        plain(
            StatusCode::PAYLOAD_TOO_LARGE,
            &format!("a message has at most {} MiB", MAX_MESSAGE_BYTES >> 20),
        )
    };
    // A body that says its length is refused before it is sent.
    if request.body().size_hint().lower() > MAX_MESSAGE_BYTES as u64 {
        return too_large();
    }
    let body = Limited::new(request.into_body(), MAX_MESSAGE_BYTES).collect();
    let bytes = match tokio::time::timeout(READ_TIMEOUT, body).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => return too_large(),
        Ok(Err(_)) => return plain(StatusCode::BAD_REQUEST, "the message broke off"),
        Err(_) => {
            let why = format!("the message did not come within {} seconds", READ_TIMEOUT.as_secs());
            return plain(StatusCode::REQUEST_TIMEOUT, &why);
        }
    };
    match messages::reply(&mock, &bytes).await {
        Reply::Answer(answer) => json(StatusCode::OK, answer),
        Reply::Refused(answer) => json(StatusCode::BAD_REQUEST, answer),
        Reply::Accepted => empty(StatusCode::ACCEPTED),
    }
}

fn has_json(request: &Request<Incoming>) -> bool {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

fn json(status: StatusCode, message: Map) -> Answer {
    let mut answer = Response::new(Full::from(Value::Object(message).to_string()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Full::default());
    *answer.status_mut() = status;
    answer
}
