//! Threads that compute answers beside the threads of connections, a bounded number at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout_at;

use crate::events::ReaderGone;
use crate::limits::Limits;
use crate::refusal::Refusal;

/// Whether a client still waits for an answer. Long work asks it now and then, and frees its thread if not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted(Arc<AtomicBool>);

/// The wait of a client. It ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Waiting(Wanted);

impl Wanted {
    pub(crate) fn waiting(&self) -> Waiting {
        Waiting(self.clone())
    }

    pub(crate) fn check(&self) -> Result<(), ReaderGone> {
        if self.0.load(Ordering::Relaxed) { Err(ReaderGone) } else { Ok(()) }
    }

    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

#[derive(Debug)]
pub(crate) struct Workers {
    free: Arc<Semaphore>,
    /// Places in the queue.
    waiting: Semaphore,
    time: Duration,
}

/// Computes an answer on the thread of the connection. A panic is an error of this request alone.
pub(crate) fn at_once<T>(work: impl FnOnce() -> T) -> Result<T, Refusal> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| failed())
}

/// The result of a future that waits for judges and for programs that compute metrics, and for nothing else: then this thread
/// may block.
pub(crate) fn complete<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Handle::current().block_on(future),
    }
}

fn failed() -> Refusal {
    Refusal::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "the server failed at this request; the others are not affected",
    )
}

impl Workers {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            free: Arc::new(Semaphore::new(limits.workers)),
            waiting: Semaphore::new(limits.waiting.min(Semaphore::MAX_PERMITS)),
            time: limits.time,
        }
    }

    /// The right to compute. It must live as long as the work does, also if no client waits for it any more.
    pub(crate) async fn permit(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        if let Ok(permit) = self.free.clone().try_acquire_owned() {
            return Ok(permit);
        }
        let full = |_| Refusal::busy("too many requests wait; send it again later");
        let _place = self.waiting.try_acquire().map_err(full)?;
        match tokio::time::timeout(self.time, self.free.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Refusal::busy("no thread was free in time; send it again later")),
        }
    }

    /// Computes an answer. A panic is an error of this request alone. Work that does not check [`Wanted`]
    /// keeps its thread until it ends, even after the timeout.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let until = tokio::time::Instant::now() + self.time;
        let permit = self.permit().await?;
        let task = spawn_blocking(move || {
            let result = work();
            drop(permit);
            result
        });
        match timeout_at(until, task).await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(_)) => Err(failed()),
            Err(_) => {
                Err(Refusal::busy(format!("there is no answer after {} seconds", self.time.as_secs_f64())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    impl Workers {
        pub(crate) fn is_idle(&self, limits: &Limits) -> bool {
            self.free.available_permits() == limits.workers
                && self.waiting.available_permits() == limits.waiting
        }
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn a_panic_is_an_error_of_its_request_alone() {
        block_on(async {
            let workers = Workers::new(&Limits::default().workers(1));
            assert!(workers.run(|| panic!("on purpose")).await.is_err());
            assert_eq!(workers.run(|| 1).await.ok(), Some(1));
        });
        assert!(at_once(|| panic!("on purpose")).is_err());
    }

    #[test]
    fn what_waits_is_awaited_on_a_thread_that_computes() {
        block_on(async {
            let workers = Workers::new(&Limits::default());
            let waits = || {
                complete(async {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    1
                })
            };
            assert_eq!(workers.run(waits).await.ok(), Some(1));
            assert_eq!(at_once(|| complete(async { 1 })).ok(), Some(1));
        });
    }

    #[test]
    fn what_asks_whether_it_is_wanted_frees_its_thread_when_its_time_is_over_or_its_client_has_gone() {
        block_on(async {
            let limits = Limits::default().workers(1).waiting(0).time(Duration::from_millis(50));
            let workers = Workers::new(&limits);
            let free = async || {
                while workers.run(|| 1).await.is_err() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            let work = |wanted: Wanted| {
                move || {
                    while wanted.check().is_ok() {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }
            };
            let wanted = Wanted::default();
            let waiting = wanted.waiting();
            assert!(workers.run(work(wanted)).await.is_err());
            assert!(workers.run(|| 1).await.is_err(), "the thread is still at work");
            drop(waiting);
            free().await;
            let wanted = Wanted::default();
            let request = async {
                let _waiting = wanted.waiting();
                workers.run(work(wanted.clone())).await
            };
            assert!(tokio::time::timeout(Duration::from_millis(5), request).await.is_err());
            free().await;
        });
    }

    #[test]
    fn what_does_not_ask_keeps_its_thread_and_others_are_refused() {
        block_on(async {
            let limits = Limits::default().workers(1).waiting(0).time(Duration::from_millis(50));
            let workers = Workers::new(&limits);
            let (end, ends) = mpsc::channel::<()>();
            assert!(workers.run(move || ends.recv().is_ok()).await.is_err());
            assert!(workers.run(|| 1).await.is_err(), "the thread is still at work");
            drop(end);
            while workers.run(|| 1).await.is_err() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            assert!(workers.is_idle(&limits));
        });
    }
}
