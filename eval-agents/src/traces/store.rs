//! What was read so far: spans, reduced to what is needed of them, and what belongs to them.

use std::collections::HashMap;
use std::sync::Arc;

use super::gap::{Gap, GapKind};
use super::id::Id;
use super::notes::Notes;
use super::overlay::{self, Event, Results};
use super::view::{Identity, Span, View};

/// All spans and the records of logs of some files.
#[derive(Debug, Default)]
pub(super) struct Store {
    /// The traces, in the order in which they were first seen.
    pub(super) traces: Vec<RawTrace>,
    places: HashMap<Id, usize>,
    pub(super) notes: Notes,
    pub(super) results: Results,
    pub(super) spans: usize,
}

/// The spans of a trace, in the order of the file.
#[derive(Debug)]
pub(super) struct RawTrace {
    pub(super) id: Id,
    pub(super) spans: Vec<Span>,
    /// Records of logs, by the span that they name.
    pub(super) logs: HashMap<Option<Id>, Vec<Event>>,
}

impl Store {
    /// The place of a trace, which is new if it was not seen before.
    fn trace(&mut self, id: &Id) -> &mut RawTrace {
        let place = *self.places.entry(id.clone()).or_insert_with(|| {
            self.traces.push(RawTrace { id: id.clone(), spans: Vec::new(), logs: HashMap::new() });
            self.traces.len() - 1
        });
        &mut self.traces[place]
    }

    pub(super) fn add_span(&mut self, span: Span) {
        self.spans += 1;
        self.trace(&span.trace.clone()).spans.push(span);
    }

    /// Adds a record of a log. One that says nothing of models is not kept.
    pub(super) fn add_log(&mut self, trace: &Id, span: Option<Id>, event: Event) {
        if event.name.starts_with("gen_ai.") {
            self.trace(trace).logs.entry(span).or_default().push(event);
        }
    }
}

/// Gives spans what their scope and resource say. Both can stand after them.
pub(super) fn settle(spans: &mut [Span], scope: &str, resource: Option<&Arc<Identity>>) {
    for span in spans {
        span.resource = resource.cloned();
        if scope == overlay::ADK_SCOPE {
            span.view.get_or_insert_with(|| Box::new(View::default())).is_adk = true;
        }
        if span.view.is_none() {
            span.name = Box::default();
        } else if span.start.is_none() || span.end.is_none() {
            let message = format!("the span {} has no time of its beginning or end", span.id);
            span.gaps.push(Gap::new(GapKind::NoTime, message));
        }
    }
}
