//! The shapes of ADK's servers in Go, in Java, and of adk-rs, as their sources have them: the same conversation arrives the same.
//!
//! Python's and TypeScript's servers are tested as they are: `real_adk.rs`, `real_adk_typescript.rs`.

use crate::support::{Answer, CHUNKED, Request, Stub};
use eval_agents::AdkServer;
use eval_core::Session;
use eval_core::format::{Invocation, Value};
use eval_core::testing::Conversation;

/// An answer of `/run_sse` in a dialect.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turn {
    Answers,
    /// The agent fails after its first event.
    Fails,
}

/// A server in a dialect.
#[derive(Clone, Copy, Debug)]
struct Dialect {
    name: &'static str,
    prefix: &'static str,
    answer: fn(&Request, Turn) -> Answer,
}

const DIALECTS: [Dialect; 3] = [
    Dialect { name: "Go", prefix: "/api", answer: go },
    Dialect { name: "Java", prefix: "", answer: java },
    Dialect { name: "adk-rs", prefix: "", answer: adk_rs },
];

fn text(status: u16, body: &str) -> Answer {
    Answer::Whole(status, "text/plain; charset=utf-8", body.to_owned())
}

fn json(status: u16, body: &str) -> Answer {
    Answer::Whole(status, "application/json", body.to_owned())
}

fn stream(frames: &[String]) -> Answer {
    Answer::Whole(200, "text/event-stream", frames.concat())
}

/// The events of a turn in the given spelling of an event: a call, its result, a text.
fn events(event: impl Fn(&str, &str, &str) -> String) -> [String; 3] {
    [
        event(
            r#"{"parts":[{"functionCall":{"id":"adk-1","args":{"city":"Lima"},"name":"get_weather"}}],"role":"model"}"#,
            r#"{"promptTokenCount":11,"candidatesTokenCount":7,"totalTokenCount":18}"#,
            "{}",
        ),
        event(
            r#"{"parts":[{"functionResponse":{"id":"adk-1","name":"get_weather","response":{"sky_is":"sunny"}}}],"role":"user"}"#,
            "null",
            r#"{"last_city":"Lima"}"#,
        ),
        event(r#"{"parts":[{"text":"It is sunny in Lima."}],"role":"model"}"#, "null", "{}"),
    ]
}

/// `server/adkrest` of adk-go: below `/api`, requests with keys that it does not know are refused, errors are plain text, what is
/// empty is `null`, what is deleted has no body.
fn go(request: &Request, turn: Turn) -> Answer {
    let Some((method, path)) = request.line.split_once(" /api/") else {
        return text(404, "404 page not found\n");
    };
    match (method, path) {
        ("GET", "list-apps") => json(200, "[\"weather\"]\n"),
        ("POST", "apps/weather/users/u/sessions") => json(200, &session("go-made", "1763772000")),
        ("GET", "apps/weather/users/u/sessions/go-made") => json(200, &session("go-made", "1763772001")),
        ("DELETE", "apps/weather/users/u/sessions/go-made") => json(200, ""),
        ("POST", "run_sse") => {
            let sent = Value::parse(&request.body).expect("JSON");
            let known = [
                "appName",
                "userId",
                "sessionId",
                "newMessage",
                "streaming",
                "stateDelta",
                "functionCallEventId",
            ];
            if let Some(key) = sent.as_object().and_then(|sent| sent.keys().find(|key| !known.contains(key)))
            {
                return text(400, &format!("failed to decode request body: json: unknown field \"{key}\"\n"));
            }
            if sent["sessionId"].as_str() != Some("go-made") {
                return text(404, "failed to find the session: failed to get session: session not found\n");
            }
            let event = |content: &str, usage: &str, state: &str| {
                let state = if state == "{}" { "null" } else { state };
                format!(
                    "data: {{\"id\":\"e\",\"invocationId\":\"e-1\",\"author\":\"weather_agent\",\"groundingMetadata\":null,\"usageMetadata\":{usage},\
                     \"actions\":{{\"stateDelta\":{state},\"artifactDelta\":null}},\"content\":{content}}}\n\n"
                )
            };
            let [call, result, said] = events(event);
            match turn {
                Turn::Answers => stream(&[call, result, said]),
                Turn::Fails => stream(&[
                    call,
                    "event: error\ndata: {\"error\":\"model \\u003cgemini\\u003e: no key\"}\n\n".to_owned(),
                ]),
            }
        }
        _ => text(404, "404 page not found\n"),
    }
}

/// `dev` of adk-java, which Spring serves: no space after `data:`, times in milliseconds, what is empty is left out, the id of the
/// session is the server's, a failing agent cuts the stream, errors are Spring's.
fn java(request: &Request, turn: Turn) -> Answer {
    match request.line.as_str() {
        "GET /list-apps" => json(200, r#"["weather"]"#),
        "POST /apps/weather/users/u/sessions" => json(200, &session("4f1c-java", "1763772000.5")),
        "GET /apps/weather/users/u/sessions/4f1c-java" => json(200, &session("4f1c-java", "1763772001.5")),
        "DELETE /apps/weather/users/u/sessions/4f1c-java" => Answer::Whole(204, "text/plain", String::new()),
        "POST /run_sse" => {
            let event = |content: &str, usage: &str, state: &str| {
                let usage =
                    if usage == "null" { String::new() } else { format!(",\"usageMetadata\":{usage}") };
                format!(
                    "data:{{\"id\":\"e\",\"invocationId\":\"e-1\",\"author\":\"weather_agent\",\"content\":{content},\
                     \"actions\":{{\"stateDelta\":{state},\"artifactDelta\":{{}},\"requestedAuthConfigs\":{{}}}}{usage},\"timestamp\":1763772000123}}\n\n"
                )
            };
            let [call, result, said] = events(event);
            match turn {
                Turn::Answers => stream(&[call, result, said]),
                // A body in pieces whose last one never comes.
                Turn::Fails => Answer::Raw(format!("{CHUNKED}{:x}\r\n{call}\r\n", call.len()).into_bytes()),
            }
        }
        line => {
            let path = line.split(' ').nth(1).unwrap_or_default();
            json(
                404,
                &format!(
                    r#"{{"timestamp":"2026-11-22T02:31:07.250+00:00","status":404,"error":"Not Found","path":"{path}"}}"#
                ),
            )
        }
    }
}

/// `server/adk_web.rs` of adk-rs: the routes of Python's server; a session that exists is refused, comments keep connections open, an
/// event with an artifact comes in two, an agent that fails ends the stream with its error.
fn adk_rs(request: &Request, turn: Turn) -> Answer {
    match request.line.as_str() {
        "GET /list-apps" => json(200, r#"["weather"]"#),
        "POST /apps/weather/users/u/sessions" if request.body.contains("wished") => {
            json(409, r#"{"detail":"Session already exists: wished"}"#)
        }
        "POST /apps/weather/users/u/sessions" => json(200, &session("rs-made", "1763772000.25")),
        "GET /apps/weather/users/u/sessions/rs-made" => json(200, &session("rs-made", "1763772001.25")),
        "DELETE /apps/weather/users/u/sessions/rs-made" => json(200, "null"),
        "POST /run_sse" => {
            let event = |content: &str, usage: &str, state: &str| {
                let usage =
                    if usage == "null" { String::new() } else { format!("\"usageMetadata\":{usage},") };
                format!(
                    "data: {{\"content\":{content},{usage}\"id\":\"e-{}\",\"invocationId\":\"i\",\"author\":\"weather_agent\",\"timestamp\":1763772000.1,\
                     \"actions\":{{\"stateDelta\":{state},\"artifactDelta\":{{}},\"requestedAuthConfigs\":{{}},\"requestedToolConfirmations\":{{}}}}}}\n\n",
                    content.len()
                )
            };
            let [call, result, said] = events(event);
            let stored = {
                let id = result
                    .split("\"id\":\"e-")
                    .nth(1)
                    .and_then(|rest| rest.split('"').next())
                    .expect("an id");
                format!(
                    "data: {{\"id\":\"e-{id}\",\"invocationId\":\"i\",\"author\":\"weather_agent\",\"timestamp\":1763772000.1,\
                     \"actions\":{{\"stateDelta\":{{\"last_city\":\"Lima\"}},\"artifactDelta\":{{\"map.png\":0}}}}}}\n\n"
                )
            };
            let comment = ":\n\n".to_owned();
            match turn {
                Turn::Answers => stream(&[comment.clone(), call, comment, result, stored, said]),
                Turn::Fails => stream(&[call, "data: {\"error\":\"model: no key\"}\n\n".to_owned()]),
            }
        }
        line if line.contains("/app-info") => text(404, ""),
        line if line.starts_with("POST /apps/") => json(404, r#"{"detail":"App not found: wether"}"#),
        _ => text(404, ""),
    }
}

fn session(id: &str, updated: &str) -> String {
    format!(
        r#"{{"id":"{id}","appName":"weather","userId":"u","lastUpdateTime":{updated},"events":[],"state":{{"unit":"C","last_city":"Lima"}}}}"#
    )
}

fn serve(dialect: Dialect, turn: Turn) -> (Stub, String) {
    let stub = Stub::new(move |request| (dialect.answer)(request, turn));
    let url = format!("{}{}", stub.url, dialect.prefix);
    (stub, url)
}

fn talk(url: &str, app: &str) -> Conversation<AdkServer> {
    let session = Session::new("a", "u").with_session_id("wished").with_state("unit", "C");
    Conversation::new(AdkServer::at(url, app)).with_session(session)
}

#[tokio::test]
async fn a_conversation_arrives_alike_from_servers_in_go_java_and_adk_rs() {
    let mut seen: Vec<(&str, Invocation)> = Vec::new();
    for dialect in DIALECTS {
        let (stub, url) = serve(dialect, Turn::Answers);
        AdkServer::at(&url, "weather").ready().await.expect(dialect.name);
        let mut talk = talk(&url, "weather");
        let turn = talk.say("What is the weather in Lima?").await.expect(dialect.name);
        assert_eq!(turn.events.len(), 3, "{}", dialect.name);
        assert_eq!(turn.events[1].state_delta["last_city"].as_str(), Some("Lima"), "{}", dialect.name);
        let mut turn = turn.invocation.clone();
        (turn.invocation_id, turn.creation_timestamp, turn.duration) = Default::default();
        let state = Value::from(talk.finish().await.expect(dialect.name).state).to_string();
        assert_eq!(state, r#"{"unit":"C","last_city":"Lima"}"#, "{}", dialect.name);
        let requests = stub.requests();
        assert!(requests.iter().any(|request| request.line.starts_with("DELETE ")), "{}", dialect.name);
        assert!(requests.iter().all(|request| request.line.contains(dialect.prefix)), "{}", dialect.name);
        seen.push((dialect.name, turn));
    }
    let (_, first) = &seen[0];
    assert_eq!(first.response_text(), "It is sunny in Lima.");
    let calls: Vec<String> = first.tool_calls().map(ToString::to_string).collect();
    assert_eq!(calls, [r#"get_weather(city: "Lima")"#]);
    assert_eq!(first.events()[0].usage_metadata.as_ref().and_then(|usage| usage.total_token_count), Some(18));
    for (name, turn) in &seen {
        assert_eq!(turn, first, "{name}");
    }
}

#[tokio::test]
async fn an_agent_that_fails_is_an_error_in_each_dialect() {
    for (dialect, told) in DIALECTS.into_iter().zip([
        "the agent failed: model <gemini>: no key",
        // Java's server does not say more.
        "broke off",
        "the agent failed: model: no key",
    ]) {
        let (_stub, url) = serve(dialect, Turn::Fails);
        let error = talk(&url, "weather")
            .say("What is the weather in Lima?")
            .await
            .expect_err(dialect.name)
            .to_string();
        assert!(
            error.starts_with("agent error in turn 1") && error.contains(told),
            "{}: {error}",
            dialect.name
        );
    }
}

#[tokio::test]
async fn an_app_that_is_not_there_is_told_in_each_dialect() {
    for dialect in DIALECTS {
        let (_stub, url) = serve(dialect, Turn::Answers);
        let error = talk(&url, "wether").say("hi").await.expect_err(dialect.name).to_string();
        assert!(
            error.contains("the server has no app `wether`: it has `weather`"),
            "{}: {error}",
            dialect.name
        );
        let error = AdkServer::at(&url, "wether").ready().await.expect_err(dialect.name).to_string();
        assert_eq!(error, "the server has no app `wether`: it has `weather`", "{}", dialect.name);
    }
}

#[tokio::test]
async fn a_server_without_its_prefix_says_what_is_missing() {
    let stub = Stub::new(|request| go(request, Turn::Answers));
    let error = talk(&stub.url, "weather").say("hi").await.expect_err("no such route").to_string();
    assert!(error.contains("answered 404 Not Found: 404 page not found"), "{error}");
    assert!(error.contains("the address may lack a path, such as `/api`"), "{error}");
}
