//! The mock of one conversation over HTTP, and its token.

use std::net::SocketAddr;
use std::sync::OnceLock;
use std::{fmt, io};

use eval_core::tools::GoldenTools;
use eval_support::id::fresh_token;
use eval_support::secrets;

use super::http::{self, MOCKS};
use super::messages::Mock;
use eval_gateway::loopback::Listener;

/// The mock of one conversation, over HTTP on loopback. It answers until this is dropped.
pub struct McpMock {
    token: String,
    address: SocketAddr,
}

impl McpMock {
    /// Starts a mock that these golden tools answer. The agent may reach it until it is dropped.
    pub fn start(tools: GoldenTools) -> io::Result<Self> {
        // One listener serves all mocks of the process: a mock is a token.
        static LISTENER: Listener = Listener::new("mcp");
        let address = LISTENER.address(http::serve)?;
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

/// A fresh token. Its first half is the same in all tokens of the process, and masked wherever texts are written down: each
/// value that is masked costs a search in every text.
fn token() -> io::Result<String> {
    static SHARED: OnceLock<String> = OnceLock::new();
    let half = fresh_token()?;
    let shared = match SHARED.get() {
        Some(shared) => shared,
        None => {
            let fresh = fresh_token()?;
            SHARED.get_or_init(|| {
                secrets::hide(&fresh);
                fresh
            })
        }
    };
    Ok(format!("{shared}{half}"))
}

#[cfg(test)]
mod tests;
