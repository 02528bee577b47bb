//! What arrives at programs, closures and imports, door by door: the table of `docs/agents.md`.

use std::process::Command;
use std::time::Duration;

use eval_agents::Process;
use eval_agents::import::Import;
use eval_core::agent::Event;
use eval_core::format::{Content, EvalCase, FunctionResponse, Invocation, Map, Part};
use eval_core::{Agent, Criterion, EvalRunner, Recorder, Verdict, agent_fn, json};

type Record = fn(&Recorder) -> &'static str;

/// What arrives, in the form of each door, and what becomes of it there. A door that has no such form has none here.
struct Row {
    arrives: &'static str,
    /// Lines of a program in its turn.
    program: Option<(&'static str, &'static str)>,
    /// What a closure records before it answers with the text.
    closure: Option<(Record, &'static str)>,
    /// Events of a stored session behind the user's message.
    import: Option<(&'static str, &'static str)>,
}

const ANSWER: &str = r#"{"type": "text", "text": "hello"}"#;
const END: &str = r#"{"type": "turn_end"}"#;

/// One row for each kind of arrival. A row more is a line more in the page.
#[expect(clippy::too_many_lines, reason = "a table")]
fn rows() -> Vec<Row> {
    vec![
        Row {
            arrives: "the answer as text",
            program: Some(("ANSWER END", "passes")),
            closure: Some((|_| "hello", "passes")),
            import: Some((r#"{"author": "a", "content": {"parts": [{"text": "hello"}]}}"#, "draft")),
        },
        Row {
            arrives: "blank text",
            program: Some((
                r#"{"type": "text", "text": " "} END"#,
                "ERROR: agent error in turn 1: the agent answered nothing that a user would see",
            )),
            closure: Some((
                |_| " ",
                "ERROR: agent error in turn 1: the agent answered nothing that a user would see",
            )),
            import: Some((
                r#"{"author": "a", "content": {"parts": [{"text": " "}]}}"#,
                "gap: turn 1 has no answer",
            )),
        },
        Row {
            arrives: "a call that the case does not expect",
            program: Some((r#"{"type": "tool_call", "name": "rm", "args": {}} ANSWER END"#, "fails")),
            closure: Some((
                |recorder| {
                    recorder.tool_call("rm", json!({}), json!({}));
                    "hello"
                },
                "fails",
            )),
            import: Some((
                r#"{"author": "a", "content": {"parts": [{"function_call": {"name": "rm", "args": {}}}]}}, {"author": "a", "content": {"parts": [{"text": "hello"}]}}"#,
                "draft with rm()",
            )),
        },
        Row {
            arrives: "a result without its call",
            program: Some((
                r#"{"type": "event", "event": {"content": {"parts": [{"functionResponse": {"name": "rm", "response": {}}}]}}} ANSWER END"#,
                "ERROR: agent error in turn 1: the result of `rm`, {} was recorded without its call",
            )),
            closure: Some((
                |recorder| {
                    recorder.event(Event::new(
                        "a",
                        Content::new("user", vec![Part::response(FunctionResponse::new("rm", json!({})))]),
                    ));
                    "hello"
                },
                "ERROR: agent error in turn 1: the result of `rm`, {} was recorded without its call",
            )),
            import: Some((
                r#"{"author": "a", "content": {"parts": [{"function_response": {"name": "rm", "response": {}}}]}}, {"author": "a", "content": {"parts": [{"text": "hello"}]}}"#,
                "draft; gap: turn 1 has a result of `rm` and no call of it",
            )),
        },
        Row {
            arrives: "an error",
            program: Some((
                r#"{"type": "error", "message": "down"}"#,
                "ERROR: agent error in turn 1: the agent failed: down",
            )),
            closure: Some((
                |recorder| {
                    recorder.event(Event::error("a", "429", "down"));
                    "hello"
                },
                "ERROR: agent error in turn 1: `a` reported model error 429: down",
            )),
            import: Some((
                r#"{"author": "a", "error_code": "429", "content": {"parts": [{"text": "hello"}]}}"#,
                "gap: turn 1 had an error of the model: 429",
            )),
        },
        Row {
            arrives: "a change of the state in a fragment",
            program: Some((
                r#"{"type": "event", "event": {"partial": true, "actions": {"stateDelta": {"k": 1}}}} ANSWER END"#,
                "ERROR: agent error in turn 1: a change of the state `k`",
            )),
            closure: Some((
                |recorder| {
                    let mut fragment = Event::of("a");
                    fragment.partial = true;
                    fragment.state_delta = Map::from([("k", 1)]);
                    recorder.event(fragment);
                    "hello"
                },
                "ERROR: agent error in turn 1: a change of the state `k`",
            )),
            import: Some((
                r#"{"author": "a", "partial": true, "actions": {"state_delta": {"k": 1}}}, {"author": "a", "content": {"parts": [{"text": "hello"}]}}"#,
                "draft",
            )),
        },
        Row {
            arrives: "an unknown key",
            program: Some((
                r#"{"type": "event", "event": {"colour": 1}} ANSWER END"#,
                "passes; note: the program wrote `message.event.colour`, which nothing reads",
            )),
            closure: None,
            import: Some((
                r#"{"author": "a", "colour": 1, "content": {"parts": [{"text": "hello"}]}}"#,
                "draft; gap: `session.events[1].colour` is a key that nothing reads",
            )),
        },
        Row {
            arrives: "an unknown key of a message",
            program: Some((
                r#"{"type": "text", "text": "hello", "tone": 1} END"#,
                "`text` does not have the key `tone`",
            )),
            closure: None,
            import: None,
        },
        Row {
            arrives: "a key that stands twice",
            program: Some((
                r#"{"type": "text", "text": "bye", "text": "hello"} END"#,
                "key `text` stands twice in one object",
            )),
            closure: None,
            import: Some((
                r#"{"author": "a", "content": {"parts": [{"text": "bye", "text": "hello"}]}}"#,
                "refused: `here`: key `text` stands twice in one object",
            )),
        },
        Row {
            arrives: "a key in two spellings",
            program: Some((
                r#"{"type": "event", "event": {"errorCode": "429", "error_code": "500"}} ANSWER END"#,
                "one key in two spellings",
            )),
            closure: None,
            import: Some((
                r#"{"author": "a", "errorCode": "429", "error_code": "500"}"#,
                "one key in two spellings",
            )),
        },
        Row {
            arrives: "something of another conversation",
            program: Some((
                r#"{"type": "error", "message": "down", "session_id": "x"} ANSWER END"#,
                "with the `session_id` `x`, which no conversation has",
            )),
            closure: Some((
                |_| {
                    Recorder::new().tool_call("rm", json!({}), json!({}));
                    "hello"
                },
                "ERROR: ",
            )),
            import: None,
        },
        Row {
            arrives: "something after the end of the turn",
            program: Some((r#"ANSWER END {"type": "tool_call", "name": "rm", "args": {}}"#, "ERROR: ")),
            closure: Some((
                |recorder| {
                    let late = recorder.clone();
                    std::thread::spawn(move || {
                        std::thread::sleep(Duration::from_millis(20));
                        late.tool_call("rm", json!({}), json!({}));
                    });
                    "hello"
                },
                "ERROR: ",
            )),
            import: None,
        },
        Row {
            arrives: "the answer twice",
            program: Some(("ANSWER ANSWER END", "passes")),
            closure: Some((
                |recorder| {
                    recorder.text("hello");
                    "hello"
                },
                "passes",
            )),
            import: Some((
                r#"{"author": "a", "content": {"parts": [{"text": "hello"}]}}, {"author": "a", "content": {"parts": [{"text": "hello"}]}}"#,
                "draft",
            )),
        },
        Row {
            arrives: "the end of the turn twice",
            program: Some(("ANSWER END END", "ERROR: ")),
            closure: None,
            import: None,
        },
        Row {
            arrives: "a truncated message",
            program: Some(("ANSWER CUT", "ended in the middle of a line: {\"type\": \"tool_ca")),
            closure: None,
            import: Some((r#"{"author": "a", "content": {"par"#, "refused: ")),
        },
    ]
}

async fn played(agent: impl Agent + 'static) -> String {
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
    report.notes.iter().fold(outcome, |outcome, note| format!("{outcome}; note: {note}"))
}

async fn by_a_program(lines: &str) -> String {
    let lines = lines.replace("ANSWER", ANSWER).replace("END", END).replace("} {\"type\"", "}\n{\"type\"");
    let (lines, cut) =
        lines.split_once("CUT").map_or((&*lines, ""), |(lines, _)| (lines, r#"{"type": "tool_ca"#));
    let script = format!(
        "echo '{{\"type\": \"hello\", \"protocol\": 1}}'\nread -r _; echo '{{\"type\": \"started\"}}'\nread -r _\n\
         cat <<'EOF'\n{}\nEOF\nprintf '%s' '{cut}'\n{}",
        lines.trim(),
        if cut.is_empty() { "cat >/dev/null" } else { "exit 0" }
    );
    played(Process::new(Command::new("sh").args(["-c", &script]))).await
}

async fn by_a_closure(record: Record) -> String {
    played(agent_fn(move |_: String, recorder: Recorder| async move { record(&recorder) })).await
}

fn by_an_import(events: &str) -> String {
    let user = r#"{"author": "user", "content": {"parts": [{"text": "hi"}]}}"#;
    let text = format!(
        r#"{{"id": "s", "app_name": "a", "user_id": "u", "state": {{}}, "events": [{user}, {events}]}}"#
    );
    let imported = match Import::new().parse("here", text.as_bytes()) {
        Ok(imported) => imported,
        Err(error) => return format!("refused: {error}"),
    };
    let Some(draft) = imported.drafts.first() else { return format!("left out: {:?}", imported.left_out) };
    let turn = &draft.case.conversation[0];
    let with = turn.tool_calls().fold(String::new(), |with, call| format!("{with} with {call}"));
    draft.gaps.iter().fold(format!("draft{with}"), |outcome, gap| format!("{outcome}; gap: {gap}"))
}

#[tokio::test]
async fn each_door_does_with_what_arrives_what_the_table_says() {
    let mut wrong = Vec::new();
    for Row { arrives, program, closure, import } in rows() {
        let mut check = |door: &str, found: String, expected: &str| {
            // A draft without a gap has none.
            let is_bare = expected == "draft" || expected == "passes";
            if !found.contains(expected) || is_bare && found != expected {
                wrong.push(format!("{arrives}, {door}: {found}\n    where the table says: {expected}"));
            }
        };
        if let Some((lines, expected)) = program {
            check("program", by_a_program(lines).await, expected);
        }
        if let Some((record, expected)) = closure {
            check("closure", by_a_closure(record).await, expected);
        }
        if let Some((events, expected)) = import {
            check("import", by_an_import(events), expected);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
