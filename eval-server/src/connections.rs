//! Connections: accepted up to a number, with time limits, and ended in peace.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;

use crate::limits::Limits;

/// The most headers of a request.
const MOST_HEADERS: usize = 64;

/// The memory for the headers of a request, and for pieces of its body.
const BUFFER: usize = 64 << 10;

/// Answers requests until `stop` ends, and then those that are in work, for as long as they are given.
pub(crate) async fn serve(
    listener: TcpListener,
    routes: Router,
    limits: &Limits,
    stop: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    // It holds for connections without requests too.
    http.timer(TokioTimer::new()).header_read_timeout(limits.headers);
    http.max_headers(MOST_HEADERS).max_buf_size(BUFFER);
    // A client that has sent all that it sends is answered.
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
        // hyper waits for ever for a client that does not read, and its place with it.
        stream.set_write_timeout(Some(limits.time));
        let connection = graceful.watch(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
        tokio::spawn(async move {
            // What goes wrong with a connection is the client's, who has gone, or was answered.
            drop(connection.await);
            drop(place);
        });
    }
    // Nobody can connect any more.
    drop(listener);
    drop(timeout(limits.grace, graceful.shutdown()).await);
}

/// The next connection, once there is a place for it.
async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> (TcpStream, OwnedSemaphorePermit) {
    loop {
        let Ok(place) = Arc::clone(places).acquire_owned().await else {
            // The places are never closed.
            std::future::pending().await
        };
        match listener.accept().await {
            Ok((stream, SocketAddr::V4(_) | SocketAddr::V6(_))) => {
                // Small answers go at once. Without it they are later, and right.
                drop(stream.set_nodelay(true));
                return (stream, place);
            }
            // The client has gone, or there are no more files to open: others must end first.
            Err(_) => sleep(Duration::from_millis(20)).await,
        }
    }
}
