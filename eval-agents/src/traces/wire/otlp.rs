//! OTLP as JSON.

use std::num::NonZeroU64;

use eval_core::format::Value;
use eval_support::key_case::{camel, snake};

use crate::traces::attributes::{self, count};
use crate::traces::gap::Notes;
use crate::traces::id::Id;
use crate::traces::overlay::{self, Event};
use crate::traces::store::{Log, Store};
use crate::traces::view::{Span, Status};

pub(super) fn dropped_attributes(value: &Value) -> Option<u64> {
    count(field(value, "droppedAttributesCount"))
}

/// The number of dropped parts of a span. Of a span without agents only attributes count: they may have been about
/// agents.
fn dropped(value: &Value, is_viewed: bool) -> u32 {
    let mut counts = vec![dropped_attributes(value)];
    if is_viewed {
        counts.extend(["droppedEventsCount", "droppedLinksCount"].map(|name| count(field(value, name))));
        let events = value["events"].as_array().unwrap_or_default();
        let of_agents =
            events.iter().filter(|it| it["name"].as_str().is_some_and(|name| name.starts_with("gen_ai.")));
        counts.extend(of_agents.map(dropped_attributes));
    }
    let dropped = counts.into_iter().flatten().fold(0, u64::saturating_add);
    u32::try_from(dropped).unwrap_or(u32::MAX)
}

/// A field under its name in OTLP's JSON, or in its protobuf.
fn field<'v>(value: &'v Value, name: &str) -> &'v Value {
    match &value[name] {
        Value::Null => &value[&*snake(name)],
        found => found,
    }
}

/// Notes keys of OTLP that are there in both spellings, with different values. Only one spelling is read.
fn check_spellings(what: &str, value: &Value, notes: &mut Notes) {
    for (key, other) in value.as_object().into_iter().flatten().filter(|(key, _)| key.contains('_')) {
        let read = &value[&*camel(key)];
        if camel(key) != key && !read.is_null() && read != other {
            notes.malformed(format!(
                "{what} has `{}` and `{key}`, which are one key in two spellings",
                camel(key)
            ));
        }
    }
}

pub(super) fn span(value: &Value, store: &mut Store) -> Option<(Id, Span)> {
    let Store { notes, copies, .. } = store;
    if value.as_object().is_none() {
        notes.misfit("a span", "an object", value.kind());
        if value.is_null() {
            notes.malformed("a span is null");
        }
        return None;
    }
    check_spellings("a span", value, notes);
    let text = |name| field(value, name).as_str().unwrap_or_default();
    let (Some(trace), Some(id)) = (Id::trace(text("traceId")), Id::span(text("spanId"))) else {
        notes.malformed("a span has no id, or none of its trace");
        return None;
    };
    let parent = field(value, "parentSpanId");
    if !parent.is_null() && parent.as_str().is_none() {
        notes.misfit("`parentSpanId`", "a string", parent.kind());
    }
    let name = value["name"].as_str().unwrap_or_default();
    let status = &value["status"];
    if !matches!(status, Value::Null | Value::Object(_)) {
        notes.misfit("`status`", "an object", status.kind());
    }
    let attributes = attributes::otlp(&value["attributes"], notes);
    let events = events(&value["events"], notes);
    let view = overlay::view(name, &attributes, &events, copies).map(Box::new);
    let span = Span {
        parent: Id::span(parent.as_str().unwrap_or_default()),
        name: Span::kept_name(name, view.is_some()),
        start: time(field(value, "startTimeUnixNano")),
        end: time(field(value, "endTimeUnixNano")),
        status: status_of(&status["code"], notes),
        dropped: dropped(value, view.is_some()),
        identity: overlay::identity(&attributes).map(Box::new),
        resource: None,
        view,
        id,
    };
    Some((trace, span))
}

fn time(value: &Value) -> Option<NonZeroU64> {
    count(value).and_then(NonZeroU64::new)
}

fn status_of(code: &Value, notes: &mut Notes) -> Status {
    match (code.as_str(), code.as_i64()) {
        _ if code.is_null() => Status::Unset,
        (Some("0" | "STATUS_CODE_UNSET"), _) | (_, Some(0)) => Status::Unset,
        (Some("1" | "STATUS_CODE_OK"), _) | (_, Some(1)) => Status::Ok,
        (Some("2" | "STATUS_CODE_ERROR"), _) | (_, Some(2)) => Status::Error,
        _ => {
            notes.malformed("the code of a status is not known");
            Status::Unset
        }
    }
}

fn events(value: &Value, notes: &mut Notes) -> Vec<Event> {
    let items = match value {
        Value::Null => return Vec::new(),
        Value::Array(items) => items,
        other => {
            notes.misfit("`events`", "a list", other.kind());
            return Vec::new();
        }
    };
    let mut events = Vec::new();
    for item in items {
        // Only events named `gen_ai.*` are needed.
        let Some(name) = item["name"].as_str() else {
            notes.malformed("an event has no name");
            continue;
        };
        if name.starts_with("gen_ai.") {
            events.push(Event {
                name: name.to_owned(),
                time: count(field(item, "timeUnixNano")).unwrap_or_default(),
                attributes: attributes::otlp(&item["attributes"], notes),
                body: Value::Null,
            });
        }
    }
    events
}

/// A log record; `None` if it names no trace, or if its name does not begin with `gen_ai.`.
pub(super) fn log(value: &Value, notes: &mut Notes) -> Option<Log> {
    if value.as_object().is_none() {
        notes.malformed(format!("a record of a log is {}", value.kind()));
        return None;
    }
    check_spellings("a record of a log", value, notes);
    let attributes = attributes::otlp(&value["attributes"], notes);
    let named =
        [Some(field(value, "eventName")), attributes.get("otel.event.name"), attributes.get("event.name")];
    let named = named.into_iter().flatten().find_map(|it| it.as_str().filter(|name| !name.is_empty()));
    let name = named?.to_owned();
    if !name.starts_with("gen_ai.") {
        return None;
    }
    let id = |name| field(value, name).as_str().unwrap_or_default();
    let Some(trace) = Id::trace(id("traceId")) else {
        notes.malformed(format!("a record `{name}` names no trace"));
        return None;
    };
    notes.dropped(&format!("attributes of a record `{name}`"), dropped_attributes(value));
    let at = ["timeUnixNano", "observedTimeUnixNano"].into_iter().find_map(|name| time(field(value, name)));
    let body = attributes::body(&value["body"], notes);
    let event = Event { name, time: at.map_or(0, NonZeroU64::get), body, attributes };
    Some((trace, Id::span(id("spanId")), event))
}
