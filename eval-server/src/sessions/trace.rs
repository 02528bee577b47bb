//! A trace of a live session: its documents, and the spans that it lacks.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::otlp::{Entry, Origin, trace_id};

#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) number: u64,
    pub(super) origin: Origin,
    pub(super) session: u64,
    pub(super) documents: Vec<Arc<str>>,
    /// The spans by id, each with the hash of its version.
    spans: HashMap<u64, u64>,
    /// The number of copies of each record of a log, by its hash.
    records: HashMap<u64, usize>,
    missing: HashSet<u64>,
    has_root: bool,
    pub(super) count: usize,
    pub(super) bytes: usize,
}

impl Trace {
    pub(super) fn new(number: u64, session: u64, origin: Origin) -> Self {
        Self { number, origin, session, ..Self::default() }
    }

    /// Whether an entry is stored already. Of equal records, as many are known as are stored.
    pub(super) fn knows(&self) -> impl FnMut(Entry) -> bool {
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

    /// Adds a span or record. Returns whether the agent's own limits dropped attributes or events of it.
    pub(super) fn add(&mut self, entry: Entry) -> bool {
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

    pub(super) fn is_whole(&self) -> bool {
        self.has_root && self.missing.is_empty()
    }

    pub(super) fn waits(&self, id: u128) -> Option<String> {
        let id = trace_id(id);
        match self.missing.iter().min() {
            Some(parent) => Some(format!(
                "the trace {id} has spans whose parents have not arrived, {parent:016x} among them"
            )),
            None => (!self.has_root).then(|| format!("the trace {id} has no root")),
        }
    }
}
