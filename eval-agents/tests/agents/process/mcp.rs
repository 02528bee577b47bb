//! Programs whose tools are servers of MCP: they connect to the mock of their case.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use eval_agents::Process;
use eval_core::format::{EvalCase, Invocation, ToolSource};
use eval_core::{CaseReport, Criterion, EvalRunner, Verdict};

/// A program that calls `f` of its MCP server for each x, tells its model nothing of an error, and records the calls. It writes
/// the address to a file, where a test finds it.
const PROGRAM: &str = r#"
import json, os, sys, urllib.request
def write(**message): print(json.dumps(message), flush=True)
def call(url, x):
    body = {"jsonrpc": "2.0", "id": x, "method": "tools/call", "params": {"name": "f", "arguments": {"x": x}}}
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    return json.loads(urllib.request.urlopen(request).read())["result"]
write(type="hello", protocol=1)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        url = message.get("mcp", "none")
        open(os.environ["ADDRESS"], "w").write(url)
        write(type="started", **{"tools": os.environ["SAYS"]} if url != "none" else {})
    elif message["type"] == "turn":
        if "LOUD" in os.environ:
            print("connecting to", url, file=sys.stderr, flush=True)
            write(type="error", message="cannot connect to " + url)
            continue
        for x in json.loads(os.environ["CALLS"]):
            result = call(url, x)
            write(type="tool_call", name="f", args={"x": x}, result=result.get("structuredContent", result))
        for x in json.loads(os.environ.get("UNASKED", "[]")):
            write(type="tool_call", name="f", args={"x": x}, result={})
        write(type="text", text="done with " + url)
        write(type="turn_end")
"#;

fn case() -> EvalCase {
    let turn = Invocation::parse(
        r#"{"user_content": {"parts": [{"text": "go"}]}, "intermediate_data": {
            "tool_uses": [{"name": "f", "args": {"x": 1}}, {"name": "f", "args": {"x": 2}}],
            "tool_responses": [{"name": "f", "response": {"n": 1}}, {"name": "f", "response": {"n": 2}}]}}"#,
    );
    EvalCase::new("c").turn(turn.unwrap())
}

struct Played {
    report: CaseReport,
    url: String,
    /// All that the journal has.
    journal: String,
}

async fn play(says: &str, variables: &[(&str, &str)]) -> Played {
    let folder = tempfile::tempdir().unwrap();
    let address = folder.path().join("address");
    let mut command = Command::new("python3");
    command.args(["-c", PROGRAM]).env("ADDRESS", &address).env("SAYS", says);
    command.envs(variables.iter().copied());
    let program = Process::new(&mut command);
    let runner = EvalRunner::new().criterion("tool_trajectory_avg_score", Criterion::new(1.0));
    let runner = runner.tools(ToolSource::Golden).timeout(Duration::from_secs(10));
    let runner = runner.journal(folder.path().join("journal"));
    let report = runner.run_case(&case(), || program.clone()).await.unwrap();
    drop(runner);
    let url = std::fs::read_to_string(&address).unwrap();
    let mut journal = String::new();
    texts(&folder.path().join("journal"), &mut journal);
    Played { report, url, journal }
}

fn texts(folder: &Path, into: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, into);
        } else {
            into.push_str(&std::fs::read_to_string(path).unwrap_or_default());
        }
    }
}

fn error(report: &CaseReport) -> &str {
    let Verdict::Error { message, .. } = &report.verdict else { panic!("{report}") };
    message
}

#[tokio::test]
async fn the_mock_of_the_case_answers_a_program_that_connects_to_it() {
    let played = play("mcp", &[("CALLS", "[1, 2]")]).await;
    assert!(played.report.verdict.passed(), "{}", played.report);
    assert!(played.url.starts_with("http://127.0.0.1:"), "{}", played.url);
    let turn = &played.report.runs[0].transcript.turns[0].invocation;
    let answers: Vec<_> =
        turn.tool_responses().map(|it| it.response.as_ref().unwrap()["n"].as_i64()).collect();
    assert_eq!(answers, [Some(1), Some(2)]);
    // A program may ask with messages for some tools, and connect for others.
    assert!(play("golden", &[("CALLS", "[1, 2]")]).await.report.verdict.passed());
}

#[tokio::test]
async fn a_miss_is_an_error_although_the_program_goes_on_and_so_is_a_call_of_another_server() {
    let missed = play("mcp", &[("CALLS", "[1, 3, 2]")]).await.report;
    assert!(
        error(&missed).starts_with("tools error in turn 1: no golden answers f(x: 3) in turn 1"),
        "{missed}"
    );
    let unasked = play("mcp", &[("CALLS", "[1]"), ("UNASKED", "[2]")]).await.report;
    assert!(
        error(&unasked).contains(
            "f(x: 2) was recorded, and no golden was asked for it: its tool may have run; ask the server at"
        ),
        "{unasked}"
    );
}

#[tokio::test]
async fn the_token_of_the_mock_is_in_no_journal_and_no_failure() {
    for variables in [&[("LOUD", "1")][..], &[("CALLS", "[1, 3]")]] {
        let Played { report, url, journal } = play("mcp", variables).await;
        let token = url.rsplit('/').next().unwrap();
        assert_eq!(token.len(), 64, "{url}");
        let failure = format!("{report}");
        assert!(failure.contains("no golden answers") || failure.contains("cannot connect to"), "{failure}");
        assert!(journal.contains("(a hidden value)"), "{journal}");
        for text in [failure, journal] {
            assert!(!text.contains(&token[..32]), "{text}");
        }
    }
}
