//! Streams while they are recorded: packed ones, and the tokens of chats.

use super::*;
use crate::limits::{Limit, Limits};

const EVENTS: &str = "text/event-stream";

fn streamed(more: &str) -> String {
    question("hi").replacen('{', &format!("{{\"stream\":true,{more}"), 1)
}

fn stream(with_usage: bool) -> String {
    let usage = if with_usage {
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5}}\n\n"
    } else {
        ""
    };
    format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"sunny\"}},\"finish_reason\":\"stop\"}}]}}\n\n{usage}data: [DONE]\n\n"
    )
}

#[test]
fn a_stream_is_asked_for_its_tokens_and_the_client_sees_what_it_asked_for() {
    for (more, is_wished) in [
        ("", false),
        (r#""stream_options":{"include_usage":false},"#, false),
        (r#""stream_options":{"include_usage":true},"#, true),
    ] {
        let bench = Bench::new();
        bench.provider.says(EVENTS, stream(true));
        let body = streamed(more);
        let recorded = bench.recorded(CHAT, &body);
        let sent = bench.provider.requests()[0].body.clone();
        assert!(sent.contains(r#""stream_options":{"include_usage":true}"#), "{sent}");
        assert_eq!(recorded.body, stream(is_wished), "{more}");
        assert_eq!(bench.recording().map(|it| it.usage().total()), Some(15));
        // The wish is not a part of what is asked: each client replays the recording of the other.
        for (more, is_wished) in [("", false), (r#""stream_options":{"include_usage":true},"#, true)] {
            let replay = bench.replay();
            let replayed = post(&address(&replay), CHAT, &[], streamed(more).as_bytes());
            assert_eq!(replayed.body, stream(is_wished), "{more}");
            assert_replayed(&replay.end(true));
        }
    }
}

#[test]
fn a_provider_that_does_not_know_the_wish_is_asked_without_it() {
    let bench = Bench::new();
    bench.provider.answers("HTTP/1.1 400 X\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
    bench.provider.says(EVENTS, stream(false));
    let recorded = bench.recorded(CHAT, &streamed(""));
    assert_eq!(recorded.body, stream(false));
    let bodies: Vec<String> = bench.provider.requests().into_iter().map(|asked| asked.body).collect();
    assert!(bodies[0].contains("include_usage") && bodies[1] == streamed(""), "{bodies:?}");
}

#[test]
fn the_limit_of_tokens_holds_for_streams() {
    let bench = Bench::new();
    let of_run = Limit { tokens: Some(20), ..Limit::default() };
    let settings = Settings { limits: Limits { of_run, ..Limits::default() }, ..Settings::default() };
    let conversation = bench.open(ModelMode::Record, &settings, "{}");
    (0..3).for_each(|_| bench.provider.says(EVENTS, stream(true)));
    let statuses: Vec<u16> =
        (0..3).map(|_| post(&address(&conversation), CHAT, &[], streamed("").as_bytes()).status).collect();
    assert_eq!(statuses, [200, 200, 400]);
    assert_eq!(bench.provider.requests().len(), 2, "the call beyond is not sent");
    assert!(conversation.misses()[0].message.contains("had 30 tokens"), "{:?}", conversation.misses());
}

#[test]
fn a_failure_in_a_stream_is_not_recorded() {
    for (path, last) in [
        (
            "/v1/responses",
            r#"{"type":"response.failed","response":{"id":"r","error":{"code":"server_error"}}}"#,
        ),
        ("/v1/messages", r#"{"type":"error","error":{"type":"overloaded_error"}}"#),
        (CHAT, r#"{"error":{"message":"overloaded"}}"#),
    ] {
        let bench = Bench::new();
        bench.provider.says(EVENTS, format!("data: {{\"type\":\"begin\"}}\n\ndata: {last}\n\n"));
        let conversation = bench.record();
        let answered = post(&address(&conversation), path, &[], br#"{"model":"m","stream":true}"#);
        assert!(answered.body.contains(last), "{answered:?}");
        let error = conversation.end(true).error.unwrap_or_default();
        assert!(error.contains("ended in an error"), "{path}: {error}");
        assert!(bench.recording().is_none());
    }
}

#[test]
fn what_is_no_answer_is_handed_over_and_not_recorded() {
    let half = &said("sunny")[..40];
    for (kind, body, expected) in [
        (
            "text/html",
            "<html>log in</html>",
            "200 (text/html), which is not a model's answer: it is not JSON: <html>log",
        ),
        ("application/json", "", "it is empty: (nothing)"),
        ("application/json", half, "its JSON is malformed or truncated: {"),
        ("application/json", r#"{"error":{"code":502}}"#, r#"it is an error: {"error":{"code":502}}"#),
        (
            EVENTS,
            "data: {\"choices\":[{\"delta\":{\"content\":\"It\"}}]}\n\n",
            "the stream lacks its end: data: {",
        ),
        (EVENTS, "", "it has no events: (nothing)"),
    ] {
        let bench = Bench::new();
        bench.provider.says(kind, body);
        let conversation = bench.record();
        let answered = post(&address(&conversation), CHAT, &[], question("hi").as_bytes());
        assert_eq!((answered.status, &*answered.body), (200, body), "{kind}");
        let error = conversation.end(true).error.unwrap_or_default();
        assert!(error.starts_with("1 call of a model had no answer, so nothing was recorded: "), "{error}");
        assert!(error.contains(expected), "{expected}: {error}");
        assert!(bench.recording().is_none(), "{kind}: {body}");
    }
}

#[test]
fn a_redirect_is_not_followed_and_not_recorded() {
    let bench = Bench::new();
    bench.provider.answers(
        "HTTP/1.1 307 X\r\nlocation: https://models.example/v1?key=secret\r\ncontent-length: 0\r\n\r\n",
    );
    let conversation = bench.record();
    let answered = post(&address(&conversation), CHAT, &[], question("hi").as_bytes());
    assert_eq!(answered.status, 400, "{answered:?}");
    let error = conversation.end(true).error.unwrap_or_default();
    assert!(error.contains("answered 307, a redirect to `models.example`, which is not followed"), "{error}");
    assert!(!error.contains("secret"), "{error}");
    assert!(bench.recording().is_none());
}

#[test]
fn a_stream_without_the_event_that_ends_it_is_recorded_if_it_says_why_it_ends() {
    let bench = Bench::new();
    let text = stream(true).replace("data: [DONE]\n\n", "");
    bench.provider.says(EVENTS, &text);
    bench.recorded(CHAT, &streamed(""));
    let replay = bench.replay();
    post(&address(&replay), CHAT, &[], streamed("").as_bytes());
    assert_replayed(&replay.end(true));
}

#[cfg(feature = "https")]
#[test]
fn a_packed_stream_is_recorded_as_a_plain_one() {
    use std::io::Write;

    let text = stream(true);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let plain = Bench::new();
    plain.provider.says(EVENTS, &text);
    let expected = plain.recorded(CHAT, &streamed(""));
    let mut brotli = Vec::new();
    brotli_raw(text.as_bytes(), &mut brotli);
    for (packing, bytes) in [
        ("gzip", gzip.finish().unwrap()),
        ("zstd", zstd::encode_all(text.as_bytes(), 3).unwrap()),
        ("br", brotli),
    ] {
        let bench = Bench::new();
        let headers = format!("content-type: {EVENTS}\r\ncontent-encoding: {packing}\r\n");
        bench.provider.answers(provider::http(&headers, &bytes));
        assert_eq!(bench.recorded(CHAT, &streamed("")).body, expected.body, "{packing}");
        assert_eq!(bench.files(), plain.files(), "{packing}");
    }
}

/// A stream of brotli with one block that is not packed.
#[cfg(feature = "https")]
fn brotli_raw(bytes: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(bytes.len() - 1).unwrap();
    assert!(length < 1 << 16);
    // The size of the window (1 bit), not the last block (1), four half-bytes of length (2), the length (16), not packed (1).
    let head = length << 4 | 1 << 20;
    out.extend_from_slice(&head.to_le_bytes()[..3]);
    out.extend_from_slice(bytes);
    // The last block, which is empty.
    out.push(0b11);
}

#[test]
fn ids_of_requests_are_handed_on_and_recorded_and_other_headers_are_not() {
    let bench = Bench::new();
    let headers = "content-type: application/json\r\nx-request-id: req-1\r\nset-cookie: a=b\r\nopenai-organization: org-of-mine\r\n";
    bench.provider.answers(provider::http(headers, said("hello").as_bytes()));
    let recorded = bench.recorded(CHAT, &question("hi"));
    let replay = bench.replay();
    let replayed = post(&address(&replay), CHAT, &[], question("hi").as_bytes());
    for answered in [recorded, replayed] {
        assert_eq!(answered.header("x-request-id"), Some("req-1"));
        assert!(!answered.head.contains("cookie") && !answered.head.contains("org-of-mine"), "{answered:?}");
    }
    assert!(bench.files().values().all(|text| !text.contains("org-of-mine")));
}
