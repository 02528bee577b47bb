//! A client of MCP over stdio that asks a mock over HTTP: for agents that start the servers of their tools as programs.

use std::io::{self, Write};
use std::{error, fmt};

use tokio::task::JoinSet;

use super::stdio::stdin_lines;

/// The error of a bridge. The address is not shown, as it has a secret.
#[derive(Debug)]
#[non_exhaustive]
pub enum BridgeError {
    /// Standard input cannot be read, or standard output not be written.
    Io(io::Error),
    /// The mock is not reached.
    Unreached(String),
    /// The mock refused a message.
    Refused(String),
}

/// Hands each line of standard input to the mock at this address, and its answers to standard output, until the input ends.
pub async fn bridge(url: &str) -> Result<(), BridgeError> {
    let unreached = |error: reqwest::Error| BridgeError::Unreached(error.without_url().to_string());
    let client = reqwest::Client::builder().no_proxy().build().map_err(unreached)?;
    let mut lines = stdin_lines();
    let mut asking: JoinSet<Result<(), BridgeError>> = JoinSet::new();
    loop {
        tokio::select! {
            line = lines.recv() => match line {
                None => break,
                Some(line) => {
                    let line = line.map_err(BridgeError::Io)?;
                    let (client, url) = (client.clone(), url.to_owned());
                    asking.spawn(async move { ask(&client, &url, line).await });
                }
            },
            Some(asked) = asking.join_next() => asked.map_err(|error| BridgeError::Io(io::Error::other(error)))??,
        }
    }
    while let Some(asked) = asking.try_join_next() {
        asked.map_err(|error| BridgeError::Io(io::Error::other(error)))??;
    }
    Ok(())
}

async fn ask(client: &reqwest::Client, url: &str, line: String) -> Result<(), BridgeError> {
    let unreached = |error: reqwest::Error| BridgeError::Unreached(error.without_url().to_string());
    let request = client.post(url).header("Content-Type", "application/json").body(line);
    let response = request.send().await.map_err(unreached)?;
    let status = response.status();
    let text = response.text().await.map_err(unreached)?;
    // A message that the mock refuses has an answer of JSON-RPC, which is for the client.
    if !status.is_success() && !text.starts_with('{') {
        return Err(BridgeError::Refused(format!("{status}: {}", text.trim())));
    }
    if text.is_empty() {
        return Ok(());
    }
    let mut output = io::stdout().lock();
    writeln!(output, "{text}").and_then(|()| output.flush()).map_err(BridgeError::Io)
}

impl fmt::Display for BridgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "standard input and output: {error}"),
            Self::Unreached(why) => write!(f, "the mock is not reached: {why}"),
            Self::Refused(why) => write!(f, "the mock refused a message: {why}"),
        }
    }
}

impl error::Error for BridgeError {}
