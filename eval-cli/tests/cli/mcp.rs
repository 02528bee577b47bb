//! `cargo evalset mcp`: clients of MCP over stdio, with a case behind it or the mock of a run.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::folder::{Folder, Ran};
use crate::run::{case, set};

/// A program whose client starts the server of its tools. It writes its calls and closes the input before the answers come.
const STARTS_SERVERS: &str = r#"
import json, os, subprocess, sys
def write(**message): print(json.dumps(message), flush=True)
write(type="hello", protocol=1)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        url = message["mcp"]
        write(type="started", tools="mcp")
    elif message["type"] == "turn":
        cities = json.loads(os.environ["CITIES"])
        calls = [json.dumps({"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": {"name": "get_weather", "arguments": {"city": city}}}) for at, city in enumerate(cities)]
        server = subprocess.run([os.environ["SERVER"], "mcp", "--connect", url], input="\n".join(calls), capture_output=True, text=True)
        answers = {answer["id"]: answer["result"] for answer in map(json.loads, server.stdout.splitlines())}
        for at, city in enumerate(cities):
            write(type="tool_call", name="get_weather", args={"city": city}, result=answers[at])
        write(type="text", text=f"{len(answers)} of {len(cities)} answers, exit code {server.returncode}")
        write(type="turn_end")
"#;

fn golden() -> Value {
    let mut case = case("sunny", "Paris", "1 of 1 answers, exit code 0");
    case["conversation"][0]["intermediate_data"]["tool_responses"] =
        json!([{ "name": "get_weather", "response": { "sky": "sunny" } }]);
    case
}

fn folder(test: &str, case: Value) -> Folder {
    let folder = Folder::new(test);
    folder.write("agent.py", STARTS_SERVERS);
    folder.write("evals/weather.evalset.json", set("weather", &[case]));
    folder
}

/// Runs `cargo evalset mcp` with these lines as its input, which ends behind them.
fn mcp(folder: &Folder, args: &[&str], lines: &[String]) -> Ran {
    let mut command = folder.command(&[&["mcp"], args].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    let mut input = child.stdin.take().expect("an input");
    input.write_all(lines.join("\n").as_bytes()).expect("the program reads");
    drop(input);
    child.wait_with_output().expect("the program ends").into()
}

fn ask(id: u32, city: &str) -> String {
    let params = json!({ "name": "get_weather", "arguments": { "city": city } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

const CASE: [&str; 1] = ["evals/weather.evalset.json:sunny"];

#[test]
fn the_exit_code_says_whether_a_golden_answered_each_call() {
    let folder = folder("mcp-exit-code", golden());
    let ran = mcp(&folder, &CASE, &[ask(1, "Paris")]);
    assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{}", ran.out);
    assert!(ran.out.contains(r#""structuredContent":{"sky":"sunny"}"#), "{}", ran.out);

    let ran = mcp(&folder, &CASE, &[ask(1, "Oslo"), ask(2, "Paris")]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains(r#"no golden answers get_weather(city: "Oslo") in turn 1"#), "{}", ran.err);
    assert_eq!(ran.out.lines().count(), 2, "{}", ran.out);

    // A call that no tool can have.
    let nameless = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}"#;
    let ran = mcp(&folder, &CASE, &[nameless.to_owned()]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("`tools/call` has no `name`"), "{}", ran.err);
}

#[test]
fn calls_of_a_case_are_counted_in_the_order_of_their_lines() {
    let mut case = golden();
    case["_tools"] = json!({ "1": { "get_weather#2": { "raises": "the second" } } });
    let folder = folder("mcp-order", case);
    let lines: Vec<String> = (1..=3).map(|id| ask(id, if id == 3 { "Oslo" } else { "Paris" })).collect();
    let ran = mcp(&folder, &CASE, &lines);
    let second = ran.out.lines().find(|line| line.contains("the second")).expect("the fault");
    assert!(second.contains(r#""id":2"#), "{}", ran.out);
}

#[test]
fn an_answer_that_is_on_its_way_at_the_end_of_the_input_reaches_a_client_of_the_mock() {
    let run = |case: Value, cities: &str| {
        let folder = folder("mcp-connect", case);
        let args = ["run", "evals", "--tools", "golden", "--agent-cmd", "python3 agent.py"];
        let mut command = folder.command(&args);
        command.env("CITIES", cities).env("SERVER", env!("CARGO_BIN_EXE_cargo-evalset"));
        Ran::from(command.output().expect("the program runs"))
    };
    let ran = run(golden(), r#"["Paris"]"#);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);

    let mut slow = golden();
    slow["_tools"] = json!({ "1": { "get_weather#1": { "after": 1 } } });
    let ran = run(slow, r#"["Paris"]"#);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);

    // A miss is told to the run, whatever the program makes of it.
    let ran = run(golden(), r#"["Paris", "Oslo"]"#);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains(r#"no golden answers get_weather(city: "Oslo")"#), "{}", ran.out);
}

#[test]
fn an_address_that_no_mock_has_is_an_error_without_its_secret() {
    let folder = folder("mcp-gone", golden());
    let ran = mcp(&folder, &["--connect", "http://127.0.0.1:1/mcp/0123456789"], &[ask(1, "Paris")]);
    assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{}", ran.err);
    assert!(ran.err.contains("the mock is not reached"), "{}", ran.err);
    assert!(!ran.err.contains("0123456789"), "{}", ran.err);
}

#[test]
fn a_fault_that_no_call_reached_is_told_at_the_end() {
    let mut faulty = golden();
    faulty["_tools"] = json!({"1": {"get_weather#2": {"raises": "down"}}});
    let folder = folder("mcp-unreached", faulty);
    let set = "evals/weather.evalset.json:sunny";
    let ran = mcp(&folder, &[set], &[ask(1, "Paris")]);
    let why = "the fault `get_weather#2` was not reached: the agent called `get_weather` 1 time in the turn";
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains(why), "{}", ran.err);
    let ran = mcp(&folder, &[set], &[ask(1, "Paris"), ask(2, "Paris")]);
    assert!(ran.out.contains("down") && !ran.err.contains("was not reached"), "{}{}", ran.out, ran.err);
}
