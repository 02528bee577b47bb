//! Content from programs, closures, ADK servers and stored traces, door by door: the table of `docs/agents.md`.

mod table;

use std::process::Command;
use std::time::Duration;

use crate::support::{Answer, HEAD, Stub};
use eval_agents::{AdkServer, Process, TraceAgent};
use eval_core::agent::Event;
use eval_core::format::{Content, EvalCase, FunctionCall, FunctionResponse, Invocation, Part};
use eval_core::{Agent, Criterion, EvalRunner, Recorder, Verdict, agent_fn, eval_set, json};
use table::{Door, PROGRAM, script, traces};

/// The outcome of an agent that is asked `hi` and should say `hello`.
async fn played(agent: impl Agent + 'static) -> Vec<String> {
    let runner = EvalRunner::new()
        .timeout(Duration::from_secs(20))
        .criterion("tool_trajectory_avg_score", Criterion::new(1.0))
        .criterion("response_match_score", Criterion::new(0.8));
    let case = EvalCase::new("c").turn(Invocation::user("hi").response("hello"));
    let report = runner.run_agent(&case, agent).await.unwrap();
    let outcome = match &report.verdict {
        Verdict::Passed => "passes".to_owned(),
        Verdict::Failed => "fails".to_owned(),
        _ => format!("ERROR: {}", report.runs[0].error.as_ref().map(ToString::to_string).unwrap_or_default()),
    };
    std::iter::once(outcome).chain(report.notes.iter().map(|note| format!("note: {note}"))).collect()
}

#[tokio::test]
async fn what_arrives_from_a_program_becomes_what_the_table_says() {
    const NOTHING: &str = "ERROR: agent error in turn 1: the agent answered nothing that a user would see";
    const UNCALLED: &str =
        "ERROR: agent error in turn 1: the result of `rm`, {} was recorded without its call";
    let expected = [
        "passes",
        "passes",
        NOTHING,
        "fails",
        UNCALLED,
        "ERROR: agent error in turn 1: the agent failed: down",
        "ERROR: agent error in turn 1: `agent` reported model error 429: (no message)",
        "passes",
        "ERROR: agent error in turn 1: a change of the state `k`",
        "passes; note: the program wrote `message.event.colour`, which nothing reads",
        "`text` does not have the key `tone`",
        "key `text` is repeated in one object",
        "one key in two spellings",
        "with the `session_id` `x`, which no conversation has",
        "ERROR: ",
        "ERROR: ",
        UNCALLED,
        "ERROR: ",
        "ended in the middle of a line: {\"type\": \"tool_ca",
        "ERROR: agent error in turn 1: more than 100000 events recorded",
    ];
    let mut door = Door::new("a [program][protocol]");
    for ((arrives, lines), expected) in PROGRAM.into_iter().zip(expected) {
        let found = played(Process::new(Command::new("sh").args(["-c", &script(lines)]))).await;
        door.found(arrives, &found, expected);
    }
    door.end();
}

/// The records of an agent before it answers with the returned text, by their content.
type Record = (&'static str, fn(&Recorder) -> &'static str, &'static str);

const RECORDS: [Record; 11] = [
    ("the answer as text", |_| "hello", "passes"),
    (
        "the answer twice",
        |recorder| {
            recorder.text("hello");
            "hello"
        },
        "passes",
    ),
    ("blank text", |_| " ", "ERROR: agent error in turn 1: the agent answered nothing that a user would see"),
    (
        "a call that the case does not expect",
        |recorder| {
            recorder.tool_call("rm", json!({}), json!({}));
            "hello"
        },
        "fails",
    ),
    (
        "a result without its call",
        |recorder| {
            recorder.event(of_a_tool(Part::response(FunctionResponse::new("rm", json!({})))));
            "hello"
        },
        "ERROR: agent error in turn 1: the result of `rm`, {} was recorded without its call",
    ),
    (
        "an error",
        |recorder| {
            recorder.event(Event::error("a", "429", "down"));
            "hello"
        },
        "ERROR: agent error in turn 1: `a` reported model error 429: down",
    ),
    (
        "a change of the state",
        |recorder| {
            recorder.state("k", 1);
            "hello"
        },
        "passes",
    ),
    (
        "a change of the state in a fragment",
        |recorder| {
            recorder.event(Event::empty("a").with_state("k", 1).with_partial(true));
            "hello"
        },
        "ERROR: agent error in turn 1: a change of the state `k`",
    ),
    (
        "something of another conversation",
        |_| {
            Recorder::new().tool_call("rm", json!({}), json!({}));
            "hello"
        },
        "ERROR: ",
    ),
    (
        "something after the end of the turn",
        |recorder| {
            let late = recorder.clone();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                late.tool_call("rm", json!({}), json!({}));
            });
            "hello"
        },
        "ERROR: ",
    ),
    (
        "something out of order",
        |recorder| {
            recorder.event(of_a_tool(Part::response(FunctionResponse::new("rm", json!({})))));
            recorder.event(of_a_tool(Part::call(FunctionCall::new("rm", json!({})))));
            "hello"
        },
        "ERROR: agent error in turn 1: the result of `rm`, {} was recorded without its call",
    ),
];

/// More events than a turn may have.
fn flood(recorder: &Recorder) -> &'static str {
    for _ in 0..=100_000 {
        recorder.text("hello");
    }
    "hello"
}

fn of_a_tool(part: Part) -> Event {
    Event::new("a", Content::new("model", vec![part]))
}

fn closure(record: fn(&Recorder) -> &'static str) -> impl Agent + 'static {
    agent_fn(move |_: String, recorder: Recorder| async move { record(&recorder) })
}

const CLOSURES: &str = "an attribute, `EvalRunner`";

#[tokio::test]
async fn what_a_closure_records_becomes_what_the_table_says() {
    let mut door = Door::new(CLOSURES);
    for (arrives, record, expected) in RECORDS {
        door.found(arrives, &played(closure(record)).await, expected);
    }
    let found = played(closure(flood)).await;
    door.found(
        "more than the limits allow",
        &found,
        "ERROR: agent error in turn 1: more than 100000 events recorded",
    );
    door.end();
}

/// The case is named after what arrives.
#[ignore = "each of them has the outcome that the table says: `what_arrives_in_a_test_becomes_what_the_table_says` runs them"]
#[eval_set("tests/sets/doors.evalset.json")]
fn attribute(case: &EvalCase) -> impl Agent + use<> {
    let record = RECORDS.iter().find(|(arrives, ..)| *arrives == case.eval_id);
    closure(record.map_or(flood as fn(&Recorder) -> &'static str, |(_, record, _)| *record))
}

#[test]
fn what_arrives_in_a_test_becomes_what_the_table_says() {
    let journal = tempfile::tempdir().unwrap();
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["doors::attribute::", "--ignored", "--test-threads=1"])
        .env("EVALSET_DIR", journal.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    let mut door = Door::new(CLOSURES);
    let limits =
        ("more than the limits allow", "ERROR: agent error in turn 1: more than 100000 events recorded");
    let all = RECORDS.iter().map(|(arrives, _, expected)| (*arrives, *expected)).chain([limits]);
    for (arrives, expected) in all {
        let test = format!("doors::attribute::{}", arrives.replace(' ', "_"));
        let reason = text.lines().find_map(|line| line.strip_prefix(&format!("Error: {test}: ")));
        let found = match reason {
            None if text.contains(&format!("test {test} ... ok")) => "passes".to_owned(),
            Some(reason) if reason.starts_with("agent error") => format!("ERROR: {reason}"),
            Some(_) => "fails".to_owned(),
            None => panic!("{test} did not run: {text}"),
        };
        door.found(arrives, &[found], expected);
    }
    door.end();
}

/// The events that a server sends in a turn, by their content. The words in capital letters are placeholders of events.
const SERVED: [(&str, &str, &str); 15] = [
    ("the answer as text", "ANSWER", "passes"),
    ("the answer twice", "ANSWER ANSWER", "passes"),
    (
        "blank text",
        r#"{"author": "a", "content": {"parts": [{"text": " "}]}}"#,
        "ERROR: agent error in turn 1: the agent answered nothing that a user would see",
    ),
    ("a call that the case does not expect", "CALL ANSWER", "fails"),
    (
        "a result without its call",
        "RESULT ANSWER",
        "ERROR: agent error in turn 1: the result of `rm`, {} was recorded without its call",
    ),
    (
        "an error",
        r#"{"author": "a", "errorCode": "429", "errorMessage": "down"} ANSWER"#,
        "ERROR: agent error in turn 1: `a` reported model error 429: down",
    ),
    ("an error", r#"{"error": "down"}"#, "ERROR: agent error in turn 1: the agent failed: down"),
    ("a change of the state", r#"{"author": "a", "actions": {"stateDelta": {"k": 1}}} ANSWER"#, "passes"),
    (
        "a change of the state in a fragment",
        r#"{"author": "a", "partial": true, "actions": {"stateDelta": {"k": 1}}} ANSWER"#,
        "ERROR: agent error in turn 1: a change of the state `k`",
    ),
    (
        "an unknown key of an event",
        r#"{"author": "a", "colour": 1} ANSWER"#,
        "passes; note: the server sent `event.colour`, which nothing reads",
    ),
    ("a key that stands twice", r#"{"author": "a", "author": "b"} ANSWER"#, "key `author` is repeated"),
    (
        "a key in two spellings",
        r#"{"author": "a", "errorCode": "429", "error_code": "500"} ANSWER"#,
        "one key in two spellings",
    ),
    (
        "something out of order",
        "RESULT CALL ANSWER",
        "ERROR: agent error in turn 1: the result of `rm`, {} was recorded without its call",
    ),
    ("a truncated message", "ANSWER CUT", "ended in the middle of an event: {\"auth"),
    ("more than the limits allow", "FLOOD", "ERROR: agent error in turn 1: more than 100000 events recorded"),
];

/// A server whose session ends in a state, and that sends these events.
fn server(events: &'static str, state: &'static str) -> Stub {
    let part = |part: &str| format!(r#"{{"author": "a", "content": {{"parts": [{part}]}}}}"#);
    let text = part(r#"{"text": "hello"}"#);
    let body = events
        .replace("FLOOD", &"ANSWER ".repeat(100_001))
        .replace("ANSWER", &text)
        .replace("CALL", &part(r#"{"functionCall": {"name": "rm", "args": {}}}"#))
        .replace("RESULT", &part(r#"{"functionResponse": {"name": "rm", "response": {}}}"#))
        .replace("} {", "}\n\ndata: {");
    let body = match body.split_once(" CUT") {
        Some((whole, _)) => format!("{HEAD}data: {whole}\n\ndata: {{\"auth"),
        None => format!("{HEAD}data: {}\n\n", body.trim()),
    };
    Stub::new(move |request| match request.line.as_str() {
        "POST /run_sse" => Answer::Raw(body.clone().into_bytes()),
        line if line.starts_with("POST ") => Answer::json(r#"{"id": "s"}"#),
        line if line.starts_with("GET ") && line.contains("/sessions/") => {
            Answer::json(&format!(r#"{{"state": {state}}}"#))
        }
        line if line.starts_with("DELETE ") => Answer::Whole(204, "text/plain", String::new()),
        _ => Answer::not_found(),
    })
}

#[tokio::test]
async fn what_arrives_from_a_server_becomes_what_the_table_says() {
    let mut door = Door::new("an [ADK server][any agent]");
    for (arrives, events, expected) in SERVED {
        let server = server(events, r#"{"k": 1}"#);
        door.found(arrives, &played(AdkServer::at(&server.url, "app")).await, expected);
    }
    let server = server("ANSWER", r#"{"app:visits": 8}"#);
    let found = played(AdkServer::at(&server.url, "app")).await;
    let expected = "another conversation changed the state of this one meanwhile: `app:visits`";
    door.found("something of another conversation", &found, expected);
    door.end();
}

#[tokio::test]
async fn what_stands_in_a_trace_becomes_what_the_table_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut door = Door::new("a stored [trace][traces]");
    let expected = [
        "passes",
        "passes",
        "answer_not_captured: what the agent answered was not captured",
        "fails",
        "ERROR: ",
        "failed: _OTHER",
        "passes",
        "unknown_part",
        "key \"name\" is repeated in one object",
        "the attribute `gen_ai.operation.name` is there twice, with different values",
        "a span has `startTimeUnixNano` and `start_time_unix_nano`, which are one key in two spellings",
        "passes",
        "ERROR: ",
        "fails",
        "passes; note: repeated: ",
        "passes",
        "ERROR: ",
        "dropped: ",
    ];
    let traces = traces();
    assert_eq!(traces.len(), expected.len());
    for (at, ((arrives, document), expected)) in traces.into_iter().zip(expected).enumerate() {
        let path = folder.path().join(format!("{at}.json"));
        std::fs::write(&path, document).unwrap();
        door.found(arrives, &played(TraceAgent::read(path)).await, expected);
    }
    door.end();
}
