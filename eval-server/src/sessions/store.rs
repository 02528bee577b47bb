//! The store of sessions, and the assignment of traces to them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use eval_agents::traces::Traces;

use super::refusals::Refusals;
use super::removed::Removed;
use super::view::{Digest, SessionState, SessionView};
use crate::limits::Limits;
use crate::otlp::{Batch, Entry, Origin, Rejected, trace_id};

/// All that is kept.
#[derive(Debug, Default)]
pub(super) struct Store {
    sessions: BTreeMap<u64, Session>,
    /// Sessions by what their spans call them: of several runs of one name, the last.
    names: HashMap<String, u64>,
    traces: HashMap<u128, Trace>,
    /// The traces by their numbers, so that the id of a session that was joined with another is still known.
    numbers: HashMap<u64, u128>,
    next: u64,
    pub(super) golden: Option<u64>,
    bytes: usize,
    pub(super) removed: Removed,
    pub(super) refusals: Refusals,
    limits: Limits,
}

/// A session.
#[derive(Debug)]
struct Session {
    /// The conversation's name in its spans, or the id of its first trace.
    name: String,
    /// The name as it is shown: the second run of a name has a number behind it.
    key: String,
    /// The number of the run among sessions of its name, from 1.
    run: usize,
    origin: Origin,
    /// Its traces, in the order in which they were first seen.
    traces: Vec<u128>,
    count: usize,
    bytes: usize,
    last: Instant,
    /// The time at which its first spans arrived.
    opened: (Instant, SystemTime),
    received: SystemTime,
    revision: u64,
    /// Whether its spans are about an agent or a model.
    is_of_agent: bool,
    lost: Vec<String>,
    digest: Digest,
    /// The revision that was read, when, and how long it took.
    read: Option<(u64, Instant, Duration)>,
}

/// A trace.
#[derive(Debug, Default)]
struct Trace {
    number: u64,
    origin: Origin,
    session: u64,
    documents: Vec<Arc<str>>,
    /// The spans, each with what tells it from another version of itself.
    spans: HashMap<u64, u64>,
    /// The number of copies of each record of a log, by its hash.
    records: HashMap<u64, usize>,
    /// Parents that have not arrived.
    missing: HashSet<u64>,
    has_root: bool,
    count: usize,
    bytes: usize,
}

impl Trace {
    /// The entries of an export that are there already. Of equal records, as many are known as are stored.
    fn knows(&self) -> impl FnMut(Entry) -> bool {
        let mut seen: HashMap<u64, usize> = HashMap::new();
        move |entry| match entry {
            Entry::Span(span) => self.spans.get(&span.id) == Some(&span.hash),
            Entry::Record { hash } => {
                let seen = seen.entry(hash).or_default();
                *seen += 1;
                self.records.get(&hash).is_some_and(|known| *seen <= *known)
            }
        }
    }

    /// Adds a span or record. Says whether the agent's own limits cut something off it.
    fn add(&mut self, entry: Entry) -> bool {
        let span = match entry {
            Entry::Span(span) => span,
            Entry::Record { hash } => {
                *self.records.entry(hash).or_default() += 1;
                return false;
            }
        };
        self.spans.insert(span.id, span.hash);
        self.missing.remove(&span.id);
        match span.parent {
            Some(parent) if !span.is_remote => {
                if !self.spans.contains_key(&parent) {
                    self.missing.insert(parent);
                }
            }
            _ => self.has_root = true,
        }
        span.is_cut
    }
}

/// There is no room, and nothing that may go.
#[derive(Debug)]
pub(crate) struct Full;

/// A session that takes longer than a moment to read is not read again, for a list, before this many times what it took: else
/// each small export would cost as much as all before it.
const REREAD_FACTOR: u32 = 10;
const MOMENT: Duration = Duration::from_millis(50);

/// The time that a refused export concerns sessions after their last span.
const REFUSAL_REACH: Duration = Duration::from_secs(30);

/// The bytes that a span or record, and a trace, take beside their text.
const SPAN_OVERHEAD_BYTES: usize = 128;
const TRACE_OVERHEAD_BYTES: usize = 1024;

/// The most remarks on what a session has lost.
const MAX_LOST_REMARKS: usize = 20;

impl Store {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { next: 1, limits: limits.clone(), ..Self::default() }
    }

    /// Adds what an export has of a trace, but for what is there already: it was sent again, as its answer was lost, perhaps
    /// together with other spans or records. Says what cannot be kept.
    pub(super) fn add(&mut self, batch: Batch, now: Instant) -> Result<Option<Rejected>, Full> {
        let id = batch.trace;
        let batch = match self.traces.get(&id) {
            Some(trace) => batch.without(trace.knows()),
            None => Some(batch),
        };
        let Some(batch) = batch else { return Ok(None) };
        let (key, count, is_of_agent) = (batch.key.clone(), batch.count(), batch.is_of_agent);
        let old = self.traces.get(&id).map(|trace| trace.session);
        let named = key.as_ref().and_then(|key| self.joined(key, &batch.origin, now));
        let target = old.or(named);
        let new_trace = if old.is_none() { TRACE_OVERHEAD_BYTES } else { 0 };
        let size = batch.text().len() + count * SPAN_OVERHEAD_BYTES + new_trace;
        if let Some(session) = target.and_then(|target| self.sessions.get(&target)) {
            let most = self.limits.session_spans;
            let why = if session.count + count > most {
                Some(format!("the session has more than {most} spans"))
            } else if session.bytes + size > self.limits.session_memory / 4 {
                Some(format!("the session has more than {} bytes", self.limits.session_memory / 4))
            } else {
                None
            };
            if let Some(why) = why {
                self.lose(target, &format!("{count} spans were not kept: {why}"));
                return Ok(Some(Rejected { count, why }));
            }
        } else if count > self.limits.session_spans || size > self.limits.session_memory / 4 {
            let why = "the trace is larger than a session may be".to_owned();
            self.refusals.add(now, &why, None);
            return Ok(Some(Rejected { count, why }));
        }
        self.make_room(size, target, now)?;
        let number = match self.traces.get(&id) {
            Some(trace) => trace.number,
            None => self.number(),
        };
        let session = match target {
            Some(session) => session,
            None => {
                let name = key.clone().unwrap_or_else(|| trace_id(id));
                self.open(number, name, batch.origin.clone(), (now, SystemTime::now()))
            }
        };
        let trace = self.traces.entry(id).or_insert_with(|| Trace {
            number,
            origin: batch.origin.clone(),
            session,
            ..Trace::default()
        });
        trace.documents.push(batch.text().into());
        trace.count += count;
        trace.bytes += size;
        let mut is_cut = false;
        for entry in batch.entries() {
            is_cut |= trace.add(entry);
        }
        self.bytes += size;
        self.numbers.entry(number).or_insert(id);
        if let Some(session) = self.sessions.get_mut(&session) {
            if old.is_none() {
                session.traces.push(id);
            }
            session.count += count;
            session.bytes += size;
            session.last = now;
            session.received = SystemTime::now();
            session.revision += 1;
            session.is_of_agent |= is_of_agent;
        }
        let shown = self.sessions.get(&session).map(|session| session.key.as_str()).filter(|_| key.is_some());
        if old.is_none()
            && let Some(why) = self.removed.concerns(id, shown)
        {
            self.lose(Some(session), why);
        }
        if is_cut {
            self.lose(Some(session), "the agent's own limits cut attributes or events off its spans");
        }
        // The name of a conversation may come with later spans than the first.
        if let Some(key) = key.filter(|_| old.is_some_and(|old| self.is_unnamed(old, id))) {
            self.rename(id, &key, now);
        }
        Ok(None)
    }

    /// The session that a new trace of this name belongs to; `None` if it begins one. As in agentevals, another run of a name has
    /// a session of its own, and so has another process once the session is complete.
    fn joined(&self, name: &str, origin: &Origin, now: Instant) -> Option<u64> {
        let id = *self.names.get(name)?;
        let session = self.sessions.get(&id)?;
        let is_other_run = origin.run.is_some() && origin.run != session.origin.run;
        let is_other_process = origin.instance.is_some()
            && session.origin.instance.is_some()
            && origin.instance != session.origin.instance;
        let is_quiet = now.saturating_duration_since(session.last) >= self.limits.quiet;
        let is_over = is_other_process && is_quiet && self.is_whole(session);
        (!is_other_run && !is_over).then_some(id)
    }

    /// The run of the next session of a name, and its display.
    fn next_run(&self, name: &str) -> (usize, String) {
        let last = self.names.get(name).and_then(|id| self.sessions.get(id));
        match last.map_or(1, |last| last.run + 1) {
            1 => (1, name.to_owned()),
            run => (run, format!("{name}-{run}")),
        }
    }

    /// Forgets that a session is the last of its name.
    fn unname(&mut self, name: &str, id: u64) {
        if self.names.get(name) == Some(&id) {
            self.names.remove(name);
        }
    }

    fn number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    fn open(&mut self, id: u64, name: String, origin: Origin, opened: (Instant, SystemTime)) -> u64 {
        let (run, key) = self.next_run(&name);
        self.names.insert(name.clone(), id);
        let session = Session {
            name,
            key,
            run,
            origin,
            traces: Vec::new(),
            count: 0,
            bytes: 0,
            last: opened.0,
            opened,
            received: SystemTime::now(),
            revision: 0,
            is_of_agent: false,
            lost: Vec::new(),
            digest: Digest::default(),
            read: None,
        };
        self.sessions.insert(id, session);
        id
    }

    fn is_unnamed(&self, session: u64, trace: u128) -> bool {
        self.sessions.get(&session).is_some_and(|session| session.name == trace_id(trace))
    }

    /// Moves a trace to the session with a name.
    fn rename(&mut self, id: u128, name: &str, now: Instant) {
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
            self.lose(Some(to), why);
        }
        let shown = self.sessions.get(&to).map(|session| session.key.as_str());
        if let Some(why) = self.removed.concerns(id, shown) {
            self.lose(Some(to), why);
        }
    }

    /// Moves traces to the sessions that they name, now that more of them is known. Says whether any was moved.
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
            self.rename(*id, key, Instant::now());
        }
        !moves.is_empty()
    }

    /// Keeps what a session was read as.
    pub(super) fn keep(&mut self, id: u64, revision: u64, digest: Digest, took: Duration) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.digest = digest;
            session.read = Some((revision, Instant::now(), took));
        }
    }

    /// The sessions that have changed since they were read, and may be read again.
    pub(super) fn changed(&self, now: Instant) -> Vec<u64> {
        let has_changed = |session: &Session| match session.read {
            None => true,
            Some((revision, at, took)) => {
                let is_due = took < MOMENT || now.saturating_duration_since(at) >= took * REREAD_FACTOR;
                revision != session.revision && is_due
            }
        };
        let changed = self.sessions.iter().filter(|(_, session)| has_changed(session));
        changed.map(|(id, _)| *id).collect()
    }

    /// Whether a session has changed since it was read.
    pub(super) fn is_behind(&self) -> bool {
        self.sessions.values().any(|session| session.read.is_none_or(|(read, _, _)| read != session.revision))
    }

    pub(super) fn note_lost(&mut self, trace: u128, why: &str) {
        let session = self.traces.get(&trace).map(|trace| trace.session);
        self.lose(session, why);
    }

    fn lose(&mut self, session: Option<u64>, why: &str) {
        let Some(session) = session.and_then(|id| self.sessions.get_mut(&id)) else { return };
        session.revision += 1;
        if session.lost.len() < MAX_LOST_REMARKS && !session.lost.iter().any(|known| known == why) {
            session.lost.push(why.to_owned());
        }
    }

    pub(super) fn mark(&mut self, id: Option<u64>) -> bool {
        let known = id.and_then(|id| self.resolved(id));
        if id.is_some() && known.is_none() {
            return false;
        }
        self.golden = known;
        true
    }

    /// The id of the session that has this id, or had it before it was joined with another.
    fn resolved(&self, id: u64) -> Option<u64> {
        if self.sessions.contains_key(&id) {
            return Some(id);
        }
        Some(self.traces.get(self.numbers.get(&id)?)?.session)
    }

    pub(super) fn all(&self, now: Instant, quiet: Duration) -> Vec<(SessionView, Digest)> {
        let view =
            |(id, session): (&u64, &Session)| (self.view(*id, session, now, quiet), session.digest.clone());
        self.sessions.iter().map(view).collect()
    }

    /// A session and the texts of its traces.
    pub(super) fn snapshot(
        &self,
        id: u64,
        now: Instant,
        quiet: Duration,
    ) -> Option<(SessionView, Vec<Arc<str>>)> {
        let id = self.resolved(id)?;
        let session = self.sessions.get(&id)?;
        let traces = session.traces.iter().filter_map(|trace| self.traces.get(trace));
        let documents = traces.flat_map(|trace| trace.documents.iter().cloned()).collect();
        Some((self.view(id, session, now, quiet), documents))
    }

    fn view(&self, id: u64, session: &Session, now: Instant, quiet: Duration) -> SessionView {
        let waits = self.waits(session);
        let is_quiet = now.saturating_duration_since(session.last) >= quiet;
        let state = match (is_quiet, waits.is_empty()) {
            (false, _) => SessionState::Receiving,
            (true, false) => SessionState::Waiting,
            (true, true) => SessionState::Complete,
        };
        let mut lost = session.lost.clone();
        lost.extend(self.refused_during(session));
        SessionView {
            id,
            key: session.key.clone(),
            state,
            first_trace: session.traces.first().copied(),
            traces: session.traces.len(),
            spans: session.count,
            bytes: session.bytes,
            received: session.received,
            revision: session.revision,
            is_golden: self.golden == Some(id),
            lost,
            waits,
        }
    }

    /// The doubt about exports that were refused while a session ran. Their spans are not known.
    fn refused_during(&self, session: &Session) -> Option<String> {
        if !session.is_of_agent {
            return None;
        }
        // The agent's clock may be ahead: it began so long before its first spans arrived as it lasted, at least.
        let (opened, at) = session.opened;
        let started = session.digest.started.map(|nanos| UNIX_EPOCH + Duration::from_nanos(nanos));
        let before = started.and_then(|started| at.duration_since(started).ok()).unwrap_or_default();
        let began =
            opened.checked_sub(before.max(session.digest.lasted.unwrap_or_default()).max(REFUSAL_REACH));
        let why = self.refusals.between(began, session.last + REFUSAL_REACH)?;
        Some(format!("an export was refused while it ran, and its spans may have been in it: {why}"))
    }

    /// The data that a session waits for.
    fn waits(&self, session: &Session) -> Vec<String> {
        let mut waits = Vec::new();
        for id in &session.traces {
            let Some(trace) = self.traces.get(id).filter(|_| waits.len() < MAX_LOST_REMARKS) else {
                continue;
            };
            if let Some(parent) = trace.missing.iter().min() {
                waits.push(format!(
                    "the trace {} has spans whose parents have not arrived, {parent:016x} among them",
                    trace_id(*id)
                ));
            } else if !trace.has_root {
                waits.push(format!("the trace {} has no root", trace_id(*id)));
            }
        }
        waits
    }

    /// Whether all that a session waits for is there.
    fn is_whole(&self, session: &Session) -> bool {
        let traces = session.traces.iter().filter_map(|trace| self.traces.get(trace));
        traces.into_iter().all(|trace| trace.has_root && trace.missing.is_empty())
    }

    fn remove(&mut self, id: u64) {
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
    fn make_room(&mut self, bytes: usize, target: Option<u64>, now: Instant) -> Result<(), Full> {
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
