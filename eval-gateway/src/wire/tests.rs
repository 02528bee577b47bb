//! Requests of each wire, taken apart.

use super::*;

fn read(method: &str, path: &str, query: &str, body: &str) -> Result<Asked, NoWire> {
    let incoming = Incoming { method, query, ..Incoming::posted(path, body) };
    Asked::read(&incoming, &Masks::default(), &|_| None)
}

fn asked(path: &str, body: &str) -> Asked {
    read("POST", path, "", body).unwrap()
}

#[test]
fn each_path_has_its_wire_and_other_paths_are_named() {
    for (path, wire, model) in [
        ("/v1/chat/completions", Wire::OpenAiChat, "m"),
        ("/v1/responses", Wire::OpenAiResponses, "m"),
        ("/v1/embeddings", Wire::OpenAiEmbeddings, "m"),
        ("/v1/messages", Wire::Anthropic, "m"),
        ("/v1beta/models/g:generateContent", Wire::Gemini, "g"),
        ("/v1beta1/projects/p/locations/l/publishers/google/models/g:predict", Wire::Gemini, "g"),
        ("/v1beta/tunedModels/t:generateContent", Wire::Gemini, "tunedModels/t"),
        ("/v1/projects/p/locations/l/endpoints/7:streamGenerateContent", Wire::Gemini, "endpoints/7"),
        ("/v1/projects/p/locations/l/publishers/anthropic/models/c:rawPredict", Wire::Anthropic, "c"),
        ("/v1/projects/p/locations/l/publishers/anthropic/models/c:streamRawPredict", Wire::Anthropic, "c"),
        (
            "/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict",
            Wire::Anthropic,
            "m",
        ),
    ] {
        let asked = asked(path, r#"{"model":"m"}"#);
        assert_eq!((asked.wire, asked.model.as_str()), (wire, model), "{path}");
        assert_eq!(Wire::named(&wire.to_string()), Some(wire));
    }
    for path in ["/v1/publishers/mistralai/models/m:rawPredict", "/model/c/invoke", "/v1beta/files:register"]
    {
        assert!(read("POST", path, "", "{}").is_err(), "{path}");
    }
    let NoWire(why) = read("POST", "/v1/realtime", "", "{}").unwrap_err();
    assert!(why.starts_with("POST /v1/realtime is not a wire of the gateway"), "{why}");
    let NoWire(why) = read("POST", "/v1/responses", "", "[").unwrap_err();
    assert!(why.contains("is not JSON"), "{why}");
    assert!(read("GET", "/v1/models", "", "").is_ok());
}

#[test]
fn the_path_below_the_base_url_goes_on_and_telemetry_does_not_count() {
    let plain = asked("/v1/chat/completions", r#"{"model":"m","messages":[],"temperature":1}"#);
    assert_eq!(plain.rest, "/chat/completions");
    let more = r#"{"temperature":1.0,"messages":[],"model":"m","user":"u","metadata":{},"stream_options":{},"store":true}"#;
    assert_eq!(asked("/v1/chat/completions", more).key, plain.key);
    for other in [
        r#"{"model":"m-2026-01-01","messages":[],"temperature":1}"#,
        r#"{"model":"m","messages":[],"temperature":0.9}"#,
        r#"{"model":"m","messages":[],"temperature":1,"stream":true}"#,
        r#"{"model":"m","messages":[],"temperature":1,"seed":3}"#,
    ] {
        assert_ne!(asked("/v1/chat/completions", other).key, plain.key, "{other}");
    }
    let sse = read("POST", "/v1beta/models/g:streamGenerateContent", "alt=sse&key=secret", "{}").unwrap();
    assert_eq!(sse.parts.options.get("alt").and_then(Value::as_str), Some("sse"));
    assert!(!format!("{:?}", sse.parts).contains("secret"));
    let list = read("GET", "/v1/models", "limit=20&apikey=k9&sig=k9&after=m", "").unwrap();
    assert_eq!(list.parts.options.get("query").and_then(Value::as_str), Some("after=m&limit=20"));
}

#[test]
fn instructions_are_apart_from_messages_and_the_last_text_of_the_user_is_known() {
    let chat = r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"system","content":"late"},
        {"role":"user","content":[{"type":"text","text":"b"}]},{"role":"tool","content":"r"}]}"#;
    let chat = asked("/v1/chat/completions", chat);
    assert_eq!(chat.parts.messages.len(), 4, "a later instruction stays in its place");
    assert_eq!(chat.user_text, "b");
    let gemini = asked(
        "/v1beta/models/g:generateContent",
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"user","parts":[{"functionResponse":{}}]}],"system_instruction":{"parts":[]}}"#,
    );
    assert!(gemini.parts.system.is_some());
    assert_eq!(gemini.user_text, "hi", "a result of a tool is no text of the user");
    assert_eq!(asked("/v1/responses", r#"{"input":"hello"}"#).user_text, "hello");
}

#[test]
fn a_history_at_the_provider_is_the_request_whose_answer_has_its_id() {
    let body = |id: &str| format!(r#"{{"input":"hi","previous_response_id":"{id}"}}"#);
    let read = |id: &str, known: &str| {
        let body = body(id);
        let incoming = Incoming::posted("/v1/responses", &body);
        let known = known.to_owned();
        Asked::read(&incoming, &Masks::default(), &|_| Some(known.clone())).unwrap().key
    };
    assert_eq!(read("resp_1", "key a"), read("resp_2", "key a"));
    assert_ne!(read("resp_1", "key a"), read("resp_1", "key b"));
}

#[test]
fn a_thread_of_anthropic_is_the_request_whose_answer_it_goes_on_from() {
    let read = |id: &str, known: Option<&str>| {
        let body = format!(
            r#"{{"messages":[{{"role":"user","content":"hi"}}],"thread":{{"type":"continue","previous_message_id":"{id}"}}}}"#
        );
        let known = known.map(str::to_owned);
        Asked::read(&Incoming::posted("/v1/messages", &body), &Masks::default(), &|_| known.clone()).unwrap()
    };
    assert_eq!(read("msg_1", Some("key a")).key, read("msg_2", Some("key a")).key);
    assert_ne!(read("msg_1", Some("key a")).key, read("msg_1", Some("key b")).key);
    assert_eq!(read("msg_1", None).key, read("msg_2", None).key);
    assert!(read("msg_1", None).ids.contains(&"msg_1".to_owned()));
}

#[test]
fn a_model_in_the_path_counts_with_and_without_one_in_the_body() {
    let body = r#"{"messages":[{"role":"user","content":"hi"}]}"#;
    for (path, model) in [
        ("/v1/deployments/gpt-big/chat/completions", "gpt-big"),
        ("/openai/deployments/gpt-big/embeddings/", "gpt-big"),
        ("/openai/deployments/gpt-big/responses", "gpt-big"),
        ("/v1/engines/gpt-big/chat/completions", "gpt-big"),
        ("/models/org/gpt-big/v1/chat/completions", "org/gpt-big"),
        ("/v1/projects/p/locations/l/endpoints/7/chat/completions", "7"),
        ("/v1/projects/p/locations/l/endpoints/openapi/chat/completions", ""),
        ("/models/chat/completions", ""),
        ("/v1/chat/completions", ""),
    ] {
        assert_eq!(asked(path, body).model, model, "{path}");
        // What was recorded with the same name in both keeps its key.
        let named = body.replacen('{', &format!(r#"{{"model":"{model}","#), 1);
        assert_eq!(asked(path, &named).key, asked(path, body).key, "{path}");
    }
    let of = |deployment: &str, model: &str| {
        let body = body.replacen('{', &format!(r#"{{"model":"{model}","#), 1);
        asked(&format!("/v1/deployments/{deployment}/chat/completions"), &body).key
    };
    assert_eq!(of("gpt-big", "m"), of("gpt-big", "m"));
    assert_ne!(of("gpt-big", "m"), of("gpt-small", "m"));
}

#[test]
fn a_call_at_another_server_is_told_from_a_tool_with_the_same_path() {
    let asks = r#""messages":[{"role":"user","content":"hi"}]"#;
    for (path, body, expected) in [
        ("/v1/chat/completions", format!(r#"{{"model":"m",{asks}}}"#), true),
        ("/v1/chat/completions", format!("{{{asks}}}"), true),
        ("/v1/deployments/m/chat/completions", format!("{{{asks}}}"), true),
        ("/v1/messages", format!(r#"{{"model":"m",{asks}}}"#), true),
        ("/v1/embeddings", r#"{"model":"m","input":"hi"}"#.to_owned(), true),
        ("/v1beta/models/m:generateContent", r#"{"contents":[{"parts":[{"text":"hi"}]}]}"#.to_owned(), true),
        ("/channels/7/messages", r#"{"content":"hi"}"#.to_owned(), false),
        ("/survey/responses", r#"{"input":"hi"}"#.to_owned(), false),
        ("/tool", format!(r#"{{"model":"m",{asks}}}"#), false),
        ("/v1/messages", "hi".to_owned(), false),
    ] {
        assert_eq!(Incoming::posted(path, &body).is_a_call(), expected, "{path} {body}");
    }
}

#[test]
fn tokens_are_read_of_answers_and_of_streams() {
    let json = |text: &str| parse_value(text).unwrap();
    for (wire, answer, expected) in [
        (Wire::OpenAiChat, r#"{"usage":{"prompt_tokens":11,"completion_tokens":7}}"#, (11, 7, 0)),
        (
            Wire::OpenAiResponses,
            r#"{"usage":{"input_tokens":11,"output_tokens":7,"input_tokens_details":{"cached_tokens":3}}}"#,
            (11, 7, 3),
        ),
        (
            Wire::Anthropic,
            r#"{"usage":{"input_tokens":1,"cache_read_input_tokens":10,"output_tokens":7}}"#,
            (11, 7, 10),
        ),
        (
            Wire::Anthropic,
            r#"{"usage":{"input_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807,"cache_creation_input_tokens":9223372036854775807}}"#,
            (u64::MAX, 0, i64::MAX as u64),
        ),
        (
            Wire::Gemini,
            r#"{"usageMetadata":{"promptTokenCount":11,"candidatesTokenCount":4,"thoughtsTokenCount":3}}"#,
            (11, 7, 0),
        ),
    ] {
        let usage = wire.usage(&json(answer)).unwrap();
        assert_eq!((usage.input, usage.output, usage.cached), expected, "{wire}");
    }
    let event = |text: &str| Event::of_json(None, json(text));
    let anthropic = [
        event(r#"{"type":"message_start","message":{"usage":{"input_tokens":11,"output_tokens":1}}}"#),
        event(r#"{"type":"message_delta","usage":{"output_tokens":7}}"#),
    ];
    assert_eq!(Wire::Anthropic.usage_of_events(&anthropic).map(Usage::total), Some(18));
}

#[test]
fn errors_have_the_form_of_their_wire_and_a_stream_with_one_broke() {
    assert!(Wire::OpenAiChat.error(400, "no").to_string().contains(r#""type":"invalid_request_error""#));
    assert!(Wire::Anthropic.error(529, "no").to_string().contains(r#""type":"overloaded_error""#));
    assert!(Wire::Gemini.error(429, "no").to_string().contains(r#""status":"RESOURCE_EXHAUSTED""#));
    for wire in [Wire::OpenAiChat, Wire::Anthropic, Wire::Gemini] {
        let good = Event::of_json(None, parse_value(r#"{"choices":[],"error":null}"#).unwrap());
        assert!(!Wire::broke(std::slice::from_ref(&good)));
        assert!(Wire::broke(&[good, wire.error_event("late")]), "{wire}");
        assert!(Wire::broke(&[]));
    }
}
