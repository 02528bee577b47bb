//! Recorded calls of one case: requests in their canonical form, each with the answers of the runs that sent it.

mod file;
mod keys;
mod layout;
mod lines;
mod reordered;
mod shared;

use eval_format::{Map, Value};
use eval_support::hash::content_hash;

use crate::sse::{Data, Event};
use crate::usage::Usage;
use crate::wire::{Parts, Wire, key};

pub(crate) use file::by_hand;
pub use shared::Shared;

/// Headers of answers that clients act on or show. No other header is handed on or recorded.
pub(crate) const KEPT_HEADERS: [&str; 5] =
    ["retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id"];

/// The recorded calls of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaseRecording {
    /// The id of the case.
    pub eval_id: String,
    /// The requests with their answers, in the order of the file.
    pub exchanges: Vec<Exchange>,
}

/// A request with its answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The turn in which it was first sent, from 1; 0 before the first one.
    pub turn: usize,
    /// The form of the request.
    pub wire: Wire,
    /// The model that it names.
    pub model: String,
    /// The parts of the request.
    pub parts: Parts,
    /// The key of the request.
    pub key: String,
    /// The key of the request that was answered, if the request was changed since: `models rebind`.
    pub answered: Option<String>,
    /// The answers; those in one run are in the order in which they were given.
    pub answers: Vec<Answer>,
}

/// An answer of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The run that got it, from 1.
    pub run: usize,
    /// The status of HTTP.
    pub status: u16,
    /// Headers that clients act on.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Body,
}

/// The body of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// JSON.
    Json(Value),
    /// The events of a stream.
    Events(Vec<Event>),
    /// Any other text, with its type.
    Text {
        /// The type of the content.
        kind: String,
        /// The text.
        text: String,
    },
}

impl Exchange {
    /// A request without an answer.
    pub fn new(turn: usize, wire: Wire, model: &str, parts: Parts) -> Self {
        let key = key(wire, model, &parts);
        Self { turn, wire, model: model.to_owned(), parts, key, answered: None, answers: Vec::new() }
    }

    /// The answers of a run, in their order.
    pub fn answers_of(&self, run: usize) -> impl Iterator<Item = &Answer> {
        self.answers.iter().filter(move |answer| answer.run == run)
    }

    /// The first run that sent it.
    fn first_run(&self) -> usize {
        self.answers.iter().map(|answer| answer.run).min().unwrap_or(1)
    }
}

impl CaseRecording {
    /// A recording without calls.
    pub fn new(eval_id: &str) -> Self {
        Self { eval_id: eval_id.to_owned(), exchanges: Vec::new() }
    }

    /// Whether a request is recorded, in any run.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.exchanges.iter().any(|exchange| exchange.key == key)
    }

    /// The answers to a request in a run, in their order. Answers to an older request go last.
    pub(crate) fn answers_to(&self, key: &str, run: usize) -> impl Iterator<Item = &Answer> {
        let of_request = self.exchanges.iter().filter(move |exchange| exchange.key == key);
        of_request.flat_map(move |exchange| exchange.answers_of(run))
    }

    /// The number of answers.
    pub fn answers(&self) -> usize {
        self.exchanges.iter().map(|exchange| exchange.answers.len()).sum()
    }

    /// The highest run that has an answer.
    pub fn runs(&self) -> usize {
        let runs = self.exchanges.iter().flat_map(|exchange| &exchange.answers).map(|answer| answer.run);
        runs.max().unwrap_or(0)
    }

    /// The number of answers that were given to another request than the one they are under now.
    pub fn rebound(&self) -> usize {
        self.exchanges.iter().filter(|exchange| exchange.answered.is_some()).map(|it| it.answers.len()).sum()
    }

    /// The tokens of all answers.
    pub fn usage(&self) -> Usage {
        let mut total = Usage::default();
        for exchange in &self.exchanges {
            for answer in &exchange.answers {
                total += answer.usage(exchange.wire).unwrap_or_default();
            }
        }
        total
    }

    /// Adds the answers of an exchange. Answers to an older request stay apart, so that their mark is theirs alone.
    pub(crate) fn add(&mut self, exchange: Exchange) {
        let is_same =
            |known: &&mut Exchange| known.key == exchange.key && known.answered == exchange.answered;
        match self.exchanges.iter_mut().find(is_same) {
            Some(known) => {
                known.turn = known.turn.min(exchange.turn);
                known.answers.extend(exchange.answers);
            }
            None => self.exchanges.push(exchange),
        }
    }

    /// Removes the answers of the runs that are not kept.
    pub(crate) fn keep_runs(&mut self, is_kept: impl Fn(usize) -> bool) {
        self.exchanges.retain_mut(|exchange| {
            // A request that a fault answered has no answers at all.
            let had_none = exchange.answers.is_empty();
            exchange.answers.retain(|answer| is_kept(answer.run));
            had_none || !exchange.answers.is_empty()
        });
    }

    /// Puts the requests in the order of the file, which does not depend on which answer came first.
    pub(crate) fn sort(&mut self) {
        for exchange in &mut self.exchanges {
            exchange.answers.sort_by_key(|answer| answer.run);
        }
        self.exchanges.sort_by_cached_key(|exchange| {
            let length = exchange.parts.messages.len();
            (exchange.first_run(), exchange.turn, length, exchange.key.clone(), exchange.answered.clone())
        });
    }
}

impl Answer {
    /// The tokens, if the answer says them.
    pub fn usage(&self, wire: Wire) -> Option<Usage> {
        match &self.body {
            Body::Json(value) => wire.usage(value),
            Body::Events(events) => wire.usage_of_events(events),
            Body::Text { .. } => None,
        }
    }

    /// The length of its body in bytes.
    pub(crate) fn size(&self) -> usize {
        match &self.body {
            Body::Json(value) => value.to_string().len(),
            Body::Events(events) => events.iter().map(|event| event.to_wire().len()).sum(),
            Body::Text { text, .. } => text.len(),
        }
    }

    /// The checksum that shows whether the request or the answer was edited.
    fn checksum(&self, key: &str) -> String {
        let body = match &self.body {
            Body::Json(value) => value.to_string(),
            Body::Events(events) => events.iter().map(Event::to_wire).collect(),
            Body::Text { text, .. } => text.clone(),
        };
        let whole = format!("{key}\0{}\0{}\0{body}", self.run, self.status);
        format!("{:016x}", content_hash(whole.as_bytes()))
    }

    /// The id that the provider gave to the answer.
    pub(crate) fn id(&self) -> Option<&str> {
        match &self.body {
            Body::Json(value) => value.as_object()?.get("id")?.as_str(),
            Body::Events(events) => events.iter().find_map(|event| {
                let map = event.json()?.as_object()?;
                let inner = map.get("response").or_else(|| map.get("message")).and_then(Value::as_object);
                inner.unwrap_or(map).get("id")?.as_str()
            }),
            Body::Text { .. } => None,
        }
    }

    /// The texts under these keys anywhere in the answer: ids and signed values that a client may send back.
    pub(crate) fn texts_under(&self, keys: &[&str]) -> Vec<String> {
        let mut found = Vec::new();
        match &self.body {
            Body::Json(value) => collect(value, keys, &mut found),
            Body::Events(events) => {
                events.iter().filter_map(Event::json).for_each(|value| collect(value, keys, &mut found));
            }
            Body::Text { .. } => {}
        }
        found
    }

    fn to_value(&self, key: &str) -> Value {
        let mut map = Map::new();
        if self.run != 1 {
            map.insert("run", i64::try_from(self.run).unwrap_or(i64::MAX));
        }
        if self.status != 200 {
            map.insert("status", i64::from(self.status));
        }
        if !self.headers.is_empty() {
            let headers: Map =
                self.headers.iter().map(|(name, value)| (name.clone(), Value::from(&**value))).collect();
            map.insert("headers", Value::Object(headers));
        }
        map.insert("check", self.checksum(key));
        match &self.body {
            Body::Json(value) => {
                map.insert("body", value.clone());
            }
            Body::Events(events) => {
                map.insert("events", events.iter().map(event_value).collect::<Value>());
            }
            Body::Text { kind, text } => {
                map.insert("type", &**kind);
                map.insert("text", &**text);
            }
        }
        Value::Object(map)
    }
}

fn event_value(event: &Event) -> Value {
    let mut map = Map::new();
    if let Some(name) = &event.name {
        map.insert("event", &**name);
    }
    match &event.data {
        Data::Json(value) => map.insert("data", value.clone()),
        Data::Text(text) => map.insert("text", &**text),
    };
    Value::Object(map)
}

fn collect(value: &Value, keys: &[&str], found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, keys, found)),
        Value::Object(map) => {
            for (key, item) in map {
                match item {
                    Value::String(text) if keys.contains(&key) => found.push(text.clone()),
                    item => collect(item, keys, found),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
