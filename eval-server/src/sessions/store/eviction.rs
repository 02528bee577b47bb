//! Eviction of sessions, and the evicted traces and conversations.

use std::collections::{HashSet, VecDeque};
use std::time::Instant;

use super::{Full, Session, Store};

impl Store {
    pub(super) fn remove(&mut self, id: u64) {
        let Some(session) = self.sessions.remove(&id) else { return };
        self.unname(&session.name, id);
        for trace in &session.traces {
            if let Some(removed) = self.traces.remove(trace) {
                self.bytes -= removed.bytes;
                self.numbers.remove(&removed.number);
            }
        }
        self.removed.add(&session.key, &session.traces);
    }

    /// Removes sessions until there is room for so many bytes, and for a session more if there is no `target`.
    pub(super) fn make_room(&mut self, bytes: usize, target: Option<u64>, now: Instant) -> Result<(), Full> {
        loop {
            let fits = self.bytes.saturating_add(bytes) <= self.limits.session_memory;
            let has_place = target.is_some() || self.sessions.len() < self.limits.sessions;
            if fits && has_place {
                return Ok(());
            }
            let oldest = self
                .sessions
                .iter()
                .filter(|(id, _)| Some(**id) != target && Some(**id) != self.golden)
                .filter_map(|(id, session)| Some((self.rank(session, now)?, session.last, *id)))
                .min();
            let (_, _, oldest) = oldest.ok_or(Full)?;
            self.remove(oldest);
        }
    }

    /// The rank of a session for eviction; `None` if it must stay.
    fn rank(&self, session: &Session, now: Instant) -> Option<u8> {
        let is_whole = self.is_whole(session);
        if is_whole && !session.is_of_agent {
            return Some(0);
        }
        let is_quiet = now.saturating_duration_since(session.last) >= self.limits.quiet;
        is_quiet.then_some(if is_whole { 1 } else { 2 })
    }
}

/// The sessions that were removed.
#[derive(Debug, Default)]
pub(in crate::sessions) struct Removed {
    pub(in crate::sessions) sessions: u64,
    traces: Recent<u128>,
    keys: Recent<String>,
}

/// The last of many values.
#[derive(Debug)]
struct Recent<T> {
    order: VecDeque<T>,
    known: HashSet<T>,
}

/// The number of evicted traces, and of evicted conversations, that are remembered.
const MAX_EVICTED: usize = 10_000;

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { order: VecDeque::new(), known: HashSet::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Recent<T> {
    fn add(&mut self, value: &T) {
        if self.known.insert(value.clone()) {
            self.order.push_back(value.clone());
        }
        if self.order.len() > MAX_EVICTED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

impl Removed {
    pub(super) fn add(&mut self, key: &str, traces: &[u128]) {
        self.sessions += 1;
        self.keys.add(&key.to_owned());
        for trace in traces {
            self.traces.add(trace);
        }
    }

    /// The part that a new trace lacks because a session was evicted.
    pub(super) fn concerns(&self, trace: u128, key: Option<&str>) -> Option<&'static str> {
        if self.traces.known.contains(&trace) {
            return Some("earlier spans of its trace were removed to make room");
        }
        let key = key?;
        self.keys.known.contains(key).then_some("earlier turns of its conversation were removed to make room")
    }
}
