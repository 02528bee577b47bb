//! A client of MCP over stdio that asks a mock over HTTP: for agents that start the servers of their tools as programs.

use std::{error, fmt, io};

use eval_support::words::count;

use super::lines::{self, ENDS_WITHIN, stdin_lines};

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
    /// Some messages had no answer some seconds after the input ended: their number.
    Unanswered(usize),
}

/// Hands each line of standard input to the mock at this address, and its answers to standard output, until the input ends.
pub async fn bridge(url: &str) -> Result<(), BridgeError> {
    let client = reqwest::Client::builder().no_proxy().build().map_err(unreached)?;
    let ask = |line| ask(client.clone(), url.to_owned(), line);
    match lines::answer(stdin_lines(), io::stdout(), ask).await? {
        0 => Ok(()),
        unanswered => Err(BridgeError::Unanswered(unanswered)),
    }
}

async fn ask(client: reqwest::Client, url: String, line: String) -> Result<Option<String>, BridgeError> {
    let request = client.post(url).header("Content-Type", "application/json").body(line);
    let response = request.send().await.map_err(unreached)?;
    let status = response.status();
    let text = response.text().await.map_err(unreached)?;
    // A message that the mock refuses has an answer of JSON-RPC, which is for the client.
    if !status.is_success() && !text.starts_with('{') {
        return Err(BridgeError::Refused(format!("{status}: {}", text.trim())));
    }
    Ok((!text.is_empty()).then_some(text))
}

fn unreached(error: reqwest::Error) -> BridgeError {
    BridgeError::Unreached(error.without_url().to_string())
}

impl fmt::Display for BridgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "standard input and output: {error}"),
            Self::Unreached(why) => write!(f, "the mock is not reached: {why}"),
            Self::Refused(why) => write!(f, "the mock refused a message: {why}"),
            Self::Unanswered(number) => {
                let (messages, limit) = (count(*number, "message"), ENDS_WITHIN.as_secs());
                write!(f, "{messages} had no answer {limit} seconds after the input ended")
            }
        }
    }
}

impl error::Error for BridgeError {}

impl From<io::Error> for BridgeError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
