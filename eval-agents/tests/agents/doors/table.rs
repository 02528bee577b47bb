//! The table of doors in `docs/agents.md`: the outcome of each kind of content at each door.
//!
//! The tests of several crates share this file, each for its own doors. Links lead to it.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The words of the table for what becomes of something.
const OUTCOMES: [&str; 8] = ["passes", "fails", "ERROR", "note", "draft", "gap", "refused", "doubt"];

/// The words of a cell for what has no form at a door.
const NO_FORM: &str = "cannot arrive";

/// A door, with its column of the table and what was found there.
pub(crate) struct Door {
    name: &'static str,
    /// The cells by what arrives.
    cells: BTreeMap<String, String>,
    /// The outcomes that were found, by what arrives.
    found: BTreeMap<&'static str, BTreeSet<String>>,
    wrong: Vec<String>,
}

impl Door {
    /// The door whose column has this head.
    pub(crate) fn new(name: &'static str) -> Self {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/agents.md");
        let page = std::fs::read_to_string(page).expect("the page is here");
        let mut cells = BTreeMap::new();
        let mut column = None;
        for line in page.lines() {
            let row: Vec<&str> = line.split('|').map(str::trim).collect();
            match row.get(1) {
                Some(&"what arrives") => column = row.iter().position(|head| *head == name),
                Some(arrives) if !arrives.starts_with('-') => {
                    let cell = column.and_then(|at| row.get(at));
                    cells.extend(cell.map(|cell| ((*arrives).to_owned(), (*cell).to_owned())));
                }
                Some(_) => {}
                None => column = None,
            }
        }
        assert!(cells.len() > 15, "the table has no column `{name}`, or few rows: {cells:?}");
        Self { name, cells, found: BTreeMap::new(), wrong: Vec::new() }
    }

    /// Something arrived, and this became of it: outcomes, each with its words behind a colon. The words that are expected are in
    /// them; an outcome without words is all that there is.
    pub(crate) fn found(&mut self, arrives: &'static str, found: &[String], expected: &str) {
        let outcomes = found.iter().map(|it| it.split([':', ' ']).next().unwrap_or_default().to_owned());
        self.found.entry(arrives).or_default().extend(outcomes);
        let found = found.join("; ");
        let is_bare = OUTCOMES.contains(&expected);
        if !found.contains(expected) || is_bare && found != expected {
            self.wrong.push(format!("{arrives}: {found}\n    where this is expected: {expected}"));
        }
    }

    /// Fails if the outcomes differ from the table.
    pub(crate) fn end(mut self) {
        for (arrives, cell) in &self.cells {
            let words: BTreeSet<&str> = cell.split(|c: char| !c.is_alphanumeric()).collect();
            let told: BTreeSet<String> = match cell.strip_prefix(NO_FORM) {
                Some(why) if why.len() > ": ".len() => BTreeSet::new(),
                _ => OUTCOMES.iter().filter(|it| words.contains(**it)).map(|it| (*it).to_owned()).collect(),
            };
            let found = self.found.remove(arrives.as_str()).unwrap_or_default();
            if told != found || told.is_empty() && !cell.starts_with(NO_FORM) {
                self.wrong.push(format!("{arrives}: the table says `{cell}`, and found was {found:?}"));
            }
        }
        let unknown = self.found.keys().map(|arrives| format!("{arrives}: the table has no such row"));
        self.wrong.extend(unknown);
        assert!(self.wrong.is_empty(), "{}:\n{}", self.name, self.wrong.join("\n"));
    }
}

/// The output of a program in its turn, by its content. The words in capital letters are placeholders of lines.
pub(crate) const PROGRAM: [(&str, &str); 20] = [
    ("the answer as text", "ANSWER END"),
    ("the answer twice", "ANSWER ANSWER END"),
    ("blank text", r#"{"type": "text", "text": " "} END"#),
    ("a call that the case does not expect", "CALL ANSWER END"),
    ("a result without its call", "RESULT ANSWER END"),
    ("an error", r#"{"type": "error", "message": "down"}"#),
    ("an error", r#"{"type": "event", "event": {"errorCode": "429"}} ANSWER END"#),
    (
        "a change of the state",
        r#"{"type": "event", "event": {"actions": {"stateDelta": {"k": 1}}}} ANSWER END"#,
    ),
    (
        "a change of the state in a fragment",
        r#"{"type": "event", "event": {"partial": true, "actions": {"stateDelta": {"k": 1}}}} ANSWER END"#,
    ),
    ("an unknown key of an event", r#"{"type": "event", "event": {"colour": 1}} ANSWER END"#),
    ("an unknown key of a message", r#"{"type": "text", "text": "hello", "tone": 1} END"#),
    ("a key that stands twice", r#"{"type": "text", "text": "bye", "text": "hello"} END"#),
    (
        "a key in two spellings",
        r#"{"type": "event", "event": {"errorCode": "429", "error_code": "500"}} ANSWER END"#,
    ),
    (
        "something of another conversation",
        r#"{"type": "error", "message": "down", "session_id": "x"} ANSWER END"#,
    ),
    ("something after the end of the turn", "ANSWER END CALL"),
    ("the end of the turn twice", "ANSWER END END"),
    ("something out of order", "RESULT EVENT ANSWER END"),
    ("something out of order", "EARLY ANSWER END"),
    ("a truncated message", "ANSWER CUT"),
    ("more than the limits allow", "FLOOD END"),
];

/// A shell script that is a program of one conversation, and writes these lines in its turn.
pub(crate) fn script(lines: &str) -> String {
    let call = r#"{"functionCall": {"name": "rm", "args": {}}}"#;
    let result = r#"{"functionResponse": {"name": "rm", "response": {}}}"#;
    let event = |part: &str| format!(r#"{{"type": "event", "event": {{"content": {{"parts": [{part}]}}}}}}"#);
    let early = if lines.contains("EARLY") { r#"echo '{"type": "text", "text": "hello"}'; "# } else { "" };
    let flood = if lines.contains("FLOOD") {
        r#"yes '{"type": "text", "text": "hello"}' | head -n 100001; "#
    } else {
        ""
    };
    let (lines, cut) = match lines.split_once("CUT") {
        Some((lines, _)) => (lines, r#"{"type": "tool_ca"#),
        None => (lines, ""),
    };
    let lines = lines
        .replace("EARLY", "")
        .replace("FLOOD", "")
        .replace("ANSWER", r#"{"type": "text", "text": "hello"}"#)
        .replace("CALL", r#"{"type": "tool_call", "name": "rm", "args": {}}"#)
        .replace("RESULT", &event(result))
        .replace("EVENT", &event(call))
        .replace("END", r#"{"type": "turn_end"}"#)
        .replace("} {\"type\"", "}\n{\"type\"");
    let rest = if cut.is_empty() { "cat >/dev/null" } else { "exit 0" };
    format!(
        "echo '{{\"type\": \"hello\", \"protocol\": 1}}'\nread -r _; echo '{{\"type\": \"started\"}}'; {early}\nread -r _\n{flood}\n\
         cat <<'EOF'\n{}\nEOF\nprintf '%s' '{cut}'\n{rest}\n",
        lines.trim()
    )
}

/// The id of the trace in which the turn of the case took place.
pub(crate) const TRACE: &str = "000000000000000000000000000000a1";

/// A span of [`TRACE`] with attributes, which are JSON.
fn span(id: u32, parent: u32, attributes: &str) -> String {
    let parent = if parent == 0 { String::new() } else { format!("{parent:016x}") };
    let start = 1_760_000_000_000_000_000_u64 + u64::from(id) * 1_000_000_000;
    format!(
        r#"{{"traceId":"{TRACE}","spanId":"{id:016x}","parentSpanId":"{parent}","name":"s","startTimeUnixNano":"{start}","endTimeUnixNano":"{}","attributes":{{{attributes}}}}}"#,
        start + 500_000_000
    )
}

fn agent() -> String {
    span(1, 0, r#""gen_ai.operation.name":"invoke_agent","gen_ai.agent.name":"a""#)
}

/// The span of a call of a model, which was sent some messages and put this text out.
fn chat(id: u32, sent: &str, said: &str) -> String {
    let attributes = format!(
        r#""gen_ai.operation.name":"chat","gen_ai.request.model":"m","gen_ai.input.messages":"[{sent}]","gen_ai.output.messages":"[{}]""#,
        message("assistant", said)
    );
    span(id, 1, &attributes)
}

/// A message, escaped for a string of JSON.
fn message(role: &str, text: &str) -> String {
    format!(r#"{{\"role\":\"{role}\",\"parts\":[{{\"type\":\"text\",\"content\":\"{text}\"}}]}}"#)
}

fn tool(id: u32) -> String {
    let attributes = r#""gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"rm","gen_ai.tool.call.arguments":"{}","gen_ai.tool.call.result":"{}""#;
    span(id, 1, attributes)
}

fn document(spans: &[String]) -> String {
    format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#, spans.join(","))
}

/// The document of a trace in which the agent is asked `hi` and says this.
pub(crate) fn answered(said: &str) -> String {
    document(&[agent(), chat(2, &message("user", "hi"), said)])
}

/// Documents of traces, by what arrives with them.
pub(crate) fn traces() -> Vec<(&'static str, String)> {
    let (asked, whole) = (message("user", "hi"), answered("hello"));
    let result =
        r#"{\"role\":\"tool\",\"parts\":[{\"type\":\"tool_call_response\",\"id\":\"c\",\"response\":1}]}"#;
    let with = |more: String| document(&[agent(), chat(2, &asked, "hello"), more]);
    let other = |span: String| span.replace(TRACE, "000000000000000000000000000000b2");
    vec![
        ("the answer as text", whole.clone()),
        ("the answer twice", with(chat(3, &asked, "hello"))),
        ("blank text", answered(" ")),
        ("a call that the case does not expect", with(tool(3))),
        ("a result without its call", document(&[agent(), chat(2, &format!("{asked},{result}"), "hello")])),
        ("an error", whole.replacen(r#""name":"s""#, r#""name":"s","status":{"code":2}"#, 1)),
        ("an unknown key of an event", whole.replacen(r#""gen_ai.agent.name""#, r#""colour":"red","gen_ai.agent.name""#, 1)),
        ("an unknown key of a message", whole.replace(r#"\"text\",\"content\":\"hello\""#, r#"\"mystery\",\"it\":\"hello\""#)),
        ("a key that stands twice", whole.replacen(r#""name":"s""#, r#""name":"s","name":"t""#, 1)),
        (
            "a key that stands twice",
            whole.replacen(r#""attributes":{"gen_ai.operation.name":"invoke_agent","gen_ai.agent.name":"a"}"#,
                r#""attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}]"#, 1),
        ),
        ("a key in two spellings", whole.replacen(r#""startTimeUnixNano""#, r#""start_time_unix_nano":"7","startTimeUnixNano""#, 1)),
        (
            "something of another conversation",
            document(&[agent(), chat(2, &asked, "hello"), other(agent()), other(chat(2, &message("user", "bye"), "bye"))]),
        ),
        ("something of another conversation", with(other(tool(3)).replace(r#""parentSpanId":"0000000000000001""#, r#""parentSpanId":"""#))),
        ("something after the end of the turn", with(tool(900))),
        ("the end of the turn twice", with(agent())),
        ("something out of order", document(&[chat(2, &asked, "hello"), agent()])),
        ("a truncated message", whole[..whole.len() - 40].to_owned()),
        ("more than the limits allow", whole.replacen(r#""name":"s""#, r#""name":"s","droppedAttributesCount":3"#, 1)),
    ]
}
