//! What sources read from, and what they fill.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Weak};

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

/// Results of tools, each kept once: they stand in the span of the tool, and again in each model call that follows. Those of
/// conversations that are finished are not kept.
#[derive(Debug, Default)]
pub(in crate::traces) struct Results {
    values: HashMap<u64, Vec<Weak<Value>>>,
    responses: HashMap<u64, Vec<Weak<Response>>>,
}

impl Results {
    /// The one copy of a result in a message.
    pub(in crate::traces) fn keep(&mut self, response: &Arc<Response>) -> Arc<Response> {
        let value = self.value(Arc::clone(&response.value));
        let mut hasher = DefaultHasher::new();
        // Equal values have one place.
        (&response.id, &response.name, Arc::as_ptr(&value).addr()).hash(&mut hasher);
        let one = || Arc::new(Response { id: response.id.clone(), name: response.name.clone(), value });
        let is_same = |known: &Response| known == &**response;
        only(self.responses.entry(hasher.finish()).or_default(), is_same, one)
    }

    /// The one copy of a value.
    pub(super) fn value(&mut self, value: Arc<Value>) -> Arc<Value> {
        let mut hasher = DefaultHasher::new();
        value.to_string().hash(&mut hasher);
        let same = Arc::clone(&value);
        only(self.values.entry(hasher.finish()).or_default(), |known| *known == *same, || value)
    }
}

/// The one that is known, else a new one.
fn only<T>(known: &mut Vec<Weak<T>>, is_same: impl Fn(&T) -> bool, new: impl FnOnce() -> Arc<T>) -> Arc<T> {
    if let Some(found) = known.iter().filter_map(Weak::upgrade).find(|it| is_same(it)) {
        return found;
    }
    known.retain(|it| it.strong_count() > 0);
    let new = new();
    known.push(Arc::downgrade(&new));
    new
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
