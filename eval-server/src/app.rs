//! What all requests share.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::Request;
use tokio::sync::Semaphore;

use crate::access::{Access, Caller};
use crate::body::{self, Received};
use crate::limits::Limits;
use crate::memory::Memory;
use crate::options::ServerOptions;
use crate::refusal::Refusal;
use crate::sessions::Sessions;
use crate::work::{Workers, at_once};

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
    pub(crate) fn new(access: Access, otlp: Option<SocketAddr>, options: ServerOptions) -> Self {
        Self {
            access,
            workers: Workers::new(&options.limits),
            memory: Memory::new(&options.limits),
            sessions: Sessions::new(&options.limits),
            streams: Arc::new(Semaphore::new(STREAMS)),
            otlp,
            options,
        }
    }

    /// Whether no request has anything of what is limited.
    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        self.memory.is_free(self.limits()) && self.workers.is_idle(self.limits())
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// The body of a request.
    pub(crate) async fn receive(&self, request: Request) -> Result<Received, Refusal> {
        body::receive(request, &self.memory, self.limits()).await
    }

    /// Reads a request and computes its answer: at once if it is small, else on a thread for such work. `work` must not wait.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        request: Request,
        work: impl FnOnce(Received) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let received = self.receive(request).await?;
        self.compute_with(received, work).await
    }

    /// The same for a body that has arrived.
    pub(crate) async fn compute_with<T: Send + 'static>(
        &self,
        received: Received,
        work: impl FnOnce(Received) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        if received.is_small() {
            at_once(with_unpacked(received, work))?
        } else {
            self.apart(received, work).await
        }
    }

    /// The same on a thread for such work, whose work ends early if nobody waits for it any more, and it asks.
    async fn apart<T: Send + 'static>(
        &self,
        received: Received,
        work: impl FnOnce(Received) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let _waiting = received.wanted.waiting();
        self.workers.run(with_unpacked(received, work)).await?
    }

    /// The same for work that asks judges, and waits for them, if the caller may.
    pub(crate) async fn compute_or_ask<T: Send + 'static>(
        &self,
        caller: Caller,
        request: Request,
        work: impl FnOnce(Received) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        if caller != Caller::Trusted {
            return self.compute(request, work).await;
        }
        self.compute_apart(request, work).await
    }

    /// The same for work that may wait or takes long, whatever the size of the body: always on a thread for such work.
    pub(crate) async fn compute_apart<T: Send + 'static>(
        &self,
        request: Request,
        work: impl FnOnce(Received) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let received = self.receive(request).await?;
        self.apart(received, work).await
    }

    /// Reads a request and computes its answer, in two steps: the second is always on a thread for such work if the caller may ask
    /// judges, or if what was read `takes_long` in spite of its size.
    pub(crate) async fn compute_or_ask_read<R: Send + 'static, T: Send + 'static>(
        &self,
        caller: Caller,
        request: Request,
        read: impl FnOnce(&Received) -> Result<R, Refusal> + Send + 'static,
        takes_long: impl FnOnce(&Received, &R) -> bool,
        work: impl FnOnce(&Received, R) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let received = self.receive(request).await?;
        if caller == Caller::Trusted || !received.is_small() {
            let both = |received: Received| read(&received).map(|read| work(&received, read));
            return self.apart(received, both).await?;
        }
        // What is small is not packed.
        let read = at_once(|| read(&received))??;
        if takes_long(&received, &read) {
            self.apart(received, |received| work(&received, read)).await
        } else {
            at_once(|| work(&received, read))
        }
    }
}

fn with_unpacked<T>(
    mut received: Received,
    work: impl FnOnce(Received) -> T,
) -> impl FnOnce() -> Result<T, Refusal> {
    move || {
        received.unpack()?;
        Ok(work(received))
    }
}
