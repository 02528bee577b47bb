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

/// A wire with its answers.
struct Answers {
    path: &'static str,
    stream_path: &'static str,
    body: &'static str,
    plain: &'static str,
    /// Its last word.
    end: &'static str,
    stream: &'static str,
    stream_end: &'static str,
}

const WIRES: [Answers; 5] = [
    Answers {
        path: CHAT,
        stream_path: CHAT,
        body: r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#,
        plain: r#"{"id":"chatcmpl-1","choices":[{"index":0,"message":{"role":"assistant","content":"sunny"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5}}"#,
        end: "completion_tokens\":5}}",
        stream: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"sunny\"}}]}\n\n\
                 data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        stream_end: "[DONE]",
    },
    Answers {
        path: "/v1/responses",
        stream_path: "/v1/responses",
        body: r#"{"model":"m","input":"hi"}"#,
        plain: r#"{"id":"resp_1","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"sunny"}]}],"usage":{"input_tokens":10,"output_tokens":5}}"#,
        end: "output_tokens\":5}}",
        stream: "event: response.output_text.delta\n\
                 data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,\"delta\":\"sunny\"}\n\n\
                 event: response.completed\n\
                 data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"status\":\"completed\",\"output\":[]}}\n\n",
        stream_end: "\"output\":[]}}",
    },
    Answers {
        path: "/v1/messages",
        stream_path: "/v1/messages",
        body: r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}"#,
        plain: r#"{"id":"msg_1","content":[{"type":"text","text":"sunny"}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":5}}"#,
        end: "output_tokens\":5}}",
        stream: "event: content_block_delta\n\
                 data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"sunny\"}}\n\n\
                 event: message_delta\n\
                 data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n\
                 event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        stream_end: "{\"type\":\"message_stop\"}",
    },
    Answers {
        path: "/v1beta/models/g:generateContent",
        stream_path: "/v1beta/models/g:streamGenerateContent?alt=sse",
        body: r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#,
        plain: r#"{"candidates":[{"content":{"parts":[{"text":"sunny"}]},"finishReason":"STOP"}],"usageMetadata":{"candidatesTokenCount":5}}"#,
        end: "candidatesTokenCount\":5}}",
        stream: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"sun\"}]}}]}\r\n\r\n\
                 data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"ny\"}]},\"finishReason\":\"STOP\"}]}\r\n\r\n",
        stream_end: "STOP",
    },
    // Without `alt=sse`, a stream is an array.
    Answers {
        path: "/v1beta/models/g:streamGenerateContent",
        stream_path: "",
        body: r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#,
        plain: r#"[{"candidates":[{"content":{"parts":[{"text":"sun"}]}}]},{"candidates":[{"content":{"parts":[{"text":"ny"}]},"finishReason":"STOP"}]}]"#,
        end: "STOP\"}]}]",
        stream: "",
        stream_end: "",
    },
];

#[test]
fn an_answer_that_breaks_off_is_neither_recorded_nor_handed_over_as_a_whole_one() {
    fuzz::count_panics();
    std::thread::scope(|scope| {
        for answers in &WIRES {
            scope.spawn(|| cut_in_each_framing(answers));
        }
    });
    assert_eq!(fuzz::PANICS.load(std::sync::atomic::Ordering::Relaxed), 0);
}

fn cut_in_each_framing(answers: &Answers) {
    let Answers { path, stream_path, body, plain, end, stream, stream_end } = answers;
    let (json, events) = ("application/json", "text/event-stream");
    let to_the_end = "the end of its connection";
    for (framing, whole, is_stream) in [
        ("a length", provider::http("content-type: application/json\r\n", plain.as_bytes()), false),
        ("chunks", chunked(json, plain), false),
        (to_the_end, until_the_end(json, plain), false),
        ("chunks", chunked(events, stream), true),
        (to_the_end, until_the_end(events, stream), true),
    ] {
        // The other framings say themselves what is missing, in all wires alike.
        if *path != CHAT && framing != to_the_end || is_stream && stream.is_empty() {
            continue;
        }
        // Gemini has it in the path.
        let says_so = is_stream && !stream_path.contains(':');
        let body = if says_so { body.replacen('{', "{\"stream\":true,", 1) } else { (*body).to_owned() };
        let (path, says_all) = if is_stream { (stream_path, stream_end) } else { (path, end) };
        cut_at_each_byte((path, framing), &whole, &body, says_all);
    }
}

fn cut_at_each_byte(of: (&str, &str), whole: &[u8], body: &str, says_all: &str) {
    let (path, _) = of;
    let mut recorded = 0;
    for end in 0..=whole.len() {
        let bench = Bench::new();
        bench.provider.answers(&whole[..end]);
        let conversation = bench.record();
        let answered = post(&address(&conversation), path, &[], body.as_bytes());
        let ended = conversation.end(true);
        let told = || format!("{of:?}, {end} bytes: {answered:?}");
        match bench.recording() {
            Some(recording) => {
                assert_eq!((recording.answers(), &ended.error), (1, &None), "{}", told());
                assert!(answered.is_whole && answered.status == 200, "{}", told());
                let replay = bench.replay();
                let replayed = post(&address(&replay), path, &[], body.as_bytes());
                assert_eq!(replayed.body, answered.body, "{}", told());
                assert!(answered.body.contains(says_all), "{}", told());
                recorded += 1;
            }
            None => {
                let error = ended.error.unwrap_or_default();
                assert!(error.contains("nothing was recorded"), "{}: {error}", told());
                assert!(!(answered.is_whole && answered.status == 200), "{}", told());
            }
        }
    }
    // The last bytes of some framings say nothing more.
    assert!((1..=24).contains(&recorded), "{of:?}: {recorded} of {} ends", whole.len());
}
