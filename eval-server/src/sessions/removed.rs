//! Traces and conversations of sessions that were evicted from the store.

use std::collections::{HashSet, VecDeque};

#[derive(Debug, Default)]
pub(super) struct Removed {
    pub(super) sessions: u64,
    traces: Recent<u128>,
    keys: Recent<String>,
}

#[derive(Debug)]
struct Recent<T> {
    order: VecDeque<T>,
    known: HashSet<T>,
}

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
