//! Exports that are added to the store of live sessions, and sessions that are evicted to make room.

use std::time::{Instant, SystemTime};

use super::session::Session;
use super::store::Store;
use super::trace::Trace;
use crate::otlp::{Batch, Rejected, trace_id};

#[derive(Debug)]
pub(crate) struct Full;

/// The bytes that a span or record, and a trace, take beside their text.
const SPAN_OVERHEAD_BYTES: usize = 128;
const TRACE_OVERHEAD_BYTES: usize = 1024;

impl Store {
    /// Adds the spans and records of one trace, but for those that are stored already. Returns those that do not fit.
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
                self.note_loss(target, &format!("{count} spans were not kept: {why}"));
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
            self.note_loss(Some(session), why);
        }
        if is_cut {
            self.note_loss(Some(session), "the agent's own limits cut attributes or events off its spans");
        }
        // The name of a conversation may come with later spans than the first.
        let old = old.and_then(|old| self.sessions.get(&old));
        if let Some(key) = key.filter(|_| old.is_some_and(|old| old.name == trace_id(id))) {
            self.move_trace(id, &key, now);
        }
        Ok(None)
    }

    /// Evicts sessions until `bytes` more bytes fit and, without a `target`, one more session.
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
            self.evict(oldest);
        }
    }

    fn rank(&self, session: &Session, now: Instant) -> Option<u8> {
        let is_whole = self.is_whole(session);
        if is_whole && !session.is_of_agent {
            return Some(0);
        }
        session.is_quiet(now, self.limits.quiet).then_some(if is_whole { 1 } else { 2 })
    }

    fn evict(&mut self, id: u64) {
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
}
