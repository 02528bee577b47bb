//! Stored traces.

use super::*;

/// A span of a model call, in a conversation.
fn span(number: u64, conversation: &str, user: &str, answer: &str) -> String {
    let message = |role: &str, text: &str| {
        format!(r#"[{{\"role\": \"{role}\", \"parts\": [{{\"type\": \"text\", \"content\": \"{text}\"}}]}}]"#)
    };
    let messages = if user.is_empty() {
        String::new()
    } else {
        let (user, answer) = (message("user", user), message("assistant", answer));
        format!(r#", "gen_ai.input.messages": "{user}", "gen_ai.output.messages": "{answer}""#)
    };
    format!(
        r#"{{"traceId": "{number:032x}", "spanId": "{number:016x}", "name": "chat",
        "startTimeUnixNano": "{number}760000000000000000", "endTimeUnixNano": "{number}760000001000000000",
        "attributes": {{"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "{conversation}"{messages}}}}}"#
    )
}

fn document(spans: &[String]) -> String {
    format!(r#"{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{}]}}]}}]}}"#, spans.join(","))
}

#[test]
fn conversations_of_traces_become_drafts_and_what_was_not_captured_is_named() {
    let text = document(&[
        span(1, "a", "Weather in Paris?", "Sunny."),
        span(2, "a", "And in Oslo?", "Rain."),
        span(3, "b", "", ""),
    ]);
    let imported = parse(&text);
    assert_eq!(imported.format, Format::Trace);
    let [draft] = imported.drafts.as_slice() else { panic!("{imported:?}") };
    let said: Vec<_> =
        draft.case.conversation.iter().map(|turn| (turn.user_text(), turn.response_text())).collect();
    let pair = |user: &str, answer: &str| (user.to_owned(), answer.to_owned());
    assert_eq!(said, [pair("Weather in Paris?", "Sunny."), pair("And in Oslo?", "Rain.")]);
    assert_eq!(
        (&draft.origin.details["conversation"], &draft.origin.details["format"]),
        (&"a".into(), &"trace".into())
    );
    assert_eq!(imported.left_out, ["conversation `b`: what the user said in turn 1 was not captured"]);

    let error = Import::new().session("c").parse("here", text.as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "`here` has no conversation `c`; it has `a`, `b`");
    let error = refused(&document(&[span(3, "b", "", "")]));
    assert!(error.starts_with("`here` holds no conversation: conversation `b`: "), "{error}");
}

#[test]
fn packed_traces_are_known_and_read() {
    use std::io::Write;
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("traces");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(span(1, "a", "Weather in Paris?", "Sunny.").as_bytes()).unwrap();
    std::fs::write(&path, packed.finish().unwrap()).unwrap();
    let imported = Import::new().called("chats").read(&path).unwrap();
    assert_eq!(imported.drafts[0].origin.from, "chats");
    let named = Import::new().format(Format::Trace).read(&path).unwrap();
    assert_eq!(named.drafts[0].case, imported.drafts[0].case);
}
