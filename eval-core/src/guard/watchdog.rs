//! A thread that warns on stderr when code is still at work past its time limit.
//!
//! Blocked code cannot be cancelled, and libtest shows nothing while it hangs. One line on stderr names the case, the
//! run and the turn. One thread serves the whole process. It sleeps until the next deadline.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use eval_support::mutex::Mutex;

use super::lanes::{Late, Polls};

/// The time between the limit and the warning. Before that, the timer has ended code that awaits.
const GRACE: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct Watch {
    deadline: Option<Deadline>,
}

/// A time, and the number of the watch.
type Deadline = (Instant, u64);

#[derive(Default)]
struct Watched {
    next: u64,
    deadlines: BTreeMap<Deadline, Line>,
    /// The time at which the thread wakes by itself; `None` while it sleeps until it is woken.
    wakes_at: Option<Instant>,
}

/// The name of a piece of work in the line. It is formatted only if the work is late.
#[derive(Clone, Debug)]
pub(crate) struct What {
    whose: Arc<str>,
    turn: Option<usize>,
    doing: &'static str,
}

impl What {
    pub(crate) fn of(whose: impl Into<Arc<str>>) -> Self {
        Self { whose: whose.into(), turn: None, doing: "" }
    }

    pub(crate) fn turn(self, turn: usize) -> Self {
        Self { turn: Some(turn), ..self }
    }

    pub(crate) fn doing(self, doing: &'static str) -> Self {
        Self { doing, ..self }
    }
}

/// For example `case `c`, run 1 of 1, turn 2, reading the agent's details,`.
impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},", self.whose)?;
        if let Some(turn) = self.turn {
            write!(f, " turn {turn},")?;
        }
        if self.doing.is_empty() { Ok(()) } else { write!(f, " {},", self.doing) }
    }
}

/// The text of a guarded line depends on the state of the code when the line is shown.
enum Line {
    Ready(String),
    Guarded { what: What, limit: Duration, polls: Arc<Polls> },
}

impl Line {
    /// The text; `None` if the watched code waits for other code, which has a line of its own.
    fn text(&self) -> Option<String> {
        match self {
            Self::Ready(line) => Some(line.clone()),
            Self::Guarded { what, limit, polls } => match polls.if_late() {
                Late::Blocks => Some(format!(
                    "{what} has been blocking its thread past its timeout of {limit:?}; it cannot be cancelled (wrap \
                     blocking work in `tokio::task::spawn_blocking`)"
                )),
                Late::Waits => Some(format!(
                    "{what} could not be ended at its timeout of {limit:?}: something else blocks the runtime, such as \
                     a task that was spawned (wrap blocking work in `tokio::task::spawn_blocking`)"
                )),
                Late::IsHeldUp => None,
            },
        }
    }
}

#[derive(Default)]
struct Watchdog {
    watched: Mutex<Watched>,
    changed: Condvar,
}

impl Watch {
    /// Warns of `what` if this value still exists after `left` and a grace period. The line shows the time
    /// limit, `limit`, and depends on `polls`.
    pub(super) fn start(left: Duration, limit: Duration, what: &What, polls: &Arc<Polls>) -> Self {
        Self::until(left, || Line::Guarded { what: what.clone(), limit, polls: polls.clone() })
    }

    /// Shows `line` if this value still exists after `limit` and a grace period.
    pub(crate) fn start_with(limit: Duration, line: &dyn Fn() -> String) -> Self {
        Self::until(limit, || Line::Ready(line()))
    }

    fn until(limit: Duration, line: impl FnOnce() -> Line) -> Self {
        // A limit beyond the range of the clock never ends, so there is nothing to watch.
        let Some(deadline) = limit.checked_add(GRACE).and_then(|wait| Instant::now().checked_add(wait))
        else {
            return Self { deadline: None };
        };
        let dog = watchdog();
        let mut watched = dog.watched.lock();
        let number = watched.next;
        watched.next += 1;
        watched.deadlines.insert((deadline, number), line());
        // Deadlines mostly come in order, so the thread is rarely woken. Waking it would cost more than a short turn.
        if watched.wakes_at.is_none_or(|wakes_at| deadline < wakes_at) {
            watched.wakes_at = Some(deadline);
            dog.changed.notify_one();
        }
        Self { deadline: Some((deadline, number)) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(deadline) = self.deadline {
            // The thread may wake once without need. It then finds the next deadline.
            let mut watched = watchdog().watched.lock();
            // The thread has shown the line, or moved its deadline.
            if watched.deadlines.remove(&deadline).is_none() {
                watched.deadlines.retain(|(_, number), _| *number != deadline.1);
            }
        }
    }
}

impl Watchdog {
    fn guard(&self) {
        use std::io::Write;
        let mut watched = self.watched.lock();
        loop {
            let now = Instant::now();
            let next = watched.deadlines.keys().next().map(|(deadline, _)| *deadline);
            watched.wakes_at = next;
            watched = match next {
                None => self.changed.wait(watched).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) if deadline > now => {
                    let wait = self.changed.wait_timeout(watched, deadline - now);
                    wait.unwrap_or_else(PoisonError::into_inner).0
                }
                Some(_) => {
                    if let Some(((_, number), line)) = watched.deadlines.pop_first() {
                        match line.text() {
                            // Straight to the file descriptor: the harness captures what tests print,
                            // and would show this only after the test that never ends.
                            Some(text) => drop(writeln!(std::io::stderr().lock(), "evalset: {text}")),
                            // It may block later.
                            None => drop(watched.deadlines.insert((now + GRACE, number), line)),
                        }
                    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_blames_only_what_is_being_polled() {
        let polls = Arc::new(Polls::new(None));
        let (what, limit) = (What::of("case `c`").turn(1), Duration::from_secs(1));
        let line = Line::Guarded { what, limit, polls: polls.clone() };
        let waits = line.text().unwrap();
        assert!(waits.starts_with("case `c`, turn 1, could not be ended at its timeout of 1s"), "{waits}");
        let blocks = polls.during(|| line.text()).unwrap();
        assert!(blocks.starts_with("case `c`, turn 1, has been blocking its thread past"), "{blocks}");
    }
}
