//! Asks an installed google-adk, for tests that compare with it.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Names the Python interpreter that has google-adk 2.13.0. Without it, tests that compare are skipped.
const VARIABLE: &str = "EVALSET_ADK_PYTHON";

/// ADK's answers to inputs of one kind, in their order; `None` if no Python is named.
pub(crate) fn ask(kind: &str, inputs: &[Value]) -> Option<Vec<Value>> {
    let Some(python) = std::env::var_os(VARIABLE) else {
        eprintln!("google-adk was not asked: {VARIABLE} is not set (a Python that has google-adk 2.13.0)");
        return None;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/adk/oracle.py");
    let mut adk = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python starts");
    let mut questions = adk.stdin.take().expect("it has an input");
    let line = |input: &Value| json!({ "kind": kind, "input": input }).to_string() + "\n";
    let lines: Vec<String> = inputs.iter().map(line).collect();
    // In a thread of its own, since ADK answers while it still reads.
    let asking = std::thread::spawn(move || questions.write_all(lines.concat().as_bytes()));
    let output = adk.wait_with_output().expect("Python ends");
    asking.join().expect("the writer does not panic").expect("Python reads to the end");
    assert!(output.status.success(), "the oracle failed");
    let answers = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    let answers: Vec<Value> = answers
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON")["answer"].clone())
        .collect();
    assert_eq!(answers.len(), inputs.len());
    eprintln!("google-adk was asked: {} of kind {kind}", answers.len());
    Some(answers)
}
