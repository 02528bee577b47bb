//! Each wire, recorded and replayed: the provider that is asked, the answer, and what counts.

use super::*;

type Headers = &'static [(&'static str, &'static str)];

struct Call {
    method: &'static str,
    path: &'static str,
    headers: Headers,
    body: &'static str,
    /// The same question in another form.
    same: &'static str,
    /// Another question.
    other: &'static str,
    /// The line that the provider gets.
    upstream: &'static str,
    answer: &'static str,
}

const GOOGLE: Headers = &[("x-goog-api-key", "a-key-of-google-1")];
const ANTHROPIC: Headers = &[("anthropic-version", "2023-06-01"), ("x-api-key", "a-key-of-anthropic-1")];
const OPENAI: Headers = &[("authorization", "Bearer a-key-of-openai-1")];

const CALLS: [Call; 8] = [
    Call {
        method: "POST",
        path: "/v1/embeddings",
        headers: OPENAI,
        body: r#"{"model":"e","input":["one","two"],"encoding_format":"base64"}"#,
        same: r#"{"encoding_format":"base64","user":"me","input":["one","two"],"model":"e"}"#,
        other: r#"{"model":"e","input":["two","one"],"encoding_format":"base64"}"#,
        upstream: "POST /openai/embeddings",
        answer: r#"{"data":[{"index":0,"embedding":"AACAPw=="}],"usage":{"prompt_tokens":4,"total_tokens":4}}"#,
    },
    Call {
        method: "POST",
        path: "/v1/embeddings",
        headers: OPENAI,
        body: r#"{"model":"e","input":[[1,2],[3]]}"#,
        same: r#"{"input":[[1,2],[3]],"model":"e"}"#,
        other: r#"{"model":"e","input":[[1],[2,3]]}"#,
        upstream: "POST /openai/embeddings",
        answer: r#"{"data":[{"index":0,"embedding":[0.5,-1.25]}],"usage":{"prompt_tokens":3}}"#,
    },
    Call {
        method: "POST",
        path: "/v1beta/models/e:batchEmbedContents",
        headers: GOOGLE,
        body: r#"{"requests":[{"model":"models/e","content":{"parts":[{"text":"one"}]}}]}"#,
        same: r#"{"requests":[{"content":{"parts":[{"text":"one"}]},"model":"models/e"}]}"#,
        other: r#"{"requests":[{"model":"models/e","content":{"parts":[{"text":"two"}]}}]}"#,
        upstream: "POST /gemini/v1beta/models/e:batchEmbedContents",
        answer: r#"{"embeddings":[{"values":[0.25,0.5]}]}"#,
    },
    Call {
        method: "POST",
        path: "/v1beta/models/e:embedContent",
        headers: GOOGLE,
        body: r#"{"content":{"parts":[{"text":"one"}]},"taskType":"RETRIEVAL_QUERY"}"#,
        same: r#"{"taskType":"RETRIEVAL_QUERY","content":{"parts":[{"text":"one"}]}}"#,
        other: r#"{"content":{"parts":[{"text":"one"}]},"taskType":"RETRIEVAL_DOCUMENT"}"#,
        upstream: "POST /gemini/v1beta/models/e:embedContent",
        answer: r#"{"embedding":{"values":[0.25]}}"#,
    },
    Call {
        method: "POST",
        path: "/v1beta/models/g:countTokens",
        headers: GOOGLE,
        body: r#"{"contents":[{"role":"user","parts":[{"text":"one"}]}]}"#,
        same: r#"{"contents":[{"parts":[{"text":"one"}],"role":"user"}]}"#,
        other: r#"{"contents":[{"role":"user","parts":[{"text":"two"}]}]}"#,
        upstream: "POST /gemini/v1beta/models/g:countTokens",
        answer: r#"{"totalTokens":7}"#,
    },
    Call {
        method: "POST",
        path: "/v1beta1/projects/p/locations/us/publishers/google/models/e:predict",
        headers: &[("authorization", "Bearer a-token-of-google")],
        body: r#"{"instances":[{"content":"one"}],"parameters":{"outputDimensionality":2}}"#,
        same: r#"{"parameters":{"outputDimensionality":2.0},"instances":[{"content":"one"}]}"#,
        other: r#"{"instances":[{"content":"one"}],"parameters":{"outputDimensionality":3}}"#,
        upstream: "POST /gemini/v1beta1/projects/p/locations/us/publishers/google/models/e:predict",
        answer: r#"{"predictions":[{"embeddings":{"values":[1,2]}}]}"#,
    },
    Call {
        method: "POST",
        path: "/v1/messages/count_tokens",
        headers: ANTHROPIC,
        body: r#"{"model":"c","messages":[{"role":"user","content":"one"}]}"#,
        same: r#"{"messages":[{"content":"one","role":"user"}],"model":"c","metadata":{"user_id":"u"}}"#,
        other: r#"{"model":"c","messages":[{"role":"user","content":"two"}]}"#,
        upstream: "POST /anthropic/v1/messages/count_tokens",
        answer: r#"{"input_tokens":9}"#,
    },
    Call {
        method: "POST",
        path: "/v1/messages",
        headers: ANTHROPIC,
        body: r#"{"model":"c","max_tokens":9,"messages":[{"role":"user","content":"one"}]}"#,
        same: r#"{"model":"c","messages":[{"role":"user","content":"one"}],"max_tokens":9}"#,
        other: r#"{"model":"c","max_tokens":8,"messages":[{"role":"user","content":"one"}]}"#,
        upstream: "POST /anthropic/v1/messages",
        answer: r#"{"id":"msg_1","content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":1,"output_tokens":1}}"#,
    },
];

#[test]
fn calls_of_each_wire_are_recorded_and_replayed() {
    for Call { method, path, headers, body, same, other, upstream, answer } in CALLS {
        let bench = Bench::new();
        bench.provider.says_json(answer);
        let conversation = bench.record();
        let recorded = ask(method, &address(&conversation), path, headers, body.as_bytes());
        assert_eq!(conversation.end(true).error, None, "{path}");
        assert_eq!((recorded.status, json(&recorded.body)), (200, json(answer)), "{path}");
        let asked = &bench.provider.requests()[0];
        assert_eq!(asked.line, upstream);
        let all: String = bench.files().into_values().collect();
        assert!(!all.contains("a-key-of") && !all.contains("a-token-of"), "{all}");
        for again in [body, same] {
            let replay = bench.replay();
            let replayed = ask(method, &address(&replay), path, headers, again.as_bytes());
            assert_eq!(replayed.body, recorded.body, "{path}: {again}");
            assert_replayed(&replay.end(true));
        }
        let replay = bench.replay();
        assert_eq!(
            ask(method, &address(&replay), path, headers, other.as_bytes()).status,
            400,
            "{path}: {other}"
        );
        assert_eq!(replay.misses().len(), 1);
    }
}

#[test]
fn lists_of_models_are_asked_of_the_provider_whose_client_asks() {
    let bench = Bench::new();
    let conversation = bench.record();
    let lists: [(&str, Headers, &str); 8] = [
        ("/v1/models", OPENAI, "GET /openai/models"),
        ("/v1/models/gpt-5-mini", OPENAI, "GET /openai/models/gpt-5-mini"),
        ("/v1/models", ANTHROPIC, "GET /anthropic/v1/models"),
        ("/v1/models?limit=2", ANTHROPIC, "GET /anthropic/v1/models?limit=2"),
        ("/v1beta/models?pageSize=5", GOOGLE, "GET /gemini/v1beta/models?pageSize=5"),
        ("/v1beta/models?key=a-key-of-google-1", &[], "GET /gemini/v1beta/models?key=a-key-of-google-1"),
        ("/v1beta/models/gemini-3", GOOGLE, "GET /gemini/v1beta/models/gemini-3"),
        ("/v1/models?pageToken=x", GOOGLE, "GET /gemini/v1/models?pageToken=x"),
    ];
    for (at, (path, headers, upstream)) in lists.iter().enumerate() {
        bench.provider.says_json(&format!(r#"{{"list":{at}}}"#));
        let answered = ask("GET", &address(&conversation), path, headers, b"");
        assert_eq!(answered.status, 200, "{path}: {answered:?}");
        assert_eq!(bench.provider.requests().last().map(|asked| asked.line.as_str()), Some(*upstream));
    }
    assert_eq!(conversation.end(true).error, None);
    assert!(bench.files().values().all(|text| !text.contains("a-key-of")));
    let replay = bench.replay();
    for (at, (path, headers, _)) in lists.iter().enumerate().rev() {
        let answered = ask("GET", &address(&replay), path, headers, b"");
        assert_eq!(answered.body, format!(r#"{{"list":{at}}}"#), "{path}");
    }
    assert_replayed(&replay.end(true));
}

#[test]
fn another_path_or_method_is_an_error_in_the_form_of_its_wire() {
    let bench = Bench::new();
    for (method, path, form) in [
        ("GET", "/v1/files", "\"type\":\"invalid_request_error\""),
        ("DELETE", "/v1/models/m", "\"type\":\"invalid_request_error\""),
        ("POST", "/v1/realtime/sessions", "\"type\":\"invalid_request_error\""),
        ("POST", "/v1/messages/batches", "\"type\":\"error\""),
        ("POST", "/v1beta/models/g:batchGenerateContent", "\"status\":\"INVALID_ARGUMENT\""),
    ] {
        let conversation = bench.record();
        let answered = ask(method, &address(&conversation), path, &[], b"{}");
        assert_eq!(answered.status, 400, "{path}");
        assert!(answered.body.contains(form), "{answered:?}");
        let message = &conversation.misses()[0].message;
        assert!(message.contains(&format!("{method} {path} is not a wire of the gateway")), "{message}");
    }
    assert!(bench.provider.requests().is_empty());
}
