//! The answer to one request: from a recording, from a model, or an error that no client repeats.

use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use eval_support::untrusted::one_line;
use http_body_util::channel::{Channel, Sender};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming as IncomingBody};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{Request, Response, StatusCode};

use super::guests::{PREFIX, guest};
use crate::faults::{Change, changed};
use crate::guest::{Call, Reply};
use crate::recording::{Answer, Body};
use crate::sse::Event;
use crate::upstream;
use crate::wire::{Incoming, NoWire, Wire};

/// The size limit of a request.
const MOST_BYTES: usize = 64 << 20;

/// Events that wait for a client which reads slowly.
const WAITING: usize = 16;

/// A connection that is broken off on purpose.
#[derive(Debug)]
pub(crate) struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection is broken off")
    }
}

impl std::error::Error for Broken {}

pub(super) type Reaction = Response<BoxBody<Bytes, Broken>>;

/// A request whose body was read.
struct Received {
    method: String,
    path: String,
    query: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Received {
    fn incoming(&self) -> Incoming<'_> {
        let header = |name: &str| self.headers.get(name).and_then(|value| value.to_str().ok());
        Incoming {
            method: &self.method,
            path: &self.path,
            query: &self.query,
            version: header("anthropic-version"),
            beta: header("anthropic-beta"),
            body: &self.body,
        }
    }
}

pub(super) async fn answer(request: Request<IncomingBody>, port: u16) -> Result<Reaction, Broken> {
    if !is_of_this_machine(request.headers(), port) {
        return Ok(plain(
            StatusCode::FORBIDDEN,
            "the request is not for this machine: `Host` or `Origin` is another",
        ));
    }
    let path = request.uri().path().strip_prefix(PREFIX).unwrap_or_default();
    let (token, rest) = path.split_once('/').unwrap_or((path, ""));
    let Some(guest) = guest(token) else {
        return Ok(plain(
            StatusCode::NOT_FOUND,
            "no conversation has this address: it is over, or the address is wrong",
        ));
    };
    let mut received = Received {
        method: request.method().as_str().to_owned(),
        path: format!("/{rest}"),
        query: request.uri().query().unwrap_or_default().to_owned(),
        headers: request.headers().clone(),
        body: Bytes::new(),
    };
    let body = match read(request).await {
        Ok(body) => body,
        Err(why) => {
            guest.miss(&why);
            return Ok(refused(wire_by_path(&received.path), &why));
        }
    };
    received.body = body;
    match guest.reply(&received.incoming()) {
        Err(NoWire(why)) => {
            guest.miss(&why);
            Ok(refused(wire_by_path(&received.path), &why))
        }
        Ok((wire, Reply::Refused(why))) => Ok(refused(wire, &why)),
        Ok((_, Reply::Recorded(answer))) => Ok(recorded(*answer)),
        Ok((_, Reply::Ask(call, change))) => asked(call, received, change).await,
        Ok((wire, Reply::Failed { status, retry_after })) => Ok(failed(wire, status, retry_after)),
        Ok((_, Reply::Reset(after))) => {
            tokio::time::sleep(after).await;
            Err(Broken)
        }
        Ok((wire, Reply::Cut { answer, events, is_error })) => cut(wire, answer, events, is_error),
    }
}

/// The wire in whose form an error is told, for a path that no wire has.
fn wire_by_path(path: &str) -> Wire {
    if path.contains(':') || path.contains("/v1beta") {
        Wire::Gemini
    } else if path.starts_with("/v1/messages") {
        Wire::Anthropic
    } else {
        Wire::OpenAiChat
    }
}

/// Whether the request names this machine. A page of a browser may reach loopback under a name of its own.
fn is_of_this_machine(headers: &HeaderMap, port: u16) -> bool {
    let header = |name| headers.get(name).map(HeaderValue::as_bytes);
    let here = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let is_here = |host: &[u8]| here.iter().any(|here| here.as_bytes().eq_ignore_ascii_case(host));
    let of_origin = |origin: &[u8]| origin.strip_prefix(b"http://".as_slice()).is_some_and(is_here);
    header(HOST).is_some_and(is_here) && header(ORIGIN).is_none_or(of_origin)
}

async fn read(request: Request<IncomingBody>) -> Result<Bytes, String> {
    let too_large =
        || format!("a call of a model has more than {} MiB, which is the limit", MOST_BYTES >> 20);
    // A body that says its length is refused before it is sent.
    if request.body().size_hint().lower() > MOST_BYTES as u64 {
        return Err(too_large());
    }
    if let Some(packed) = request.headers().get(CONTENT_ENCODING).filter(|packed| *packed != "identity") {
        let packed = one_line(&String::from_utf8_lossy(packed.as_bytes()));
        return Err(format!("a call of a model is packed ({packed}), which the gateway does not read"));
    }
    match Limited::new(request.into_body(), MOST_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(_) => Err("a call of a model broke off before its body ended".to_owned()),
    }
}

fn full(text: impl Into<Bytes>) -> BoxBody<Bytes, Broken> {
    Full::new(text.into()).map_err(|never: Infallible| match never {}).boxed()
}

fn plain(status: StatusCode, why: &str) -> Reaction {
    with_type(status, "text/plain; charset=utf-8", full(format!("{why}\n")))
}

pub(super) fn with_type(status: StatusCode, kind: &str, body: BoxBody<Bytes, Broken>) -> Reaction {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    if let Ok(kind) = HeaderValue::from_str(kind) {
        response.headers_mut().insert(CONTENT_TYPE, kind);
    }
    response
}

/// An error in the form of a wire, which no client repeats.
fn refused(wire: Wire, why: &str) -> Reaction {
    let body = wire.error(400, &format!("evalset: {why}"));
    let mut response = with_type(StatusCode::BAD_REQUEST, "application/json", full(body.to_string()));
    response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
    response
}

fn recorded(answer: Answer) -> Reaction {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let mut response = match answer.body {
        Body::Json(value) => with_type(status, "application/json", full(value.to_string())),
        Body::Text { kind, text } => with_type(status, &kind, full(text)),
        Body::Events(events) => {
            let (sender, body) = Channel::<Bytes, Broken>::new(WAITING);
            tokio::spawn(send_all(sender, events));
            with_type(status, "text/event-stream", BodyExt::boxed(body))
        }
    };
    add_headers(response.headers_mut(), &answer.headers);
    response
}

async fn send_all(mut sender: Sender<Bytes, Broken>, events: Vec<Event>) {
    for event in events {
        if sender.send_data(event.to_wire().into()).await.is_err() {
            // The client left.
            return;
        }
    }
}

fn add_headers(headers: &mut HeaderMap, given: &[(String, String)]) {
    for (name, value) in given {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(&**name), HeaderValue::try_from(&**value)) {
            headers.insert(name, value);
        }
    }
}

/// An error of the provider, as a fault has it.
fn failed(wire: Wire, status: u16, retry_after: Option<Duration>) -> Reaction {
    let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = wire.error(status, "evalset: a fault of the case");
    let mut response = with_type(code, "application/json", full(body.to_string()));
    // Clients that obey it do not make a test wait.
    let wait = retry_after.unwrap_or(Duration::from_millis(1));
    let headers = response.headers_mut();
    headers.insert("retry-after-ms", HeaderValue::from(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)));
    headers.insert("retry-after", HeaderValue::from(wait.as_secs()));
    response
}

/// The first events of an answer, then the end of the connection, or an error.
fn cut(wire: Wire, answer: Option<Box<Answer>>, events: usize, is_error: bool) -> Result<Reaction, Broken> {
    let Some(Body::Events(all)) = answer.map(|answer| answer.body) else { return Err(Broken) };
    let (mut sender, body) = Channel::<Bytes, Broken>::new(WAITING);
    tokio::spawn(async move {
        let error = is_error.then(|| wire.error_event("evalset: a fault of the case"));
        for event in all.into_iter().take(events).chain(error) {
            if sender.send_data(event.to_wire().into()).await.is_err() {
                return;
            }
        }
        if !is_error {
            // What was sent before goes out first.
            tokio::time::sleep(Duration::from_millis(20)).await;
            sender.abort(Broken);
        }
    });
    Ok(with_type(StatusCode::OK, "text/event-stream", BodyExt::boxed(body)))
}

/// Asks the model, and hands its answer over while it is recorded.
async fn asked(call: Box<dyn Call>, received: Received, change: Option<Change>) -> Result<Reaction, Broken> {
    let wire = call.asked().wire;
    let sent = upstream::send(call.asked(), &received.method, &received.headers, received.body).await;
    let response = match sent {
        Ok(response) => response,
        Err(why) => {
            let body = wire.error(502, &format!("evalset: {why}"));
            call.failed(why);
            return Ok(with_type(StatusCode::BAD_GATEWAY, "application/json", full(body.to_string())));
        }
    };
    let status = StatusCode::from_u16(response.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let headers = response.headers.clone();
    if let Some(change) = change {
        return match response.into_whole().await {
            Ok(answer) => {
                call.answered(answer.clone());
                Ok(recorded(changed(answer, change)))
            }
            Err(why) => {
                call.failed(why);
                Err(Broken)
            }
        };
    }
    let mut reaction = if response.is_stream {
        let (sender, body) = Channel::<Bytes, Broken>::new(WAITING);
        tokio::spawn(hand_over(call, response, sender));
        with_type(status, "text/event-stream", BodyExt::boxed(body))
    } else {
        let kind = response.kind.clone();
        match response.whole().await {
            Ok(answer) => {
                let text = match &answer.body {
                    Body::Json(value) => value.to_string(),
                    Body::Text { text, .. } => text.clone(),
                    Body::Events(events) => events.iter().map(Event::to_wire).collect(),
                };
                call.answered(answer);
                with_type(status, &kind, full(text))
            }
            Err(why) => {
                call.failed(why);
                return Err(Broken);
            }
        }
    };
    add_headers(reaction.headers_mut(), &headers);
    Ok(reaction)
}

/// Hands each event over as it comes. A client that leaves after the last event it needs does not end the recording.
async fn hand_over(call: Box<dyn Call>, mut response: upstream::Response, mut sender: Sender<Bytes, Broken>) {
    let mut events = Vec::new();
    let mut reads = true;
    loop {
        match response.events().await {
            Ok(Some(more)) => {
                for event in more {
                    reads = reads && sender.send_data(event.to_wire().into()).await.is_ok();
                    events.push(event);
                }
            }
            Ok(None) => break,
            Err(why) => {
                call.failed(why);
                sender.abort(Broken);
                return;
            }
        }
    }
    call.answered(response.answer(Body::Events(events)));
}
