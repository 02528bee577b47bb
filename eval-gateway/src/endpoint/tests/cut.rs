//! Answers of providers that break off at each byte: none is taken for a whole one.

use super::*;

/// An answer in chunks of a few bytes.
fn chunked(kind: &str, body: &str) -> Vec<u8> {
    let mut bytes =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n").into_bytes();
    for piece in body.as_bytes().chunks(23) {
        bytes.extend(format!("{:x}\r\n", piece.len()).bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

/// An answer that ends with its connection.
fn until_the_end(kind: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n{body}").into_bytes()
}

const STREAM: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"sunny\"}}]}\n\n\
                      data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

#[test]
fn an_answer_that_breaks_off_is_neither_recorded_nor_handed_over_as_a_whole_one() {
    let plain = said("sunny");
    let (json, events) = ("application/json", "text/event-stream");
    for (name, whole, is_stream) in [
        (
            "plain, with a length",
            provider::http("content-type: application/json\r\n", plain.as_bytes()),
            false,
        ),
        ("plain, in chunks", chunked(json, &plain), false),
        ("plain, to the end", until_the_end(json, &plain), false),
        ("a stream in chunks", chunked(events, STREAM), true),
        ("a stream to the end", until_the_end(events, STREAM), true),
    ] {
        let body =
            if is_stream { question("hi").replacen('{', "{\"stream\":true,", 1) } else { question("hi") };
        let mut recorded = 0;
        for end in 0..=whole.len() {
            let bench = Bench::new();
            bench.provider.answers(&whole[..end]);
            let conversation = bench.record();
            let answered = post(&address(&conversation), CHAT, &[], body.as_bytes());
            let ended = conversation.end(true);
            match bench.recording() {
                Some(recording) => {
                    assert_eq!(
                        (recording.answers(), &ended.error),
                        (1, &None),
                        "{name}, {end} bytes: {answered:?}"
                    );
                    assert!(answered.is_whole && answered.status == 200, "{name}, {end} bytes: {answered:?}");
                    let replay = bench.replay();
                    let replayed = post(&address(&replay), CHAT, &[], body.as_bytes());
                    assert_eq!(replayed.body, answered.body, "{name}, {end} bytes");
                    let says_all = if is_stream { "[DONE]" } else { "completion_tokens\":5}}" };
                    assert!(answered.body.contains(says_all), "{name}, {end} bytes: {answered:?}");
                    recorded += 1;
                }
                None => {
                    let error = ended.error.unwrap_or_default();
                    assert!(error.contains("nothing was recorded"), "{name}, {end} bytes: {error}");
                    let looks_whole = answered.is_whole && answered.status == 200;
                    assert!(!looks_whole, "{name}, {end} bytes: {answered:?}");
                }
            }
        }
        // The last bytes of some framings say nothing more.
        assert!((1..=24).contains(&recorded), "{name}: {recorded} of {} ends", whole.len());
    }
}
