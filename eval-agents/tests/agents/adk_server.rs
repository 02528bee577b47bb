//! Requests to ADK servers, and the outcomes of their answers: each dialect, each fault.

use std::time::{Duration, Instant};

use crate::support::{Answer, CHUNKED, HEAD, Request, Stub};
use eval_agents::AdkServer;
use eval_core::format::{Content, EvalSet, Part, Value};
use eval_core::testing::Conversation;
use eval_core::{Agent, BoxError, EvalRunner, Recorder, Session, agent_fn};
use tokio::task::JoinSet;

/// The events of a turn with a tool, as servers send them.
const CALL: &str = r#"{"author": "weather_agent", "invocationId": "e-1", "id": "1", "timestamp": 1795338153213,
    "content": {"role": "model", "parts": [{"text": "Let me look."},
    {"functionCall": {"id": "adk-1", "name": "get_weather", "args": {"city": "Lima"}}}]},
    "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7}, "longRunningToolIds": []}"#;
const RESULT: &str = r#"{"author": "weather_agent", "id": "2", "content": {"role": "user", "parts": [
    {"functionResponse": {"id": "adk-1", "name": "get_weather", "response": {"sky": "sunny"}}}]},
    "actions": {"stateDelta": {"last_city": "Lima"}, "artifactDelta": {}}}"#;
const TEXT: &str = r#"{"author": "weather_agent", "id": "3", "partial": null,
    "content": {"role": "model", "parts": [{"text": "It is sunny in Lima."}]}}"#;

fn one_line(event: &str) -> String {
    event.replace('\n', "")
}

fn turn() -> Answer {
    Answer::events(&[&one_line(CALL), &one_line(RESULT), &one_line(TEXT)])
}

/// A server with one app, whose turns and other answers are given.
fn answering(request: &Request, run: impl Fn() -> Answer) -> Answer {
    match request.line.as_str() {
        "POST /run_sse" => run(),
        "POST /apps/weather/users/u/sessions" => {
            Answer::json(r#"{"id": "made-by-the-server", "state": {"unit": "C"}}"#)
        }
        "GET /list-apps" => Answer::json(r#"["weather"]"#),
        "GET /apps/weather/users/u/sessions/made-by-the-server" => Answer::json(
            r#"{"id": "made-by-the-server", "state": {"unit": "C", "last_city": "Lima"}, "events": []}"#,
        ),
        line if line.starts_with("DELETE ") => Answer::Whole(204, "text/plain", String::new()),
        _ => Answer::not_found(),
    }
}

fn stub(run: impl Fn() -> Answer + Send + Sync + 'static) -> Stub {
    Stub::new(move |request| answering(request, &run))
}

fn session() -> Session {
    Session::new("the app of the case", "u").with_session_id("wished").with_state("unit", "C")
}

/// The error of a turn, or of the end of the conversation.
async fn error_of(agent: impl Agent) -> String {
    error_within(agent, Duration::from_secs(5)).await
}

async fn error_within(agent: impl Agent, limit: Duration) -> String {
    let mut talk = Conversation::new(agent).with_session(session()).with_timeout(limit);
    match talk.say("weather in Lima?").await {
        Err(error) => error.to_string(),
        Ok(_) => match talk.finish().await {
            Err(error) => error.to_string(),
            Ok(transcript) => panic!("no error: {transcript:?}"),
        },
    }
}

#[tokio::test]
async fn a_conversation_is_a_session_with_its_state_its_turns_and_its_end() {
    let stub = stub(turn);
    let mut talk = Conversation::new(AdkServer::at(&stub.url, "weather")).with_session(session());
    let image = Value::parse(r#"{"mime_type": "image/png", "data": "aGk="}"#).unwrap();
    let parts = vec![Part::text("weather in Lima?"), Part::default().with_other("inline_data", image)];
    let turn = talk.send(Content::new("user", parts)).await.unwrap().invocation.clone();
    assert_eq!(turn.response_text(), "It is sunny in Lima.");
    assert_eq!(
        turn.tool_calls().map(ToString::to_string).collect::<Vec<_>>(),
        [r#"get_weather(city: "Lima")"#]
    );
    assert_eq!(turn.events()[0].usage_metadata.as_ref().unwrap().prompt_token_count, Some(11));
    let transcript = talk.finish().await.unwrap();
    assert_eq!(Value::from(transcript.state).to_string(), r#"{"unit":"C","last_city":"Lima"}"#);

    let requests = stub.requests();
    let lines: Vec<&str> = requests.iter().map(|request| request.line.as_str()).collect();
    assert_eq!(
        lines,
        [
            "GET /apps/weather/app-info",
            "POST /apps/weather/users/u/sessions",
            "POST /run_sse",
            "GET /apps/weather/users/u/sessions/made-by-the-server",
            "DELETE /apps/weather/users/u/sessions/made-by-the-server",
        ]
    );
    assert_eq!(requests[1].body, r#"{"state":{"unit":"C"},"sessionId":"wished"}"#);
    assert_eq!(
        requests[2].body,
        r#"{"appName":"weather","userId":"u","sessionId":"made-by-the-server","newMessage":{"role":"user","parts":[{"text":"weather in Lima?"},{"inlineData":{"mimeType":"image/png","data":"aGk="}}]},"streaming":false}"#
    );
}

#[tokio::test]
async fn the_app_of_the_case_is_not_sent() {
    let stub = stub(turn);
    let mut talk = Conversation::new(AdkServer::at(&stub.url, "weather")).with_session(session());
    talk.say("hi").await.unwrap();
    talk.finish().await.unwrap();
    for request in stub.requests() {
        assert!(!request.line.contains("case") && !request.body.contains("case"), "{request:?}");
    }
}

#[tokio::test]
async fn users_and_apps_are_one_part_of_the_path_each_and_prefixes_are_kept() {
    let stub = Stub::new(|request| match request.line.as_str() {
        "POST /api/apps/a%20b%2Fc/users/..%2F%3F/sessions" => Answer::json(r#"{"id": "s"}"#),
        line if line.starts_with("POST /api/run_sse") => turn(),
        line if line.contains("/sessions/s") => Answer::json(r#"{"id": "s"}"#),
        _ => Answer::not_found(),
    });
    let url = format!("{}/api/", stub.url);
    let mut talk = Conversation::new(AdkServer::at(url, "a b/c")).with_session(Session::new("a", "../?"));
    talk.say("hi").await.unwrap();
    assert_eq!(talk.finish().await.unwrap().state.len(), 0);
}

#[tokio::test]
async fn a_session_that_exists_gets_an_id_of_the_server() {
    for (status, body) in [
        (409, r#"{"detail": "Session with id wished already exists."}"#),
        (400, r#"{"error": "Session already exists: wished"}"#),
    ] {
        let stub = Stub::new(move |request| {
            if request.body.contains("wished") {
                Answer::Whole(status, "application/json", body.to_owned())
            } else {
                answering(request, turn)
            }
        });
        let mut talk = Conversation::new(AdkServer::at(&stub.url, "weather")).with_session(session());
        talk.say("hi").await.unwrap();
        talk.finish().await.unwrap();
        let created =
            stub.requests().into_iter().rfind(|request| request.line.ends_with("/sessions")).unwrap();
        assert_eq!(created.body, r#"{"state":{"unit":"C"}}"#);
    }
}

/// A server that answers with these states when a session is created, and when it is read.
fn keeping(created: &'static str, read: &'static str) -> Stub {
    Stub::new(move |request| match request.line.as_str() {
        line if line.starts_with("POST /apps/") => {
            Answer::json(&format!(r#"{{"id": "made-by-the-server", "state": {created}}}"#))
        }
        line if line.starts_with("GET /apps/weather/users/") => {
            Answer::json(&format!(r#"{{"state": {read}}}"#))
        }
        _ => answering(request, turn),
    })
}

#[tokio::test]
async fn state_of_users_and_apps_that_other_conversations_left_is_an_error_before_the_first_turn() {
    let stub = keeping(r#"{"unit": "C", "user:city": "Lima", "app:visits": 7, "city": "Oslo"}"#, "{}");
    let error = error_of(AdkServer::at(&stub.url, "weather")).await;
    assert!(
        error.contains(
            "opening the session: the session begins with state of other conversations, which the case does not ask for: \
             `user:city`, `app:visits`. An earlier case of this server set it, or the server stores state: name the keys in the \
             `state` of the `session_input` of the case, give the case a `user_id` of its own, or start the server without \
             stored state (Python's: `adk api_server --no_use_local_storage ..`)"
        ),
        "{error}"
    );
    let lines: Vec<String> = stub.requests().into_iter().map(|request| request.line).collect();
    assert!(!lines.iter().any(|line| line.contains("run_sse")), "{lines:?}");
    assert!(
        lines.last().is_some_and(|line| line.starts_with("DELETE ")),
        "the session is of no use: {lines:?}"
    );

    // The state that the case asks for is its own.
    let asked = session().with_state("user:city", "Lima").with_state("app:visits", 7);
    let mut talk = Conversation::new(AdkServer::at(&stub.url, "weather")).with_session(asked);
    talk.say("hi").await.unwrap();
    talk.finish().await.unwrap();
}

#[tokio::test]
async fn state_that_another_conversation_changes_meanwhile_is_an_error() {
    for (state, key) in [
        (r#"{"user:city": "Lima"}"#, "`user:city`"),
        (r#"{"last_city": "Rome", "app:visits": 8}"#, "`app:visits`"),
    ] {
        let stub = keeping("{}", state);
        let error = error_of(AdkServer::at(&stub.url, "weather")).await;
        let told = format!(
            "reading the session state: another conversation changed the state of this one meanwhile: {key}; "
        );
        assert!(error.contains(&told) && error.contains("`--concurrency 1`"), "{error}");
    }
    // A change by its own events is not another's.
    let set = RESULT.replace(r#"{"last_city": "Lima"}"#, r#"{"user:city": "Lima"}"#);
    let stub = Stub::new(move |request| match request.line.as_str() {
        "POST /run_sse" => Answer::events(&[&one_line(CALL), &one_line(&set), &one_line(TEXT)]),
        line if line.starts_with("GET /apps/weather/users/") => {
            Answer::json(r#"{"state": {"unit": "C", "user:city": "Lima"}}"#)
        }
        _ => answering(request, turn),
    });
    let mut talk = Conversation::new(AdkServer::at(&stub.url, "weather")).with_session(session());
    talk.say("hi").await.unwrap();
    talk.finish().await.unwrap();
}

#[tokio::test]
async fn conversations_of_cases_that_name_no_user_have_a_user_each() {
    let stub = Stub::new(|request| match request.line.as_str() {
        line if line.contains("/users/test_user_id-") && line.ends_with("/sessions") => {
            Answer::json(r#"{"id": "s"}"#)
        }
        line if line.contains("/users/test_user_id-") && line.ends_with("/sessions/s") => Answer::json("{}"),
        _ => answering(request, turn),
    });
    let mut users = std::collections::BTreeSet::new();
    for _ in 0..2 {
        let session = Session::new("the app of the case", "test_user_id");
        let mut talk = Conversation::new(AdkServer::at(&stub.url, "weather")).with_session(session);
        talk.say("hi").await.unwrap();
        talk.finish().await.unwrap();
        let of_turn = stub.requests().into_iter().rfind(|request| request.line == "POST /run_sse").unwrap();
        users.insert(Value::parse(&of_turn.body).unwrap()["userId"].as_str().unwrap().to_owned());
    }
    assert_eq!(users.len(), 2, "{users:?}");
}

#[tokio::test]
async fn an_event_that_stores_an_artifact_counts_once() {
    let with_artifact = RESULT.replace(r#""artifactDelta": {}"#, r#""artifactDelta": {"image.png": 0}"#);
    let first = RESULT.replace("{\"author\"", r#"{"usageMetadata": {"promptTokenCount": 1}, "author""#);
    let second = with_artifact
        .replace("\"content\": {", "\"other\": {")
        .replace("{\"author\"", r#"{"usageMetadata": {"promptTokenCount": 1}, "author""#);
    let events = [one_line(CALL), one_line(&first), one_line(&second), one_line(TEXT)];
    let stub = stub(move || Answer::events(&events.each_ref().map(String::as_str)));
    let mut talk = Conversation::new(AdkServer::at(&stub.url, "weather")).with_session(session());
    assert_eq!(talk.say("hi").await.unwrap().events.len(), 3);
}

#[tokio::test]
async fn headers_are_sent_and_shown_nowhere() {
    const TOKEN: &str = "correct-horse-battery";
    let echo = |status: u16| {
        move || {
            Answer::Whole(
                status,
                "application/json",
                format!(r#"{{"detail": "bad token Bearer {TOKEN}, {TOKEN}"}}"#),
            )
        }
    };
    let agent =
        |stub: &Stub| AdkServer::at(&stub.url, "weather").header("Authorization", &format!("Bearer {TOKEN}"));
    let refusing = stub(echo(403));
    let error = error_of(agent(&refusing)).await;
    assert_eq!(
        error,
        "agent error in turn 1: POST /run_sse answered 403 Forbidden: bad token [hidden], [hidden]"
    );
    for request in refusing.requests() {
        assert!(request.headers.contains(&format!("authorization: bearer {TOKEN}\n")), "{request:?}");
    }
    assert!(!format!("{:?}", agent(&refusing)).contains("horse"));

    // The agent's text is scored unmasked, and masked where it is shown.
    let telling = stub(|| {
        Answer::events(&[&format!(
            r#"{{"author": "a", "content": {{"parts": [{{"text": "I got {TOKEN}"}}]}}}}"#
        )])
    });
    let mut talk = Conversation::new(agent(&telling)).with_session(session());
    let turn = talk.say("hi").await.unwrap();
    assert_eq!(turn.invocation.response_text(), format!("I got {TOKEN}"));
    assert!(!format!("{turn:?}").contains("horse"));
}

/// A fault, and its message.
type Fault = (&'static str, fn() -> Answer, &'static [&'static str]);

fn status(status: u16, body: &str) -> Answer {
    Answer::Whole(status, "text/plain", body.to_owned())
}

fn raw(text: &str) -> Answer {
    Answer::Raw(text.as_bytes().to_vec())
}

const FAULTS: &[Fault] = &[
    (
        "an error without words",
        || status(500, "Internal Server Error"),
        &[
            "answered 500 Internal Server Error: Internal Server Error; the log of the server at 127.0.0.1:",
            " has the reason",
        ],
    ),
    (
        "an error with words",
        || status(422, r#"{"detail": "no such field"}"#),
        &["answered 422 Unprocessable Entity: no such field"],
    ),
    (
        "an error page",
        || status(400, "<html>\n<pre>SyntaxError: x</pre>"),
        &["400 Bad Request:\n| <html>\n| <pre>SyntaxError: x</pre>"],
    ),
    (
        "a long error page",
        || status(500, &"x".repeat(3 << 20)),
        &["500 Internal Server Error: xxx", "xxx..."],
    ),
    (
        "no session",
        || status(404, r#"{"error": "Session not found: s"}"#),
        &["404 Not Found: Session not found: s"],
    ),
    ("a way to nobody", || status(502, "no upstream"), &["answered 502 Bad Gateway: no upstream"]),
    (
        "a redirect",
        || status(307, ""),
        &["307", "a redirect to http://elsewhere.test/, which is not followed"],
    ),
    (
        "the agent of a Python server fails",
        || {
            Answer::events(&[
                r#"{"author": "a", "content": {"parts": [{"text": "Let me look."}]}}"#,
                r#"{"error": "ValueError: no such city", "error_details": {"error_type": "ValueError"}}"#,
            ])
        },
        &["the agent failed: ValueError: no such city"],
    ),
    (
        "the model of a TypeScript server fails",
        || {
            Answer::events(&[
                r#"{"author": "a", "errorCode": "UNKNOWN_ERROR", "errorMessage": "the model is broken"}"#,
            ])
        },
        &["`a` reported model error UNKNOWN_ERROR: the model is broken"],
    ),
    (
        "an error event",
        || raw(&format!("{HEAD}event: error\ndata: no key\n\n")),
        &["the agent failed: no key"],
    ),
    (
        "an error of a Go server",
        || raw(&format!("{HEAD}Error while running agent: no key\n")),
        &["sent a line that is not of an event: Error while running agent: no key"],
    ),
    ("no event stream", || Answer::json("[]"), &["sent a line that is not of an event: []"]),
    ("nothing", || raw(HEAD), &["the agent answered nothing"]),
    (
        "broken JSON",
        || Answer::events(&["{\"author\": "]),
        &["POST /run_sse, event 1: not JSON", "{\"author\":"],
    ),
    (
        "an event of another kind",
        || Answer::events(&[r#"{"author": "a"}"#, r#"{"content": [1]}"#]),
        &["event 2: `event.content` should be an object and is an array"],
    ),
    (
        "half an event",
        || raw(&format!("{HEAD}data: {{\"author\"")),
        &["ended in the middle of an event: {\"author\""],
    ),
    (
        "a connection that dies between events",
        || raw(&format!("{CHUNKED}8\r\ndata: {{}}\r\n2\r\n\n\n\r\n")),
        &["broke off"],
    ),
    ("a connection that dies before the answer", || raw(""), &["broke off"]),
    ("not HTTP", || raw("SSH-2.0-OpenSSH_9.6\r\n"), &["broke off"]),
    (
        "an event without an end",
        || Answer::Endless(format!("{HEAD}data: ").into_bytes(), vec![b'x'; 1 << 20]),
        &["sent an event of more than 32 MiB"],
    ),
    (
        "events without an end",
        || Answer::Endless(HEAD.as_bytes().to_vec(), b"data: {\"author\": \"a\"}\n\n".repeat(1000)),
        &["more than 100000 events recorded"],
    ),
    ("silence", || Answer::Hang(Vec::new()), &["timed out after 5s"]),
    (
        "silence after the first event",
        || Answer::Hang(format!("{HEAD}data: {{\"author\": \"a\"}}\n\n").into_bytes()),
        &["timed out after 5s"],
    ),
];

#[tokio::test]
async fn each_fault_is_an_error_in_the_words_of_the_server_and_in_time() {
    let is_silent = |told: &[&str]| told[0].contains("timed out");
    let hold = |(name, answer, told): &'static Fault| async move {
        let stub = stub(*answer);
        // The others do not fail for want of time on a busy machine.
        let limit = Duration::from_secs(if is_silent(told) { 5 } else { 60 });
        let begun = Instant::now();
        let error = error_within(AdkServer::at(&stub.url, "weather"), limit).await;
        assert!(begun.elapsed() < 3 * limit, "{name}: {:?}", begun.elapsed());
        for told in *told {
            assert!(error.contains(told), "{name}: {error}");
        }
        assert!(error.starts_with("agent error in turn 1"), "{name}: {error}");
        assert!(error.len() < 3000, "{name}: {} bytes", error.len());
    };
    let (silent, others): (Vec<_>, Vec<_>) = FAULTS.iter().partition(|(_, _, told)| is_silent(told));
    // The time of the silent ones runs out while the others are held.
    let silent: JoinSet<()> = silent.into_iter().map(hold).collect();
    for fault in others {
        hold(fault).await;
    }
    silent.join_all().await;
}

#[tokio::test]
async fn faults_of_the_session_are_errors_too() {
    let faulty = |line: &'static str, fault: fn() -> Answer| {
        Stub::new(
            move |request| if request.line.starts_with(line) { fault() } else { answering(request, turn) },
        )
    };
    for (line, fault, told) in [
        (
            "POST /apps/",
            (|| status(401, "who are you")) as fn() -> Answer,
            "opening the session: POST of a session answered 401 Unauthorized: who are you",
        ),
        ("POST /apps/", || Answer::json("{}"), "answered without the id of a session: {}"),
        ("POST /apps/", || status(200, "<html>"), "answered with something that is not JSON"),
        (
            "GET /apps/weather/app-info",
            || status(500, "no agent"),
            "opening the session: GET of the app's info answered 500 Internal Server Error: no agent",
        ),
        (
            "GET /apps/weather/users",
            || status(500, "lost"),
            "reading the session state: GET of the session answered 500 Internal Server Error: lost",
        ),
        ("GET /apps/weather/users", || Answer::json(r#"{"state": 1}"#), "a state that is no object"),
        (
            "DELETE ",
            || status(500, "locked"),
            "ending the conversation: DELETE of the session answered 500 Internal Server Error: locked",
        ),
    ] {
        let stub = faulty(line, fault);
        let error = error_of(AdkServer::at(&stub.url, "weather")).await;
        assert!(error.contains(told), "{line}: {error}");
    }
}

#[tokio::test]
async fn an_app_that_is_not_there_is_told_with_those_that_are() {
    let stub = Stub::new(|request| match request.line.as_str() {
        "GET /list-apps" => Answer::json(r#"["trip", "weather"]"#),
        line if line.starts_with("GET ") => Answer::not_found(),
        _ => status(404, r#"{"error": "Session not found: s2"}"#),
    });
    let error = error_of(AdkServer::at(&stub.url, "wether")).await;
    assert!(error.contains("the server has no app `wether`: it has `trip`, `weather`"), "{error}");
    assert!(error.contains("Session not found: s2"), "{error}");
    let error = AdkServer::at(&stub.url, "wether").ready().await.unwrap_err().to_string();
    assert_eq!(error, "the server has no app `wether`: it has `trip`, `weather`");
    AdkServer::at(&stub.url, "trip").ready().await.unwrap();
}

#[tokio::test]
async fn a_refused_connection_is_an_error_of_the_way() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let agent = || AdkServer::at(format!("http://127.0.0.1:{port}"), "weather");
    let error = error_of(agent()).await;
    assert!(
        error.contains(&format!("no connection to 127.0.0.1:{port}")) && error.contains("refused"),
        "{error}"
    );
    let error: BoxError = agent().start(&session()).await.unwrap_err();
    assert!(eval_core::agent::Unreachable::is_in(&*error));

    let unreached = stub(|| status(503, "starting"));
    let mut agent = AdkServer::at(&unreached.url, "weather");
    agent.start(&session()).await.unwrap();
    let error = agent.turn(&"hi".into()).await.unwrap_err();
    assert!(eval_core::agent::Unreachable::is_in(&*error), "{error}");

    let failing = stub(|| status(500, "broken"));
    let mut agent = AdkServer::at(&failing.url, "weather");
    agent.start(&session()).await.unwrap();
    assert!(!eval_core::agent::Unreachable::is_in(&*agent.turn(&"hi".into()).await.unwrap_err()));
}

#[tokio::test]
async fn addresses_that_cannot_be_asked_are_told_as_such() {
    for (url, told) in [
        (
            "localhost:8000",
            "`localhost:8000` is no address of a server: it has to begin with http:// or https://",
        ),
        ("", "is no address of a server"),
        ("ftp://a.test", "it has to begin with http:// or https://"),
    ] {
        let error = error_of(AdkServer::at(url, "weather")).await;
        assert!(error.contains(told), "{error}");
    }
    if cfg!(not(feature = "https")) {
        let error = error_of(AdkServer::at("https://a.test", "weather")).await;
        assert!(error.contains("https needs the feature `https` of eval-agents"), "{error}");
    }
    let error = error_of(AdkServer::at("http://127.0.0.1:1", "weather").header("x y", "secret-value")).await;
    assert!(error.contains("the header `x y`") && !error.contains("secret-value"), "{error}");
}

#[tokio::test]
async fn other_cases_go_on_when_one_fails() {
    let set = EvalSet::read(crate::support::file("evals/weather.evalset.json")).unwrap();
    let setup = move |case: &eval_core::EvalCase| match case.eval_id.as_str() {
        "two cities" => AdkServer::at("http://127.0.0.1:1", "weather").boxed(),
        _ => agent_fn(|_, recorder: Recorder| async move {
            recorder.state("last_city", "Paris");
            "It is sunny in Paris."
        })
        .boxed(),
    };
    let report = EvalRunner::new()
        .criterion("response_match_score", eval_core::Criterion::new(1.0))
        .run_set(&set, setup, 2)
        .await
        .unwrap();
    let errors: Vec<&str> = report.failures().map(eval_core::CaseReport::eval_id).collect();
    assert_eq!(errors, ["two cities"]);
}
