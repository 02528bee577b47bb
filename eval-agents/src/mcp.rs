//! A server of MCP that is made of a case: its golden tools answer the calls, and no server of a tool runs.
//!
//! It is for agents whose tools are servers of MCP. Such an agent takes the address of its server from outside, and gets the
//! one of the mock. A call that no golden answers is an error of the tool for the agent, and makes the case an ERROR whatever
//! its model does about that.
//!
//! ```
//! use eval_agents::mcp::McpMock;
//! use eval_core::{Agent, BoxError, Session, Turn};
//!
//! struct Desk {
//!     mock: Option<McpMock>,
//! }
//!
//! impl Agent for Desk {
//!     async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
//!         // With the real tools there is no mock.
//!         self.mock = session.recorder().golden_tools().map(McpMock::start).transpose()?;
//!         let url = self.mock.as_ref().map_or("https://tools.example.com/mcp".to_owned(), McpMock::url);
//!         # let _ = url;
//!         // .. connect the client of the agent to `url`
//!         Ok(())
//!     }
//!
//!     async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
//!         // .. run the agent, and record what it did: `turn.recorder().tool_call(..)`
//!         # let _ = turn;
//!         Ok(())
//!     }
//! }
//! ```

mod bridge;
mod declarations;
mod http;
mod lines;
mod messages;
mod served;
mod stdio;
mod tool_result;

pub use bridge::{BridgeError, bridge};
pub use served::McpMock;
pub use stdio::serve_stdio;
