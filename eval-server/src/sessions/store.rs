//! The store of live sessions, and the assignment of traces to them by the name of the conversation in their spans.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::time::{Instant, SystemTime};

use eval_agents::traces::Traces;

use super::refusals::Refusals;
use super::session::Session;
use super::trace::Trace;
use crate::limits::Limits;
use crate::otlp::Origin;

#[derive(Debug, Default)]
pub(super) struct Store {
    pub(super) sessions: BTreeMap<u64, Session>,
    /// The latest session of each name: the name of the conversation in its spans, or the id of its first trace.
    pub(super) names: HashMap<String, u64>,
    pub(super) traces: HashMap<u128, Trace>,
    /// The traces by their numbers, so that the id of a session that was joined with another is still known.
    pub(super) numbers: HashMap<u64, u128>,
    pub(super) next: u64,
    pub(super) golden: Option<u64>,
    pub(super) bytes: usize,
    pub(super) removed: Removed,
    pub(super) refusals: Refusals,
    pub(super) limits: Limits,
}

impl Store {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { next: 1, limits: limits.clone(), ..Self::default() }
    }

    pub(super) fn number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    pub(super) fn note_loss(&mut self, session: Option<u64>, why: &str) {
        if let Some(session) = session.and_then(|id| self.sessions.get_mut(&id)) {
            session.note_loss(why);
        }
    }

    pub(super) fn is_whole(&self, session: &Session) -> bool {
        let traces = session.traces.iter().filter_map(|trace| self.traces.get(trace));
        traces.into_iter().all(Trace::is_whole)
    }

    /// The session that a new trace of this name joins; `None` if the trace opens a session. As in agentevals, a trace
    /// of another run opens a session. A trace of another process opens one once the session of the name is complete
    /// and quiet.
    pub(super) fn joined(&self, name: &str, origin: &Origin, now: Instant) -> Option<u64> {
        let id = *self.names.get(name)?;
        let session = self.sessions.get(&id)?;
        let is_other_run = origin.run.is_some() && origin.run != session.origin.run;
        let is_other_process = origin.instance.is_some()
            && session.origin.instance.is_some()
            && origin.instance != session.origin.instance;
        let is_quiet = session.is_quiet(now, self.limits.quiet);
        let is_over = is_other_process && is_quiet && self.is_whole(session);
        (!is_other_run && !is_over).then_some(id)
    }

    fn next_run(&self, name: &str) -> (usize, String) {
        let last = self.names.get(name).and_then(|id| self.sessions.get(id));
        match last.map_or(1, |last| last.run + 1) {
            1 => (1, name.to_owned()),
            run => (run, format!("{name}-{run}")),
        }
    }

    pub(super) fn unname(&mut self, name: &str, id: u64) {
        if self.names.get(name) == Some(&id) {
            self.names.remove(name);
        }
    }

    pub(super) fn open(
        &mut self,
        id: u64,
        name: String,
        origin: Origin,
        opened: (Instant, SystemTime),
    ) -> u64 {
        let run = self.next_run(&name);
        self.names.insert(name.clone(), id);
        self.sessions.insert(id, Session::new(name, run, origin, opened));
        id
    }

    pub(super) fn move_trace(&mut self, id: u128, name: &str, now: Instant) {
        let Some(trace) = self.traces.get(&id) else { return };
        let (from, number, origin) = (trace.session, trace.number, trace.origin.clone());
        let Some(session) = self.sessions.get(&from).filter(|session| session.name != name) else { return };
        let is_only = session.traces.len() == 1;
        let (last, opened) = (session.last, session.opened);
        let to = match self.joined(name, &origin, now) {
            Some(to) => to,
            None if is_only => {
                let (run, key) = self.next_run(name);
                if let Some(session) = self.sessions.get_mut(&from) {
                    let before = std::mem::replace(&mut session.name, name.to_owned());
                    (session.run, session.key, session.origin) = (run, key, origin);
                    session.revision += 1;
                    self.unname(&before, from);
                }
                self.names.insert(name.to_owned(), from);
                return;
            }
            None => {
                let free = if self.sessions.contains_key(&number) { self.number() } else { number };
                self.open(free, name.to_owned(), origin, opened)
            }
        };
        let Some(trace) = self.traces.get_mut(&id) else { return };
        trace.session = to;
        let (count, bytes) = (trace.count, trace.bytes);
        let Some(session) = self.sessions.get_mut(&from) else { return };
        session.traces.retain(|trace| *trace != id);
        session.count -= count;
        session.bytes -= bytes;
        session.revision += 1;
        let (lost, is_of_agent, received) = (session.lost.clone(), session.is_of_agent, session.received);
        if session.traces.is_empty() {
            let before = session.name.clone();
            self.unname(&before, from);
            self.sessions.remove(&from);
            if self.golden == Some(from) {
                self.golden = Some(to);
            }
        }
        if let Some(session) = self.sessions.get_mut(&to) {
            session.traces.push(id);
            session.count += count;
            session.bytes += bytes;
            session.last = session.last.max(last);
            session.opened = session.opened.min(opened);
            session.received = session.received.max(received);
            session.revision += 1;
            session.is_of_agent |= is_of_agent;
        }
        for why in &lost {
            self.note_loss(Some(to), why);
        }
        let shown = self.sessions.get(&to).map(|session| session.key.as_str());
        if let Some(why) = self.removed.concerns(id, shown) {
            self.note_loss(Some(to), why);
        }
    }

    /// Moves each trace whose conversation has another name than its session. Returns whether there was one.
    pub(super) fn regroup(&mut self, traces: &Traces) -> bool {
        let mut moves = Vec::new();
        for conversation in traces.conversations() {
            for id in conversation.trace_ids.iter().filter_map(|id| u128::from_str_radix(id, 16).ok()) {
                let session = self.traces.get(&id).and_then(|trace| self.sessions.get(&trace.session));
                if session.is_some_and(|session| session.name != conversation.key) {
                    moves.push((id, conversation.key.clone()));
                }
            }
        }
        for (id, key) in &moves {
            self.move_trace(*id, key, Instant::now());
        }
        !moves.is_empty()
    }
}

/// Traces and conversations of sessions that were evicted.
#[derive(Debug, Default)]
pub(super) struct Removed {
    pub(super) sessions: u64,
    traces: Recent<u128>,
    keys: Recent<String>,
}

#[derive(Debug, Default)]
struct Recent<T> {
    order: VecDeque<T>,
    known: HashSet<T>,
}

const MAX_EVICTED: usize = 10_000;

impl<T: Clone + Eq + Hash> Recent<T> {
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

    pub(super) fn concerns(&self, trace: u128, key: Option<&str>) -> Option<&'static str> {
        if self.traces.known.contains(&trace) {
            return Some("earlier spans of its trace were removed to make room");
        }
        let key = key?;
        self.keys.known.contains(key).then_some("earlier turns of its conversation were removed to make room")
    }
}
