//! Tunnels to other hosts (`CONNECT`), and requests that are handed on to them without TLS, while calls are replayed: a
//! client that asks a host of models in this way was not redirected.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONNECTION, HeaderName, PROXY_AUTHORIZATION};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;

use super::answer::{Broken, Reaction, with_type};
use super::handlers::handler;
use crate::handler::Handler;
use crate::loopback;
use crate::provider::is_host_of_models;

/// Opens a tunnel to a host. It is reached first, so that the client learns if it is not.
pub(super) async fn open(request: Request<Incoming>) -> Reaction {
    let Some(handler) = owner(&request) else {
        return refused("the proxy of the gateway takes conversations alone");
    };
    let Some(authority) = request.uri().authority().map(ToString::to_string) else {
        return refused("the host is missing");
    };
    if let Some(message) = refusal(&*handler, &authority) {
        handler.miss(&message);
        return refused(&message);
    }
    let Ok(mut there) = TcpStream::connect(&authority).await else { return unreached() };
    tokio::spawn(async move {
        if let Ok(here) = hyper::upgrade::on(request).await {
            drop(copy_bidirectional(&mut TokioIo::new(here), &mut there).await);
        }
    });
    with_type(StatusCode::OK, "text/plain", body(""))
}

/// Whether a request is for another host, without TLS: a client takes the gateway for its proxy.
pub(super) fn is_proxied(request: &Request<Incoming>, port: u16) -> bool {
    let authority = request.uri().authority();
    authority.is_some_and(|authority| loopback::names(port).iter().all(|name| *authority != name.as_str()))
}

/// Hands a request for another host on.
pub(super) async fn hand_on(request: Request<Incoming>) -> Reaction {
    let Some(handler) = owner(&request) else {
        return refused("the proxy of the gateway takes conversations alone");
    };
    let Some(authority) = request.uri().authority().cloned() else { return refused("the host is missing") };
    if let Some(message) = refusal(&*handler, authority.as_str()) {
        handler.miss(&message);
        return refused(&message);
    }
    let port = authority.port_u16().unwrap_or(80);
    let host = authority.host().trim_matches(['[', ']']);
    match forwarded(request, host, port).await {
        Some(reaction) => reaction,
        None => unreached(),
    }
}

/// The answer of a host that a client asked through the gateway; `None` if there is none.
async fn forwarded(mut request: Request<Incoming>, host: &str, port: u16) -> Option<Reaction> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse().ok()?;
    for name in [PROXY_AUTHORIZATION, HeaderName::from_static("proxy-connection"), CONNECTION] {
        request.headers_mut().remove(name);
    }
    let there = TcpStream::connect((host, port)).await.ok()?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(there)).await.ok()?;
    tokio::spawn(connection);
    let response = sender.send_request(request).await.ok()?;
    Some(response.map(|body| body.map_err(|_| Broken).boxed()))
}

/// The sentence about a host that the program of a handler must not ask; `None` if it may.
fn refusal(handler: &dyn Handler, authority: &str) -> Option<String> {
    let host = authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
    let host = host.map_or(authority, |(host, _)| host);
    let shown = eval_support::untrusted::one_line(host);
    if is_host_of_models(host) {
        return Some(format!(
            "a client asked `{shown}` itself, so it was not redirected to the recording: give it the address from \
             `session.model_url(..)`, or the variable that it reads; `docs/recorded-models.md` has a table of clients"
        ));
    }
    (handler.is_offline() && !is_loopback(host)).then(|| {
        format!("the agent asked `{shown}`, and `EVALSET_MODELS_OFFLINE=1` lets it reach no other host")
    })
}

/// Whether a host is this machine, where tools of the agent may listen.
fn is_loopback(host: &str) -> bool {
    let is_address = |host: &str| host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    host.eq_ignore_ascii_case("localhost") || is_address(host.trim_matches(['[', ']']))
}

/// The handler whose program asks, by the token in the address of the proxy.
fn owner(request: &Request<Incoming>) -> Option<Arc<dyn Handler>> {
    let header = request.headers().get(PROXY_AUTHORIZATION)?.to_str().ok()?;
    let decoded = STANDARD.decode(header.strip_prefix("Basic ")?).ok()?;
    let decoded = String::from_utf8(decoded).ok()?;
    handler(decoded.split_once(':')?.1)
}

fn refused(why: &str) -> Reaction {
    with_type(StatusCode::FORBIDDEN, "text/plain; charset=utf-8", body(why))
}

fn unreached() -> Reaction {
    with_type(StatusCode::BAD_GATEWAY, "text/plain; charset=utf-8", body("the host was not reached"))
}

fn body(text: &str) -> http_body_util::combinators::BoxBody<Bytes, Broken> {
    Full::new(Bytes::from(text.to_owned())).map_err(|never: Infallible| match never {}).boxed()
}
