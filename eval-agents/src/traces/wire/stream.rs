//! Documents of traces, as they are read: objects field by field, lists element by element.
//!
//! A value of an unexpected type is noted and skipped. Only requested parts are built, so a document of any size is read in the
//! memory of its largest element.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::mem::take;
use std::sync::Arc;

use eval_core::format::{Map, Value};
use eval_support::key_case::camel;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::jaeger::{self, JaegerSpan};
use super::otlp;
use crate::traces::attributes::{self, count};
use crate::traces::error::TraceError;
use crate::traces::overlay;
use crate::traces::store::{Place, Store};
use crate::traces::view::Identity;

/// The fields of a span that is a document of its own.
const SPAN_FIELDS: &[&str] = &[
    "traceId",
    "spanId",
    "parentSpanId",
    "name",
    "startTimeUnixNano",
    "endTimeUnixNano",
    "attributes",
    "events",
    "status",
    "droppedAttributesCount",
    "droppedEventsCount",
    "droppedLinksCount",
];

/// A place in a document.
#[derive(Clone, Copy, PartialEq)]
enum At {
    /// An object, or a list of spans.
    Whole,
    Document,
    /// A list with an element for each resource, under this name.
    Resources(&'static str),
    Resource(&'static str),
    Scopes,
    Scope,
    Spans,
    Logs,
    /// Jaeger's list of traces.
    Data,
    JaegerTrace,
    JaegerSpans,
}

struct Document<'s> {
    store: &'s mut Store,
    found: Found,
    /// The identity in the present resource, and the places of its spans, as the resource can follow them.
    resource: Option<Arc<Identity>>,
    spans: Vec<Place>,
    scope: String,
    jaeger_spans: Vec<JaegerSpan>,
    processes: BTreeMap<String, Arc<Identity>>,
}

#[derive(Default)]
struct Found {
    /// Whether a form was recognized.
    is_known: bool,
    span: Map,
    /// The description of other content, for the error.
    other: Option<String>,
}

impl Found {
    fn end(self, number: usize, store: &mut Store) -> Result<(), TraceError> {
        if self.is_known {
            return Ok(());
        }
        if ["spanId", "traceId", "span_id", "trace_id"].iter().any(|key| self.span.contains_key(key)) {
            // It has no resource and no scope.
            if let Some((trace, span)) = otlp::span(&self.span.into(), store) {
                store.add_span(&trace, span);
            }
            return Ok(());
        }
        let found = self.other.unwrap_or_else(|| "an object or a list in which no spans are".to_owned());
        Err(TraceError::form(format!("value {number} in it is {found}")))
    }
}

/// Reads a document into a store. `number` is its number in the file.
pub(super) fn document<'de>(
    deserializer: &mut serde_json::Deserializer<impl serde_json::de::Read<'de>>,
    number: usize,
    store: &mut Store,
) -> Result<(), TraceError> {
    let mut document = Document::new(store);
    Read(At::Whole, &mut document).deserialize(deserializer).map_err(TraceError::of_json)?;
    document.found.end(number, document.store)
}

impl<'s> Document<'s> {
    fn new(store: &'s mut Store) -> Self {
        Self {
            store,
            found: Found::default(),
            resource: None,
            spans: Vec::new(),
            scope: String::new(),
            jaeger_spans: Vec::new(),
            processes: BTreeMap::new(),
        }
    }

    /// Reads one field: takes its value from `access`.
    fn field<'de, A: MapAccess<'de>>(&mut self, at: At, name: &str, access: &mut A) -> Result<(), A::Error> {
        let inside = match (at, &*camel(name)) {
            (At::Document, "resourceSpans") => At::Resources("resourceSpans"),
            (At::Document, "resourceLogs") => At::Resources("resourceLogs"),
            (At::Document, "batches") => At::Resources("batches"),
            (At::Document, "trace") => At::Document,
            (At::Document, "data") => At::Data,
            (
                At::Resource(_),
                "scopeSpans" | "instrumentationLibrarySpans" | "scopeLogs" | "instrumentationLibraryLogs",
            ) => At::Scopes,
            (At::Scope, "spans") => At::Spans,
            (At::Scope, "logRecords") => At::Logs,
            (At::JaegerTrace, "spans") => At::JaegerSpans,
            (At::Document, of_span) if SPAN_FIELDS.contains(&of_span) => {
                let value: Value = access.next_value()?;
                self.found.span.insert(name, value);
                return Ok(());
            }
            (At::Resource(_), "resource") => {
                let resource: Value = access.next_value()?;
                let notes = &mut self.store.notes;
                notes.dropped("attributes of a resource", otlp::dropped_attributes(&resource));
                let attributes = attributes::otlp(&resource["attributes"], notes);
                self.resource = overlay::identity(&attributes).map(Arc::new);
                return Ok(());
            }
            (At::Scope, "scope" | "instrumentationLibrary") => {
                let scope: Value = access.next_value()?;
                self.store.notes.dropped("attributes of a scope", otlp::dropped_attributes(&scope));
                scope["name"].as_str().unwrap_or_default().clone_into(&mut self.scope);
                return Ok(());
            }
            (At::JaegerTrace, "processes") => {
                self.processes = jaeger::processes(&access.next_value()?, &mut self.store.notes);
                return Ok(());
            }
            (At::Document, "errors") => {
                jaeger::errors(&access.next_value()?, &mut self.store.notes);
                return Ok(());
            }
            (At::Document | At::Resource(_) | At::Scope, "droppedSpansCount") => {
                self.store.notes.dropped("spans", count(&access.next_value()?));
                return Ok(());
            }
            _ => return access.next_value::<IgnoredAny>().map(drop),
        };
        self.found.is_known |= matches!(inside, At::Resources(_));
        access.next_value_seed(Read(inside, self))
    }

    fn element<'de, D: Deserializer<'de>>(&mut self, at: At, deserializer: D) -> Result<(), D::Error> {
        match at {
            At::Whole => {
                let all = take(&mut self.found);
                Read(At::Document, self).deserialize(deserializer)?;
                let one = std::mem::replace(&mut self.found, all);
                if one.end(0, self.store).is_ok() {
                    self.found.is_known = true;
                } else {
                    self.store.notes.malformed("an element of the list is no span");
                }
            }
            At::Resources(what) => {
                self.resource = None;
                self.spans.clear();
                Read(At::Resource(what), self).deserialize(deserializer)?;
                for place in take(&mut self.spans) {
                    self.store.span(place).resource.clone_from(&self.resource);
                }
            }
            At::Scopes => {
                let first = self.spans.len();
                self.scope.clear();
                Read(At::Scope, self).deserialize(deserializer)?;
                for place in &self.spans[first..] {
                    self.store.span(*place).set_scope(&self.scope);
                }
            }
            At::Spans => {
                let read = otlp::span(&Value::deserialize(deserializer)?, self.store);
                self.spans.extend(read.map(|(trace, span)| self.store.add_span(&trace, span)));
            }
            At::Logs => {
                if let Some(log) = otlp::log(&Value::deserialize(deserializer)?, &mut self.store.notes) {
                    self.store.add_log(log);
                }
            }
            At::Data => {
                self.processes.clear();
                Read(At::JaegerTrace, self).deserialize(deserializer)?;
                for (trace, mut span, process) in take(&mut self.jaeger_spans) {
                    span.resource = process.and_then(|process| self.processes.get(&process)).cloned();
                    self.store.add_span(&trace, span);
                }
            }
            At::JaegerSpans => {
                self.jaeger_spans.extend(jaeger::span(&Value::deserialize(deserializer)?, self.store));
            }
            _ => drop(IgnoredAny::deserialize(deserializer)?),
        }
        Ok(())
    }

    /// Handles a value of an unexpected type, which `found` describes.
    fn misfit(&mut self, at: At, found: &'static str) {
        let notes = &mut self.store.notes;
        match at {
            At::Whole | At::Document => self.found.other = Some(found.to_owned()),
            At::Data => self.found.other = Some(format!("an object whose `data` is {found}")),
            At::Resources(what) => notes.misfit(&format!("`{what}`"), "a list", found),
            At::Resource(what) => notes.misfit(&format!("an element of `{what}`"), "an object", found),
            At::Scopes => notes.misfit("`scopeSpans`", "a list", found),
            At::Scope => notes.misfit("an element of `scopeSpans`", "an object", found),
            At::Spans | At::JaegerSpans => notes.misfit("`spans`", "a list", found),
            At::Logs => notes.misfit("`logRecords`", "a list", found),
            At::JaegerTrace if found == "null" => notes.malformed("an element of `data` is null"),
            At::JaegerTrace => notes.misfit("an element of `data`", "an object", found),
        }
    }
}

/// The name of a field, borrowed without a copy if the text is in memory.
#[derive(Deserialize)]
struct Name<'n>(#[serde(borrow)] Cow<'n, str>);

/// A seed that hands the value at a place to the document.
struct Read<'a, 's>(At, &'a mut Document<'s>);

impl Read<'_, '_> {
    #[expect(clippy::unnecessary_wraps, reason = "what a visitor returns")]
    fn misfit<E>(self, found: &'static str) -> Result<(), E> {
        self.1.misfit(self.0, found);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Read<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Read<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.misfit("null")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.misfit("a boolean")
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.misfit("a number")
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.misfit("a number")
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.misfit("a number")
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.misfit("a string")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Self(at, document) = self;
        let at = if at == At::Whole { At::Document } else { at };
        if !matches!(at, At::Document | At::Resource(_) | At::Scope | At::JaegerTrace) {
            document.misfit(at, "an object");
        }
        let mut seen = BTreeSet::new();
        while let Some(Name(name)) = access.next_key()? {
            if !seen.insert(name.clone().into_owned()) {
                return Err(A::Error::custom(format_args!("key {name:?} is repeated in one object")));
            }
            document.field(at, &name, &mut access)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Self(at, document) = self;
        match at {
            At::Document | At::Resource(_) | At::Scope | At::JaegerTrace => document.misfit(at, "a list"),
            _ => document.found.is_known |= at == At::Data,
        }
        while access.next_element_seed(Element(at, document))?.is_some() {}
        Ok(())
    }
}

struct Element<'a, 's>(At, &'a mut Document<'s>);

impl<'de> DeserializeSeed<'de> for Element<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.1.element(self.0, deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text at a place, and returns the noted type of the value.
    fn read(at: At, text: &str) -> Result<Option<String>, serde_json::Error> {
        let mut store = Store::default();
        let mut document = Document::new(&mut store);
        Read(at, &mut document).deserialize(&mut serde_json::Deserializer::from_str(text))?;
        Ok(document.found.other)
    }

    #[test]
    fn what_is_no_object_and_no_list_is_told_by_its_kind() {
        for (text, kind) in [
            ("null", "null"),
            ("true", "a boolean"),
            ("-1", "a number"),
            ("1", "a number"),
            ("1.5", "a number"),
            (r#""x""#, "a string"),
        ] {
            assert_eq!(read(At::Whole, text).unwrap().as_deref(), Some(kind), "{text}");
        }
        assert_eq!(read(At::Document, "[{}, 2]").unwrap().as_deref(), Some("a list"));
        let data = read(At::Data, r#"{"a": [1]}"#).unwrap();
        assert_eq!(data.as_deref(), Some("an object whose `data` is an object"));
        for text in ["{}", "[]", r#"{"a": {"b": 1, "c": 1}}"#] {
            assert_eq!(read(At::Whole, text).unwrap(), None);
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_an_error() {
        let error = read(At::Whole, r#"{"a": 1, "b": 2, "a": 3}"#).unwrap_err().to_string();
        assert!(error.starts_with(r#"key "a" is repeated in one object"#), "{error}");
    }
}
