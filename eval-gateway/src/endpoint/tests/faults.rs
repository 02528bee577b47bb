//! Faults of the case as a client sees them.

use super::*;

const EVENTS: &str = "text/event-stream";
const STREAM: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"one\"}}]}\n\n\
                      data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"two\"}}]}\n\ndata: [DONE]\n\n";

fn fault(kind: &str) -> String {
    format!(r#"{{"faults":[{{"at":{{"turn":1,"call":1}},"fault":{kind}}}]}}"#)
}

fn streamed() -> String {
    question("hi").replacen('{', "{\"stream\":true,", 1)
}

fn open(bench: &Bench, mode: ModelMode, kind: &str) -> Conversation {
    let settings = Settings { unused_is_error: true, ..Settings::default() };
    bench.open(mode, &settings, &fault(kind))
}

#[test]
fn errors_tell_clients_to_repeat_at_once_and_the_retry_gets_the_answer() {
    let bench = Bench::new();
    bench.provider.says_json(&said("hello"));
    bench.recorded(CHAT, &question("hi"));
    for (kind, status, wait) in [
        (r#"{"status":429}"#, 429, "1"),
        (r#"{"status":500,"retry_after":0.25}"#, 500, "250"),
        (r#""reset""#, 0, ""),
        (r#"{"hang":0.05}"#, 0, ""),
    ] {
        let replay = open(&bench, ModelMode::Replay, kind);
        let first = post(&address(&replay), CHAT, &[], question("hi").as_bytes());
        assert_eq!(
            (first.status, first.header("retry-after-ms").unwrap_or("")),
            (status, wait),
            "{kind}: {first:?}"
        );
        assert!(post(&address(&replay), CHAT, &[], question("hi").as_bytes()).body.contains("hello"));
        assert_replayed(&replay.end(true));
    }
}

#[test]
fn a_stream_is_cut_or_ends_in_an_error_and_no_retry_is_needed() {
    let bench = Bench::new();
    bench.provider.says(EVENTS, STREAM);
    bench.recorded(CHAT, &streamed());
    for (kind, is_error) in
        [(r#"{"cut":{"events":1}}"#, false), (r#"{"error_in_stream":{"events":1}}"#, true)]
    {
        for retries in [false, true] {
            let replay = open(&bench, ModelMode::Replay, kind);
            let cut = post(&address(&replay), CHAT, &[], streamed().as_bytes());
            assert_eq!((cut.status, cut.is_whole), (200, is_error), "{kind}: {cut:?}");
            assert!(cut.body.contains("one") && !cut.body.contains("two"), "{kind}: {cut:?}");
            assert_eq!(cut.body.contains("\"error\""), is_error, "{kind}: {cut:?}");
            if retries {
                let whole = post(&address(&replay), CHAT, &[], streamed().as_bytes());
                assert_eq!((whole.body.as_str(), whole.is_whole), (STREAM, true));
            }
            assert_replayed(&replay.end(true));
        }
    }
}

#[test]
fn a_set_that_is_recorded_with_its_fault_replays_with_it_and_without() {
    for kind in [r#"{"cut":{"events":1}}"#, r#"{"error_in_stream":{"events":1}}"#] {
        for retries in [false, true] {
            let bench = Bench::new();
            bench.provider.says(EVENTS, STREAM);
            let mut seen = Vec::new();
            for mode in [ModelMode::Record, ModelMode::Replay] {
                let conversation = open(&bench, mode, kind);
                let ask = || post(&address(&conversation), CHAT, &[], streamed().as_bytes());
                seen.push((ask(), retries.then(ask)));
                assert_eq!(conversation.end(true).error, None, "{kind}, {mode:?}");
            }
            assert!(seen[0].0.body.contains("one") && !seen[0].0.body.contains("two"), "{seen:?}");
            assert_eq!(seen[0], seen[1]);
            assert_eq!(bench.provider.requests().len(), 1, "the retry gets the answer that was cut off");
            let plain = bench.replay();
            assert_eq!(post(&address(&plain), CHAT, &[], streamed().as_bytes()).body, STREAM);
            assert_replayed(&plain.end(true));
        }
    }
}

#[test]
fn a_plain_answer_that_is_cut_is_half_of_it() {
    let bench = Bench::new();
    bench.provider.says_json(&said("hello"));
    let whole = bench.recorded(CHAT, &question("hi"));
    let replay = open(&bench, ModelMode::Replay, r#"{"cut":{"events":1}}"#);
    let cut = post(&address(&replay), CHAT, &[], question("hi").as_bytes());
    assert!(!cut.is_whole && !cut.body.is_empty() && whole.body.starts_with(&cut.body), "{cut:?}");
    assert_replayed(&replay.end(true));
}

#[test]
fn a_changed_prompt_is_a_miss_also_where_a_fault_is() {
    let bench = Bench::new();
    bench.provider.says_json(&said("hello"));
    bench.recorded(CHAT, &question("hi"));
    for kind in [r#"{"status":500}"#, r#""reset""#, r#"{"hang":0.01}"#, r#""cut""#, r#""empty""#] {
        let replay = open(&bench, ModelMode::Replay, kind);
        assert_eq!(post(&address(&replay), CHAT, &[], question("hello").as_bytes()).status, 400, "{kind}");
        assert!(replay.misses()[0].message.contains("the messages changed"), "{kind}: {:?}", replay.misses());
    }
}

#[test]
fn a_call_that_fails_for_good_is_known_to_the_replay_all_the_same() {
    let bench = Bench::new();
    let kind = r#"{"status":401}"#;
    let conversation = open(&bench, ModelMode::Record, kind);
    assert_eq!(post(&address(&conversation), CHAT, &[], question("hi").as_bytes()).status, 401);
    assert_eq!(conversation.end(true).error, None);
    assert!(bench.provider.requests().is_empty(), "a fault asks no model");
    let replay = open(&bench, ModelMode::Replay, kind);
    assert_eq!(post(&address(&replay), CHAT, &[], question("hi").as_bytes()).status, 401);
    assert_eq!(replay.end(true).error, None);
    // Without the fault there is no answer.
    let plain = bench.replay();
    assert_eq!(post(&address(&plain), CHAT, &[], question("hi").as_bytes()).status, 400);
    let message = &plain.misses()[0].message;
    assert!(message.contains("a fault of the case is in place of its answer"), "{message}");
}

#[test]
fn a_fault_that_cannot_be_played_is_an_error() {
    let bench = Bench::new();
    bench.provider.says_json(&said("hello"));
    bench.recorded(CHAT, &question("hi"));
    for (kind, expected) in [
        (
            r#""malformed_arguments""#,
            r#"the fault `"malformed_arguments"` at turn 1, call 1 changes nothing of the answer"#,
        ),
        (
            r#""error_in_stream""#,
            r#"the fault `"error_in_stream"` at turn 1, call 1 needs a stream, and the answer is not one"#,
        ),
    ] {
        let replay = open(&bench, ModelMode::Replay, kind);
        let answered = post(&address(&replay), CHAT, &[], question("hi").as_bytes());
        assert_eq!(answered.status, 400, "{answered:?}");
        assert!(replay.misses()[0].message.starts_with(expected), "{:?}", replay.misses());
    }
}

/// An answer: its path, type and body, then the texts in its truncated form and in its form with malformed arguments.
type Changed = (&'static str, &'static str, &'static str, [&'static str; 2], [&'static str; 2]);

/// An answer of each wire that says `It is sunny.` and calls a tool.
const TOLD_AND_CALLED: [Changed; 8] = [
    (
        CHAT,
        "application/json",
        r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"It is sunny.","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}]}"#,
        [r#""content":"It is ""#, r#""finish_reason":"length""#],
        [r#""arguments":"{\"a\":1""#, r#""finish_reason":"tool_calls""#],
    ),
    (
        CHAT,
        EVENTS,
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It is sunny.\"}}]}\n\n\
         data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]}}]}\n\n\
         data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
        [r#""content":"It is ""#, r#""finish_reason":"length""#],
        [r#""arguments":"{\"a\":1""#, "data: [DONE]"],
    ),
    (
        "/v1/responses",
        "application/json",
        r#"{"id":"r","object":"response","status":"completed","incomplete_details":null,"output":[{"type":"message","content":[{"type":"output_text","text":"It is sunny."}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a\":1}"}]}"#,
        [r#""text":"It is ""#, r#""incomplete_details":{"reason":"max_output_tokens"}"#],
        [r#""arguments":"{\"a\":1""#, r#""status":"completed""#],
    ),
    (
        "/v1/responses",
        EVENTS,
        "event: response.output_text.delta\n\
         data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,\"delta\":\"It is sunny.\"}\n\n\
         event: response.function_call_arguments.delta\n\
         data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":1,\"delta\":\"{\\\"a\\\":1}\"}\n\n\
         event: response.completed\n\
         data: {\"type\":\"response.completed\",\"response\":{\"object\":\"response\",\"status\":\"completed\",\"incomplete_details\":null,\"output\":[]}}\n\n",
        [r#""delta":"It is ""#, "event: response.incomplete\n"],
        [r#""delta":"{\"a\":1""#, "event: response.completed\n"],
    ),
    (
        "/v1/messages",
        "application/json",
        r#"{"id":"m","type":"message","content":[{"type":"text","text":"It is sunny."},{"type":"tool_use","id":"t","name":"f","input":{"a":1}}],"stop_reason":"tool_use"}"#,
        [r#""text":"It is ""#, r#""stop_reason":"max_tokens""#],
        [r#""input":"{\"a\":1""#, r#""stop_reason":"tool_use""#],
    ),
    (
        "/v1/messages",
        EVENTS,
        "event: content_block_delta\n\
         data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"It is sunny.\"}}\n\n\
         event: content_block_delta\n\
         data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":1}\"}}\n\n\
         event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n\
         event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        [r#""text":"It is ""#, r#""stop_reason":"max_tokens""#],
        [r#""partial_json":"{\"a\":1""#, r#""stop_reason":"tool_use""#],
    ),
    (
        "/v1beta/models/g:generateContent",
        "application/json",
        r#"{"candidates":[{"content":{"parts":[{"text":"It is sunny."},{"functionCall":{"name":"f","args":{"a":1}}}]},"finishReason":"STOP"}]}"#,
        [r#""text":"It is ""#, r#""finishReason":"MAX_TOKENS""#],
        [r#""parts":[{"text":"It is sunny."}]"#, r#""finishReason":"MALFORMED_FUNCTION_CALL""#],
    ),
    (
        "/v1beta/models/g:streamGenerateContent?alt=sse",
        EVENTS,
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"It is sunny.\"}]}}]}\n\n\
         data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{\"a\":1}}}]},\"finishReason\":\"STOP\"}]}\n\n",
        [r#""text":"It is ""#, r#""finishReason":"MAX_TOKENS""#],
        [r#""parts":[]"#, r#""finishReason":"MALFORMED_FUNCTION_CALL""#],
    ),
];

#[test]
fn a_truncated_answer_and_malformed_arguments_reach_the_client_of_each_wire() {
    for (path, kind, answer, truncated, malformed) in TOLD_AND_CALLED {
        let body = r#"{"model":"m","stream":true,"messages":[]}"#;
        let bench = Bench::new();
        bench.provider.says(kind, answer);
        let whole = bench.recorded(path, body);
        let changes = [(r#"{"truncate":"max_tokens"}"#, truncated), (r#""malformed_arguments""#, malformed)];
        for (fault, expected) in changes {
            let replay = open(&bench, ModelMode::Replay, fault);
            let answered = post(&address(&replay), path, &[], body.as_bytes());
            assert_eq!((answered.status, answered.is_whole), (200, true), "{path}: {answered:?}");
            for word in expected {
                assert!(answered.body.contains(word), "{path}, {kind}, {fault}: {word}: {answered:?}");
            }
            assert_ne!(answered.body, whole.body);
            // The answer is used up: it is played otherwise, and not left for a retry.
            assert_replayed(&replay.end(true));
        }
    }
}

#[test]
fn errors_have_the_form_of_their_wire() {
    for (path, body, form) in [
        (CHAT, question("hi"), "\"type\":\"rate_limit_error\""),
        ("/v1/messages", question("hi"), "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\""),
        (
            "/v1beta/models/g:generateContent",
            "{\"contents\":[]}".to_owned(),
            "\"status\":\"RESOURCE_EXHAUSTED\"",
        ),
    ] {
        let bench = Bench::new();
        bench.provider.says_json("{\"id\":\"1\"}");
        bench.recorded(path, &body);
        let replay = open(&bench, ModelMode::Replay, r#"{"status":429}"#);
        let failed = post(&address(&replay), path, &[], body.as_bytes());
        assert!(failed.status == 429 && failed.body.contains(form), "{failed:?}");
    }
}
