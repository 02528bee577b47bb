//! An agent in Rust whose tools are an MCP server, with the attribute: the mock, a file of faults, and stored declarations.

use eval_agents::mcp::McpMock;
use eval_core::format::Value;
use eval_core::{Agent, BoxError, Session, Turn, eval_set, json};

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
