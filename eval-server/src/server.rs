//! A server: where it listens, and what it answers.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::{fmt, io};

use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::access::Access;
use crate::app::App;
use crate::options::ServerOptions;
use crate::receiver::{self, Receiver};
use crate::token::{Token, TokenError};
use crate::{connections, openapi, routes};

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

/// Why a server cannot start.
#[derive(Debug)]
#[non_exhaustive]
pub enum BindError {
    /// The address is taken, or is not one of this machine.
    Address {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The address on which traces are to be received is taken.
    Receiver {
        /// The address.
        address: SocketAddr,
        /// Why.
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
    /// Listens on an address. Port 0 is any that is free.
    pub async fn bind(address: SocketAddr, options: ServerOptions) -> Result<Self, BindError> {
        let token = match &options.token {
            Some(token) => Token::chosen(token),
            None => Token::random(),
        };
        let token = token.map_err(BindError::Token)?;
        let cookie = Token::random().map_err(BindError::Token)?;
        let failed = |source| BindError::Address { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let otlp = match options.otlp_port {
            Some(port) => Some(bound(SocketAddr::new(address.ip(), port)).await?),
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

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it receives traces over OTLP, if it does.
    pub fn otlp_address(&self) -> Option<SocketAddr> {
        self.app.otlp
    }

    /// Where it is reached on this machine, with the token: whoever has it may read the records.
    pub fn url(&self) -> String {
        format!("{}/?token={}", self.origin(), self.token())
    }

    /// Where it is reached on this machine, without the token: `http://127.0.0.1:8001`.
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
        self.app.access.token().as_str()
    }

    /// Answers requests until `stop` ends. Then nobody can connect any more, and requests that are in work have
    /// [`Limits::grace`](crate::Limits::grace) to end.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { listener, receiver, app, .. } = self;
        let limits = app.limits().clone();
        let (tell, told) = watch::channel(false);
        // An end that cannot be told has come.
        let stopped =
            |mut told: watch::Receiver<bool>| async move { drop(told.wait_for(|ended| *ended).await) };
        let own = routes::all(Arc::clone(&app), openapi::document());
        let answers = connections::serve(listener, own, &limits, stopped(told.clone()));
        let receives = async {
            if let Some((listener, receiver)) = receiver {
                connections::serve(listener, receiver::routes(receiver), &limits, stopped(told)).await;
            }
        };
        let stops = async {
            stop.await;
            // Who looks on has nothing to wait for.
            app.sessions.close();
            tell.send_replace(true);
        };
        tokio::join!(answers, receives, stops);
    }
}

async fn bound(address: SocketAddr) -> Result<(TcpListener, SocketAddr), BindError> {
    let failed = |source| BindError::Receiver { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

#[cfg(test)]
mod tests;

/// Ends when the process is asked to end: at Ctrl-C, and on Unix at SIGTERM, which service managers send.
///
/// Never, if neither can be noticed: the system then ends the process.
pub async fn stop_signal() {
    tokio::select! {
        () = ctrl_c() => {}
        () = terminated() => {}
    }
}

async fn ctrl_c() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(unix)]
async fn terminated() {
    match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(mut signals) => drop(signals.recv().await),
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}
