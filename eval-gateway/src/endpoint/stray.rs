//! Calls that name no conversation in progress, or another host than this machine. They get no answer, and an agent that
//! goes on without one would pass in silence: a call of a model is an error of the conversations that may have sent it.

use std::sync::Arc;

use eval_format::__private::parse_value;
use eval_format::Value;
use eval_support::message::cut;
use eval_support::untrusted::one_line;
use hyper::body::{Bytes, Incoming as IncomingBody};
use hyper::header::ORIGIN;
use hyper::{Method, Request, StatusCode};

use super::answer::{Reaction, plain};
use super::body::read;
use super::handlers::{self, PREFIX};
use crate::canonical::Masks;
use crate::handler::Handler;
use crate::loopback::{NO_CONVERSATION, NOT_THIS_MACHINE, is_of_this_machine};
use crate::wire::{Asked, Incoming};

/// A request that is answered by no conversation.
pub(super) struct Stray {
    /// The conversation that it names, at another host.
    handler: Option<Arc<dyn Handler>>,
    is_here: bool,
}

impl Stray {
    /// The fault of a request; `None` if it names a present or ended conversation.
    pub(super) fn of(request: &Request<IncomingBody>, port: u16) -> Option<Self> {
        let (token, _) = split(request.uri().path());
        let handler = handlers::handler(token);
        let is_here = is_of_this_machine(request.headers(), port);
        let is_known = handler.is_some() || handlers::has_left(token);
        (!is_here || !is_known).then_some(Self { handler, is_here })
    }

    /// Refuses the request, and tells the conversations that may have sent it.
    pub(super) async fn refused(self, request: Request<IncomingBody>) -> Reaction {
        let (status, why) = if self.is_here {
            (StatusCode::NOT_FOUND, NO_CONVERSATION)
        } else {
            (StatusCode::FORBIDDEN, NOT_THIS_MACHINE)
        };
        // Pages of browsers know no token. Scans of ports post no calls of models.
        let is_of_a_page = !self.is_here && self.handler.is_none() && request.headers().contains_key(ORIGIN);
        if request.method() == Method::POST && !is_of_a_page {
            let (path, query) = (request.uri().path().to_owned(), request.uri().query().map(str::to_owned));
            let body = read(request).await.unwrap_or_default();
            if let Some(said) = call(&path, query.as_deref(), &body) {
                self.tell(&path, &said);
            }
        }
        plain(status, why)
    }

    fn tell(&self, path: &str, said: &str) {
        let (_, rest) = split(path);
        let call = format!("a call of a model (POST {})", one_line(&cut(rest, 80)));
        let why = if self.is_here {
            format!(
                "{call} came to the gateway without the address of its conversation, so it had no answer: the client has to keep \
                 the whole path of the address that it is given"
            )
        } else {
            format!("{call} named another host than the gateway's (`Host` or `Origin`), so it had no answer")
        };
        let told = self.handler.clone().map_or_else(|| senders(said), |handler| vec![handler]);
        for handler in told {
            handler.miss(&why);
        }
    }
}

/// The handlers whose message of the user a call holds; all of them, if it holds none.
fn senders(said: &str) -> Vec<Arc<dyn Handler>> {
    let all = handlers::all();
    let (asking, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|handler| handler.may_ask(said));
    if asking.is_empty() { others } else { asking }
}

/// The token in a path, and the path below it.
fn split(path: &str) -> (&str, &str) {
    let Some(below) = path.strip_prefix(PREFIX) else { return ("", path) };
    below.find('/').map_or((below, ""), |at| below.split_at(at))
}

/// A posted request without headers that matter.
fn posted<'r>(path: &'r str, query: Option<&'r str>, body: &'r Bytes) -> Incoming<'r> {
    let (method, query) = ("POST", query.unwrap_or_default());
    Incoming { method, path, query, version: None, beta: None, is_googles: false, body }
}

/// Whether a posted request to another server is a call of a model. A body that cannot be unpacked is told by its path.
pub(super) fn is_call(path: &str, query: Option<&str>, body: Option<&Bytes>) -> bool {
    match body {
        Some(body) => posted(path, query, body).is_a_call() || is_question(body),
        None => posted(path, query, &Bytes::new()).is_of_a_wire(),
    }
}

/// Tells all conversations of a client that speaks another protocol to the endpoint: what it asked is not known.
pub(super) fn tell_all(protocol: &str) {
    let why = format!(
        "a client asked the gateway by {protocol}, so it had no answer: the gateway speaks HTTP/1.1 alone, and its address begins \
         with `http://`"
    );
    for handler in handlers::all() {
        handler.miss(&why);
    }
}

/// The last message of the user in a request that looks like a call of a model; `None` if it does not.
fn call(path: &str, query: Option<&str>, body: &Bytes) -> Option<String> {
    let (_, rest) = split(path);
    let incoming = posted(rest, query, body);
    if let Ok(asked) = Asked::read(&incoming, &Masks::default(), &|_| None) {
        return Some(asked.user_text);
    }
    (incoming.is_of_a_wire() || is_question(body)).then(String::new)
}

/// Whether a body asks a model, whatever the path is.
fn is_question(body: &Bytes) -> bool {
    let body = std::str::from_utf8(body).ok().and_then(|text| parse_value(text).ok());
    let has = |key: &str| body.as_ref().and_then(Value::as_object).is_some_and(|map| map.get(key).is_some());
    has("model") && ["messages", "input", "prompt", "contents"].iter().any(|key| has(key))
}
