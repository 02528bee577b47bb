//! An export, and its spans and records by trace.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, RandomState};
use std::ops::Range;

use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use eval_agents::traces::Traces;
use serde_json::Value;

/// The fields of a span that the assembly of sessions needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) id: u64,
    pub(crate) parent: Option<u64>,
    /// Whether the parent is in another process, which may export elsewhere.
    pub(crate) is_remote: bool,
    /// Whether the agent's own limits dropped attributes or events of it.
    pub(crate) is_cut: bool,
    pub(crate) hash: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Span(Span),
    Record { hash: u64 },
}

/// The run that a resource names beside the name of its session. Several runs may have one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// agentevals' id of the run.
    pub(crate) run: Option<String>,
    pub(crate) instance: Option<String>,
}

impl Origin {
    /// Reads the origin in a resource, which is JSON. A resource without a session name has none.
    fn from_resource(resource: &str) -> Self {
        if !resource.contains("agentevals.session_name") {
            return Self::default();
        }
        let resource: Value = serde_json::from_str(resource).unwrap_or_default();
        let text = |key: &str| {
            let attribute = resource["attributes"].as_array()?.iter().find(|it| it["key"] == key)?;
            attribute["value"]["stringValue"].as_str().map(str::to_owned)
        };
        Self { run: text("agentevals.session.run_id"), instance: text("service.instance.id") }
    }
}

#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) trace: u128,
    /// The name or id of the conversation, if the spans give one.
    pub(crate) key: Option<String>,
    pub(crate) origin: Origin,
    /// Whether an entry is about an agent or a model.
    pub(crate) is_of_agent: bool,
    document: Document,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejected {
    pub(crate) count: usize,
    pub(crate) why: String,
}

#[derive(Debug, Default)]
pub(crate) struct Export {
    pub(crate) batches: Vec<Batch>,
    pub(crate) rejected: Option<Rejected>,
}

impl Rejected {
    /// Adds to the rejected entries. The first reason is kept.
    pub(crate) fn add(all: &mut Option<Self>, count: usize, why: impl Into<String>) {
        all.get_or_insert_with(|| Self { count: 0, why: why.into() }).count += count;
    }
}

impl Batch {
    pub(crate) fn count(&self) -> usize {
        self.document.places.len()
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry> {
        self.document.places.iter().map(|place| place.entry)
    }

    pub(crate) fn text(&self) -> &str {
        &self.document.text
    }

    /// The batch without the known entries; `None` if all are known.
    pub(crate) fn without(self, mut is_known: impl FnMut(Entry) -> bool) -> Option<Self> {
        let Document { list, text, places, scopes, .. } = &self.document;
        let new: Vec<&Place> = places.iter().filter(|place| !is_known(place.entry)).collect();
        if new.len() == places.len() {
            return Some(self);
        }
        if new.is_empty() {
            return None;
        }
        let mut document = Document::new(list);
        for place in new {
            let before = &text[scopes[place.scope].clone()];
            document.add(place.scope, before, place.entry, &text[place.text.clone()]);
        }
        document.end();
        Some(Self { document, ..self })
    }
}

#[derive(Debug)]
struct Document {
    list: &'static str,
    text: String,
    places: Vec<Place>,
    /// The ranges of the text that hold the resource and the scope of entries.
    scopes: Vec<Range<usize>>,
    /// The number of the scope that entries are added to.
    open: Option<usize>,
}

#[derive(Debug)]
struct Place {
    entry: Entry,
    scope: usize,
    text: Range<usize>,
}

const SCOPE_END: &str = "]}]}";

impl Document {
    fn new(list: &'static str) -> Self {
        let text = format!("{{\"{list}\":[");
        Self { list, text, places: Vec::new(), scopes: Vec::new(), open: None }
    }

    /// Adds an entry to the scope with this number. `before` is the text that opens the scope.
    fn add(&mut self, scope: usize, before: &str, entry: Entry, text: &str) {
        match self.open {
            Some(open) if open == scope => self.text.push(','),
            open => {
                if open.is_some() {
                    self.text.push_str(SCOPE_END);
                    self.text.push(',');
                }
                let range = self.push(before);
                self.scopes.push(range);
                self.open = Some(scope);
            }
        }
        let text = self.push(text);
        self.places.push(Place { entry, scope: self.scopes.len() - 1, text });
    }

    fn push(&mut self, text: &str) -> Range<usize> {
        let begin = self.text.len();
        self.text.push_str(text);
        begin..self.text.len()
    }

    fn end(&mut self) {
        if self.open.take().is_some() {
            self.text.push_str(SCOPE_END);
        }
        self.text.push_str("]}");
    }
}

pub(super) struct Collector {
    signal: Signal,
    groups: HashMap<u128, usize>,
    parts: Vec<(u128, Origin, Document)>,
    size: usize,
    rejected: Option<Rejected>,
    scopes: usize,
}

pub(super) const MAX_ENTRY_BYTES: usize = 8 << 20;

/// The most bytes of the documents of an export. A resource is repeated for each of its traces.
const MAX_EXPORT_BYTES: usize = 128 << 20;

/// The most traces of an export. Each is parsed on its own.
pub(super) const MAX_TRACES: usize = 10_000;

pub(super) struct Scope {
    before: String,
    origin: Origin,
    number: usize,
}

impl Collector {
    pub(super) fn new(signal: Signal) -> Self {
        let (groups, parts) = (HashMap::new(), Vec::new());
        Self { signal, groups, parts, size: 0, rejected: None, scopes: 0 }
    }

    /// Begins a scope, whose entries come next. `resource` and `scope` are JSON.
    pub(super) fn scope(&mut self, resource: &str, scope: &str) -> Scope {
        let (scopes, items) = match self.signal {
            Signal::Logs => ("scopeLogs", "logRecords"),
            Signal::Traces | Signal::Metrics => ("scopeSpans", "spans"),
        };
        let before = format!("{{\"resource\":{resource},\"{scopes}\":[{{\"scope\":{scope},\"{items}\":[");
        let number = self.scopes;
        self.scopes += 1;
        Scope { before, origin: Origin::from_resource(resource), number }
    }

    pub(super) fn add(&mut self, scope: &Scope, trace: u128, entry: Entry, text: &str) {
        if self.groups.len() >= MAX_TRACES && !self.groups.contains_key(&trace) {
            self.reject(format!("the export has more than {MAX_TRACES} traces"));
            return;
        }
        let list = if self.signal == Signal::Logs { "resourceLogs" } else { "resourceSpans" };
        let place = *self.groups.entry(trace).or_insert_with(|| {
            self.parts.push((trace, scope.origin.clone(), Document::new(list)));
            self.parts.len() - 1
        });
        let (_, _, document) = &mut self.parts[place];
        let before = if document.open == Some(scope.number) { 0 } else { scope.before.len() };
        self.size = self.size.saturating_add(before + text.len() + 64);
        if self.size > MAX_EXPORT_BYTES {
            self.reject(format!("the export has more than {MAX_EXPORT_BYTES} bytes as JSON"));
            return;
        }
        document.add(scope.number, &scope.before, entry, text);
    }

    pub(super) fn reject(&mut self, why: impl Into<String>) {
        Rejected::add(&mut self.rejected, 1, why);
    }

    pub(super) fn end(self) -> Export {
        let Self { parts, mut rejected, .. } = self;
        let mut batches = Vec::with_capacity(parts.len());
        for (trace, origin, mut document) in parts {
            // All entries of the trace were rejected.
            if document.places.is_empty() {
                continue;
            }
            document.end();
            let traces = match Traces::from_reader(document.text.as_bytes()) {
                Ok(traces) => traces,
                Err(error) => {
                    Rejected::add(&mut rejected, document.places.len(), error.to_string());
                    continue;
                }
            };
            let found = traces.conversations();
            batches.push(Batch {
                trace,
                key: found.iter().map(|it| &it.key).find(|key| **key != trace_id(trace)).cloned(),
                origin,
                is_of_agent: !traces.gaps().is_empty()
                    || found.iter().any(|it| !it.turns.is_empty() || !it.gaps.is_empty()),
                document,
            });
        }
        Export { batches, rejected }
    }
}

pub(crate) fn trace_id(trace: u128) -> String {
    format!("{trace:032x}")
}

pub(super) fn hash(text: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(text)
}

/// Whether flags of a span say that its parent is in another process.
pub(super) fn is_remote(flags: u64) -> bool {
    flags & 0x300 == 0x300
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Signal {
    Traces,
    Logs,
    /// Metrics are accepted, and none are kept.
    Metrics,
}

#[derive(Debug)]
pub(crate) struct Unreadable(pub(crate) String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Protobuf,
    Json,
}

impl Encoding {
    /// The encoding that a request names; `None` if OTLP has no such encoding.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?;
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if kind.eq_ignore_ascii_case("application/x-protobuf") {
            return Some(Self::Protobuf);
        }
        kind.eq_ignore_ascii_case("application/json").then_some(Self::Json)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) signal: Signal,
    pub(crate) bytes: Bytes,
}

/// The bytes of the gzip header that hold the time of compression.
const PACKED_AT: Range<usize> = 4..8;

impl Sent {
    /// The hash that distinguishes exports. A repeated export has the same hash, even if it was packed anew at another time.
    pub(crate) fn identity(&self, keys: &RandomState) -> u64 {
        let (head, rest) = match self.bytes.get(PACKED_AT.end..) {
            Some(rest) if self.bytes.starts_with(&[0x1f, 0x8b]) => (&self.bytes[..PACKED_AT.start], rest),
            _ => (&self.bytes[..0], &self.bytes[..]),
        };
        keys.hash_one((self.signal, head, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    #[test]
    fn what_is_known_is_left_out_and_the_rest_stays_in_its_scope() {
        let mut collector = Collector::new(Signal::Logs);
        let record = |id: u64| (Entry::Record { hash: id }, format!("{{\"a\":{id}}}"));
        for (name, ids) in [("x", [1, 2]), ("y", [3, 4])] {
            let scope = collector.scope("{}", &format!("{{\"name\":\"{name}\"}}"));
            for (entry, text) in ids.map(record) {
                collector.add(&scope, 1, entry, &text);
            }
        }
        let scope = |name: &str, records: &str| {
            format!(
                "{{\"resource\":{{}},\"scopeLogs\":[{{\"scope\":{{\"name\":\"{name}\"}},\"logRecords\":[{records}]}}]}}"
            )
        };
        let whole = |scopes: &[String]| format!("{{\"resourceLogs\":[{}]}}", scopes.join(","));
        let batch = collector.end().batches.remove(0);
        let all = [scope("x", r#"{"a":1},{"a":2}"#), scope("y", r#"{"a":3},{"a":4}"#)];
        assert_eq!((batch.text(), batch.count()), (whole(&all).as_str(), 4));
        let batch = batch.without(|_| false).unwrap();
        assert_eq!(batch.text(), whole(&all));
        let batch = batch.without(|entry| entry == record(2).0).unwrap();
        assert_eq!(batch.text(), whole(&[scope("x", r#"{"a":1}"#), all[1].clone()]));
        let batch = batch.without(|entry| [record(1).0, record(3).0].contains(&entry)).unwrap();
        assert_eq!((batch.text(), batch.count()), (whole(&[scope("y", r#"{"a":4}"#)]).as_str(), 1));
        assert!(batch.without(|_| true).is_none());
    }

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn the_encoding_is_the_one_that_is_named() {
        let table = [
            ("application/x-protobuf", Some(Encoding::Protobuf)),
            ("application/json", Some(Encoding::Json)),
            ("Application/JSON; charset=utf-8", Some(Encoding::Json)),
            ("application/protobuf", None),
            ("text/plain", None),
            ("", None),
        ];
        for (kind, encoding) in table {
            assert_eq!(Encoding::from_headers(&headers(CONTENT_TYPE, kind)), encoding, "{kind}");
        }
        assert_eq!(Encoding::from_headers(&HeaderMap::new()), None);
    }

    #[test]
    fn an_export_is_the_same_whenever_it_was_packed() {
        let keys = RandomState::new();
        let of = |signal, bytes: &[u8]| Sent { signal, bytes: Bytes::copy_from_slice(bytes) }.identity(&keys);
        let packed = |at: u8, more: u8| [0x1f, 0x8b, 8, 0, at, at, 0, 0, 2, 3, more];
        let first = of(Signal::Traces, &packed(1, 7));
        assert_eq!(of(Signal::Traces, &packed(2, 7)), first);
        for other in [packed(1, 8), [0x1f, 0x8c, 8, 0, 2, 2, 0, 0, 2, 3, 7]] {
            assert_ne!(of(Signal::Traces, &other), first);
        }
        assert_ne!(of(Signal::Logs, &packed(1, 7)), first);
        assert_ne!(of(Signal::Traces, b"{}"), of(Signal::Traces, b"[]"));
        assert_eq!(of(Signal::Traces, &[0x1f, 0x8b]), of(Signal::Traces, &[0x1f, 0x8b]));
    }
}
