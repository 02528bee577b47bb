//! What all requests share.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::Request;
use tokio::sync::Semaphore;

use crate::access::Access;
use crate::body::{Memory, Received};
use crate::limits::Limits;
use crate::options::ServerOptions;
use crate::refusal::Refusal;
use crate::sessions::Sessions;
use crate::token::Token;
use crate::work::Workers;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) access: Access,
    pub(crate) options: ServerOptions,
    pub(crate) workers: Workers,
    pub(crate) sessions: Sessions,
    /// Places for those who look at the sessions.
    pub(crate) streams: Arc<Semaphore>,
    /// Where traces are received.
    pub(crate) otlp: Option<SocketAddr>,
    memory: Memory,
}

/// How many may look at the sessions at a time.
const STREAMS: usize = 32;

/// What handlers are given.
pub(crate) type Shared = Arc<App>;

impl App {
    pub(crate) fn new(
        address: SocketAddr,
        otlp: Option<SocketAddr>,
        token: Token,
        options: ServerOptions,
    ) -> Self {
        Self {
            access: Access::new(address, &options.hosts, token),
            workers: Workers::new(&options.limits),
            memory: Memory::new(&options.limits),
            sessions: Sessions::new(&options.limits),
            streams: Arc::new(Semaphore::new(STREAMS)),
            otlp,
            options,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// The body of a request.
    pub(crate) async fn receive(&self, request: Request) -> Result<Received, Refusal> {
        self.memory.receive(request, self.limits()).await
    }

    /// Reads a request and computes its answer on a thread for such work.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        request: Request,
        work: impl FnOnce(Received) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let received = self.receive(request).await?;
        self.workers.run(move || work(received)).await
    }
}
