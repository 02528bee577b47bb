//! The files that traces are stored in.
//!
//! A file holds one document, or several after each other, as lines of JSON. The fields of a document tell
//! its form.

mod jaeger;
mod otlp;
mod stream;

use std::io::{self, BufRead, BufReader};

use eval_core::format::{Map, Value};
use flate2::bufread::MultiGzDecoder;
use serde::Deserializer;
use serde::de::{DeserializeSeed, MapAccess};

use super::error::TraceError;
use super::store::Store;
use eval_support::file::GZIP;
use eval_support::key_case::camel;
use jaeger::Data;
use otlp::Resources;
use stream::{Read, Reads, value};

/// The number of bytes that are read at once.
const BUFFER_BYTES: usize = 262_144;

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

/// Reads a file into a store.
pub(super) fn read(reader: impl io::Read, store: &mut Store) -> Result<(), TraceError> {
    let io = TraceError::io;
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, reader);
    let begin = reader.fill_buf().map_err(io)?;
    if begin.starts_with(&GZIP) {
        return unpacked(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(reader)), store);
    }
    unpacked(reader, store)
}

/// The mark of UTF-8 that some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a text that is in memory and not packed. It is parsed in place, which is faster than through a reader.
pub(super) fn read_text(text: &[u8], store: &mut Store) -> Result<(), TraceError> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    documents(serde_json::Deserializer::from_slice(text), store)
}

fn unpacked(mut reader: impl BufRead, store: &mut Store) -> Result<(), TraceError> {
    let begin = reader.fill_buf().map_err(TraceError::io)?;
    let mark = if begin.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    reader.consume(mark);
    documents(serde_json::Deserializer::from_reader(reader), store)
}

fn documents<'de>(
    mut deserializer: serde_json::Deserializer<impl serde_json::de::Read<'de>>,
    store: &mut Store,
) -> Result<(), TraceError> {
    let mut number = 0;
    loop {
        // Nothing but white space is left.
        if deserializer.end().is_ok() {
            break;
        }
        number += 1;
        let mut document = Document { store: &mut *store, found: Found::default() };
        Read(&mut Whole(&mut document)).deserialize(&mut deserializer).map_err(TraceError::of_json)?;
        let Document { found, .. } = document;
        found.end(number, store)?;
    }
    if number == 0 { Err(TraceError::form("there is nothing in it")) } else { Ok(()) }
}

/// A document of any form.
struct Document<'s> {
    store: &'s mut Store,
    found: Found,
}

/// The content of a document.
#[derive(Default)]
struct Found {
    /// Whether a form was recognized.
    is_known: bool,
    /// The fields of a span.
    span: Map,
    /// The description of other content, for the error.
    other: Option<String>,
}

impl Found {
    fn end(self, number: usize, store: &mut Store) -> Result<(), TraceError> {
        if self.is_known {
            return Ok(());
        }
        let has = |key: &str| self.span.contains_key(key);
        if has("spanId") || has("traceId") || has("span_id") || has("trace_id") {
            bare_span(&self.span.into(), store);
            return Ok(());
        }
        let found = self.other.unwrap_or_else(|| "an object or a list in which no spans are".to_owned());
        Err(TraceError::form(format!("value {number} in it is {found}")))
    }
}

/// A span of its own, without a resource and a scope.
fn bare_span(value: &Value, store: &mut Store) {
    if let Some((trace, span)) = otlp::span(value, store) {
        store.add_span(&trace, span);
    }
}

impl Reads for Document<'_> {
    const OBJECTS: bool = true;

    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, access: &mut A) -> Result<(), A::Error> {
        let what = match &*camel(name) {
            "resourceSpans" => "resourceSpans",
            "resourceLogs" => "resourceLogs",
            "batches" => "batches",
            "trace" => return access.next_value_seed(Read(self)),
            "data" => {
                let mut data = Data { store: &mut *self.store, found: None };
                access.next_value_seed(Read(&mut data))?;
                match data.found {
                    None => self.found.is_known = true,
                    Some(found) => self.found.other = Some(format!("an object whose `data` is {found}")),
                }
                return Ok(());
            }
            of_span if SPAN_FIELDS.contains(&of_span) => {
                let value = value(access)?;
                self.found.span.insert(name, value);
                return Ok(());
            }
            other => return otlp::other(other, access, &mut self.store.notes),
        };
        self.found.is_known = true;
        access.next_value_seed(Read(&mut Resources { store: &mut *self.store, what }))
    }

    fn misfit(&mut self, found: &'static str) {
        self.found.other = Some(found.to_owned());
    }
}

/// A document as a whole: an object, or a list of spans.
struct Whole<'d, 's>(&'d mut Document<'s>);

impl Reads for Whole<'_, '_> {
    const OBJECTS: bool = true;
    const LISTS: bool = true;

    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, access: &mut A) -> Result<(), A::Error> {
        self.0.field(name, access)
    }

    /// Reads an element of a list of spans.
    fn element<'de, D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<(), D::Error> {
        let Document { store, found: all } = &mut *self.0;
        let mut one = Document { store, found: Found::default() };
        Read(&mut one).deserialize(deserializer)?;
        let Document { store, found } = one;
        if found.is_known || found.end(0, store).is_ok() {
            all.is_known = true;
        } else {
            store.notes.malformed("an element of the list is no span");
        }
        Ok(())
    }

    fn misfit(&mut self, found: &'static str) {
        self.0.misfit(found);
    }
}
