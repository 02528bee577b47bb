//! The store of live sessions: what is added, evicted and read.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::refusals::Refusals;
use super::removed::Removed;
use super::session::{MAX_REMARKS, Session};
use super::trace::Trace;
use super::view::{Digest, SessionState, SessionView};
use crate::limits::Limits;
use crate::otlp::{Batch, Rejected, trace_id};

/// All that is kept.
#[derive(Debug, Default)]
pub(super) struct Store {
    pub(super) sessions: BTreeMap<u64, Session>,
    /// Sessions by what their spans call them: of several runs of one name, the last.
    pub(super) names: HashMap<String, u64>,
    pub(super) traces: HashMap<u128, Trace>,
    /// The traces by their numbers, so that the id of a session that was joined with another is still known.
    numbers: HashMap<u64, u128>,
    next: u64,
    pub(super) golden: Option<u64>,
    bytes: usize,
    pub(super) removed: Removed,
    pub(super) refusals: Refusals,
    pub(super) limits: Limits,
}

/// There is no room, and nothing that may go.
#[derive(Debug)]
pub(crate) struct Full;

/// The bytes that a span or record, and a trace, take beside their text.
const SPAN_OVERHEAD_BYTES: usize = 128;
const TRACE_OVERHEAD_BYTES: usize = 1024;

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
        let trace =
            self.traces.entry(id).or_insert_with(|| Trace::new(number, session, batch.origin.clone()));
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

    /// The next number of a trace or session.
    pub(super) fn number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
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
        self.sessions.iter().filter(|(_, session)| session.is_due(now)).map(|(id, _)| *id).collect()
    }

    /// Whether a session has changed since it was read.
    pub(super) fn is_behind(&self) -> bool {
        self.sessions.values().any(Session::is_behind)
    }

    pub(super) fn note_lost(&mut self, trace: u128, why: &str) {
        let session = self.traces.get(&trace).map(|trace| trace.session);
        self.lose(session, why);
    }

    pub(super) fn lose(&mut self, session: Option<u64>, why: &str) {
        if let Some(session) = session.and_then(|id| self.sessions.get_mut(&id)) {
            session.lose(why);
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
        let state = match (session.is_quiet(now, quiet), waits.is_empty()) {
            (false, _) => SessionState::Receiving,
            (true, false) => SessionState::Waiting,
            (true, true) => SessionState::Complete,
        };
        let mut lost = session.lost.clone();
        lost.extend(session.refused_during(&self.refusals));
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

    /// The data that a session waits for.
    fn waits(&self, session: &Session) -> Vec<String> {
        let waits = session.traces.iter().filter_map(|id| self.traces.get(id)?.waits(*id));
        waits.take(MAX_REMARKS).collect()
    }

    /// Whether all that a session waits for is there.
    pub(super) fn is_whole(&self, session: &Session) -> bool {
        let traces = session.traces.iter().filter_map(|trace| self.traces.get(trace));
        traces.into_iter().all(Trace::is_whole)
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
        session.is_quiet(now, self.limits.quiet).then_some(if is_whole { 1 } else { 2 })
    }
}
