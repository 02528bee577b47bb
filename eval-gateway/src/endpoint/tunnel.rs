//! Tunnels to other hosts (`CONNECT`), and requests that are handed on to them without TLS, while calls are replayed: a
//! client that asks a host of models in this way was not redirected. Without TLS, a call of a model is found at any host.

use std::convert::Infallible;
use std::io::{self, Cursor};
use std::net::IpAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, PROXY_AUTHORIZATION};
use hyper::http::uri::Authority;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use reqwest::Url;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;

use super::answer::{Broken, Reaction, with_type};
use super::body;
use super::handlers::handler;
use super::stray::is_call;
use crate::handler::Handler;
use crate::loopback;
use crate::provider::{advice, is_host_of_models};
use crate::variables::proxy_behind;

/// Opens a tunnel to a host. It is reached first, so that the client learns if it is not.
pub(super) async fn open(request: Request<Incoming>) -> Reaction {
    let Some(handler) = owner(&request) else {
        return refused("the proxy of the gateway takes conversations alone");
    };
    let Some(authority) = request.uri().authority().cloned() else { return refused("the host is missing") };
    if let Some(message) = refusal(&*handler, authority.as_str()) {
        handler.miss(&message);
        return refused(&message);
    }
    let behind = proxy_behind().filter(|_| !is_loopback(authority.host()));
    let reached = match behind {
        Some(proxy) => through(&proxy, &authority).await,
        None => TcpStream::connect(authority.as_str()).await,
    };
    let Ok(there) = reached else { return unreached() };
    tokio::spawn(async move {
        if let Ok(here) = hyper::upgrade::on(request).await {
            carry(TokioIo::new(here), there, handler, authority).await;
        }
    });
    with_type(StatusCode::OK, "text/plain", text(""))
}

/// A tunnel to a host through the user's own proxy.
async fn through(proxy: &Url, authority: &Authority) -> io::Result<TcpStream> {
    const MAX_HEAD_BYTES: usize = 16 << 10;
    let (host, port) = (proxy.host_str().unwrap_or_default(), proxy.port().unwrap_or(80));
    let mut stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await?;
    let mut head = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
    if !proxy.username().is_empty() {
        let [user, password] = [proxy.username(), proxy.password().unwrap_or_default()].map(unescaped);
        let login = STANDARD.encode([&user[..], b":", &password].concat());
        head.push_str(&format!("Proxy-Authorization: Basic {login}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).await?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") && answer.len() < MAX_HEAD_BYTES {
        answer.push(stream.read_u8().await?);
    }
    let is_open = answer.starts_with(b"HTTP/1.") && answer.get(8..10) == Some(b" 2");
    if is_open { Ok(stream) } else { Err(io::ErrorKind::ConnectionRefused.into()) }
}

/// The bytes of a part of an address.
fn unescaped(part: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut left = part.as_bytes();
    while let [first, rest @ ..] = left {
        let digits =
            rest.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                left = &rest[2..];
            }
            None => {
                bytes.push(*first);
                left = rest;
            }
        }
    }
    bytes
}

/// Carries the bytes of a tunnel. Requests of HTTP without TLS are read on their way: node sends those through a tunnel, too.
async fn carry(
    here: impl AsyncRead + AsyncWrite + Send + 'static,
    mut there: TcpStream,
    handler: Arc<dyn Handler>,
    authority: Authority,
) {
    let (mut reader, writer) = tokio::io::split(here);
    let mut first = Vec::new();
    let begin = loop {
        match begin(&first) {
            Begin::Unknown => {}
            known => break known,
        }
        let mut byte = [0];
        tokio::select! {
            read = reader.read_buf(&mut first) => if !matches!(read, Ok(1..)) { break Begin::Other },
            // In HTTP the client speaks first.
            _ = there.peek(&mut byte) => break Begin::Other,
        }
    };
    let mut here = tokio::io::join(Cursor::new(first).chain(reader), writer);
    if matches!(begin, Begin::Other) {
        drop(copy_bidirectional(&mut here, &mut there).await);
        return;
    }
    let answers = service_fn(move |request: Request<Incoming>| {
        let (handler, authority) = (Arc::clone(&handler), authority.clone());
        async move { Ok::<_, Broken>(checked(&*handler, request, &authority).await) }
    });
    let here = TokioIo::new(Box::pin(here));
    drop(hyper::server::conn::http1::Builder::new().serve_connection(here, answers).await);
}

/// The kind of the first bytes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    /// They may become a request of HTTP.
    Unknown,
    /// A request of HTTP.
    Http,
    /// Another protocol, or a request that changes to one, such as a WebSocket.
    Other,
}

fn begin(first: &[u8]) -> Begin {
    const METHODS: [&[u8]; 7] = [b"GET ", b"POST ", b"PUT ", b"PATCH ", b"DELETE ", b"HEAD ", b"OPTIONS "];
    const MAX_HEAD_BYTES: usize = 64 << 10;
    let fits = |method: &&[u8]| method.starts_with(first) || first.starts_with(method);
    if !METHODS.iter().any(fits) || first.len() > MAX_HEAD_BYTES {
        return Begin::Other;
    }
    let Some(end) = first.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { return Begin::Unknown };
    let head = String::from_utf8_lossy(&first[..end]).to_ascii_lowercase();
    if head.contains("\r\nupgrade:") { Begin::Other } else { Begin::Http }
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
    checked(&*handler, request, &authority).await
}

/// Hands a request on, unless it is a call of a model, which was not redirected.
async fn checked(handler: &dyn Handler, request: Request<Incoming>, authority: &Authority) -> Reaction {
    let port = authority.port_u16().unwrap_or(80);
    let host = authority.host().trim_matches(['[', ']']);
    let request = if may_ask(request.method(), request.headers()) {
        let (head, body) = request.into_parts();
        let sent = match body::as_sent(body).await {
            Ok(sent) => sent,
            Err(why) => return refused(&why),
        };
        let read = body::read_again(&head.headers, &sent).ok();
        if is_call(head.uri.path(), head.uri.query(), read.as_ref()) {
            let message = not_redirected(authority.as_str());
            handler.miss(&message);
            return refused(&message);
        }
        Request::from_parts(head, whole(sent))
    } else {
        request.map(|body| body.map_err(|_| Broken).boxed())
    };
    match forwarded(request, host, port).await {
        Some(reaction) => reaction,
        None => unreached(),
    }
}

/// Whether a request may be a call of a model. Others, such as uploads, are not read.
fn may_ask(method: &Method, headers: &HeaderMap) -> bool {
    let kind =
        headers.get(CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()).to_ascii_lowercase());
    method == Method::POST && kind.is_none_or(|kind| kind.contains("json"))
}

/// The answer of a host that a client asked through the gateway; `None` if there is none.
async fn forwarded(mut request: Request<BoxBody<Bytes, Broken>>, host: &str, port: u16) -> Option<Reaction> {
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
        return Some(not_redirected(host));
    }
    (handler.is_offline() && !is_loopback(host)).then(|| {
        format!("the agent asked `{shown}`, and `EVALSET_MODELS_OFFLINE=1` lets it reach no other host")
    })
}

/// The sentence about a client that asked a server of models past the gateway.
fn not_redirected(host: &str) -> String {
    format!(
        "a client asked `{}` itself, so it was not redirected to the recording: {}; `docs/recorded-models.md` has a table of \
         clients",
        eval_support::untrusted::one_line(host),
        advice(host),
    )
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
    with_type(StatusCode::FORBIDDEN, "text/plain; charset=utf-8", text(why))
}

fn unreached() -> Reaction {
    with_type(StatusCode::BAD_GATEWAY, "text/plain; charset=utf-8", text("the host was not reached"))
}

fn text(text: &str) -> BoxBody<Bytes, Broken> {
    whole(Bytes::from(text.to_owned()))
}

fn whole(bytes: Bytes) -> BoxBody<Bytes, Broken> {
    Full::new(bytes).map_err(|never: Infallible| match never {}).boxed()
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_tunnel_goes_through_the_proxy_of_the_user_with_their_login() {
        for (answer, is_open) in [
            ("HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\nhello", true),
            ("HTTP/1.1 407 Who is there?\r\n\r\n", false),
            ("", false),
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let proxy = tokio::spawn(async move {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                stream.write_all(answer.as_bytes()).await.unwrap();
                String::from_utf8(head).unwrap()
            });
            let url = Url::parse(&format!("http://me:p%40ss@{address}")).unwrap();
            let opened = through(&url, &Authority::from_static("example.com:443")).await;
            assert_eq!(opened.is_ok(), is_open, "{answer}");
            let head = "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nProxy-Authorization: Basic bWU6cEBzcw==\r\n\r\n";
            assert_eq!(proxy.await.unwrap(), head);
            if let Ok(mut stream) = opened {
                let mut said = String::new();
                stream.read_to_string(&mut said).await.unwrap();
                assert_eq!(said, "hello");
            }
        }
    }
}
