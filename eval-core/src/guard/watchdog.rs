//! A thread that speaks up when code blocks its thread past its time.
//!
//! Blocked code cannot be cancelled, and libtest shows nothing while it hangs; one line on stderr
//! names the case, run and turn. One thread serves the process; it sleeps until the next deadline.

use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long past its limit a turn may be before the watchdog says so: the timer has had its chance.
const GRACE: Duration = Duration::from_millis(500);

/// Watches one piece of work until it is dropped.
pub(crate) struct Watch {
    key: Option<Key>,
}

type Key = (Instant, u64);

#[derive(Default)]
struct Watched {
    next: u64,
    /// In order; those that begin later mostly end later, so what is new goes to the end.
    deadlines: Vec<(Key, Work)>,
    /// When the thread wakes by itself; nothing while it sleeps until it is woken.
    wakes_at: Option<Instant>,
}

/// What is watched: its name and its limit.
struct Work {
    what: String,
    limit: Duration,
}

#[derive(Default)]
struct Watchdog {
    watched: Mutex<Watched>,
    changed: Condvar,
}

impl Watch {
    /// Speaks up when this is still alive after `limit` and a grace.
    pub(crate) fn start(limit: Duration, what: &dyn Fn() -> String) -> Self {
        // A limit beyond the clock's range never ends, and needs no watching.
        let Some(deadline) = limit.checked_add(GRACE).and_then(|wait| Instant::now().checked_add(wait))
        else {
            return Self { key: None };
        };
        let dog = watchdog();
        let mut watched = dog.watched();
        let key = (deadline, watched.next);
        watched.next += 1;
        let place = watched.deadlines.partition_point(|(earlier, _)| *earlier < key);
        watched.deadlines.insert(place, (key, Work { what: what(), limit }));
        // Deadlines mostly come in order, so the thread is rarely woken: that would cost more than
        // many a turn.
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
            // The thread may wake once for nothing; it finds the next deadline then.
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
                    let (_, Work { what, limit }) = watched.deadlines.remove(0);
                    // Straight to the file descriptor: the harness captures what tests print,
                    // and would show this only after the test that never ends.
                    let _ = writeln!(
                        std::io::stderr().lock(),
                        "evalset: {what} has been blocking its thread past its timeout of {limit:?}; it \
                         cannot be cancelled (wrap blocking work in `tokio::task::spawn_blocking`)",
                    );
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
        // Without a thread there is no warning; the run itself does not depend on it.
        let _ = std::thread::Builder::new().name("evalset-watchdog".to_owned()).spawn(move || dog.guard());
        dog
    })
}
