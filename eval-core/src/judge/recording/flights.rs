//! One question is asked once, however many ask it at the same time.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

use crate::judge::{JudgeError, JudgeReply};

/// A question by its key, and the number of the sample.
pub(super) type Asked = (String, u32);

type Outcome = Result<JudgeReply, JudgeError>;

/// The questions that are being asked.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<HashMap<Asked, Arc<OnceCell<Outcome>>>>);

/// What came of a question.
pub(super) enum Landed {
    /// It was asked here.
    Asked(Outcome),
    /// Somebody else was asking it, and got this.
    Shared(Outcome),
}

impl Flights {
    /// Asks a question, or waits for those who are asking it. If they give up, the next one of those who wait asks.
    ///
    /// All who wait share the outcome. A question that comes after an error is asked again.
    pub(super) async fn ask(&self, asked: Asked, ask: impl Future<Output = Outcome>) -> Landed {
        let flight = self.join(asked);
        let mut own = None;
        let outcome = flight.cell.get_or_init(async || {
            let outcome = ask.await;
            own = Some(());
            outcome
        });
        let outcome = outcome.await.clone();
        if own.is_some() { Landed::Asked(outcome) } else { Landed::Shared(outcome) }
    }

    fn join(&self, asked: Asked) -> Flight<'_> {
        let cell = self.open().entry(asked.clone()).or_default().clone();
        Flight { flights: self, asked, cell }
    }

    /// Held for moments: nothing is read, written or awaited under it.
    fn open(&self) -> MutexGuard<'_, HashMap<Asked, Arc<OnceCell<Outcome>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who asks a question or waits for it.
struct Flight<'a> {
    flights: &'a Flights,
    asked: Asked,
    cell: Arc<OnceCell<Outcome>>,
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let mut open = self.flights.open();
        let is_mine = open.get(&self.asked).is_some_and(|cell| Arc::ptr_eq(cell, &self.cell));
        // The map holds one of two, so nobody else waits.
        if is_mine && (self.cell.initialized() || Arc::strong_count(&self.cell) == 2) {
            open.remove(&self.asked);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::judge::JudgeErrorKind;

    fn asked() -> Asked {
        ("?".to_owned(), 0)
    }

    fn text(landed: &Landed) -> (bool, Result<&str, String>) {
        let (own, outcome) = match landed {
            Landed::Asked(outcome) => (true, outcome),
            Landed::Shared(outcome) => (false, outcome),
        };
        (own, outcome.as_ref().map(|reply| reply.text.as_str()).map_err(ToString::to_string))
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_ask_at_the_same_time_share_one_answer_or_one_error() {
        for outcome in [Ok(JudgeReply::new("yes")), Err(JudgeError::new(JudgeErrorKind::Failed, "503"))] {
            let (flights, count) = (Flights::default(), AtomicUsize::new(0));
            let ask = || {
                flights.ask(asked(), async {
                    count.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    outcome.clone()
                })
            };
            let (one, two, three) = tokio::join!(ask(), ask(), ask());
            assert_eq!([&one, &two, &three].map(|landed| text(landed).0), [true, false, false]);
            assert_eq!(text(&two).1, text(&one).1);
            assert_eq!((count.load(Ordering::SeqCst), flights.open().len()), (1, 0));
            ask().await;
            assert_eq!(count.load(Ordering::SeqCst), 2, "who comes later asks again");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_leaves_the_question_to_the_next() {
        let flights = Flights::default();
        let hangs =
            tokio::time::timeout(Duration::from_secs(1), flights.ask(asked(), std::future::pending()));
        let waits = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            flights.ask(asked(), async { Ok(JudgeReply::new("yes")) }).await
        };
        let (hangs, waits) = tokio::join!(hangs, waits);
        assert!(hangs.is_err());
        assert_eq!(text(&waits), (true, Ok("yes")));
        assert!(flights.open().is_empty());
    }
}
