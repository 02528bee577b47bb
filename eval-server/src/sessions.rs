//! Live sessions: exported spans, grouped by conversation, as far as they have arrived.
//!
//! The store keeps the texts of exports by trace. Each reading of a session parses the texts of its traces
//! anew, with the code that reads stored traces. So the order of its spans, and their number of exports, do
//! not matter.

mod intake;
mod reading;
mod refusals;
mod session;
mod store;
mod trace;
mod view;

use std::hash::RandomState;
use std::time::Instant;

use eval_agents::traces::{Conversation, Traces};
use eval_support::mutex::Mutex;
use tokio::sync::watch;

use crate::limits::Limits;
use crate::otlp::{Export, Rejected, Sent, trace_id};
pub(crate) use intake::Full;
use store::Store;
pub(crate) use view::{Digest, SessionState, SessionView};

#[derive(Debug)]
pub(crate) struct Sessions {
    /// No code under this lock can panic halfway: it only moves values.
    store: Mutex<Store>,
    changes: watch::Sender<Change>,
    /// The keys of the hashes that distinguish exports.
    keys: RandomState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Some,
    /// Nothing will be new: the server ends.
    Last,
}

#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) view: SessionView,
    pub(crate) traces: Traces,
}

#[derive(Debug)]
pub(crate) struct List {
    pub(crate) sessions: Vec<(SessionView, Digest)>,
    /// Whether some have changed since they were read, and it is too soon to read them again.
    pub(crate) is_behind: bool,
    pub(crate) removed: u64,
    pub(crate) refused: u64,
    pub(crate) last_refusal: Option<String>,
}

/// The most times that a session is read anew because a reading moved traces, or it changed meanwhile.
const MAX_REGROUPINGS: usize = 4;

impl Sessions {
    pub(crate) fn new(limits: &Limits) -> Self {
        let store = Mutex::new(Store::new(limits));
        let changes = watch::Sender::new(Change::Some);
        Self { store, changes, keys: RandomState::new() }
    }

    pub(crate) fn add(&self, export: Export) -> Result<Option<Rejected>, Full> {
        let Export { batches, mut rejected } = export;
        let now = Instant::now();
        let mut store = self.store.lock();
        let mut is_full = false;
        let traces: Vec<u128> = batches.iter().map(|batch| batch.trace).collect();
        let lost = rejected.as_ref();
        let lost = lost.map(|it| format!("{} of the spans of an export were rejected: {}", it.count, it.why));
        for batch in batches {
            match store.add(batch, now) {
                Ok(None) => {}
                Ok(Some(Rejected { count, why })) => Rejected::add(&mut rejected, count, why),
                Err(Full) => {
                    is_full = true;
                    break;
                }
            }
        }
        if let Some(lost) = lost {
            // The traces of the rejected spans are unknown. They may be other traces than the ones in the
            // export's batches.
            for trace in &traces {
                let session = store.traces.get(trace).map(|trace| trace.session);
                store.note_loss(session, &lost);
            }
            store.refusals.add(now, &lost, None);
        }
        drop(store);
        self.tell();
        if is_full { Err(Full) } else { Ok(rejected) }
    }

    /// Notes that an export was refused. Each session that ran then may lack spans, until the export is sent
    /// again and [has arrived](Self::arrived). An export that was not received whole cannot be recognized.
    pub(crate) fn refuse(&self, why: &str, sent: Option<&Sent>) {
        let sent = sent.map(|sent| sent.identity(&self.keys));
        self.store.lock().refusals.add(Instant::now(), why, sent);
        self.tell();
    }

    /// Notes that an export was stored: its earlier refusals leave no doubt any more.
    pub(crate) fn arrived(&self, sent: &Sent) {
        // The bytes are hashed only if a refused export is awaited.
        if self.store.lock().refusals.awaits() {
            let sent = sent.identity(&self.keys);
            self.store.lock().refusals.arrived(sent);
            self.tell();
        }
    }

    /// Marks a session as golden, or none. Returns whether the session exists.
    pub(crate) fn mark(&self, id: Option<u64>) -> bool {
        let marked = self.store.lock().mark(id);
        self.tell();
        marked
    }

    pub(crate) fn golden(&self) -> Option<u64> {
        self.store.lock().golden
    }

    pub(crate) fn changes(&self) -> watch::Receiver<Change> {
        self.changes.subscribe()
    }

    pub(crate) fn close(&self) {
        self.changes.send_replace(Change::Last);
    }

    fn tell(&self) {
        self.changes.send_modify(|change| {
            if *change != Change::Last {
                *change = Change::Some;
            }
        });
    }

    /// All sessions. Changed sessions are read first, so call it on a thread that computes.
    pub(crate) fn list(&self) -> List {
        let now = Instant::now();
        let changed = self.store.lock().changed(now);
        for id in changed {
            drop(self.read(id));
        }
        let store = self.store.lock();
        let mut sessions: Vec<(SessionView, Digest)> = store.views(Instant::now());
        sessions.sort_by_key(|(view, _)| std::cmp::Reverse(view.id));
        List {
            sessions,
            is_behind: store.is_behind(),
            removed: store.removed.sessions,
            refused: store.refusals.count,
            last_refusal: store.refusals.last.clone(),
        }
    }

    pub(crate) fn text(&self, id: u64) -> Option<String> {
        let (_, documents) = self.store.lock().snapshot(id, Instant::now())?;
        Some(documents.join("\n"))
    }

    /// Reads a session, by its id or the id of a session that was joined with it.
    pub(crate) fn read(&self, id: u64) -> Option<Reading> {
        let mut reading = None;
        for _ in 0..MAX_REGROUPINGS {
            let began = Instant::now();
            let (mut view, documents) = self.store.lock().snapshot(id, began)?;
            // Each document was parsed when it arrived.
            let traces = Traces::from_readers(documents.iter().map(|it| it.as_bytes())).unwrap_or_default();
            let digest = Digest::new(&traces);
            let mut store = self.store.lock();
            let mut is_settled = !store.regroup(&traces);
            if is_settled {
                store.keep(view.id, view.revision, digest, began.elapsed());
                // The refusals that concern it depend on the start of its turns, which is known only now.
                let (now, _) = store.snapshot(id, Instant::now())?;
                is_settled = now.revision == view.revision;
                view = now;
            }
            drop(store);
            reading = Some(Reading { view, traces });
            if is_settled {
                break;
            }
        }
        reading
    }
}

impl Reading {
    pub(crate) fn digest(&self) -> Digest {
        Digest::new(&self.traces)
    }

    pub(crate) fn conversation(&self) -> Option<&Conversation> {
        let first = trace_id(self.view.first_trace?);
        let mut all = self.traces.conversations().iter();
        all.find(|it| it.trace_ids.contains(&first))
    }

    /// The doubts that keep it from being golden and from passing.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let mut doubts = self.view.doubts();
        doubts.extend(self.traces.gaps().iter().filter(|gap| gap.kind.loses()).map(ToString::to_string));
        let conversation = self.conversation();
        let turns = conversation.map(|it| it.turns.as_slice()).unwrap_or_default();
        if turns.is_empty() {
            doubts.push("no agent answers in it".to_owned());
        }
        let gaps = conversation.into_iter().flat_map(Conversation::all_gaps);
        for (turn, gap) in gaps.filter(|(_, gap)| gap.kind.loses()) {
            let turn = turn.map(|turn| format!("turn {turn}: ")).unwrap_or_default();
            doubts.push(format!("{turn}{gap}"));
        }
        for (number, turn) in (1..).zip(turns) {
            if let Some(error) = &turn.error {
                doubts.push(format!("turn {number} failed: {error}"));
            }
        }
        doubts
    }
}

#[cfg(test)]
mod tests;
