//! Live sessions as they are read from the store.

use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use super::session::{MAX_REMARKS, Session};
use super::store::Store;
use super::view::{Digest, SessionState, SessionView};

impl Store {
    pub(super) fn keep(&mut self, id: u64, revision: u64, digest: Digest, took: Duration) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.digest = digest;
            session.read = Some((revision, Instant::now(), took));
        }
    }

    pub(super) fn changed(&self, now: Instant) -> Vec<u64> {
        self.sessions.iter().filter(|(_, session)| session.is_due(now)).map(|(id, _)| *id).collect()
    }

    pub(super) fn is_behind(&self) -> bool {
        self.sessions.values().any(Session::is_behind)
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

    pub(super) fn views(&self, now: Instant) -> Vec<(SessionView, Digest)> {
        let view = |(id, session): (&u64, &Session)| (self.view(*id, session, now), session.digest.clone());
        self.sessions.iter().map(view).collect()
    }

    pub(super) fn snapshot(&self, id: u64, now: Instant) -> Option<(SessionView, Vec<Arc<str>>)> {
        let id = self.resolved(id)?;
        let session = self.sessions.get(&id)?;
        let traces = session.traces.iter().filter_map(|trace| self.traces.get(trace));
        let documents = traces.flat_map(|trace| trace.documents.iter().cloned()).collect();
        Some((self.view(id, session, now), documents))
    }

    fn view(&self, id: u64, session: &Session, now: Instant) -> SessionView {
        let waits = self.waits(session);
        let state = match (session.is_quiet(now, self.limits.quiet), waits.is_empty()) {
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
            received: session.received.duration_since(UNIX_EPOCH).map_or(0.0, |it| it.as_secs_f64()),
            revision: session.revision,
            is_golden: self.golden == Some(id),
            lost,
            waits,
        }
    }

    fn waits(&self, session: &Session) -> Vec<String> {
        let waits = session.traces.iter().filter_map(|id| self.traces.get(id)?.waits(*id));
        waits.take(MAX_REMARKS).collect()
    }
}
