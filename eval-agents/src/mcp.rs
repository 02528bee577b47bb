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
mod messages;
mod stdio;
mod tool_result;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::{fmt, io};

use eval_core::format::Value;
use eval_core::tools::GoldenTools;
use eval_support::mutex::Mutex;
use eval_support::secrets;

pub use bridge::{BridgeError, bridge};
pub use stdio::serve_stdio;

/// The mock of one conversation, over HTTP on loopback. It answers until this is dropped.
pub struct McpMock {
    token: String,
    address: SocketAddr,
}

/// What answers behind a token.
#[derive(Clone)]
struct Mock {
    tools: GoldenTools,
    /// The answer to `tools/list`.
    declared: Arc<Vec<Value>>,
}

static MOCKS: Mutex<BTreeMap<String, Mock>> = Mutex::new(BTreeMap::new());

impl McpMock {
    /// Starts a mock that these golden tools answer. The agent may reach it until it is dropped.
    pub fn start(tools: GoldenTools) -> io::Result<Self> {
        // One listener serves all mocks of the process: a mock is a token.
        static ADDRESS: OnceLock<Result<SocketAddr, Arc<io::Error>>> = OnceLock::new();
        let listening = ADDRESS.get_or_init(|| crate::loopback::serve("mcp", http::serve).map_err(Arc::new));
        let address = *listening.as_ref().map_err(|error| io::Error::new(error.kind(), Arc::clone(error)))?;
        let token = token()?;
        MOCKS.lock().insert(token.clone(), Mock::new(tools));
        Ok(Self { token, address })
    }

    /// The address for a client of MCP over HTTP. Its last part is a secret of this conversation.
    pub fn url(&self) -> String {
        format!("http://{}{}{}", self.address, http::PREFIX, self.token)
    }
}

impl Drop for McpMock {
    fn drop(&mut self) {
        MOCKS.lock().remove(&self.token);
    }
}

/// The token is not shown.
impl fmt::Debug for McpMock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("McpMock(..)")
    }
}

impl Mock {
    fn new(tools: GoldenTools) -> Self {
        let declared = Arc::new(declarations::of(&tools));
        Self { tools, declared }
    }
}

/// A fresh token. Its first half is the same in all tokens of the process, and masked wherever texts are written down: each
/// value that is masked costs a search in every text.
fn token() -> io::Result<String> {
    static SHARED: OnceLock<String> = OnceLock::new();
    let half = random()?;
    let shared = match SHARED.get() {
        Some(shared) => shared,
        None => {
            let fresh = random()?;
            SHARED.get_or_init(|| {
                secrets::hide(&fresh);
                fresh
            })
        }
    };
    Ok(format!("{shared}{half}"))
}

fn random() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests;
