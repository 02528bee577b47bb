//! `serve`: from the command line to an answer, and to the end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::loosened::{Ten, set_of};

/// A service on a free port, and the URL that it printed.
fn serve(options: &[&str]) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-evalset"))
        .args(["evalset", "serve", "--port", "0"])
        .args(options)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("serving on http://").unwrap_or_else(|| panic!("{line}")).to_owned();
    (child, url)
}

pub(crate) fn get(address: &str, path: &str) -> String {
    get_with(address, path, "")
}

/// The answer to a request with these lines of the head.
pub(crate) fn get_with(address: &str, path: &str, head: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{head}\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn serve_answers_at_the_printed_address_and_ends_when_it_is_asked_to() {
    let (mut child, url) = serve(&[]);
    let (address, token) = url.split_once("/?token=").unwrap();
    assert!(address.starts_with("127.0.0.1:"), "{url}");
    assert!(get(address, "/api/health").contains("\"status\":\"ok\""));
    assert!(get(address, "/api/v1/runs").starts_with("HTTP/1.1 401"));
    assert!(get(address, &format!("/api/v1/runs?token={token}")).starts_with("HTTP/1.1 200"));
    // A second one has no place there.
    let port = address.rsplit(':').next().unwrap();
    let second =
        Command::new(env!("CARGO_BIN_EXE_cargo-evalset")).args(["serve", "--port", port]).output().unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&second.stderr).contains("--port"), "{second:?}");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A turn of an agent, as it is exported.
const TRACE: &str = r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{
    "traceId": "00000000000000000000000000000001", "spanId": "0000000000000001", "name": "chat",
    "startTimeUnixNano": "1760000000000000000", "endTimeUnixNano": "1760000001000000000",
    "attributes": {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": "[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Paris?\"}]}]",
        "gen_ai.output.messages": "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"Sunny.\"}]}]"
    }
}]}]}]}"#;

fn post(address: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn serve_passes_and_fails_the_ten_cases_with_rules_as_their_authors_meant() {
    let ten = Ten::new();
    let (mut child, url) = serve(&["--no-otlp"]);
    let (address, token) = url.split_once("/?token=").unwrap();
    let set: Value = serde_json::from_str(&set_of(&ten.cases)).unwrap();
    let request = json!({
        "traces": { "resourceSpans": [{ "scopeSpans": [{ "spans": ten.spans() }] }] }, "evalSet": set,
        "config": { "evaluators": [{ "name": "tool_trajectory_avg_score", "threshold": 1.0 }] },
    });
    let answer = post(address, &format!("/api/evaluate/json?token={token}"), &request.to_string());
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    let answer: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
    let results = answer["data"]["traceResults"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(results.len(), 29);
    for result in results {
        let id = result["evalCaseId"].as_str().unwrap_or_else(|| panic!("{result}"));
        let metrics = result["metricResults"].as_array().unwrap();
        let passed = metrics.iter().all(|metric| metric["evalStatus"] == "PASSED");
        assert_eq!(passed, id.contains(" passes "), "{result}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn serve_receives_traces_and_saves_them_as_drafts() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-evalset"))
        .args(["evalset", "serve", "--port", "0", "--otlp-port", "0"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let served = lines.next().unwrap().unwrap();
    let (address, token) = served.strip_prefix("serving on http://").unwrap().split_once("/?token=").unwrap();
    let receiving = lines.next().unwrap().unwrap();
    let otlp = receiving.strip_prefix("receiving traces on http://").unwrap();
    assert!(post(otlp, "/v1/traces", TRACE).starts_with("HTTP/1.1 200"));
    let saved = post(address, &format!("/api/v1/sessions/1/draft?token={token}"), "");
    assert!(saved.contains(r#""set":"sessions.evalset.json","evalId":"paris""#), "{saved}");
    let set = std::fs::read_to_string(folder.path().join("sessions.evalset.json")).unwrap();
    assert!(set.contains("_draft") && set.contains("Sunny."), "{set}");
    // A port that is named must be free, and the usual one need not be.
    let taken = otlp.rsplit(':').next().unwrap();
    let second = Command::new(env!("CARGO_BIN_EXE_cargo-evalset"))
        .args(["serve", "--port", "0", "--otlp-port", taken])
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&second.stderr).contains("--no-otlp"), "{second:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    let usual = std::net::TcpListener::bind("127.0.0.1:4318");
    let (mut child, url) = serve(&[]);
    assert!(get(url.split('/').next().unwrap(), "/api/health").contains("ok"));
    drop(usual);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn serve_takes_its_token_from_a_file() {
    let path = std::env::temp_dir().join(format!("evalset-token-{}", std::process::id()));
    std::fs::write(&path, "0123456789abcdef\n").unwrap();
    let (mut child, url) = serve(&["--token-file", path.to_str().unwrap()]);
    // A reader of a service's log may not be allowed to read the file.
    assert!(url.ends_with(&format!("/ with the token in `{}`", path.display())), "{url}");
    let address = url.split('/').next().unwrap();
    assert!(get(address, "/api/v1/runs?token=0123456789abcdef").starts_with("HTTP/1.1 200"));
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::write(&path, "short").unwrap();
    let refused = Command::new(env!("CARGO_BIN_EXE_cargo-evalset"))
        .args(["serve", "--port", "0", "--token-file", path.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    std::fs::remove_file(&path).unwrap();
}
