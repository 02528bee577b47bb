//! Requests to each provider, and the reading of its answers.

use eval_core::judge::{Judge, JudgeRequest, ModelJudge, Provider};
use serde_json::json;

use crate::server::{Answer, Server};
use crate::{KEY, WIRES};

#[tokio::test]
async fn a_reply_is_the_text_of_the_answer() {
    for wire in WIRES {
        let (reply, requests) = wire.ask(vec![wire.ok("yes, it is")]).await;
        assert_eq!(reply.unwrap().text, "yes, it is", "{}", wire.provider);
        assert_eq!(requests.len(), 1);
    }
}

#[tokio::test]
async fn keys_are_sent_in_the_header_of_the_provider_alone() {
    for (wire, line, header, value) in [
        (&WIRES[0], "POST /v1/chat/completions", "authorization", format!("Bearer {KEY}")),
        (&WIRES[1], "POST /v1beta/models/gemini-test:generateContent", "x-goog-api-key", KEY.to_owned()),
        (&WIRES[2], "POST /v1/messages", "x-api-key", KEY.to_owned()),
    ] {
        let (_, requests) = wire.ask(vec![wire.ok("yes")]).await;
        let request = &requests[0];
        assert_eq!(request.line, line);
        assert_eq!(request.header(header), Some(value.as_str()));
        assert_eq!(request.header("content-type"), Some("application/json"));
        let others = request.headers.iter().filter(|(name, value)| name != header && value.contains(KEY));
        assert_eq!(others.count(), 0, "{request:?}");
        assert!(!request.body.to_string().contains(KEY), "{request:?}");
    }
}

#[tokio::test]
async fn a_server_of_ones_own_needs_no_key() {
    for (provider, model) in [(Provider::OpenAi, "openai/qwen"), (Provider::Ollama, "ollama/llama3.2:3b")] {
        let server = Server::start(vec![WIRES[0].ok("yes")]);
        let judge = ModelJudge::new().base_url(provider, server.url("/v1"));
        assert_eq!(judge.ask(&JudgeRequest::new(model, "polite?")).await.unwrap().text, "yes");
        let request = &server.requests()[0];
        assert_eq!(request.header("authorization"), None);
        assert_eq!(request.body["model"], model.split_once('/').unwrap().1);
    }
}

#[tokio::test]
async fn the_tokens_are_counted() {
    let mut body = (WIRES[0].reply)("yes");
    body["usage"] = json!({"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23});
    let (reply, _) = WIRES[0].ask(vec![Answer::Send(200, "", body.to_string())]).await;
    assert_eq!(reply.unwrap().usage.unwrap().total_token_count, Some(23));
}

#[tokio::test]
async fn a_code_fence_is_left_to_metrics_unless_a_schema_was_sent() {
    let fenced = "```json\n{\"polite\": true}\n```";
    for wire in WIRES {
        for (schema, text) in [(None, fenced), (Some(json!({"type": "object"})), "{\"polite\": true}")] {
            let server = Server::start(vec![wire.ok(fenced)]);
            let mut request = wire.request();
            request.schema = schema.map(Into::into);
            assert_eq!(wire.judge(&server).ask(&request).await.unwrap().text, text, "{}", wire.provider);
        }
    }
}

/// Tests may share a judge, and each test has a runtime of its own.
#[test]
fn a_judge_outlives_the_runtime_it_was_asked_in() {
    let server = Server::start((0..3).map(|_| WIRES[0].ok("yes")).collect());
    let judge = WIRES[0].judge(&server);
    for _ in 0..3 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        assert_eq!(runtime.block_on(judge.ask(&WIRES[0].request())).unwrap().text, "yes");
    }
}
