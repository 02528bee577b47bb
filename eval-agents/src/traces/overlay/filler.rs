//! The filler, through which each source writes attributes into a view.

use std::sync::Arc;

use eval_core::format::Value;
use eval_support::message::truncated;

use crate::traces::attributes::{Attributes, count, text};
use crate::traces::copies::Copies;
use crate::traces::message::{Message, NoContent, Part, Response};
use crate::traces::view::{Input, OfModel, Output, Slot, Source, View};

/// An event of a span, or a record of a log that belongs to one.
#[derive(Clone, Debug)]
pub(in crate::traces) struct Event {
    pub(in crate::traces) name: String,
    pub(in crate::traces) time: u64,
    pub(in crate::traces) attributes: Attributes,
    /// The body, of records of logs.
    pub(in crate::traces) body: Value,
}

const MAX_AGENT_CHARS: usize = 256;

pub(super) struct Filler<'a> {
    pub(super) view: &'a mut View,
    pub(super) copies: &'a mut Copies,
}

impl Filler<'_> {
    pub(super) fn input(&mut self, source: Source, messages: Result<Vec<Message>, NoContent>) {
        let read = messages.map(|messages| Input::new(&self.with_own_ids(messages), self.copies));
        self.view.model_mut().input.offer_read(source, read);
    }

    pub(super) fn output(&mut self, source: Source, messages: Result<Vec<Message>, NoContent>) {
        let read = messages.map(|messages| Output::new(self.with_own_ids(messages)));
        self.view.model_mut().output.offer_read(source, read);
    }

    /// The messages without the ids that ADK makes up: a call and its result get different ones.
    fn with_own_ids(&self, mut messages: Vec<Message>) -> Vec<Message> {
        let parts = messages.iter_mut().flat_map(|message| &mut message.parts).filter(|_| self.view.is_adk);
        for part in parts {
            match part {
                Part::Call(call) if call.id.as_deref().and_then(made_up) == Some(&call.name) => {
                    call.id = None;
                }
                Part::Response(result) => {
                    let name = result.id.as_deref().and_then(made_up);
                    let is_fit = |name: &str| result.name.as_deref().is_none_or(|known| known == name);
                    if let Some(name) = name.filter(|name| is_fit(name)).map(str::to_owned) {
                        let value = Arc::clone(&result.value);
                        *result = Arc::new(Response { id: None, name: Some(name), value });
                    }
                }
                _ => {}
            }
        }
        messages
    }

    pub(super) fn model(
        &mut self,
        source: Source,
        name: Option<&Value>,
        slot: fn(&mut OfModel) -> &mut Slot<Arc<str>>,
    ) {
        if let Some(name) = name.and_then(text).filter(|name| !name.is_empty()) {
            let name = self.copies.text(&name);
            slot(self.view.model_mut()).offer(source, name);
        }
    }

    pub(super) fn finish(&mut self, source: Source, reasons: impl IntoIterator<Item = impl Into<Box<str>>>) {
        let reasons: Vec<Box<str>> = reasons.into_iter().map(Into::into).collect();
        if !reasons.is_empty() {
            self.view.model_mut().finish.offer(source, reasons);
        }
    }

    /// Takes token counts, each kind from the first of its values that is a count.
    pub(super) fn tokens<'v>(&mut self, source: Source, named: [impl IntoIterator<Item = &'v Value>; 5]) {
        for (kind, values) in named.into_iter().enumerate() {
            if let Some(tokens) = values.into_iter().find_map(count) {
                self.view.model_mut().usage.offer(kind, source, tokens);
            }
        }
    }

    /// Takes the name of the agent, if none is known. Each call repeats it, so a long name is truncated.
    pub(super) fn agent(&mut self, attributes: &Attributes, key: &str) {
        if let Some(name) = filled(attributes, key).filter(|_| self.view.agent.is_none()) {
            self.view.agent = Some(self.copies.text(&truncated(&name, MAX_AGENT_CHARS, "…")));
        }
    }

    pub(super) fn tool(&mut self, attributes: &Attributes, key: &str) {
        if self.view.tool().name.is_none() {
            self.view.tool_mut().name = self.shared(attributes, key);
        }
    }

    pub(super) fn shared(&mut self, attributes: &Attributes, key: &str) -> Option<Arc<str>> {
        filled(attributes, key).map(|text| self.copies.text(&text))
    }
}

/// The name of the tool in an id that ADK made up.
fn made_up(id: &str) -> Option<&str> {
    let (name, place) = id.rsplit_once('_')?;
    let is_place = !place.is_empty() && place.bytes().all(|digit| digit.is_ascii_digit());
    (is_place && !name.is_empty()).then_some(name)
}

/// A value that is not null.
pub(super) fn there<'a>(attributes: &'a Attributes, key: &str) -> Option<&'a Value> {
    attributes.get(key).filter(|value| !value.is_null())
}

pub(super) fn filled(attributes: &Attributes, key: &str) -> Option<Box<str>> {
    attributes.get(key).and_then(text).filter(|text| !text.is_empty()).map(Into::into)
}
