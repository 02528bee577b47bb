//! The file of a case: its text, and the reading of it.
//!
//! Requests repeat the history, so a request has the messages that are new and the number of the request whose messages
//! begin it. A checksum of the whole request guards the chain.

use std::collections::HashMap;

use eval_format::{Map, Value};
use eval_support::hash::content_hash;
use eval_support::untrusted::one_line;

use super::shared::{BY_HAND, Shared, VERSION, VERSION_KEY, object_of_version};
use super::{Answer, Body, CaseRecording, Exchange, KEPT_HEADERS, keys, layout, lines, reordered};
use crate::sse::{Data, Event};
use crate::wire::{Parts, Wire};

impl CaseRecording {
    /// The text of the file. Its prompts and tools are added to `shared`.
    pub fn to_json(&self, shared: &mut Shared) -> String {
        let mut begun: HashMap<u64, usize> = HashMap::new();
        let mut exchanges = Vec::with_capacity(self.exchanges.len());
        for (at, exchange) in self.exchanges.iter().enumerate() {
            let prefixes = prefixes(exchange);
            let length = exchange.parts.messages.len();
            let known =
                (1..=length).rev().find_map(|length| Some((length, *begun.get(&prefixes[length - 1])?)));
            if let Some(whole) = prefixes.last() {
                begun.entry(*whole).or_insert(at + 1);
            }
            exchanges.push(to_value(exchange, known, shared));
        }
        let map = Map::from([
            (VERSION_KEY, Value::from(VERSION)),
            ("eval_id", Value::from(&*self.eval_id)),
            ("exchanges", Value::Array(exchanges)),
        ]);
        layout::laid_out(&Value::Object(map))
    }

    /// Reads the text of a file. The error is a sentence about it.
    pub fn parse(text: &str, shared: &Shared) -> Result<Self, String> {
        let map = object_of_version(text)?;
        keys::check(&map, &[VERSION_KEY, "eval_id", "exchanges"]).map_err(|why| format!("it {why}"))?;
        let mut recording = Self::new(text_of(&map, "eval_id").ok_or("it has no `eval_id`")?);
        for exchange in
            list_of(&map, "exchanges").map_err(|why| format!("it {why}"))?.ok_or("it has no `exchanges`")?
        {
            let number = recording.exchanges.len() + 1;
            let read = exchange.as_object().ok_or_else(|| "is no object".to_owned());
            let read = read.and_then(|map| read_exchange(map, &recording.exchanges, shared));
            recording.exchanges.push(read.map_err(|why| format!("exchange {number} {why}"))?);
        }
        reordered::in_order(&mut recording.exchanges);
        Ok(recording)
    }
}

/// A hash of each beginning of the messages of a request.
fn prefixes(exchange: &Exchange) -> Vec<u64> {
    let mut hash = content_hash(exchange.wire.to_string().as_bytes());
    let next = |message: &Value| {
        hash = content_hash(format!("{hash:x}{message}").as_bytes());
        hash
    };
    exchange.parts.messages.iter().map(next).collect()
}

fn to_value(exchange: &Exchange, known: Option<(usize, usize)>, shared: &mut Shared) -> Value {
    let Exchange { turn, wire, model, parts, key, answered, answers } = exchange;
    let mut map = Map::from([
        ("turn", Value::from(i64::try_from(*turn).unwrap_or(i64::MAX))),
        ("wire", Value::from(wire.to_string())),
        ("model", Value::from(&**model)),
        ("key", Value::from(&**key)),
    ]);
    if let Some(answered) = answered {
        map.insert("answered", &**answered);
    }
    if let Some(system) = &parts.system {
        map.insert("system", shared.add("system", system));
    }
    if let Some(tools) = &parts.tools {
        map.insert("tools", shared.add("tools", tools));
    }
    if !parts.options.is_empty() {
        map.insert("options", Value::Object(parts.options.clone()));
    }
    let begun = known.map_or(0, |(length, _)| length);
    if let Some((length, after)) = known {
        map.insert("after", i64::try_from(after).unwrap_or(i64::MAX));
        debug_assert!(length <= parts.messages.len());
    }
    map.insert("messages", parts.messages[begun..].iter().map(lines::split).collect::<Value>());
    let check = answered.as_ref().unwrap_or(key);
    map.insert("answers", answers.iter().map(|answer| answer.to_value(check)).collect::<Value>());
    Value::Object(map)
}

fn text_of<'m>(map: &'m Map, key: &str) -> Option<&'m str> {
    map.get(key).and_then(Value::as_str)
}

/// A whole number; `None` without the key.
fn count_of(map: &Map, key: &str) -> Result<Option<usize>, String> {
    let Some(value) = map.get(key) else { return Ok(None) };
    let count = value.as_i64().and_then(|count| usize::try_from(count).ok());
    count.map(Some).ok_or_else(|| format!("has a `{key}` that is no whole number"))
}

/// The items of an array; `None` without the key.
fn list_of<'m>(map: &'m Map, key: &str) -> Result<Option<&'m [Value]>, String> {
    let Some(value) = map.get(key) else { return Ok(None) };
    value.as_array().map(Some).ok_or_else(|| format!("has `{key}` that is no array"))
}

/// Reads the requests with answers that a person made, for all cases and runs. The error is a sentence about `shared.json`.
pub(crate) fn by_hand(shared: &Shared) -> Result<Vec<Exchange>, String> {
    let read = |(number, written): (usize, &Value)| {
        read_by_hand(written, shared).map_err(|why| format!("entry {number} of `{BY_HAND}` {why}"))
    };
    (1..).zip(shared.by_hand()).map(read).collect()
}

/// Reads a request that a person wrote, with the answer that all cases get to it. It has no checksums: it is not what a model
/// said.
fn read_by_hand(written: &Value, shared: &Shared) -> Result<Exchange, String> {
    let map = written.as_object().ok_or("is no object")?;
    if map.get("after").is_some() {
        return Err("has `after`, and no request is before it: its `messages` have to be whole".to_owned());
    }
    let mut exchange = read_request(map, &[], shared)?;
    match map.get("answers").and_then(Value::as_array) {
        Some([answer]) => {
            exchange.answers.push(read_answer(answer.as_object().ok_or("has an answer that is no object")?)?);
            reordered::in_order(std::slice::from_mut(&mut exchange));
        }
        _ => return Err("has to have one answer in `answers`, which is given each time".to_owned()),
    }
    Ok(exchange)
}

/// Reads a request without its answers.
fn read_request(map: &Map, before: &[Exchange], shared: &Shared) -> Result<Exchange, String> {
    keys::check(map, &keys::OF_EXCHANGE)?;
    let wire = text_of(map, "wire").ok_or("has no `wire`")?;
    let wire = Wire::named(wire).ok_or_else(|| format!("has the wire `{wire}`, which is not known"))?;
    let part = |key: &str| match text_of(map, key) {
        None => Ok(None),
        Some(name) => match shared.get(name) {
            Some(part) => Ok(Some(part.clone())),
            None => Err(format!("names `{name}`, which `shared.json` does not have")),
        },
    };
    let mut messages = match count_of(map, "after")? {
        None => Vec::new(),
        Some(after) => match after.checked_sub(1).and_then(|at| before.get(at)) {
            Some(begun) => begun.parts.messages.clone(),
            None => return Err(format!("is after exchange {after}, which is not before it")),
        },
    };
    messages.extend(list_of(map, "messages")?.unwrap_or_default().iter().map(lines::join));
    let options = map.get("options").and_then(Value::as_object).cloned().unwrap_or_default();
    let parts = Parts { options, system: part("system")?, tools: part("tools")?, messages };
    let model = text_of(map, "model").unwrap_or_default().to_owned();
    Ok(Exchange::new(count_of(map, "turn")?.unwrap_or(0), wire, &model, parts))
}

fn read_exchange(map: &Map, before: &[Exchange], shared: &Shared) -> Result<Exchange, String> {
    let mut exchange = read_request(map, before, shared)?;
    let turn = exchange.turn;
    if text_of(map, "key") != Some(&exchange.key) {
        return Err(format!("(turn {turn}) was edited: its request has another `key`"));
    }
    exchange.answered = text_of(map, "answered").map(str::to_owned);
    let check = exchange.answered.as_ref().unwrap_or(&exchange.key);
    for answer in list_of(map, "answers")?.unwrap_or_default() {
        let answer_map = answer.as_object().ok_or("has an answer that is no object")?;
        let read = read_answer(answer_map)?;
        if text_of(answer_map, "check") != Some(&read.checksum(check)) {
            return Err(format!(
                "(turn {turn}) has an answer of run {} that was edited: its `check` does not fit, and a changed answer is \
                 not what the model said",
                read.run
            ));
        }
        exchange.answers.push(read);
    }
    Ok(exchange)
}

fn read_answer(map: &Map) -> Result<Answer, String> {
    keys::check(map, &keys::OF_ANSWER).map_err(|why| format!("has an answer that {why}"))?;
    if ["body", "events", "text"].iter().filter(|key| map.get(key).is_some()).count() > 1 {
        return Err("has an answer with several of `body`, `events` and `text`".to_owned());
    }
    let body = if let Some(body) = map.get("body") {
        Body::Json(body.clone())
    } else if let Some(events) = map.get("events").and_then(Value::as_array) {
        Body::Events(events.iter().map(read_event).collect::<Result<_, String>>()?)
    } else {
        let text = text_of(map, "text").ok_or("has an answer without `body`, `events` or `text`")?;
        Body::Text { kind: text_of(map, "type").unwrap_or_default().to_owned(), text: text.to_owned() }
    };
    let headers = map.get("headers").and_then(Value::as_object).into_iter().flat_map(Map::iter);
    let headers: Vec<(String, String)> =
        headers.filter_map(|(name, value)| Some((name.to_owned(), value.as_str()?.to_owned()))).collect();
    // The checksum does not cover them.
    if let Some((name, _)) = headers.iter().find(|(name, _)| !KEPT_HEADERS.contains(&&**name)) {
        return Err(format!("has an answer with the header `{}`, which is not recorded", one_line(name)));
    }
    let of_answer = |why| format!("has an answer that {why}");
    let status =
        count_of(map, "status").map_err(of_answer)?.map_or(Some(200), |status| u16::try_from(status).ok());
    Ok(Answer {
        run: count_of(map, "run").map_err(of_answer)?.unwrap_or(1),
        status: status.ok_or("has an answer whose `status` is not a status of HTTP")?,
        headers,
        body,
    })
}

fn read_event(value: &Value) -> Result<Event, String> {
    let map = value.as_object().ok_or("has an event that is no object")?;
    keys::check(map, &keys::OF_EVENT).map_err(|why| format!("has an event that {why}"))?;
    let field = |key: &str| map.get(key);
    let data = match (field("data"), field("text").and_then(Value::as_str)) {
        (Some(data), _) => Data::Json(data.clone()),
        (None, text) => Data::Text(text.unwrap_or_default().to_owned()),
    };
    Ok(Event { name: field("event").and_then(Value::as_str).map(str::to_owned), data })
}
