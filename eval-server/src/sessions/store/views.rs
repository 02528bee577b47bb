//! Views of sessions, and the doubts and awaited data in them.

use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use super::super::view::{Digest, SessionState, SessionView};
use super::{MAX_LOST_REMARKS, Session, Store};
use crate::otlp::trace_id;

/// The time that a refused export concerns sessions after their last span.
const REFUSAL_REACH: Duration = Duration::from_secs(30);

impl Store {
    pub(in crate::sessions) fn all(&self, now: Instant, quiet: Duration) -> Vec<(SessionView, Digest)> {
        let view =
            |(id, session): (&u64, &Session)| (self.view(*id, session, now, quiet), session.digest.clone());
        self.sessions.iter().map(view).collect()
    }

    /// A session and the texts of its traces.
    pub(in crate::sessions) fn snapshot(
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
    pub(super) fn waits(&self, session: &Session) -> Vec<String> {
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
    pub(super) fn is_whole(&self, session: &Session) -> bool {
        let traces = session.traces.iter().filter_map(|trace| self.traces.get(trace));
        traces.into_iter().all(|trace| trace.has_root && trace.missing.is_empty())
    }
}
