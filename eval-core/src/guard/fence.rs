//! Running the user's code under guard: it may fail, panic, hang, or block its thread.

use std::any::Any;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use super::lanes;
use super::lanes::Polls;
use super::watchdog::{Watch, What};
use crate::agent::{BoxError, Unreachable};

/// The beginning of the message about a time limit. The limit follows, as `Debug` shows a [`Duration`].
pub const TIMED_OUT: &str = "timed out after ";

#[derive(Debug)]
pub(crate) enum Fault {
    /// It returned an error.
    Failed(BoxError),
    /// It panicked with this message.
    Panicked(String),
    /// It was still waiting when its time was up, and was dropped.
    TimedOut(Duration),
    /// It blocked its thread and returned after its time was up.
    Blocked { limit: Duration, took: Duration },
    /// It returned after its time was up although it blocked nothing itself.
    HeldUp { limit: Duration, took: Duration },
}

impl Fault {
    pub(crate) fn is_unreachable(&self) -> bool {
        matches!(self, Self::Failed(error) if Unreachable::is_in(&**error))
    }
}

/// The setting behind a time limit, as errors name it.
pub(crate) const LIMIT_IS_TIMEOUT: &str = "`timeout` sets the limit";

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => {
                let mut text = error.to_string();
                f.write_str(&text)?;
                let mut source = error.source();
                while let Some(cause) = source {
                    // Many errors repeat the text of their source in their own.
                    let told = std::mem::replace(&mut text, cause.to_string());
                    if !told.contains(&text) {
                        write!(f, ": {text}")?;
                    }
                    source = cause.source();
                }
                Ok(())
            }
            Self::Panicked(message) => write!(f, "panicked: {message}"),
            Self::TimedOut(limit) => write!(f, "{TIMED_OUT}{limit:?} ({LIMIT_IS_TIMEOUT})"),
            Self::Blocked { limit, took } => write!(
                f,
                "blocked its thread for {took:.1?} where {limit:?} is allowed (wrap blocking work in `spawn_blocking`)"
            ),
            Self::HeldUp { limit, took } => write!(
                f,
                "ended after {took:.1?} where {limit:?} is allowed: something else blocked the runtime, such as a task \
                 that was spawned (wrap blocking work in `spawn_blocking`)"
            ),
        }
    }
}

/// Calls a function and awaits its future until it ends, panics, or reaches its time limit.
///
/// The call itself is guarded too, since a function that is not `async` may do its work before it returns its future.
/// So is dropping the future after its time is up.
pub(crate) fn fenced<T, Fut>(
    limit: Duration,
    what: What,
    call: impl FnOnce() -> Fut,
) -> impl Future<Output = Result<T, Fault>>
where
    Fut: Future<Output = Result<T, BoxError>>,
{
    fenced_but_for(Waited::default, limit, what, call)
}

/// Time that does not count towards a limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waited {
    pub(crate) total: Duration,
    /// Whether more is being added right now.
    pub(crate) still: bool,
}

/// The least time by which a timer is extended when some of its time does not count.
const MIN_CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Like [`fenced`], but the time that `waited` reports does not count towards the limit.
///
/// Each turn of a test goes through here several times. So a single future wraps the call, instead of one for each
/// concern, and the timer of tokio is made only if the call has to wait.
pub(crate) async fn fenced_but_for<T, Fut>(
    waited: impl Fn() -> Waited,
    limit: Duration,
    what: What,
    call: impl FnOnce() -> Fut,
) -> Result<T, Fault>
where
    Fut: Future<Output = Result<T, BoxError>>,
{
    let begun = Instant::now();
    let polls = Arc::new(Polls::new(lanes::current()));
    let held_before = polls.held_up();
    let own = || {
        let held_up = polls.held_up().saturating_sub(held_before);
        begun.elapsed().saturating_sub(waited().total).saturating_sub(held_up)
    };
    // The call is made by the first poll.
    let mut work = Box::pin(async move { call().await });
    let mut left = limit;
    let ended = loop {
        let _watch = Watch::start(left, limit, &what, &polls);
        let (began, mut timer) = (Instant::now(), None);
        let polled = poll_fn(|context| {
            let poll = || {
                if let Poll::Ready(result) = work.as_mut().poll(context) {
                    return Poll::Ready(Some(result));
                }
                // Unconstrained, since work that used up the task's budget in tokio leaves nothing for the
                // timer.
                let sleep = || {
                    let sleep = tokio::time::sleep(left.saturating_sub(began.elapsed()));
                    Box::pin(tokio::task::unconstrained(sleep))
                };
                timer.get_or_insert_with(sleep).as_mut().poll(context).map(|()| None)
            };
            // The future is not polled again after a panic, so its broken state is never observed.
            match polls.during(|| catch_unwind(AssertUnwindSafe(poll))) {
                Ok(polled) => polled.map(Ok),
                Err(payload) => Poll::Ready(Err(payload)),
            }
        });
        match polled.await {
            Err(payload) => break Err(Fault::Panicked(panic_message(&*payload))),
            Ok(Some(result)) => break Ok(result),
            Ok(None) if waited().still || own() < limit => {
                left = limit.saturating_sub(own()).max(MIN_CHECK_INTERVAL);
            }
            // It blocked its thread, and awaits something again.
            Ok(None) if polls.longest() > limit => {
                break Err(Fault::Blocked { limit, took: polls.longest() });
            }
            Ok(None) => break Err(Fault::TimedOut(limit)),
        }
    };
    let took = own();
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(work)));
    dropped.map_err(|payload| Fault::Panicked(panic_message(&*payload)))?;
    let result = ended?;
    // The future is polled before the timer, so a future that blocked its thread is ready however late it is.
    if took > limit {
        let is_its_own_fault = took.saturating_sub(polls.longest()) <= limit;
        return Err(if is_its_own_fault {
            Fault::Blocked { limit, took }
        } else {
            Fault::HeldUp { limit, took }
        });
    }
    result.map_err(Fault::Failed)
}

/// Awaits work that has a time limit of its own. If it blocks its thread past that limit, the watchdog warns.
#[cfg(feature = "judges")]
pub(crate) async fn watched<T>(limit: Duration, what: What, work: impl Future<Output = T>) -> T {
    let polls = Arc::new(Polls::new(lanes::current()));
    let _watch = Watch::start(limit, limit, &what, &polls);
    let mut work = pin!(work);
    poll_fn(|context| polls.during(|| work.as_mut().poll(context))).await
}

/// Calls a function that is not async: it may panic, or block its thread.
pub(crate) fn not_async<T>(limit: Duration, what: &What, call: impl FnOnce() -> T) -> Result<T, Fault> {
    let polls = Arc::new(Polls::new(None));
    let _watch = Watch::start(limit, limit, what, &polls);
    let begun = Instant::now();
    let result = polls.during(|| catch_unwind(AssertUnwindSafe(call)));
    let result = result.map_err(|payload| Fault::Panicked(panic_message(&*payload)))?;
    let took = begun.elapsed();
    if took > limit { Err(Fault::Blocked { limit, took }) } else { Ok(result) }
}

pub(crate) async fn catch_panic<T>(future: impl Future<Output = T>) -> Result<T, String> {
    let mut future = pin!(future);
    poll_fn(move |context| {
        // The future is not polled again after a panic, so its broken state is never observed.
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Err(payload) => Poll::Ready(Err(panic_message(&*payload))),
        }
    })
    .await
}

pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "(no message)".to_owned())
}
