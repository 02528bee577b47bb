//! Values of a wrong type in traces: each is named in a gap, and the rest is read.

use eval_agents::traces::Traces;

fn told(text: &str) -> Vec<String> {
    match Traces::from_reader(text.as_bytes()) {
        Ok(traces) => traces.gaps().iter().map(|gap| gap.message.clone()).collect(),
        Err(error) => vec![error.to_string()],
    }
}

const IDS: &str = r#""traceId": "00000000000000000000000000000abc", "spanId": "0000000000000001""#;

#[test]
fn what_is_no_list_object_or_text_in_otlp_is_a_gap() {
    let scopes = |scopes: &str| format!(r#"{{"resourceSpans": [{{"scopeSpans": {scopes}}}]}}"#);
    let spans = |spans: &str| scopes(&format!(r#"[{{"spans": {spans}}}]"#));
    let records =
        |records: &str| format!(r#"{{"resourceLogs": [{{"scopeLogs": [{{"logRecords": {records}}}]}}]}}"#);
    let span = |more: &str| spans(&format!("[{{{IDS}, {more}}}]"));
    for (text, gap) in [
        (r#"{"resourceSpans": 5}"#.to_owned(), "`resourceSpans` should be a list and is a number"),
        (
            r#"{"resourceSpans": ["x"]}"#.to_owned(),
            "an element of `resourceSpans` should be an object and is a string",
        ),
        (
            r#"{"resourceLogs": [[]]}"#.to_owned(),
            "an element of `resourceLogs` should be an object and is a list",
        ),
        (scopes("true"), "`scopeSpans` should be a list and is a boolean"),
        (scopes("[-1]"), "an element of `scopeSpans` should be an object and is a number"),
        (spans("{}"), "`spans` should be a list and is an object"),
        (spans("[1.5]"), "a span should be an object and is a number"),
        (spans("[null]"), "a span is null"),
        (spans("[{}]"), "a span has no id, or none of its trace"),
        (span(r#""parentSpanId": 1"#), "`parentSpanId` should be a string and is a number"),
        (span(r#""status": 1"#), "`status` should be an object and is a number"),
        (span(r#""status": {"code": 7}"#), "the code of a status is not known"),
        (span(r#""events": 1"#), "`events` should be a list and is a number"),
        (span(r#""events": [{}]"#), "an event has no name"),
        (records("5"), "`logRecords` should be a list and is a number"),
        (records("[5]"), "a record of a log is a number"),
        (records(r#"[{"eventName": "gen_ai.choice"}]"#), "a record `gen_ai.choice` names no trace"),
    ] {
        assert_eq!(told(&text), [gap], "{text}");
    }
    // Nothing is as good as its absence, and other records are about other things.
    for text in [
        r#"{"resourceSpans": null}"#.to_owned(),
        scopes("null"),
        spans("null"),
        span(r#""parentSpanId": null"#),
        span(r#""status": {"code": "STATUS_CODE_OK"}"#),
        span(r#""status": {"code": null}, "events": null"#),
        records(r#"[{"eventName": "click"}, {}]"#),
    ] {
        assert_eq!(told(&text), [""; 0], "{text}");
    }
}

#[test]
fn what_is_no_list_object_or_text_in_jaegers_export_is_a_gap() {
    let trace = |trace: &str| format!(r#"{{"data": [{{{trace}}}]}}"#);
    let span = |more: &str| trace(&format!(r#""spans": [{{"traceID": "abc", "spanID": "1", {more}}}]"#));
    for (text, gap) in [
        (r#"{"data": [5]}"#.to_owned(), "an element of `data` should be an object and is a number"),
        (r#"{"data": [null]}"#.to_owned(), "an element of `data` is null"),
        (trace(r#""spans": 5"#), "`spans` should be a list and is a number"),
        (trace(r#""spans": [{"traceID": "abc"}]"#), "a span has no id, or none of its trace"),
        (trace(r#""processes": 5"#), "`processes` should be an object and is a number"),
        (span(r#""tags": 5"#), "tags should be a list and is a number"),
        (span(r#""logs": 5"#), "`logs` should be a list and is a number"),
        (span(r#""references": 5"#), "`references` should be a list and is a number"),
    ] {
        assert_eq!(told(&text), [gap], "{text}");
    }
    for text in [trace(r#""spans": null, "processes": null"#), span(r#""tags": null, "logs": null"#)] {
        assert_eq!(told(&text), [""; 0], "{text}");
    }
}

#[test]
fn a_span_alone_is_known_by_any_key_of_its_ids() {
    for key in ["spanId", "traceId", "span_id", "trace_id"] {
        assert_eq!(
            told(&format!(r#"{{"{key}": "1"}}"#)),
            ["a span has no id, or none of its trace"],
            "{key}"
        );
    }
    assert_eq!(told(&format!("[{{{IDS}}}, {{{IDS}}}]")), [""; 0]);
    assert_eq!(told(&format!("[{{{IDS}}}, 5]")), ["an element of the list is no span"]);
    for text in [r#"{"name": "chat"}"#, "{}", "[]", "5", r#"{"data": 5}"#] {
        let told = told(text).concat();
        assert!(told.contains("value 1 in it is"), "{text}: {told}");
    }
}
