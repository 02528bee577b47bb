//! Exports as JSON.

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::export::{Collector, Entry, Export, MAX_ENTRY_BYTES, Signal, Span, Unreadable, hash, is_remote};

#[derive(Deserialize)]
struct Document<'b> {
    #[serde(borrow, rename = "resourceSpans", alias = "resource_spans")]
    spans: Option<&'b RawValue>,
    #[serde(borrow, rename = "resourceLogs", alias = "resource_logs")]
    logs: Option<&'b RawValue>,
}

/// Fails if a document without spans and logs has anything: it was meant for another reader, and would be lost.
fn no_other(text: &str) -> Result<(), Unreadable> {
    const KNOWN: [&str; 4] = ["resourceSpans", "resource_spans", "resourceLogs", "resource_logs"];
    let keys: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    if keys.keys().any(|key| KNOWN.contains(&key.as_str())) {
        return Ok(());
    }
    let Some(key) = keys.keys().next() else { return Ok(()) };
    let key: String = key.chars().take(64).collect();
    Err(Unreadable(format!("the body has `{key}`, and no `resourceSpans` or `resourceLogs`")))
}

#[derive(Deserialize)]
struct Resource<'b> {
    #[serde(borrow)]
    resource: Option<&'b RawValue>,
    #[serde(borrow, rename = "scopeSpans", alias = "scope_spans", alias = "scopeLogs", alias = "scope_logs")]
    scopes: Option<&'b RawValue>,
}

#[derive(Deserialize)]
struct Scope<'b> {
    #[serde(borrow)]
    scope: Option<&'b RawValue>,
    #[serde(borrow, rename = "spans", alias = "logRecords", alias = "log_records")]
    items: Option<&'b RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'b> {
    #[serde(alias = "trace_id")]
    trace_id: Option<String>,
    #[serde(alias = "span_id")]
    span_id: Option<String>,
    #[serde(alias = "parent_span_id")]
    parent_span_id: Option<String>,
    #[serde(borrow)]
    flags: Option<&'b RawValue>,
    #[serde(borrow, alias = "dropped_attributes_count")]
    dropped_attributes_count: Option<&'b RawValue>,
    #[serde(borrow, alias = "dropped_events_count")]
    dropped_events_count: Option<&'b RawValue>,
}

/// The deepest nesting of values. `serde_json` reads the document around them to a depth of 128.
const MAX_NESTING: usize = 100;

pub(super) fn read(signal: Signal, bytes: &[u8]) -> Result<Export, Unreadable> {
    let text = str::from_utf8(bytes).map_err(|_| Unreadable("the body is not UTF-8".to_owned()))?;
    let broken = |error: serde_json::Error| Unreadable(format!("the body is no export as JSON: {error}"));
    if !text.trim_start().starts_with('{') {
        return Err(Unreadable("the body is no object of JSON".to_owned()));
    }
    let document: Document<'_> = serde_json::from_str(text).map_err(broken)?;
    if document.spans.is_none() && document.logs.is_none() {
        no_other(text)?;
    }
    let mut collector = Collector::new(signal);
    let resources = if signal == Signal::Logs { document.logs } else { document.spans };
    each(resources, &mut |resource| {
        let Resource { resource, scopes } = serde_json::from_str(resource.get())?;
        let resource = plain(resource)?;
        each(scopes, &mut |scope| {
            let Scope { scope, items } = serde_json::from_str(scope.get())?;
            let scope = collector.scope(resource, plain(scope)?);
            each(items, &mut |item| {
                match item_of(signal, item.get()) {
                    Ok(Some((trace, entry))) => collector.add(&scope, trace, entry, item.get()),
                    Ok(None) => {}
                    Err(why) => collector.reject(why),
                }
                Ok(())
            })
        })
    })
    .map_err(broken)?;
    Ok(collector.end())
}

/// The trace and the head of a span or record; `None` for a record that is not kept.
fn item_of(signal: Signal, text: &str) -> Result<Option<(u128, Entry)>, String> {
    let what = if signal == Signal::Logs { "a record" } else { "a span" };
    if text.len() > MAX_ENTRY_BYTES {
        return Err(format!("{what} has more than {MAX_ENTRY_BYTES} bytes"));
    }
    if !text.starts_with('{') {
        return Err(format!("{what} is no object"));
    }
    // Records that are not about models are dropped.
    if signal == Signal::Logs && !text.contains("gen_ai.") {
        return Ok(None);
    }
    check(text).map_err(|error| format!("{what} cannot be read: {error}"))?;
    let head: Head<'_> =
        serde_json::from_str(text).map_err(|error| format!("{what} cannot be read: {error}"))?;
    let trace = head.trace_id.as_deref().unwrap_or_default();
    let trace = id(trace, 32).ok_or_else(|| format!("{what} has no `traceId` of 32 hexadecimal digits"))?;
    if signal == Signal::Logs {
        return Ok(Some((trace, Entry::Record { hash: hash(text) })));
    }
    let short = |text: &str, name: &str| {
        id(text, 16)
            .and_then(|id| u64::try_from(id).ok())
            .ok_or_else(|| format!("{what} has no `{name}` of 16 hexadecimal digits"))
    };
    let parent = head.parent_span_id.as_deref().filter(|parent| parent.bytes().any(|digit| digit != b'0'));
    Ok(Some((
        trace,
        Entry::Span(Span {
            id: short(head.span_id.as_deref().unwrap_or_default(), "spanId")?,
            parent: parent.map(|parent| short(parent, "parentSpanId")).transpose()?,
            is_remote: is_remote(count(head.flags)),
            is_cut: count(head.dropped_attributes_count) + count(head.dropped_events_count) > 0,
            hash: hash(text),
        }),
    )))
}

fn id(text: &str, digits: usize) -> Option<u128> {
    let is_hex = text.len() == digits && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u128::from_str_radix(text, 16).ok()).flatten().filter(|id| *id != 0)
}

/// A count, which may be in quotes. A larger count than `u32::MAX` counts as `u32::MAX`.
fn count(raw: Option<&RawValue>) -> u64 {
    let text = raw.map(|raw| raw.get().trim_matches('"')).unwrap_or_default();
    text.parse().map_or(0, |count: u64| count.min(u64::from(u32::MAX)))
}

fn plain(raw: Option<&RawValue>) -> Result<&str, serde_json::Error> {
    let text = raw.map_or("{}", RawValue::get);
    if !text.starts_with('{') {
        return Err(de::Error::custom("a resource or scope is no object"));
    }
    check(text)?;
    Ok(text)
}

fn each<'b>(
    list: Option<&'b RawValue>,
    call: &mut dyn FnMut(&'b RawValue) -> Result<(), serde_json::Error>,
) -> Result<(), serde_json::Error> {
    let Some(list) = list else { return Ok(()) };
    let mut reader = serde_json::Deserializer::from_str(list.get());
    reader.deserialize_seq(Each(call))
}

struct Each<'c, 'b>(&'c mut dyn FnMut(&'b RawValue) -> Result<(), serde_json::Error>);

impl<'b> Visitor<'b> for Each<'_, 'b> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'b>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element::<&RawValue>()? {
            (self.0)(element).map_err(de::Error::custom)?;
        }
        Ok(())
    }
}

/// Checks that a text can be parsed as a value later: its strings and its depth.
fn check(text: &str) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    Checked(MAX_NESTING).deserialize(&mut reader)?;
    reader.end()
}

/// A parser that checks a value up to a depth and keeps none of it. serde's `IgnoredAny` checks less.
#[derive(Clone, Copy)]
struct Checked(usize);

impl<'de> DeserializeSeed<'de> for Checked {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Checked {
    fn below<E: de::Error>(self) -> Result<Self, E> {
        self.0.checked_sub(1).map(Self).ok_or_else(|| E::custom("it is nested too deeply"))
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let below = self.below()?;
        while elements.next_element_seed(below)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let below = self.below()?;
        while entries.next_key_seed(below)?.is_some() {
            entries.next_value_seed(below)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use eval_agents::traces::Traces;

    use super::super::export::{Batch, MAX_TRACES};
    use super::*;

    fn span(more: &str) -> String {
        format!("{{\"traceId\":\"{}\",\"spanId\":\"00000000000000aa\"{more}}}", "0".repeat(31) + "1")
    }

    fn export(spans: &str) -> Result<Export, Unreadable> {
        let text = format!("{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{spans}]}}]}}]}}");
        read(Signal::Traces, text.as_bytes())
    }

    fn spans(batch: &Batch) -> Vec<Span> {
        let span = |entry| if let Entry::Span(span) = entry { Some(span) } else { None };
        batch.entries().filter_map(span).collect()
    }

    #[test]
    fn spans_are_put_together_by_trace() {
        let other = span("").replace("0001\"", "0002\"");
        let read =
            export(&format!("{},{other},{}", span(""), span(",\"parentSpanId\":\"00000000000000bb\"")));
        let Export { batches, rejected } = read.unwrap();
        assert_eq!((batches.len(), rejected), (2, None));
        assert_eq!((batches[0].trace, batches[0].count(), batches[1].count()), (1, 2, 1));
        let parents: Vec<_> = spans(&batches[0]).iter().map(|span| span.parent).collect();
        assert_eq!(parents, [None, Some(0xbb)]);
        assert_eq!(Traces::from_reader(batches[0].text().as_bytes()).unwrap().spans(), 2);
    }

    #[test]
    fn a_span_that_cannot_be_read_is_rejected_and_the_others_are_kept() {
        let table = [
            ("1".to_owned(), "no object"),
            ("{}".to_owned(), "traceId"),
            ("{\"traceId\":5}".to_owned(), "cannot be read"),
            (span("").replace("aa\"", "a\""), "spanId"),
            (span(",\"parentSpanId\":\"x\""), "parentSpanId"),
            (span(",\"name\":\"\\ud800\""), "cannot be read"),
            (span(&format!(",\"a\":{}1{}", "[".repeat(110), "]".repeat(110))), "too deeply"),
            (span(&format!(",\"a\":{}1{}", "[".repeat(90_000), "]".repeat(90_000))), "cannot be read"),
            (span(&format!(",\"a\":\"{}\"", "x".repeat(MAX_ENTRY_BYTES))), "bytes"),
        ];
        for (wrong, why) in table {
            let read = export(&format!("{},{wrong}", span(""))).unwrap();
            let rejected = read.rejected.unwrap();
            assert_eq!((read.batches.len(), rejected.count), (1, 1), "{why}");
            assert!(rejected.why.contains(why), "{why}: {}", rejected.why);
        }
    }

    #[test]
    fn traces_beyond_a_number_are_rejected() {
        let spans: Vec<String> = (1..=MAX_TRACES + 2)
            .map(|id| format!("{{\"traceId\":\"{id:032x}\",\"spanId\":\"00000000000000aa\"}}"))
            .collect();
        let read = export(&spans.join(",")).unwrap();
        assert_eq!((read.batches.len(), read.rejected.unwrap().count), (MAX_TRACES, 2));
    }

    #[test]
    fn what_is_no_export_is_unreadable() {
        for wrong in [
            "",
            "[]",
            "null",
            "{",
            "{\"resourceSpans\":1}",
            "{\"resourceSpans\":[1]}",
            "{} x",
            "{\"resourceSpans\":[{\"scopeSpans\":{}}]}",
            "{\"resourceSpans\":[{\"resource\":[]}]}",
            "{\"data\":[{\"traceID\":\"1\",\"spans\":[]}]}",
        ] {
            assert!(read(Signal::Traces, wrong.as_bytes()).is_err(), "{wrong}");
        }
        assert!(read(Signal::Traces, b"{\"resourceSpans\":[]}\xff").is_err());
        for empty in ["{}", " {\"resourceSpans\":null,\"unknown\":[1]} ", "{\"resourceSpans\":[{}]}"] {
            assert!(read(Signal::Traces, empty.as_bytes()).unwrap().batches.is_empty(), "{empty}");
        }
    }

    #[test]
    fn flags_and_counts_say_what_is_remote_and_what_was_cut() {
        let table = [
            ("", false, false),
            (",\"flags\":256", false, false),
            (",\"flags\":769", true, false),
            (",\"flags\":\"768\"", true, false),
            (",\"droppedAttributesCount\":1", false, true),
            (",\"droppedEventsCount\":\"2\"", false, true),
            (",\"droppedAttributesCount\":0,\"droppedLinksCount\":7", false, false),
        ];
        for (more, is_remote, is_cut) in table {
            let span = spans(&export(&span(more)).unwrap().batches[0])[0];
            assert_eq!((span.is_remote, span.is_cut), (is_remote, is_cut), "{more}");
        }
    }

    #[test]
    fn records_of_models_are_kept_and_others_are_not() {
        let record = |name: &str| format!("{{\"traceId\":\"{}\",\"eventName\":\"{name}\"}}", "1".repeat(32));
        let text = format!(
            "{{\"resourceLogs\":[{{\"scopeLogs\":[{{\"logRecords\":[{},{}]}}]}}]}}",
            record("gen_ai.choice"),
            record("http")
        );
        let read = read(Signal::Logs, text.as_bytes()).unwrap();
        assert_eq!((read.batches.len(), read.batches[0].count(), read.rejected), (1, 1, None));
    }
}
