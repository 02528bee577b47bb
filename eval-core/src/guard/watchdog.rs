//! A thread that warns on stderr when code is still at work past its time limit.
//!
//! Blocked code cannot be cancelled, and libtest shows nothing while it hangs. One line on stderr names the case, the
//! run and the turn. One thread serves the whole process. It sleeps until the next deadline.

use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long after the limit the watchdog warns. Code that awaits was ended by the timer before that.
const GRACE: Duration = Duration::from_millis(500);

/// Watches one piece of work until it is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    key: Option<Key>,
}

type Key = (Instant, u64);

#[derive(Default)]
struct Watched {
    next: u64,
    /// Sorted. Work that begins later mostly ends later, so new deadlines go to the end.
    ///
    /// The text is the line that is shown.
    deadlines: Vec<(Key, String)>,
    /// When the thread wakes by itself; `None` while it sleeps until it is woken.
    wakes_at: Option<Instant>,
}

#[derive(Default)]
struct Watchdog {
    watched: Mutex<Watched>,
    changed: Condvar,
}

impl Watch {
    /// Warns that `what` blocks its thread if this value still exists after `limit` and a grace period.
    pub(crate) fn start(limit: Duration, what: &dyn Fn() -> String) -> Self {
        Self::start_with(limit, &|| {
            format!(
                "{} has been blocking its thread past its timeout of {limit:?}; it cannot be cancelled (wrap \
                 blocking work in `tokio::task::spawn_blocking`)",
                what()
            )
        })
    }

    /// Shows `line` if this value still exists after `limit` and a grace period.
    pub(crate) fn start_with(limit: Duration, line: &dyn Fn() -> String) -> Self {
        // A limit beyond the range of the clock never ends, so there is nothing to watch.
        let Some(deadline) = limit.checked_add(GRACE).and_then(|wait| Instant::now().checked_add(wait))
        else {
            return Self { key: None };
        };
        let dog = watchdog();
        let mut watched = dog.watched();
        let key = (deadline, watched.next);
        watched.next += 1;
        let place = watched.deadlines.partition_point(|(earlier, _)| *earlier < key);
        watched.deadlines.insert(place, (key, line()));
        // Deadlines mostly come in order, so the thread is rarely woken. Waking it would cost more than a short turn.
        if watched.wakes_at.is_none_or(|wakes_at| deadline < wakes_at) {
            watched.wakes_at = Some(deadline);
            dog.changed.notify_one();
        }
        Self { key: Some(key) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            // The thread may wake once without need. It then finds the next deadline.
            let mut watched = watchdog().watched();
            if let Ok(place) = watched.deadlines.binary_search_by_key(&key, |(key, _)| *key) {
                watched.deadlines.remove(place);
            }
        }
    }
}

impl Watchdog {
    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn guard(&self) {
        use std::io::Write;
        let mut watched = self.watched();
        loop {
            let now = Instant::now();
            let next = watched.deadlines.first().map(|((deadline, _), _)| *deadline);
            watched.wakes_at = next;
            watched = match next {
                None => self.changed.wait(watched).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) if deadline > now => {
                    let wait = self.changed.wait_timeout(watched, deadline - now);
                    wait.unwrap_or_else(PoisonError::into_inner).0
                }
                Some(_) => {
                    let (_, line) = watched.deadlines.remove(0);
                    // Straight to the file descriptor: the harness captures what tests print,
                    // and would show this only after the test that never ends.
                    let _ = writeln!(std::io::stderr().lock(), "evalset: {line}");
                    watched
                }
            };
        }
    }
}

fn watchdog() -> &'static Watchdog {
    static DOG: OnceLock<&'static Watchdog> = OnceLock::new();
    DOG.get_or_init(|| {
        let dog: &'static Watchdog = Box::leak(Box::default());
        // If no thread can be started there is no warning. The run does not depend on it.
        let _ = std::thread::Builder::new().name("evalset-watchdog".to_owned()).spawn(move || dog.guard());
        dog
    })
}
