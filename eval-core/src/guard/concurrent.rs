//! Running several futures at once, with their results in order.

use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio::task::JoinSet;

/// Polls at most `limit` futures at a time, at least one. The results are in the order of the futures.
#[cfg(any(test, feature = "judges"))]
pub(crate) async fn all<F: Future + Unpin>(
    limit: usize,
    futures: impl IntoIterator<Item = F>,
) -> Vec<F::Output> {
    all_until(limit, futures, std::future::pending()).await.into_iter().flatten().collect()
}

/// Polls at most `limit` futures at a time, at least one, until `stop` ends. Futures that have not ended by
/// then are dropped, and have no result.
pub(crate) async fn all_until<F: Future + Unpin>(
    limit: usize,
    futures: impl IntoIterator<Item = F>,
    stop: impl Future<Output = ()>,
) -> Vec<Option<F::Output>> {
    let mut stop = pin!(stop);
    let limit = limit.max(1);
    let mut waiting = futures.into_iter().enumerate();
    let mut running: Vec<(usize, F)> = Vec::new();
    let mut results: Vec<Option<F::Output>> = Vec::new();
    poll_fn(|context| {
        if stop.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        loop {
            while running.len() < limit {
                let Some((at, future)) = waiting.next() else { break };
                results.push(None);
                running.push((at, future));
            }
            if running.is_empty() {
                return Poll::Ready(());
            }
            let before = running.len();
            running.retain_mut(|(at, future)| match Pin::new(future).poll(context) {
                Poll::Ready(result) => {
                    results[*at] = Some(result);
                    false
                }
                Poll::Pending => true,
            });
            if running.len() == before {
                return Poll::Pending;
            }
        }
    })
    .await;
    results.extend(waiting.map(|_| None));
    results
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShutDown;

/// Does work on a task of its own, on any thread of the runtime. The task ends if the caller stops waiting
/// for it. A panic of the work is resumed in the caller.
pub(crate) async fn on_own_task<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, ShutDown> {
    // A set ends its tasks when it is dropped.
    let mut tasks = JoinSet::new();
    tasks.spawn(work);
    match tasks.join_next().await {
        Some(Ok(result)) => Ok(result),
        Some(Err(error)) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(ShutDown),
        },
        None => Err(ShutDown),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn results_keep_the_order_and_the_limit_holds() {
        let running = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let results = runtime.block_on(super::all(
            3,
            (0..10_u64).map(|n| {
                let (running, most) = (&running, &most);
                Box::pin(async move {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(10 - n)).await;
                    running.fetch_sub(1, Ordering::SeqCst);
                    n
                })
            }),
        ));
        assert_eq!(results, (0..10).collect::<Vec<_>>());
        assert_eq!(most.into_inner(), 3);
    }

    #[test]
    fn what_has_not_ended_by_the_stop_has_no_result() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let results = runtime.block_on(async {
            let work = (0..4_u64).map(|n| {
                Box::pin(async move {
                    if n == 1 {
                        std::future::pending::<()>().await;
                    }
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    n
                })
            });
            super::all_until(2, work, tokio::time::sleep(Duration::from_millis(200))).await
        });
        assert_eq!(results, [Some(0), None, Some(2), Some(3)]);
        let none = runtime.block_on(super::all_until(2, [Box::pin(async {})], std::future::ready(())));
        assert_eq!(none, [None]);
    }
}

#[cfg(test)]
mod own_task_tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_task_ends_with_the_one_who_waits_for_it() {
        let alive = Arc::new(());
        let held = alive.clone();
        let work = on_own_task(async move {
            std::future::pending::<()>().await;
            drop(held);
        });
        assert!(tokio::time::timeout(Duration::from_millis(20), work).await.is_err());
        tokio::task::yield_now().await;
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[tokio::test]
    #[should_panic(expected = "oh")]
    async fn a_panic_is_handed_on() {
        let _ = on_own_task(async { panic!("oh") }).await;
    }
}
