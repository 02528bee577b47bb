//! A server: its sockets and its answers.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;

use crate::access::Access;
use crate::app::App;
use crate::limits::Limits;
use crate::options::ServerOptions;
use crate::receiver::{self, Receiver};
use crate::token::{Token, TokenError};
use crate::{openapi, routes};

/// A server that listens, and answers when it [runs](Self::run).
///
/// ```
/// use eval_server::{Server, ServerOptions};
///
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
/// let server = Server::bind("127.0.0.1:0".parse()?, ServerOptions::new()).await?;
/// assert!(server.url().contains("/?token="));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    receiver: Option<(TcpListener, Receiver)>,
    app: Arc<App>,
}

/// An error of starting a server.
#[derive(Debug)]
#[non_exhaustive]
pub enum BindError {
    /// The address is taken, or is not an address of this machine.
    Address {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// The address on which traces are to be received is taken.
    Receiver {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// The token cannot be used, or none can be made.
    Token(TokenError),
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { address, source } => write!(f, "cannot listen on {address}: {source}"),
            Self::Receiver { address, source } => write!(f, "cannot receive traces on {address}: {source}"),
            Self::Token(error) => error.fmt(f),
        }
    }
}

impl Error for BindError {}

impl Server {
    /// Listens on an address. Port 0 takes any free port.
    pub async fn bind(address: SocketAddr, options: ServerOptions) -> Result<Self, BindError> {
        let token = match &options.token {
            Some(token) => Token::chosen(token),
            None => Token::random(),
        };
        let token = token.map_err(BindError::Token)?;
        let cookie = Token::random().map_err(BindError::Token)?;
        let (listener, address) =
            bound(address).await.map_err(|source| BindError::Address { address, source })?;
        let otlp = match options.otlp_port {
            Some(port) => {
                let address = SocketAddr::new(address.ip(), port);
                Some(bound(address).await.map_err(|source| BindError::Receiver { address, source })?)
            }
            None => None,
        };
        let received = otlp.as_ref().map(|(_, address)| *address);
        let access = |address| Access::new(address, &options.hosts, token.clone(), cookie.clone());
        let (own, access) = (access(address), received.map(access));
        let app = Arc::new(App::new(own, received, options));
        let receiver = otlp
            .zip(access)
            .map(|((listener, _), access)| (listener, Receiver { access, app: Arc::clone(&app) }));
        Ok(Self { listener, address, receiver, app })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address that receives traces over OTLP, if there is one.
    pub fn otlp_address(&self) -> Option<SocketAddr> {
        self.app.otlp
    }

    /// Its URL on this machine, with the token: any holder of the token may read the records.
    pub fn url(&self) -> String {
        format!("{}/?token={}", self.origin(), self.token())
    }

    /// Its URL on this machine, without the token: `http://127.0.0.1:8001`.
    pub fn origin(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            let loopback: [IpAddr; 2] = [[127, 0, 0, 1].into(), std::net::Ipv6Addr::LOCALHOST.into()];
            address.set_ip(loopback[usize::from(address.is_ipv6())]);
        }
        format!("http://{address}")
    }

    /// The token.
    pub fn token(&self) -> &str {
        self.app.access.token.as_str()
    }

    /// Answers requests until `stop` ends. Then no client can connect any more, and requests that are in progress have
    /// [`Limits::grace`](crate::Limits::grace) to end.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { listener, receiver, app, .. } = self;
        let limits = app.limits().clone();
        let (tell, told) = watch::channel(false);
        // A closed channel counts as the end too.
        let stopped =
            |mut told: watch::Receiver<bool>| async move { drop(told.wait_for(|ended| *ended).await) };
        let own = routes::all(Arc::clone(&app), openapi::document());
        let answers = serve_connections(listener, own, &limits, stopped(told.clone()));
        let receives = async {
            if let Some((listener, receiver)) = receiver {
                serve_connections(listener, receiver::routes(receiver), &limits, stopped(told)).await;
            }
        };
        let stops = async {
            stop.await;
            // Ends the event streams of live sessions, which would not end by themselves.
            app.sessions.close();
            tell.send_replace(true);
        };
        tokio::join!(answers, receives, stops);
    }
}

async fn bound(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

#[cfg(test)]
mod tests;

/// Ends when the process is asked to end: at Ctrl-C, and on Unix at SIGTERM, which service managers send.
///
/// It never ends if neither can be caught: the system then ends the process.
pub async fn stop_signal() {
    eval_report::command::stop_signal().await;
}

/// The most headers of a request.
const MAX_HEADERS: usize = 64;

/// The memory for the headers of a request, and for pieces of its body.
const BUFFER_BYTES: usize = 64 << 10;

/// Answers requests until `stop` ends. Requests in progress then have the time `limits.grace` to end.
async fn serve_connections(
    listener: TcpListener,
    routes: Router,
    limits: &Limits,
    stop: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    // The timeout holds for idle connections too.
    http.timer(TokioTimer::new()).header_read_timeout(limits.headers);
    http.max_headers(MAX_HEADERS).max_buf_size(BUFFER_BYTES);
    // A client that has closed its sending half still gets an answer.
    http.half_close(true);
    let places = Arc::new(Semaphore::new(limits.connections));
    let graceful = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let (stream, place) = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let service = TowerToHyperService::new(routes.clone());
        let mut stream = TimeoutStream::new(stream);
        // Without it, hyper waits for ever for a client that does not read, and its place stays taken.
        stream.set_write_timeout(Some(limits.time));
        let connection = graceful.watch(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
        tokio::spawn(async move {
            // After an error of the connection, the client has gone or has its answer.
            drop(connection.await);
            drop(place);
        });
    }
    // No client can connect any more.
    drop(listener);
    drop(timeout(limits.grace, graceful.shutdown()).await);
}

/// The next connection, once there is a place for it.
async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> (TcpStream, OwnedSemaphorePermit) {
    loop {
        let Ok(place) = Arc::clone(places).acquire_owned().await else {
            // The semaphore is never closed.
            std::future::pending().await
        };
        match listener.accept().await {
            Ok((stream, SocketAddr::V4(_) | SocketAddr::V6(_))) => {
                // Small answers are sent at once. If the option cannot be set, they are only later.
                drop(stream.set_nodelay(true));
                return (stream, place);
            }
            // The client has gone, or no file descriptor is free until another connection ends.
            Err(_) => sleep(Duration::from_millis(20)).await,
        }
    }
}
