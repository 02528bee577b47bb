//! What an export holds, by trace.

use std::collections::HashMap;
use std::sync::Arc;

use eval_agents::traces::Traces;

use super::signal::Signal;

/// A span, as far as it must be known to put sessions together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) id: u64,
    pub(crate) parent: Option<u64>,
    /// Whether the parent is in another process, which may export elsewhere.
    pub(crate) is_remote: bool,
    /// Whether the agent's own limits cut something off it.
    pub(crate) is_cut: bool,
    /// What tells it from another version of itself.
    pub(crate) hash: u64,
}

/// The spans of a trace, or what logs say of it, in one export: a document of OTLP.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) trace: u128,
    pub(crate) document: Arc<str>,
    /// None for logs.
    pub(crate) spans: Vec<Span>,
    /// What tells the records of logs apart; none for spans.
    pub(crate) records: Vec<u64>,
    /// How many spans or records of logs there are.
    pub(crate) count: usize,
    /// The name or id of the conversation, if the spans give one.
    pub(crate) key: Option<String>,
    /// Whether it says something of an agent or a model.
    pub(crate) is_of_agent: bool,
}

/// What an export holds.
#[derive(Debug, Default)]
pub(crate) struct Export {
    pub(crate) batches: Vec<Batch>,
    /// How many spans or records were rejected.
    pub(crate) rejected: usize,
    /// Why, in words.
    pub(crate) why: Option<String>,
}

/// Collects the spans or records of an export.
#[derive(Debug)]
pub(super) struct Collector {
    signal: Signal,
    groups: HashMap<u128, usize>,
    parts: Vec<Part>,
    size: usize,
    rejected: usize,
    why: Option<String>,
    /// How many resources and scopes there were.
    scopes: usize,
}

/// What an export has of a trace.
#[derive(Debug)]
struct Part {
    trace: u128,
    text: String,
    spans: Vec<Span>,
    records: Vec<u64>,
    count: usize,
    /// The number of the scope that its text is in.
    scope: usize,
}

/// The most bytes of the text of a span or record.
pub(super) const LARGEST: usize = 8 << 20;

/// The most bytes of the documents of an export. A resource is repeated for each of its traces.
const MOST: usize = 128 << 20;

/// The most traces of an export. Each is looked at on its own.
pub(super) const MOST_TRACES: usize = 10_000;

/// The resource and the scope that spans stand in.
#[derive(Debug)]
pub(super) struct Scope {
    before: String,
    number: usize,
}

impl Collector {
    pub(super) fn new(signal: Signal) -> Self {
        let (groups, parts) = (HashMap::new(), Vec::new());
        Self { signal, groups, parts, size: 0, rejected: 0, why: None, scopes: 0 }
    }

    /// A scope, whose spans come next. Both are JSON.
    pub(super) fn scope(&mut self, resource: &str, scope: &str) -> Scope {
        self.scopes += 1;
        let (scopes, items) = match self.signal {
            Signal::Logs => ("scopeLogs", "logRecords"),
            Signal::Traces | Signal::Metrics => ("scopeSpans", "spans"),
        };
        let before = format!("{{\"resource\":{resource},\"{scopes}\":[{{\"scope\":{scope},\"{items}\":[");
        Scope { before, number: self.scopes }
    }

    /// A span or record with its text, which is JSON.
    pub(super) fn add(&mut self, scope: &Scope, trace: u128, span: Option<Span>, text: &str) {
        if self.groups.len() >= MOST_TRACES && !self.groups.contains_key(&trace) {
            self.reject(format!("the export has more than {MOST_TRACES} traces"));
            return;
        }
        let place = *self.groups.entry(trace).or_insert_with(|| {
            let (spans, records) = (Vec::new(), Vec::new());
            self.parts.push(Part { trace, text: String::new(), spans, records, count: 0, scope: 0 });
            self.parts.len() - 1
        });
        let part = &mut self.parts[place];
        let before = if part.scope == scope.number { 0 } else { scope.before.len() };
        self.size = self.size.saturating_add(before + text.len() + 64);
        if self.size > MOST {
            self.reject(format!("the export has more than {MOST} bytes as JSON"));
            return;
        }
        if part.scope == scope.number {
            part.text.push(',');
        } else {
            if part.scope != 0 {
                part.text.push_str("]}]},");
            }
            part.text.push_str(&scope.before);
            part.scope = scope.number;
        }
        part.text.push_str(text);
        part.count += 1;
        match span {
            Some(span) => part.spans.push(span),
            None => part.records.push(hash(text)),
        }
    }

    /// Rejects a span or record.
    pub(super) fn reject(&mut self, why: impl Into<String>) {
        self.rejected += 1;
        self.why.get_or_insert_with(|| why.into());
    }

    pub(super) fn end(self) -> Export {
        let Self { signal, parts, mut rejected, mut why, .. } = self;
        let name = if signal == Signal::Logs { "resourceLogs" } else { "resourceSpans" };
        let mut batches = Vec::with_capacity(parts.len());
        for Part { trace, text, spans, records, count, .. } in parts {
            if count == 0 {
                continue;
            }
            let document = format!("{{\"{name}\":[{text}]}}]}}]}}");
            let traces = match Traces::from_reader(document.as_bytes()) {
                Ok(traces) => traces,
                Err(error) => {
                    rejected += count;
                    why.get_or_insert_with(|| error.to_string());
                    continue;
                }
            };
            let found = traces.conversations();
            batches.push(Batch {
                trace,
                key: found.iter().map(|it| &it.key).find(|key| **key != trace_id(trace)).cloned(),
                is_of_agent: found.iter().any(|it| !it.turns.is_empty() || !it.gaps.is_empty()),
                document: document.into(),
                spans,
                records,
                count,
            });
        }
        Export { batches, rejected, why }
    }
}

/// The id of a trace as files have it.
pub(crate) fn trace_id(trace: u128) -> String {
    format!("{trace:032x}")
}

/// Bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits =
        bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    digits.map(char::from).collect()
}

/// A number that tells texts apart.
pub(super) fn hash(text: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Whether flags of a span say that its parent is in another process.
pub(super) fn is_remote(flags: u64) -> bool {
    flags & 0x300 == 0x300
}
