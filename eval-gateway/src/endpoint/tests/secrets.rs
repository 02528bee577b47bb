//! Secrets in headers, addresses, prompts, bodies and streams: none is in a file, and replays find their answers.

use super::*;

const KEY: &str = concat!("sk-", "abcdefghijklmnop0123456789");

/// Writes a text of JSON with a text in it.
type Write<'w> = &'w dyn Fn(&str) -> String;

#[track_caller]
fn assert_free_of(bench: &Bench, words: &[&str]) {
    let files = bench.files();
    assert!(!files.is_empty());
    for (name, text) in files {
        for word in words {
            assert!(!text.contains(word), "`{word}` in {name}: {text}");
        }
    }
}

#[test]
fn keys_in_headers_and_addresses_are_sent_and_not_recorded() {
    let gemini = "/v1beta/models/g:generateContent";
    let content = r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#;
    let chat = question("hi");
    let with_key = format!("{gemini}?key=plain-key-1");
    for (path, headers, body) in [
        (CHAT, &[("authorization", "Bearer plain-key-1")][..], chat.as_str()),
        ("/v1/messages", &[("x-api-key", "plain-key-1"), ("anthropic-version", "1")], &chat),
        (gemini, &[("x-goog-api-key", "plain-key-1")], content),
        (&with_key, &[], content),
    ] {
        let bench = Bench::new();
        bench.provider.says_json(&said("hello"));
        let conversation = bench.record();
        post(&address(&conversation), path, headers, body.as_bytes());
        assert_eq!(conversation.end(true).error, None);
        let asked = &bench.provider.requests()[0];
        assert!(asked.head.contains("plain-key-1"), "the provider gets it: {asked:?}");
        assert_free_of(&bench, &["plain-key-1"]);
        // A replay needs no key.
        let replay = bench.replay();
        let headers: Vec<(&str, &str)> = headers.iter().copied().filter(|(_, value)| *value == "1").collect();
        let answered = post(&address(&replay), path.split('?').next().unwrap(), &headers, body.as_bytes());
        assert_eq!(answered.status, 200, "{path}: {answered:?}");
    }
}

#[test]
fn a_word_that_looks_like_a_key_is_masked_and_its_call_replays() {
    let bench = Bench::new();
    bench.provider.says_json(&said(&format!("it is {KEY}")));
    let body = question(&format!("is it {KEY}?"));
    let recorded = bench.recorded(CHAT, &body);
    assert!(bench.provider.requests()[0].body.contains(KEY), "the provider gets it");
    assert_free_of(&bench, &[KEY]);
    let replay = bench.replay();
    let replayed = post(&address(&replay), CHAT, &[], body.as_bytes());
    assert_eq!(replayed.status, 200, "{replayed:?}");
    assert!(recorded.body.contains("it is ") && replayed.body.contains("it is (a key)"), "{replayed:?}");
    assert_replayed(&replay.end(true));
}

#[test]
fn a_key_that_comes_in_pieces_is_masked_in_each_wire() {
    let (first, second) = KEY.split_at(7);
    let chat = |text: &str| format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#);
    let anthropic = |text: &str| {
        format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}"#
        )
    };
    let responses = |text: &str| {
        format!(
            r#"{{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"{text}"}}"#
        )
    };
    let gemini =
        |text: &str| format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}]}}}}]}}"#);
    let streams: [(&str, Write<'_>); 4] = [
        (CHAT, &chat),
        ("/v1/messages", &anthropic),
        ("/v1/responses", &responses),
        ("/v1beta/models/g:streamGenerateContent?alt=sse", &gemini),
    ];
    for (path, event) in streams {
        let bench = Bench::new();
        let events = [event(&format!("Use {first}")), event(second), event(" now.")];
        let text = format!("data: {}\n\ndata: [DONE]\n\n", events.join("\n\ndata: "));
        bench.provider.says("text/event-stream", text);
        let recorded = bench.recorded(path, r#"{"model":"m","stream":true}"#);
        assert_free_of(&bench, &[KEY, first, second]);
        assert_eq!(recorded.body.matches("data: ").count(), 4);
        // What the client puts together in a replay is what it would send: the same request.
        let replay = bench.replay();
        let replayed = post(&address(&replay), path, &[], br#"{"model":"m","stream":true}"#);
        assert!(replayed.body.contains("Use (a key)") && replayed.body.contains(" now."), "{replayed:?}");
        assert_eq!(replayed.body.matches("data: ").count(), 4, "the events stay");
    }
}

#[test]
fn credentials_in_bodies_are_not_recorded_and_do_not_count() {
    let openai = |secret: &str| {
        format!(
            r#"{{"model":"m","input":"hi","tools":[{{"type":"mcp","server_label":"s","server_url":"https://s.example","authorization":"{secret}","headers":{{"Authorization":"{secret}","X-Api-Key":"{secret}"}}}}]}}"#
        )
    };
    let anthropic = |secret: &str| {
        format!(
            r#"{{"model":"m","messages":[],"mcp_servers":[{{"type":"url","url":"https://s.example","name":"s","authorization_token":"{secret}"}}]}}"#
        )
    };
    let wires: [(&str, Write<'_>); 2] = [("/v1/responses", &openai), ("/v1/messages", &anthropic)];
    for (path, body) in wires {
        let bench = Bench::new();
        bench.provider.says_json("{\"id\":\"r\"}");
        bench.recorded(path, &body("purple elephant"));
        assert!(bench.provider.requests()[0].body.contains("purple elephant"), "the provider gets it");
        assert_free_of(&bench, &["purple elephant"]);
        let replay = bench.replay();
        assert_eq!(post(&address(&replay), path, &[], body("another token").as_bytes()).status, 200);
        // A tool of another server is another question.
        let other = body("purple elephant").replace("s.example", "t.example");
        assert_eq!(post(&address(&replay), path, &[], other.as_bytes()).status, 400);
    }
}
