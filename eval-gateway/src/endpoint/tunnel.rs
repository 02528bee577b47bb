//! Tunnels to other hosts (`CONNECT`), while calls are replayed: a client that asks a host of models through one was not
//! redirected.

use std::convert::Infallible;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::PROXY_AUTHORIZATION;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;

use super::answer::{Reaction, with_type};
use super::guests::guest;
use crate::guest::Guest;
use crate::provider::is_host_of_models;

pub(super) fn open(request: Request<Incoming>) -> Reaction {
    let Some(guest) = owner(&request) else {
        return refused("the proxy of the gateway takes conversations alone");
    };
    let Some(authority) = request.uri().authority().map(ToString::to_string) else {
        return refused("the host is missing");
    };
    let host = authority.rsplit_once(':').map_or(&*authority, |(host, _)| host);
    let is_of_models = is_host_of_models(host);
    if is_of_models || guest.is_offline() {
        let host = eval_support::untrusted::one_line(host);
        let message = if is_of_models {
            format!(
                "a client asked `{host}` itself, so it was not redirected to the recording: give it the address from \
                 `session.model_url(..)`, or the variable that it reads; `docs/recorded-models.md` has a table of clients"
            )
        } else {
            format!("the agent asked `{host}`, and `EVALSET_MODELS_OFFLINE=1` lets it reach no other host")
        };
        guest.miss(&message);
        return refused(&message);
    }
    tokio::spawn(async move {
        let Ok(mut there) = TcpStream::connect(&authority).await else { return };
        if let Ok(here) = hyper::upgrade::on(request).await {
            drop(copy_bidirectional(&mut TokioIo::new(here), &mut there).await);
        }
    });
    with_type(StatusCode::OK, "text/plain", body(""))
}

/// The guest whose program asks, by the token in the address of the proxy.
fn owner(request: &Request<Incoming>) -> Option<Arc<dyn Guest>> {
    let header = request.headers().get(PROXY_AUTHORIZATION)?.to_str().ok()?;
    let decoded = STANDARD.decode(header.strip_prefix("Basic ")?).ok()?;
    let decoded = String::from_utf8(decoded).ok()?;
    guest(decoded.split_once(':')?.1)
}

fn refused(why: &str) -> Reaction {
    with_type(StatusCode::FORBIDDEN, "text/plain; charset=utf-8", body(why))
}

fn body(text: &str) -> http_body_util::combinators::BoxBody<Bytes, super::answer::Broken> {
    Full::new(Bytes::from(text.to_owned())).map_err(|never: Infallible| match never {}).boxed()
}
