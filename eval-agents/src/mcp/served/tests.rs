//! The protocol, with raw requests.

use std::io::{Read, Write};
use std::net::TcpStream;

use eval_core::format::{EvalCase, Invocation, Value};

use super::*;

const SET: &str = r#"{"user_content": {}, "intermediate_data": {"tool_uses": [
    {"id": "1", "name": "lookup_order", "args": {"order_id": "A-17"}},
    {"id": "2", "name": "lookup_order", "args": {"order_id": "A-17"}},
    {"id": "3", "name": "refund", "args": {"order_id": "A-17", "amount": 9.5}}],
  "tool_responses": [
    {"id": "2", "name": "lookup_order", "response": {"status": "delivered"}},
    {"id": "1", "name": "lookup_order", "response": {"status": "shipped"}},
    {"id": "3", "name": "refund", "response": {"content": [{"type": "text", "text": "refunded"}], "isError": false}}]}}"#;

fn mock(faults: &str) -> (McpMock, GoldenTools) {
    let turn = Invocation::parse(SET).unwrap();
    let case = EvalCase::new("c").turn(turn).with_extra("_tools", Value::parse(faults).unwrap());
    let tools = GoldenTools::new(&case);
    tools.begin_turn();
    (McpMock::start(tools.clone()).unwrap(), tools)
}

/// The status and the body of an answer to a raw request.
fn raw(mock: &McpMock, head: &str, body: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(mock.address).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    // A body that is refused is not read to its end.
    let _ = stream.write_all(body);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
    (status, body)
}

fn post(mock: &McpMock, body: &str) -> (u16, String) {
    let head = head(mock, "POST", &format!("{}{}", http::PREFIX, mock.token), body.len());
    raw(mock, &head, body.as_bytes())
}

fn head(mock: &McpMock, method: &str, path: &str, length: usize) -> String {
    let host = mock.address;
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    )
}

fn call(id: u32, name: &str, args: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{args}}}}}"#
    )
}

#[test]
fn the_methods_of_tools_are_answered_and_a_miss_is_told_to_the_run_too() {
    let (mock, tools) = mock("null");
    assert!(mock.address.ip().is_loopback());
    for (message, status, answer) in [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#.to_owned(),
            200,
            concat!(
                r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"evalset","version":""#,
                env!("CARGO_PKG_VERSION"),
                r#""}}}"#
            ),
        ),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(), 202, ""),
        (
            r#"{"jsonrpc":"2.0","id":"a","method":"server/discover"}"#.to_owned(),
            200,
            r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found: server/discover"}}"#,
        ),
        (r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#.to_owned(), 200, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#.to_owned(),
            200,
            r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"lookup_order","description":"lookup_order","inputSchema":{"type":"object","properties":{"order_id":{"type":"string"}}}},{"name":"refund","description":"refund","inputSchema":{"type":"object","properties":{"order_id":{"type":"string"},"amount":{"type":"number"}}}}]}}"#,
        ),
        (
            call(4, "lookup_order", r#"{"order_id":"A-17"}"#),
            200,
            r#"{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"{\"status\":\"shipped\"}"}],"isError":false,"structuredContent":{"status":"shipped"}}}"#,
        ),
        (
            call(5, "lookup_order", r#"{"order_id":"A-18"}"#),
            200,
            r#"{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"no golden answers lookup_order(order_id: \"A-18\") in turn 1; nearest: lookup_order(order_id: \"A-17\"), `order_id` differs; used up: lookup_order(order_id: \"A-17\")"}],"isError":true}}"#,
        ),
        (
            call(6, "refund", r#"{"order_id":"A-17","amount":9.5}"#),
            200,
            r#"{"jsonrpc":"2.0","id":6,"result":{"content":[{"type":"text","text":"refunded"}],"isError":false}}"#,
        ),
    ] {
        assert_eq!(post(&mock, &message), (status, answer.to_owned()), "{message}");
    }
    let misses: Vec<String> = tools.misses().into_iter().map(|miss| miss.message).collect();
    assert_eq!(misses.len(), 1, "{misses:?}");
    assert!(misses[0].starts_with("no golden answers lookup_order"), "{misses:?}");
}

#[test]
fn a_call_that_no_tool_can_have_is_an_error_for_the_client_and_a_miss_of_the_run() {
    for (message, status, answer, why) in [
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}"#,
            200,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"`tools/call` has no `name`"}}"#,
            "`tools/call` has no `name`",
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#,
            200,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"`tools/call` has no `name`"}}"#,
            "`tools/call` has no `name`",
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"refund","arguments":[1]}}"#,
            200,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"`arguments` of `tools/call` is an array"}}"#,
            "`arguments` of `tools/call` is an array",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"refund","arguments":{}}}"#,
            400,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"`tools/call` has no `id`"}}"#,
            "`tools/call` has no `id`",
        ),
    ] {
        let (mock, tools) = mock("null");
        assert_eq!(post(&mock, message), (status, answer.to_owned()), "{message}");
        let misses: Vec<String> = tools.misses().into_iter().map(|miss| miss.message).collect();
        assert_eq!(
            misses,
            [format!("a client of the MCP mock sent a call that no tool can have: {why}; it sent {message}")]
        );
    }
}

#[test]
fn what_is_no_message_to_this_conversation_is_refused() {
    let (mock, tools) = mock("null");
    let path = format!("{}{}", http::PREFIX, mock.token);
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let with = |method: &str, path: &str, body: &str| {
        raw(&mock, &head(&mock, method, path, body.len()), body.as_bytes())
    };
    assert_eq!(with("POST", &path, list).0, 200);
    // A batch, and what is no message at all.
    let (status, body) = with("POST", &path, &format!("[{list},{list}]"));
    assert_eq!(status, 400);
    assert!(body.contains("-32600") && body.contains("without a batch"), "{body}");
    assert!(with("POST", &path, "{").1.contains("-32700"));
    assert!(with("POST", &path, r#"{"id": 1}"#).1.contains("has no `method`"));
    // Other methods of HTTP: there is no stream, and no session to end.
    for method in ["GET", "DELETE", "PUT"] {
        assert_eq!(with(method, &path, "").0, 405, "{method}");
    }
    // Another token, of this length and of none.
    for wrong in
        ["/mcp/", "/", "/mcp/00000000000000000000000000000000", &path[..path.len() - 1], &format!("{path}/")]
    {
        let (status, body) = with("POST", wrong, list);
        assert_eq!(status, 404, "{wrong}");
        assert!(!body.contains(&mock.token[..8]), "{body}");
    }
    // A name of another machine that leads here, and a page of a browser.
    let host = mock.address.to_string();
    let foreign = head(&mock, "POST", &path, list.len()).replace(&host, "evil.example:80");
    assert_eq!(raw(&mock, &foreign, list.as_bytes()).0, 403);
    let page = head(&mock, "POST", &path, list.len())
        .replace("Content-Type", "Origin: http://evil.example\r\nContent-Type");
    assert_eq!(raw(&mock, &page, list.as_bytes()).0, 403);
    let form = head(&mock, "POST", &path, list.len()).replace("application/json", "text/plain");
    assert_eq!(raw(&mock, &form, list.as_bytes()).0, 415);
    // 32 MiB: announced, and in chunks.
    assert_eq!(raw(&mock, &head(&mock, "POST", &path, 32 << 20), b"[").0, 413);
    let chunked = head(&mock, "POST", &path, 0).replace("Content-Length: 0", "Transfer-Encoding: chunked");
    let mut chunks = format!("{:x}\r\n", 32 << 20).into_bytes();
    chunks.resize(chunks.len() + (32 << 20), b' ');
    assert_eq!(raw(&mock, &chunked, &chunks).0, 413);
    assert!(tools.misses().is_empty());
}

#[test]
fn a_mock_ends_with_its_conversation_and_another_has_its_own_answers() {
    let (first, _) = mock("null");
    let (second, _) = mock("null");
    assert_ne!(first.url(), second.url());
    let paris = call(1, "lookup_order", r#"{"order_id":"A-17"}"#);
    for mock in [&first, &second] {
        assert!(post(mock, &paris).1.contains("shipped"));
    }
    let (address, path) = (first.address, format!("{}{}", http::PREFIX, first.token));
    drop(first);
    let gone = head(&second, "POST", &path, paris.len());
    assert_eq!(raw(&second, &gone, paris.as_bytes()).0, 404, "{address}");
}

#[test]
fn faults_are_played_and_one_that_sets_state_is_refused() {
    let (mock, tools) = mock(
        r#"{"1": {"refund#1": {"raises": "connection reset"}, "lookup_order#1": {"error": {"error_code": 503}},
            "lookup_order#2": {"state": {"k": 1}}}}"#,
    );
    let refund = post(&mock, &call(1, "refund", r#"{"order_id":"A-17","amount":9.5}"#)).1;
    assert!(refund.contains(r#""text":"connection reset"}],"isError":true"#), "{refund}");
    let lookup = |id| post(&mock, &call(id, "lookup_order", r#"{"order_id":"A-17"}"#)).1;
    assert!(lookup(2).contains(r#""structuredContent":{"error_code":503}"#));
    assert!(tools.misses().is_empty());
    assert!(lookup(3).contains("shipped"));
    assert!(
        tools.misses()[0].message.contains("set the session state, which a tool of an MCP server cannot")
    );
}

#[test]
fn the_token_is_masked_and_not_shown() {
    let (mock, _) = mock("null");
    assert_eq!(format!("{mock:?}"), "McpMock(..)");
    let masked = secrets::mask(&format!("GET {} failed", mock.url())).into_owned();
    assert!(!masked.contains(&mock.token) && !masked.contains(&mock.token[..32]), "{masked}");
    assert!(masked.contains("/mcp/(a hidden value)"), "{masked}");
}
