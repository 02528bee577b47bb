//! Running several futures at once, with their results in order.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// Polls at most `limit` futures at a time, at least one.
///
/// The results are in the order of the futures. The order in which they end does not matter.
pub(crate) async fn all<F: Future + Unpin>(
    limit: usize,
    futures: impl IntoIterator<Item = F>,
) -> Vec<F::Output> {
    let limit = limit.max(1);
    let mut waiting = futures.into_iter().enumerate();
    let mut running: Vec<(usize, F)> = Vec::new();
    let mut results: Vec<Option<F::Output>> = Vec::new();
    poll_fn(|context| {
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
    results.into_iter().flatten().collect()
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
}
