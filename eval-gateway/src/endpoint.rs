//! The endpoint on loopback that agents ask in place of their providers.
//!
//! One listener serves all conversations of the process. A conversation is a token in the path of the address.

mod answer;
mod tunnel;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use eval_support::id::fresh_token;
use eval_support::mutex::Mutex;
use eval_support::secrets;
use hyper::Method;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

use crate::guest::Guest;
use crate::loopback;

/// The path of an address, up to its token.
const PREFIX: &str = "/c/";

/// The guests by their tokens.
static GUESTS: Mutex<BTreeMap<String, Arc<dyn Guest>>> = Mutex::new(BTreeMap::new());

fn listening() -> Result<SocketAddr, String> {
    static ADDRESS: OnceLock<Result<SocketAddr, Arc<io::Error>>> = OnceLock::new();
    let address = ADDRESS.get_or_init(|| loopback::serve("eval-gateway", serve).map_err(Arc::new));
    address.as_ref().copied().map_err(|error| format!("the gateway for models cannot listen on 127.0.0.1: {error}"))
}

/// Admits a guest, and returns its token.
pub(crate) fn admit(guest: Arc<dyn Guest>) -> Result<String, String> {
    listening()?;
    let token = token().map_err(|error| format!("no random numbers for an address: {error}"))?;
    GUESTS.lock().insert(token.clone(), guest);
    Ok(token)
}

/// Forgets a guest.
pub(crate) fn dismiss(token: &str) {
    GUESTS.lock().remove(token);
}

fn guest(token: &str) -> Option<Arc<dyn Guest>> {
    GUESTS.lock().get(token).cloned()
}

/// The address of a guest.
pub(crate) fn address(token: &str) -> Result<String, String> {
    Ok(format!("http://{}{PREFIX}{token}", listening()?))
}

/// The address of the proxy of a guest.
pub(crate) fn proxy(address: &str) -> String {
    let (host, token) = address.split_once(PREFIX).unwrap_or((address, ""));
    format!("http://evalset:{token}@{}", host.trim_start_matches("http://"))
}

/// A fresh token. Its first half is the same in all tokens of the process, and masked wherever texts are written down: each
/// value that is masked costs a search in every text.
fn token() -> io::Result<String> {
    static HALF: OnceLock<String> = OnceLock::new();
    let own = fresh_token()?;
    let half = match HALF.get() {
        Some(half) => half,
        None => {
            let fresh = fresh_token()?;
            HALF.get_or_init(|| {
                secrets::hide(&fresh);
                fresh
            })
        }
    };
    Ok(format!("{half}{own}"))
}

async fn serve(stream: TcpStream) {
    let port = stream.local_addr().map_or(0, |address| address.port());
    // Small answers go out at once.
    drop(stream.set_nodelay(true));
    let answers = service_fn(move |request: hyper::Request<hyper::body::Incoming>| async move {
        if request.method() == Method::CONNECT {
            return Ok::<_, answer::Broken>(tunnel::open(request));
        }
        answer::answer(request, port).await
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    // Idle connections stay open: a client that finds one closed may wait seconds before it tries again.
    let http = http.timer(TokioTimer::new()).header_read_timeout(None);
    drop(http.serve_connection(TokioIo::new(stream), answers).with_upgrades().await);
}

/// The error of bodies that cannot fail.
type Never = Infallible;
