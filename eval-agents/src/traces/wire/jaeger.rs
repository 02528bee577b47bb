//! Jaeger's exports: `{"data": [{"spans": [..], "processes": {..}}]}`.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;

use eval_core::format::Value;
use eval_support::message::cut;

use crate::traces::attributes::{self, Attributes, count, text};
use crate::traces::gap::{Gap, GapKind, Notes};
use crate::traces::id::Id;
use crate::traces::overlay::{self, Event};
use crate::traces::store::Store;
use crate::traces::view::{Identity, Span, Status};

/// The most characters of an error of Jaeger that are shown.
const MAX_ERROR_CHARS: usize = 200;

/// The id of a trace, a span of it, and the id of its process.
pub(super) type JaegerSpan = (Id, Span, Option<String>);

pub(super) fn processes(found: &Value, notes: &mut Notes) -> BTreeMap<String, Arc<Identity>> {
    if found.as_object().is_none() {
        notes.misfit("`processes`", "an object", found.kind());
    }
    let processes = found.as_object().into_iter().flatten().filter_map(|(id, process)| {
        let tags = attributes::jaeger(&process["tags"], notes);
        Some((id.to_owned(), Arc::new(overlay::identity(&tags)?)))
    });
    processes.collect()
}

/// Notes what Jaeger could not answer: what it exported is then a part.
pub(super) fn errors(found: &Value, notes: &mut Notes) {
    let all = match found {
        Value::Null => return,
        Value::Array(all) => all.as_slice(),
        other => std::slice::from_ref(other),
    };
    for error in all {
        let said = error["msg"].as_str().map_or_else(|| error.to_string(), str::to_owned);
        let said = cut(&said, MAX_ERROR_CHARS);
        notes.add(Gap::new(GapKind::Dropped, format!("Jaeger answered in part, with the error: {said}")));
    }
}

pub(super) fn span(value: &Value, store: &mut Store) -> Option<JaegerSpan> {
    let Store { notes, copies, .. } = store;
    let id = |key: &str| value[key].as_str().unwrap_or_default();
    let (Some(trace), Some(span_id)) = (Id::trace(id("traceID")), Id::span(id("spanID"))) else {
        notes.malformed("a span has no id, or none of its trace");
        return None;
    };
    let tags = attributes::jaeger(&value["tags"], notes);
    let name = value["operationName"].as_str().unwrap_or_default();
    let events = events(&value["logs"], notes);
    let micros = |key: &str| count(&value[key]).map(|micros| micros.saturating_mul(1000));
    let start = micros("startTime").and_then(NonZeroU64::new);
    let scope = ["otel.scope.name", "otel.library.name"].into_iter().find_map(|key| tags.get(key)?.as_str());
    let view = overlay::view(name, &tags, &events, copies).map(Box::new);
    let mut span = Span {
        parent: parent(&value["references"], notes),
        name: Span::kept_name(name, view.is_some()),
        start,
        end: start.zip(micros("duration")).map(|(start, lasted)| start.saturating_add(lasted)),
        status: status(&tags),
        dropped: dropped(&tags),
        identity: overlay::identity(&tags).map(Box::new),
        resource: None,
        view,
        id: span_id,
    };
    span.set_scope(scope.unwrap_or_default());
    Some((trace, span, value["processID"].as_str().map(str::to_owned)))
}

fn parent(references: &Value, notes: &mut Notes) -> Option<Id> {
    if !matches!(references, Value::Null | Value::Array(_)) {
        notes.misfit("`references`", "a list", references.kind());
    }
    let items = references.as_array().unwrap_or_default();
    let mut parents = items.iter().filter(|item| item["refType"].as_str() == Some("CHILD_OF"));
    parents.find_map(|item| Id::span(item["spanID"].as_str()?))
}

fn status(tags: &Attributes) -> Status {
    let code = tags.get("otel.status_code").and_then(text).unwrap_or_default();
    match code.to_uppercase().as_str() {
        "OK" => Status::Ok,
        "ERROR" => Status::Error,
        _ if tags.get("error").is_some_and(|error| error.as_bool() == Some(true)) => Status::Error,
        _ => Status::Unset,
    }
}

/// The number of dropped attributes, events and links, as exporters to Jaeger write it.
fn dropped(tags: &Attributes) -> u32 {
    let counts = ["attributes", "events", "links"].map(|what| format!("otel.dropped_{what}_count"));
    let sum = counts.iter().filter_map(|key| count(tags.get(key)?)).fold(0, u64::saturating_add);
    u32::try_from(sum).unwrap_or(u32::MAX)
}

fn events(logs: &Value, notes: &mut Notes) -> Vec<Event> {
    if !matches!(logs, Value::Null | Value::Array(_)) {
        notes.misfit("`logs`", "a list", logs.kind());
    }
    let mut events = Vec::new();
    for log in logs.as_array().unwrap_or_default() {
        let mut fields = attributes::jaeger(&log["fields"], notes);
        let name = fields.remove("event").as_ref().and_then(text).unwrap_or_default();
        if name.starts_with("gen_ai.") {
            let time = count(&log["timestamp"]).unwrap_or_default();
            events.push(Event { name, time, attributes: fields, body: Value::Null });
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(all: &[(&str, Value)]) -> Attributes {
        all.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    }

    #[test]
    fn a_span_failed_if_its_status_says_so_or_without_a_status_the_tag_error() {
        let of = |all: &[(&str, Value)]| status(&tags(all));
        let code = |code: &str| ("otel.status_code", Value::from(code));
        assert_eq!(
            (of(&[]), of(&[code("OK")]), of(&[code("error")])),
            (Status::Unset, Status::Ok, Status::Error)
        );
        assert_eq!(of(&[("error", true.into())]), Status::Error);
        assert_eq!(
            (of(&[("error", false.into())]), of(&[("error", "true".into())])),
            (Status::Unset, Status::Unset)
        );
        assert_eq!(of(&[code("OK"), ("error", true.into())]), Status::Ok);
    }

    #[test]
    fn what_was_dropped_is_the_sum_of_its_counts() {
        let counts = [
            ("otel.dropped_attributes_count", Value::from("2")),
            ("otel.dropped_links_count", Value::from("3")),
        ];
        assert_eq!((dropped(&tags(&counts)), dropped(&tags(&[]))), (5, 0));
        assert_eq!(dropped(&tags(&[("otel.dropped_events_count", "99999999999".into())])), u32::MAX);
    }

    #[test]
    fn an_answer_with_errors_is_a_part_of_the_traces() {
        let of = |text: &str| {
            let mut notes = Notes::default();
            errors(&Value::parse(text).unwrap(), &mut notes);
            notes.into_gaps().into_iter().map(|gap| (gap.kind, gap.message)).collect::<Vec<_>>()
        };
        assert_eq!((of("null"), of("[]")), (vec![], vec![]));
        let found = of(r#"[{"code": 404, "msg": "trace not found"}, {"code": 500}]"#);
        assert!(found.iter().all(|(kind, _)| *kind == GapKind::Dropped), "{found:?}");
        assert!(
            found[0].1.ends_with("with the error: trace not found") && found[1].1.contains("500"),
            "{found:?}"
        );
        assert_eq!(of(r#""down""#).len(), 1);
    }

    #[test]
    fn the_parent_is_the_first_that_it_is_a_child_of() {
        let of = |text: &str| {
            let mut notes = Notes::default();
            let found = parent(&Value::parse(text).unwrap(), &mut notes);
            (found.map(|id| id.to_string()), notes.into_gaps().len())
        };
        let follows = r#"{"refType": "FOLLOWS_FROM", "spanID": "a"}"#;
        let child = |id: &str| format!(r#"{{"refType": "CHILD_OF", "spanID": "{id}"}}"#);
        let all = format!("[{follows}, {}, {}]", child("b"), child("c"));
        assert_eq!(of(&all), (Some("b".to_owned()), 0));
        assert_eq!((of("[]"), of("null"), of("5")), ((None, 0), (None, 0), (None, 1)));
    }

    #[test]
    fn logs_about_models_are_events_with_their_fields_and_times() {
        let of = |text: &str| {
            let mut notes = Notes::default();
            (events(&Value::parse(text).unwrap(), &mut notes), notes.into_gaps().len())
        };
        let log = |name: &str| {
            format!(
                r#"{{"timestamp": 7, "fields": [{{"key": "event", "value": "{name}"}}, {{"key": "k", "value": 1}}]}}"#
            )
        };
        let (found, gaps) = of(&format!("[{}, {}, {{}}]", log("exception"), log("gen_ai.choice")));
        let [event] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (event.name.as_str(), event.time, event.attributes.len(), gaps),
            ("gen_ai.choice", 7, 1, 0)
        );
        assert_eq!(["[]", "null", "5"].map(|text| of(text).1), [0, 0, 1]);
    }
}
