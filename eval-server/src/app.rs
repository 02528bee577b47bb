//! State that all requests share.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use tokio::sync::Semaphore;

use crate::access::{Access, Caller};
use crate::body::{self, Memory, Received};
use crate::limits::Limits;
use crate::options::ServerOptions;
use crate::refusal::Refusal;
use crate::sessions::Sessions;
use crate::work::{Workers, at_once};

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) access: Access,
    pub(crate) options: ServerOptions,
    pub(crate) workers: Workers,
    pub(crate) sessions: Sessions,
    pub(crate) streams: Arc<Semaphore>,
    /// The address that receives traces.
    pub(crate) otlp: Option<SocketAddr>,
    memory: Memory,
}

const MAX_STREAMS: usize = 32;

pub(crate) type Shared = Arc<App>;

impl App {
    pub(crate) fn new(access: Access, otlp: Option<SocketAddr>, options: ServerOptions) -> Self {
        Self {
            access,
            workers: Workers::new(&options.limits),
            memory: Memory::new(&options.limits),
            sessions: Sessions::new(&options.limits),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            otlp,
            options,
        }
    }

    /// Whether no request holds memory or a worker.
    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        self.memory.is_free(self.limits()) && self.workers.is_idle(self.limits())
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    pub(crate) async fn receive(&self, request: Request) -> Result<Received, Refusal> {
        body::receive(request, &self.memory, self.limits()).await
    }

    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let own = Arc::clone(self);
        self.workers.run(move || work(&own)).await?
    }

    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        request: Request,
        thread: Thread,
        work: impl FnOnce(Received) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let received = self.receive(request).await?;
        self.compute_with(received, thread, work).await
    }

    pub(crate) async fn compute_with<T: Send + 'static>(
        &self,
        mut received: Received,
        thread: Thread,
        work: impl FnOnce(Received) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let is_at_once = thread == Thread::BySize && received.is_small();
        let _waiting = received.wanted.waiting();
        let work = move || {
            received.unpack()?;
            work(received)
        };
        if is_at_once { at_once(work)? } else { self.workers.run(work).await? }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thread {
    /// The thread of the connection if the body is small, else a worker. The work must neither wait nor take long: the
    /// thread is one of tokio's.
    BySize,
    /// A worker. The work ends early if it checks whether a client still waits, and none does.
    Own,
}

impl Thread {
    /// The thread for work that asks judges, and waits for them, if the caller is trusted.
    pub(crate) fn for_caller(caller: Caller) -> Self {
        if caller == Caller::Trusted { Self::Own } else { Self::BySize }
    }
}

pub(crate) struct Call {
    pub(crate) app: Shared,
    pub(crate) caller: Caller,
    pub(crate) request: Request,
}

impl FromRequest<Shared> for Call {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &Shared) -> Result<Self, Refusal> {
        // `guard` in `routes.rs` has set the caller of each request.
        let caller = request.extensions().get().copied().unwrap_or(Caller::Remote);
        Ok(Self { app: Shared::clone(app), caller, request })
    }
}

pub(crate) struct Id(pub(crate) String);

/// An id that is no text gets a refusal as JSON, like all others: axum's own refusal is no JSON.
impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(id)| Self(id))
            .map_err(|error| Refusal::bad(format!("the path: {}", error.body_text())))
    }
}
