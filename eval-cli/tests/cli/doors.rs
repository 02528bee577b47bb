//! Content of recorded conversations and imported sessions: the table of `docs/agents.md`.

use std::thread;

use serde_json::Value;

use crate::doors_table::{Door, PROGRAM, script};
use crate::folder::{Folder, Ran};

/// The drafts that a command made, with their calls and gaps, and what it says of those that it did not make.
fn drafts(ran: &Ran) -> Vec<String> {
    let document: Value = serde_json::from_str(&ran.out).expect("JSON");
    if let Some(why) = document["error"]["message"].as_str() {
        return vec![format!("refused: {why}")];
    }
    let texts = |list: &Value, outcome: &str| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.map(|it| format!("{outcome}: {}", it.as_str().unwrap_or_default())).collect()
    };
    let Some(draft) = document["drafts"].get(0) else { return texts(&document["failures"], "ERROR") };
    let mut found = vec!["draft".to_owned()];
    found.extend(texts(&draft["draft"]["gaps"], "gap"));
    found
}

#[test]
fn what_arrives_from_a_program_that_is_recorded_becomes_what_the_table_says() {
    let expected = [
        "draft",
        "draft",
        "ERROR: ",
        "draft",
        "ERROR: ",
        "ERROR: ",
        "ERROR: ",
        "draft",
        "ERROR: ",
        "draft; gap: the program wrote `message.event.colour`, which nothing reads",
        "`text` does not have the key `tone`",
        "key `text` is repeated in one object",
        "one key in two spellings",
        "with the `session_id` `x`, which no conversation has",
        "ERROR: ",
        "ERROR: ",
        "ERROR: ",
        "ERROR: ",
        "ended in the middle of a line",
        "more than 100000 events recorded",
    ];
    let folder = Folder::new("doors-record");
    folder.write("hi.txt", "hi\n");
    let record = |(at, (_, lines)): (usize, (&str, &str))| {
        let (program, set) = (format!("{at}.sh"), format!("{at}.evalset.json"));
        folder.write(&program, script(lines));
        let agent = format!("sh {program}");
        folder.run(&["record", "hi.txt", "--agent-cmd", &agent, "-o", &set, "--format", "json"])
    };
    // Most of them wait for the end of their program.
    let programs: Vec<_> = PROGRAM.into_iter().enumerate().collect();
    let recorded = programs.chunks(4).flat_map(|some| {
        thread::scope(|scope| {
            let begun: Vec<_> = some.iter().map(|it| scope.spawn(move || record(*it))).collect();
            begun.into_iter().map(|it| it.join().expect("the program runs")).collect::<Vec<_>>()
        })
    });
    let mut door = Door::new("[`record`][goldens]");
    for (((arrives, _), ran), expected) in PROGRAM.into_iter().zip(recorded).zip(expected) {
        door.found(arrives, &drafts(&ran), expected);
    }
    door.end();
}

/// Events of a stored session behind the user's message, by their content. The words in capital letters are placeholders of
/// events.
const SESSIONS: [(&str, &str, &str); 15] = [
    ("the answer as text", "ANSWER", "draft"),
    ("the answer twice", "ANSWER, ANSWER", "draft"),
    (
        "blank text",
        r#"{"author": "a", "content": {"parts": [{"text": " "}]}}"#,
        "draft; gap: turn 1 has no answer",
    ),
    ("a call that the case does not expect", "CALL, ANSWER", "draft"),
    (
        "a result without its call",
        "RESULT, ANSWER",
        "draft; gap: turn 1 has something that no metric sees: the result of `rm`, {} was recorded without its call",
    ),
    (
        "an error",
        r#"{"author": "a", "error_code": "429", "content": {"parts": [{"text": "hello"}]}}"#,
        "draft; gap: turn 1 had an error of the model: 429",
    ),
    ("a change of the state", r#"{"author": "a", "actions": {"state_delta": {"k": 1}}}, ANSWER"#, "draft"),
    (
        "a change of the state in a fragment",
        r#"{"author": "a", "partial": true, "actions": {"state_delta": {"k": 1}}}, ANSWER"#,
        "draft; gap: turn 1 has something that no metric sees: a change of the state `k` was recorded in a fragment",
    ),
    (
        "an unknown key of an event",
        r#"{"author": "a", "colour": 1}, ANSWER"#,
        "draft; gap: `session.events[1].colour` is a key that nothing reads",
    ),
    (
        "an unknown key of a message",
        r#"ANSWER], "colour": ["#,
        "draft; gap: `session.colour` is a key that nothing reads",
    ),
    (
        "a key that stands twice",
        r#"{"author": "a", "content": {"parts": [{"text": "bye", "text": "hello"}]}}"#,
        "key `text` is repeated in one object",
    ),
    (
        "a key in two spellings",
        r#"{"author": "a", "errorCode": "429", "error_code": "500"}"#,
        "one key in two spellings",
    ),
    (
        "something of another conversation",
        r#"ANSWER, {"author": "b", "invocation_id": "i-2", "content": {"parts": [{"text": "bye"}]}}"#,
        "gap: what `b` said without a message of the user is left out",
    ),
    (
        "something out of order",
        "RESULT, CALL, ANSWER",
        "draft; gap: turn 1 has something that no metric sees: the result of `rm`, {} was recorded without its call",
    ),
    ("a truncated message", r#"{"author": "a", "content": {"par"#, "refused: "),
];

#[test]
fn what_stands_in_a_session_that_is_imported_becomes_what_the_table_says() {
    let folder = Folder::new("doors-import");
    let mut door = Door::new("[`import`][goldens]");
    let event = |part: &str| format!(r#"{{"author": "a", "content": {{"parts": [{part}]}}}}"#);
    for (arrives, events, expected) in SESSIONS {
        let events = events
            .replace("ANSWER", &event(r#"{"text": "hello"}"#))
            .replace("CALL", &event(r#"{"function_call": {"name": "rm", "args": {}}}"#))
            .replace("RESULT", &event(r#"{"function_response": {"name": "rm", "response": {}}}"#));
        let user = r#"{"author": "user", "content": {"parts": [{"text": "hi"}]}}"#;
        let head = r#""id": "s", "app_name": "a", "user_id": "u", "state": {"k": 1}"#;
        folder.write("s.json", format!(r#"{{{head}, "events": [{user}, {events}]}}"#));
        let ran = folder.run(&["import", "s.json", "-o", "s.evalset.json", "--dry-run", "--format", "json"]);
        door.found(arrives, &drafts(&ran), expected);
    }
    door.end();
}
