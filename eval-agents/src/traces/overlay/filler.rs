//! What sources read from, and what they fill.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use eval_core::format::Value;

use crate::traces::attributes::{Attributes, text};
use crate::traces::message::{Message, NoContent, Response};
use crate::traces::view::{Input, Output, Source, View};

/// An event of a span, or a record of a log that belongs to one.
#[derive(Clone, Debug)]
pub(in crate::traces) struct Event {
    pub(in crate::traces) name: String,
    pub(in crate::traces) time: u64,
    pub(in crate::traces) attributes: Attributes,
    /// The body, of records of logs.
    pub(in crate::traces) body: Value,
}

/// Results of tools, each kept once: they stand again in each model call that follows.
#[derive(Debug, Default)]
pub(in crate::traces) struct Results {
    known: HashMap<u64, Vec<Arc<Response>>>,
}

impl Results {
    pub(in crate::traces) fn keep(&mut self, response: &Arc<Response>) -> Arc<Response> {
        let mut hasher = DefaultHasher::new();
        response.id.hash(&mut hasher);
        response.name.hash(&mut hasher);
        response.value.to_string().hash(&mut hasher);
        let alike = self.known.entry(hasher.finish()).or_default();
        if let Some(known) = alike.iter().find(|known| *known == response) {
            return Arc::clone(known);
        }
        alike.push(Arc::clone(response));
        Arc::clone(response)
    }
}

/// Fills a view.
pub(super) struct Filler<'a> {
    pub(super) view: &'a mut View,
    pub(super) results: &'a mut Results,
}

impl Filler<'_> {
    pub(super) fn input(&mut self, source: Source, messages: Result<Vec<Message>, NoContent>) {
        let results = &mut *self.results;
        let read = messages.map(|messages| Input::of(&messages, |response| results.keep(response)));
        self.view.input.offer_read(source, read);
    }

    pub(super) fn output(&mut self, source: Source, messages: Result<Vec<Message>, NoContent>) {
        self.view.output.offer_read(source, messages.map(Output::of));
    }
}

/// A text that is there.
pub(super) fn filled(attributes: &Attributes, key: &str) -> Option<Box<str>> {
    attributes.get(key).and_then(text).filter(|text| !text.is_empty()).map(Into::into)
}
