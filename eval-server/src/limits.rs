//! Limits of the cost of requests.

use std::time::Duration;

use eval_support::setters;

/// Limits of the cost of requests. A request beyond a limit is refused; the others are answered.
///
/// ```
/// use std::time::Duration;
///
/// use eval_server::{Limits, ServerOptions};
///
/// let limits = Limits::default().body(1 << 20).time(Duration::from_secs(5));
/// let options = ServerOptions::new().limits(limits);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    pub(crate) body: usize,
    pub(crate) bodies: usize,
    pub(crate) connections: usize,
    pub(crate) grace: Duration,
    pub(crate) headers: Duration,
    pub(crate) quiet: Duration,
    pub(crate) session_memory: usize,
    pub(crate) session_spans: usize,
    pub(crate) sessions: usize,
    pub(crate) time: Duration,
    pub(crate) waiting: usize,
    pub(crate) workers: usize,
}

impl Default for Limits {
    /// 16 MiB for a body, 256 MiB for the received parts of all bodies in progress, 512 connections, 30 seconds,
    /// a thread for each processor; 1000 live sessions in 256 MiB, each with at most 10,000 spans.
    fn default() -> Self {
        Self {
            body: 16 << 20,
            bodies: 256 << 20,
            connections: 512,
            grace: Duration::from_secs(10),
            headers: Duration::from_secs(10),
            quiet: Duration::from_secs(3),
            session_memory: 256 << 20,
            session_spans: 10_000,
            sessions: 1000,
            time: Duration::from_secs(30),
            waiting: 256,
            workers: std::thread::available_parallelism().map_or(2, usize::from),
        }
    }
}

impl Limits {
    /// The most bytes of a body, and of the data unpacked from it. All bodies in progress together have at most
    /// 16 times as many.
    #[must_use]
    pub fn body(mut self, bytes: usize) -> Self {
        self.body = bytes.clamp(1, 1 << 30);
        self.bodies = self.body.saturating_mul(16);
        self
    }

    setters! {
        /// The most connections at a time; others wait to be accepted.
        connections(connections: usize) { connections = connections.max(1) }

        /// The time limit for a body to arrive, and for an answer to be computed.
        time(time: Duration) { time = time }

        /// The time limit for the headers of a request to arrive, and for an idle connection.
        headers(time: Duration) { headers = time }

        /// The most requests that are computed at a time, apart from small ones, which the threads of the runtime compute at once.
        workers(workers: usize) { workers = workers.max(1) }

        /// The most requests that wait for a thread that computes. One more is answered with 503.
        waiting(requests: usize) { waiting = requests }

        /// The time that requests have to end when the server is stopped.
        grace(time: Duration) { grace = time }

        /// The most live sessions that are kept. The oldest ended sessions are evicted first.
        sessions(sessions: usize) { sessions = sessions.max(1) }

        /// The most spans of a live session.
        session_spans(spans: usize) { session_spans = spans.max(1) }

        /// The memory for live sessions. A session has at most a quarter of it.
        session_memory(bytes: usize) { session_memory = bytes }

        /// The time without new spans after which a live session can count as complete.
        quiet(time: Duration) { quiet = time }
    }
}
