//! The endpoint on loopback that agents ask in place of their providers.
//!
//! One listener serves all conversations of the process. A conversation is a token in the path of the address.

mod answer;
mod body;
mod handlers;
mod stray;
mod tunnel;

use std::net::SocketAddr;
use std::sync::Arc;

use hyper::Method;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

use self::handlers::PREFIX;
pub(crate) use self::handlers::unregister;
use crate::handler::Handler;
use crate::loopback::Listener;

fn listening() -> Result<SocketAddr, String> {
    static LISTENER: Listener = Listener::new("eval-gateway");
    LISTENER
        .address(serve)
        .map_err(|error| format!("the gateway for models cannot listen on 127.0.0.1: {error}"))
}

/// Registers a handler, and returns its token.
pub(crate) fn register(handler: Arc<dyn Handler>) -> Result<String, String> {
    listening()?;
    handlers::register(handler).map_err(|error| format!("no random numbers for an address: {error}"))
}

/// The address of a handler.
pub(crate) fn address(token: &str) -> Result<String, String> {
    Ok(format!("http://{}{PREFIX}{token}", listening()?))
}

/// The address of the proxy of a handler.
pub(crate) fn proxy(address: &str) -> String {
    let (host, token) = address.split_once(PREFIX).unwrap_or((address, ""));
    format!("http://evalset:{token}@{}", host.trim_start_matches("http://"))
}

async fn serve(stream: TcpStream) {
    let port = stream.local_addr().map_or(0, |address| address.port());
    if let Some(protocol) = other_protocol(&stream).await {
        stray::tell_all(protocol);
        return;
    }
    // Small answers go out at once.
    drop(stream.set_nodelay(true));
    let answers = service_fn(move |request: hyper::Request<hyper::body::Incoming>| async move {
        if request.method() == Method::CONNECT {
            return Ok::<_, answer::Broken>(tunnel::open(request).await);
        }
        if tunnel::is_proxied(&request, port) {
            return Ok(tunnel::hand_on(request).await);
        }
        match stray::Stray::of(&request, port) {
            Some(stray) => Ok(stray.refused(request).await),
            None => answer::answer(request).await,
        }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    // Idle connections stay open: a client that finds one closed may wait seconds before it tries again.
    let http = http.timer(TokioTimer::new()).header_read_timeout(None);
    drop(http.serve_connection(TokioIo::new(stream), answers).with_upgrades().await);
}

/// The protocol of a client that begins as no request of HTTP/1 does.
async fn other_protocol(stream: &TcpStream) -> Option<&'static str> {
    let mut first = [0; 3];
    let read = stream.peek(&mut first).await.ok()?;
    match &first[..read] {
        // A handshake of TLS.
        [0x16, ..] => Some("https or wss"),
        b"PRI" => Some("HTTP/2"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
