//! A listener on loopback, whose connections a thread of this process serves, and its refusals of requests that are not for it.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue, ORIGIN};
use hyper::{Response, StatusCode};
use tokio::net::{TcpListener, TcpStream};

/// The refusal of a request that names another machine.
pub const NOT_THIS_MACHINE: &str = "the request is not for this machine: `Host` or `Origin` is another";

/// The refusal of a request whose path names no conversation in progress.
pub const NO_CONVERSATION: &str = "no conversation has this address: it is over, or the address is wrong";

/// A listener that its first user starts, and all others share.
#[derive(Debug)]
pub struct Listener {
    thread: &'static str,
    address: OnceLock<Result<SocketAddr, Arc<io::Error>>>,
}

impl Listener {
    /// A listener whose thread will have this name.
    pub const fn new(thread: &'static str) -> Self {
        Self { thread, address: OnceLock::new() }
    }

    /// The address, once the connections are served.
    pub fn address<F>(&self, connection: impl Fn(TcpStream) -> F + Send + 'static) -> io::Result<SocketAddr>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let address = self.address.get_or_init(|| serve(self.thread, connection).map_err(Arc::new));
        address.as_ref().copied().map_err(|error| io::Error::new(error.kind(), Arc::clone(error)))
    }
}

/// Whether a request names this machine. A page of a browser may reach loopback under a name of its own.
pub fn is_of_this_machine(headers: &HeaderMap, port: u16) -> bool {
    let header = |name| headers.get(name).map(HeaderValue::as_bytes);
    let names = names(port);
    let is_here = |host: &[u8]| names.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(host));
    let of_origin = |origin: &[u8]| origin.strip_prefix(b"http://".as_slice()).is_some_and(is_here);
    header(HOST).is_some_and(is_here) && header(ORIGIN).is_none_or(of_origin)
}

/// The names of a listener, as `Host` has them.
pub(crate) fn names(port: u16) -> [String; 2] {
    [format!("127.0.0.1:{port}"), format!("localhost:{port}")]
}

/// An answer of one line of text.
pub fn plain(status: StatusCode, line: &str) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::from(format!("{line}\n")));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}

/// Serves each connection in a task of its own, until the process ends.
///
/// Tests have runtimes of their own, and programs that ask may serve several of them: a thread that lasts answers.
fn serve<F>(thread: &str, connection: impl Fn(TcpStream) -> F + Send + 'static) -> io::Result<SocketAddr>
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let listener = {
        let _entered = runtime.enter();
        TcpListener::from_std(listener)?
    };
    let serve = async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(connection(stream))),
                // Out of file descriptors, for example: later questions may come through.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    };
    std::thread::Builder::new().name(thread.to_owned()).spawn(move || runtime.block_on(serve))?;
    Ok(address)
}
