//! Store of spans during reading, reduced to the needed parts.

use std::collections::HashMap;

use super::copies::Copies;
use super::gap::Notes;
use super::id::Id;
use super::overlay::{self, Event};
use super::view::{Slot, Source, Span};

#[derive(Debug, Default)]
pub(super) struct Store {
    pub(super) traces: Vec<RawTrace>,
    places: HashMap<Id, usize>,
    pub(super) notes: Notes,
    pub(super) copies: Copies,
    pub(super) spans: usize,
}

#[derive(Debug)]
pub(super) struct RawTrace {
    pub(super) id: Id,
    pub(super) spans: Vec<Span>,
    pub(super) logs: HashMap<Option<Id>, Vec<Event>>,
}

impl Store {
    fn place(&mut self, id: &Id) -> usize {
        *self.places.entry(id.clone()).or_insert_with(|| {
            self.traces.push(RawTrace { id: id.clone(), spans: Vec::new(), logs: HashMap::new() });
            self.traces.len() - 1
        })
    }

    /// Adds a span of a trace. Its scope and resource can be added by its place.
    pub(super) fn add_span(&mut self, trace: &Id, span: Span) -> Place {
        self.spans += 1;
        let trace = self.place(trace);
        let spans = &mut self.traces[trace].spans;
        spans.push(span);
        Place { trace, span: spans.len() - 1 }
    }

    pub(super) fn span(&mut self, place: Place) -> &mut Span {
        &mut self.traces[place.trace].spans[place.span]
    }

    pub(super) fn add_log(&mut self, (trace, span, event): Log) {
        let place = self.place(&trace);
        self.traces[place].logs.entry(span).or_default().push(event);
    }
}

pub(super) type Log = (Id, Option<Id>, Event);

#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    trace: usize,
    span: usize,
}

impl Span {
    /// Takes the scope, which can follow the span.
    pub(super) fn set_scope(&mut self, scope: &str) {
        match scope {
            overlay::ADK_SCOPE => self.view.get_or_insert_default().is_adk = true,
            overlay::LANGCHAIN_SCOPE => {
                if let Some(view) =
                    self.view.as_deref_mut().filter(|view| view.tool().args.is_of(Source::ToolInput))
                {
                    view.tool_mut().args = Slot::default();
                }
            }
            _ => {}
        }
    }
}
