//! An agent in Rust whose tools are an MCP server, with the attribute: the mock, a file of faults, and stored declarations.

use std::fs;
use std::path::Path;

use eval_agents::mcp::McpMock;
use eval_core::format::{EvalCase, Invocation, ToolSource, Value};
use eval_core::{Agent, BoxError, EvalRunner, Session, Turn, eval_set, json};

/// Looks the order up until it is not busy, and tells what it got.
#[derive(Default)]
struct Desk {
    mock: Option<McpMock>,
}

impl Desk {
    async fn ask(&self, method: &str, params: serde_json::Value) -> Result<Value, BoxError> {
        let mock = self.mock.as_ref().ok_or("no golden tools")?;
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = reqwest::Client::new().post(mock.url()).header("Content-Type", "application/json");
        let answer = request.body(message.to_string()).send().await?.text().await?;
        Ok(Value::parse(&answer)?["result"].clone())
    }
}

impl Agent for Desk {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        self.mock = session.recorder().golden_tools().map(McpMock::start).transpose()?;
        let listed = self.ask("tools/list", json!({})).await?;
        let schema = &listed["tools"][0]["inputSchema"];
        assert_eq!(schema["properties"]["order_id"]["pattern"].as_str(), Some("^A-"), "{listed}");
        Ok(())
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let args = json!({"order_id": "A-17"});
        let mut told = Vec::new();
        for _ in 0..2 {
            let result = self.ask("tools/call", json!({"name": "lookup_order", "arguments": args})).await?;
            let content = &result["structuredContent"];
            let status = content["status"].as_str().or(content["error_message"].as_str());
            told.push(status.ok_or_else(|| format!("{result}"))?.to_owned());
            turn.recorder().tool_call("lookup_order", args.clone(), content.clone());
        }
        turn.recorder().text(told.join(", then "));
        Ok(())
    }
}

#[eval_set("tests/sets/orders.evalset.json", tools = "golden", faults = "tests/sets/faults/outage.json")]
fn orders() -> impl Agent {
    Desk::default()
}

/// Asks for an order that the case does not have, with a header that is a secret.
#[derive(Default)]
struct Caller {
    mock: Option<McpMock>,
}

const SECRET: &str = "correct-horse-battery-staple";

impl Agent for Caller {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        self.mock = session.recorder().golden_tools().map(McpMock::start).transpose()?;
        Ok(())
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let mock = self.mock.as_ref().ok_or("no golden tools")?;
        let args = json!({"order_id": "A-18"});
        let params = json!({"name": "lookup_order", "arguments": args});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let request = reqwest::Client::new().post(mock.url()).header("Content-Type", "application/json");
        let request = request.header("Authorization", format!("Bearer {SECRET}")).body(message.to_string());
        let answer = request.send().await?.text().await?;
        turn.recorder().tool_call("lookup_order", args, Value::parse(&answer)?["result"].clone());
        turn.recorder().text("done");
        Ok(())
    }
}

/// The files below a folder, one after the other.
fn texts(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let text = |path: std::path::PathBuf| {
        if path.is_dir() {
            texts(&path)
        } else {
            String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
        }
    };
    entries.map(text).collect()
}

#[tokio::test]
async fn a_header_of_a_call_is_in_no_journal_failure_or_debug_text() {
    let turn = Invocation::parse(
        r#"{"user_content": {"parts": [{"text": "Where is it?"}]}, "final_response": {"parts": [{"text": "done"}]},
            "intermediate_data": {"tool_uses": [{"name": "lookup_order", "args": {"order_id": "A-17"}}],
                "tool_responses": [{"name": "lookup_order", "response": {"status": "shipped"}}]}}"#,
    );
    let case = EvalCase::new("c").turn(turn.unwrap());
    let folder = tempfile::tempdir().unwrap();
    let runner = EvalRunner::new().tools(ToolSource::Golden).journal(folder.path());
    let report = runner.run_case(&case, Caller::default).await.unwrap();
    let (failure, debug, journal) = (report.to_string(), format!("{report:?}"), texts(folder.path()));
    assert!(failure.contains(r#"no golden answers lookup_order(order_id: "A-18")"#), "{failure}");
    assert!(journal.contains("no golden answers lookup_order"), "{journal}");
    for (what, text) in [("failure", failure), ("debug", debug), ("journal", journal)] {
        assert!(!text.contains(SECRET) && !text.contains("Bearer"), "{what}: {text}");
    }
}
