//! OTLP as JSON.

use std::num::NonZeroU64;
use std::sync::Arc;

use eval_core::format::Value;
use serde::Deserializer;
use serde::de::{DeserializeSeed, MapAccess};

use super::stream::{Elements, Fields, List, Object, skip, value, values};
use crate::traces::attributes::{self, count};
use crate::traces::id::Id;
use crate::traces::notes::Notes;
use crate::traces::overlay::{self, Event};
use crate::traces::store::{Place, Store};
use crate::traces::view::{Identity, Span, Status};

/// `resourceSpans` and `resourceLogs`: a list with an element for each resource.
pub(super) struct Resources<'s> {
    pub(super) store: &'s mut Store,
    pub(super) what: &'static str,
}

impl Elements for Resources<'_> {
    fn element<'de, D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<(), D::Error> {
        let mut one = Resource {
            store: &mut *self.store,
            what: self.what,
            identity: None,
            spans: Vec::new(),
            logs: Vec::new(),
        };
        Object(&mut one).deserialize(deserializer)?;
        let Resource { store, identity, spans, logs, .. } = one;
        if identity.is_some() {
            for place in spans {
                store.span(place).resource.clone_from(&identity);
            }
        }
        for log in logs {
            store.add_log(&log.trace, log.span, log.event);
        }
        Ok(())
    }

    fn not_a_list(&mut self, found: &'static str) {
        self.store.notes.misfit(&format!("`{}`", self.what), "a list", found);
    }
}

/// A resource with its spans, or with its logs.
struct Resource<'s> {
    store: &'s mut Store,
    what: &'static str,
    identity: Option<Arc<Identity>>,
    /// The places of its spans, as it can stand after them.
    spans: Vec<Place>,
    logs: Vec<Log>,
}

/// A record of a log that names a trace.
struct Log {
    trace: Id,
    span: Option<Id>,
    event: Event,
}

impl Fields for Resource<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, access: &mut A) -> Result<(), A::Error> {
        match name {
            "resource" => {
                let resource = value(access)?;
                let notes = &mut self.store.notes;
                notes.dropped("attributes of a resource", dropped_attributes(&resource));
                let attributes = attributes::otlp(&resource["attributes"], notes);
                self.identity = overlay::identity(&attributes).map(Arc::new);
                Ok(())
            }
            "scopeSpans"
            | "scope_spans"
            | "instrumentationLibrarySpans"
            | "instrumentation_library_spans"
            | "scopeLogs"
            | "scope_logs"
            | "instrumentationLibraryLogs"
            | "instrumentation_library_logs" => access.next_value_seed(List(&mut Scopes(self))),
            _ => other(name, access, &mut self.store.notes),
        }
    }

    fn not_an_object(&mut self, found: &'static str) {
        let what = format!("an element of `{}`", self.what);
        self.store.notes.misfit(&what, "an object", found);
    }
}

/// The scopes of a resource.
struct Scopes<'r, 's>(&'r mut Resource<'s>);

impl Elements for Scopes<'_, '_> {
    fn element<'de, D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<(), D::Error> {
        let mut scope =
            Scope { store: &mut *self.0.store, name: String::new(), spans: Vec::new(), logs: Vec::new() };
        Object(&mut scope).deserialize(deserializer)?;
        let Scope { store, name, spans, logs } = scope;
        for place in &spans {
            store.span(*place).set_scope(&name);
        }
        self.0.spans.extend(spans);
        self.0.logs.extend(logs);
        Ok(())
    }

    fn not_a_list(&mut self, found: &'static str) {
        self.0.store.notes.misfit("`scopeSpans`", "a list", found);
    }
}

struct Scope<'s> {
    store: &'s mut Store,
    name: String,
    spans: Vec<Place>,
    logs: Vec<Log>,
}

impl Fields for Scope<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, access: &mut A) -> Result<(), A::Error> {
        let Self { store, spans, logs, .. } = self;
        match name {
            "scope" | "instrumentationLibrary" | "instrumentation_library" => {
                let scope = value(access)?;
                store.notes.dropped("attributes of a scope", dropped_attributes(&scope));
                scope["name"].as_str().unwrap_or_default().clone_into(&mut self.name);
                Ok(())
            }
            "spans" => {
                if let Some(found) = values(access, |value| {
                    if let Some((trace, span)) = span(&value, store) {
                        spans.push(store.add_span(&trace, span));
                    }
                })? {
                    store.notes.misfit("`spans`", "a list", found);
                }
                Ok(())
            }
            "logRecords" | "log_records" => {
                if let Some(found) = values(access, |value| logs.extend(log(&value, &mut store.notes)))? {
                    store.notes.misfit("`logRecords`", "a list", found);
                }
                Ok(())
            }
            _ => other(name, access, &mut store.notes),
        }
    }

    fn not_an_object(&mut self, found: &'static str) {
        self.store.notes.misfit("an element of `scopeSpans`", "an object", found);
    }
}

/// A field that is not read, unless it says that spans were dropped.
pub(super) fn other<'de, A: MapAccess<'de>>(
    name: &str,
    access: &mut A,
    notes: &mut Notes,
) -> Result<(), A::Error> {
    if matches!(name, "droppedSpansCount" | "dropped_spans_count") {
        notes.dropped("spans", count(&value(access)?));
        return Ok(());
    }
    skip(access)
}

fn dropped_attributes(value: &Value) -> Option<u64> {
    count(either(value, "droppedAttributesCount", "dropped_attributes_count"))
}

/// How many attributes, events and links of a span were dropped. Of a span that says nothing of agents only attributes matter:
/// they may be what would have said it.
fn dropped(value: &Value, is_viewed: bool) -> u32 {
    let count_of = |value: &Value| count(value).unwrap_or_default();
    let mut dropped = dropped_attributes(value).unwrap_or_default();
    if is_viewed {
        dropped = dropped
            .saturating_add(count_of(either(value, "droppedEventsCount", "dropped_events_count")))
            .saturating_add(count_of(either(value, "droppedLinksCount", "dropped_links_count")));
        let events = value["events"].as_array().unwrap_or_default();
        let of_agents =
            events.iter().filter(|it| it["name"].as_str().is_some_and(|name| name.starts_with("gen_ai.")));
        dropped = of_agents
            .fold(dropped, |sum, event| sum.saturating_add(dropped_attributes(event).unwrap_or_default()));
    }
    u32::try_from(dropped).unwrap_or(u32::MAX)
}

/// A field under its name in OTLP's JSON, or the one of its protobuf.
fn either<'v>(value: &'v Value, camel: &str, snake: &str) -> &'v Value {
    match &value[camel] {
        Value::Null => &value[snake],
        found => found,
    }
}

/// A span of OTLP and the id of its trace; `None` if it has no ids.
pub(super) fn span(value: &Value, store: &mut Store) -> Option<(Id, Span)> {
    let Store { notes, copies, .. } = store;
    if value.as_object().is_none() {
        notes.misfit("a span", "an object", value.kind());
        if value.is_null() {
            notes.malformed("a span is null");
        }
        return None;
    }
    let text = |camel, snake| either(value, camel, snake).as_str().unwrap_or_default();
    let trace = Id::trace(text("traceId", "trace_id"));
    let id = Id::span(text("spanId", "span_id"));
    let (Some(trace), Some(id)) = (trace, id) else {
        notes.malformed("a span has no id, or none of its trace");
        return None;
    };
    let parent = either(value, "parentSpanId", "parent_span_id");
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
        start: time(either(value, "startTimeUnixNano", "start_time_unix_nano")),
        end: time(either(value, "endTimeUnixNano", "end_time_unix_nano")),
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
    let is =
        |number: i64, name: &str| code.as_i64() == Some(number) || code.as_str().is_some_and(|it| it == name);
    if code.is_null() || is(0, "STATUS_CODE_UNSET") {
        return Status::Unset;
    }
    if is(1, "STATUS_CODE_OK") {
        return Status::Ok;
    }
    if is(2, "STATUS_CODE_ERROR") {
        return Status::Error;
    }
    match code.as_str() {
        Some("0") => Status::Unset,
        Some("1") => Status::Ok,
        Some("2") => Status::Error,
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
        // Other events are about other things.
        let Some(name) = item["name"].as_str() else {
            notes.malformed("an event has no name");
            continue;
        };
        if name.starts_with("gen_ai.") {
            events.push(Event {
                name: name.to_owned(),
                time: count(either(item, "timeUnixNano", "time_unix_nano")).unwrap_or_default(),
                attributes: attributes::otlp(&item["attributes"], notes),
                body: Value::Null,
            });
        }
    }
    events
}

/// A record of a log; `None` if it names no trace.
fn log(value: &Value, notes: &mut Notes) -> Option<Log> {
    if value.as_object().is_none() {
        notes.malformed(format!("a record of a log is {}", value.kind()));
        return None;
    }
    let attributes = attributes::otlp(&value["attributes"], notes);
    let named = [
        Some(either(value, "eventName", "event_name")),
        attributes.get("otel.event.name"),
        attributes.get("event.name"),
    ];
    let name = named
        .into_iter()
        .flatten()
        .find_map(|name| name.as_str().filter(|name| !name.is_empty()))?
        .to_owned();
    if !name.starts_with("gen_ai.") {
        return None;
    }
    let id = |camel, snake| either(value, camel, snake).as_str().unwrap_or_default();
    let time = |camel, snake| time(either(value, camel, snake));
    let Some(trace) = Id::trace(id("traceId", "trace_id")) else {
        notes.malformed(format!("a record `{name}` names no trace"));
        return None;
    };
    notes.dropped(&format!("attributes of a record `{name}`"), dropped_attributes(value));
    let at = time("timeUnixNano", "time_unix_nano")
        .or_else(|| time("observedTimeUnixNano", "observed_time_unix_nano"));
    Some(Log {
        trace,
        span: Id::span(id("spanId", "span_id")),
        event: Event {
            name,
            time: at.map_or(0, NonZeroU64::get),
            body: attributes::body(&value["body"], notes),
            attributes,
        },
    })
}
