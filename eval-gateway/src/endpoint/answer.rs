//! The answer to one request: from a recording, from a model, or an error that no client repeats.

use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use http_body_util::channel::{Channel, Sender};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming as IncomingBody};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use super::body::read;
use super::handlers::{PREFIX, handler};
use crate::faults::{Failure, Twist};
use crate::handler::{Call, Reply};
use crate::loopback;
use crate::recording::{Answer, Body};
use crate::sse::Event;
use crate::upstream::{self, Unsent};
use crate::wire::{Incoming, NoWire, Wire, is_usage, wants_usage};

/// Events that wait for a client which reads slowly.
const MAX_WAITING_EVENTS: usize = 16;

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
            is_googles: self.headers.contains_key("x-goog-api-key")
                || self.query.split('&').any(|pair| pair.starts_with("key=")),
            body: &self.body,
        }
    }
}

pub(super) async fn answer(request: Request<IncomingBody>) -> Result<Reaction, Broken> {
    let path = request.uri().path().strip_prefix(PREFIX).unwrap_or_default();
    let (token, rest) = path.split_once('/').unwrap_or((path, ""));
    let Some(handler) = handler(token) else {
        return Ok(plain(StatusCode::NOT_FOUND, loopback::NO_CONVERSATION));
    };
    if request.method() == Method::HEAD {
        // Some clients look whether the server is there.
        return Ok(plain(StatusCode::OK, "the gateway is here"));
    }
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
            handler.miss(&why);
            return Ok(refused(wire_by_path(&received.path), &why));
        }
    };
    received.body = body;
    match handler.reply(&received.incoming()) {
        Err(NoWire(why)) => {
            handler.miss(&why);
            Ok(refused(wire_by_path(&received.path), &why))
        }
        Ok((_, Reply::Ask(call, twist))) => asked(call, received, twist).await,
        Ok((wire, reply)) => {
            let hides_usage = hides_usage(wire, &received.body);
            replied(wire, reply, hides_usage).await
        }
    }
}

/// Whether the event with the tokens of a stream is kept from the client, since it did not ask for it.
fn hides_usage(wire: Wire, body: &[u8]) -> bool {
    wire == Wire::OpenAiChat && !wants_usage(body)
}

/// The reaction to a call that no model is asked.
async fn replied(wire: Wire, reply: Reply, hides_usage: bool) -> Result<Reaction, Broken> {
    match reply {
        Reply::Refused(why) => Ok(refused(wire, &why)),
        Reply::Recorded(answer) => Ok(recorded(*answer, hides_usage)),
        Reply::Failed(Failure::Status { status, retry_after }) => Ok(failed(wire, status, retry_after)),
        Reply::Failed(Failure::Reset(after)) => {
            tokio::time::sleep(after).await;
            Err(Broken)
        }
        Reply::Cut { answer, events, is_error } => Ok(cut(wire, *answer, events, is_error)),
        // A call is asked once.
        Reply::Ask(..) => Err(Broken),
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

fn full(text: impl Into<Bytes>) -> BoxBody<Bytes, Broken> {
    boxed(Full::new(text.into()))
}

fn boxed(body: Full<Bytes>) -> BoxBody<Bytes, Broken> {
    body.map_err(|never: Infallible| match never {}).boxed()
}

pub(super) fn plain(status: StatusCode, line: &str) -> Reaction {
    loopback::plain(status, line).map(boxed)
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

fn recorded(answer: Answer, hides_usage: bool) -> Reaction {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let mut response = match answer.body {
        Body::Json(value) => with_type(status, "application/json", full(value.to_string())),
        Body::Text { kind, text } => with_type(status, &kind, full(text)),
        Body::Events(events) => {
            let (sender, body) = Channel::<Bytes, Broken>::new(MAX_WAITING_EVENTS);
            tokio::spawn(send_all(sender, events, hides_usage));
            with_type(status, "text/event-stream", BodyExt::boxed(body))
        }
    };
    add_headers(response.headers_mut(), &answer.headers);
    response
}

async fn send_all(mut sender: Sender<Bytes, Broken>, events: Vec<Event>, hides_usage: bool) {
    for event in events.into_iter().filter(|event| !(hides_usage && is_usage(event))) {
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

/// The first events of an answer, or the first half of a plain one, then the end of the connection, or an error.
fn cut(wire: Wire, answer: Answer, events: usize, is_error: bool) -> Reaction {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let half = |text: String| vec![text[..text.floor_char_boundary(text.len() / 2)].to_owned()];
    let (kind, mut pieces): (String, Vec<String>) = match answer.body {
        Body::Events(all) => {
            ("text/event-stream".to_owned(), all.iter().take(events).map(Event::to_wire).collect())
        }
        Body::Json(value) => ("application/json".to_owned(), half(value.to_string())),
        Body::Text { kind, text } => (kind, half(text)),
    };
    if is_error {
        pieces.push(wire.error_event("evalset: a fault of the case").to_wire());
    }
    let (mut sender, body) = Channel::<Bytes, Broken>::new(MAX_WAITING_EVENTS);
    tokio::spawn(async move {
        for piece in pieces {
            if sender.send_data(piece.into()).await.is_err() {
                return;
            }
        }
        if !is_error {
            // What was sent before goes out first.
            tokio::time::sleep(Duration::from_millis(20)).await;
            sender.abort(Broken);
        }
    });
    with_type(status, &kind, BodyExt::boxed(body))
}

/// Asks the model, and hands its answer over while it is recorded.
async fn asked(call: Box<dyn Call>, received: Received, twist: Option<Twist>) -> Result<Reaction, Broken> {
    let wire = call.asked().wire;
    let hides_usage = hides_usage(wire, &received.body);
    let sent =
        upstream::send(&call.address(), call.asked(), &received.method, &received.headers, received.body)
            .await;
    let response = match sent {
        Ok(response) => response,
        // The same again would give the same.
        Err(Unsent { why, is_final: true }) => {
            let reaction = refused(wire, &why);
            call.failed(why);
            return Ok(reaction);
        }
        Err(Unsent { why, .. }) => {
            let body = wire.error(502, &format!("evalset: {why}"));
            call.failed(why);
            return Ok(with_type(StatusCode::BAD_GATEWAY, "application/json", full(body.to_string())));
        }
    };
    let status = StatusCode::from_u16(response.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let headers = response.headers.clone();
    if let Some(twist) = twist {
        return match response.into_whole().await {
            Ok(answer) => {
                let reply = call.play(answer.clone(), twist);
                call.answered(answer);
                replied(wire, reply, hides_usage).await
            }
            Err(why) => {
                call.failed(why);
                Err(Broken)
            }
        };
    }
    let mut reaction = if response.is_stream {
        let (sender, body) = Channel::<Bytes, Broken>::new(MAX_WAITING_EVENTS);
        tokio::spawn(hand_over(call, response, sender, hides_usage));
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
async fn hand_over(
    call: Box<dyn Call>,
    mut response: upstream::Response,
    mut sender: Sender<Bytes, Broken>,
    hides_usage: bool,
) {
    let mut events = Vec::new();
    let mut reads = true;
    loop {
        match response.events().await {
            Ok(Some(more)) => {
                for event in more {
                    if !(hides_usage && is_usage(&event)) {
                        reads = reads && sender.send_data(event.to_wire().into()).await.is_ok();
                    }
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
