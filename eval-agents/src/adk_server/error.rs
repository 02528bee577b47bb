//! Errors of conversations with a server.

use std::fmt;
use std::io;
use std::sync::Arc;

use eval_core::BoxError;
use eval_core::agent::Unreachable;
use eval_core::format::Value;
use eval_support::message::truncated;
use eval_support::untrusted;

const MAX_TEXT_CHARS: usize = 2000;

/// An error of a server. The message has the server's own words.
///
/// ```
/// use eval_agents::{AdkServer, AdkServerError};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// match AdkServer::at("http://127.0.0.1:1", "trip").ready().await {
///     Err(AdkServerError::Unreachable { message, .. }) => eprintln!("is it started? {message}"),
///     other => panic!("{other:?}"),
/// }
/// # });
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AdkServerError {
    /// The program of the server cannot be started.
    #[non_exhaustive]
    Start {
        /// The attempt, and the system's error.
        message: String,
        /// The error of the system.
        source: Arc<io::Error>,
    },
    /// The program of the server ended, or did not answer in time.
    NotReady(String),
    /// No connection to the server, or no server behind its proxy.
    #[non_exhaustive]
    Unreachable {
        /// The server, and the cause.
        message: String,
        /// The error of the client, without the address; `None` if something on the way answered 502 or 503.
        source: Option<Arc<dyn std::error::Error + Send + Sync>>,
    },
    /// The server answered with a status that is no success.
    #[non_exhaustive]
    Status {
        /// The status.
        status: u16,
        /// The request, and the words of the server.
        message: String,
    },
    /// The server answered with something that was not expected.
    Answer(String),
    /// The server has no such app.
    NoApp(String),
    /// The connection broke off, or there was no answer in time.
    #[non_exhaustive]
    Broken {
        /// The server, and the cause.
        message: String,
        /// The error of the client, without the address; `None` if a turn did not end.
        source: Option<Arc<dyn std::error::Error + Send + Sync>>,
    },
    /// The server cannot have golden tools, so that its tools would run.
    Tools(String),
    /// The agent of the server failed in a turn.
    Agent(String),
    /// The request cannot be made: an address, a header.
    #[non_exhaustive]
    Request {
        /// The request that cannot be sent, and the cause.
        message: String,
        /// The error of the library that refused it, if one did.
        source: Option<Arc<dyn std::error::Error + Send + Sync>>,
    },
}

macro_rules! of_message {
    ($error:expr) => {{
        let (AdkServerError::Start { message, .. }
        | AdkServerError::Unreachable { message, .. }
        | AdkServerError::Status { message, .. }
        | AdkServerError::Broken { message, .. }
        | AdkServerError::Request { message, .. }
        | AdkServerError::NotReady(message)
        | AdkServerError::Answer(message)
        | AdkServerError::NoApp(message)
        | AdkServerError::Tools(message)
        | AdkServerError::Agent(message)) = $error;
        message
    }};
}

impl AdkServerError {
    pub(super) fn status(what: &str, status: reqwest::StatusCode, body: &str) -> Self {
        let message = format!("{what} answered {status}{}", behind_colon(&said(body)));
        match status.as_u16() {
            // No server behind the proxy took the request.
            502 | 503 => Self::Unreachable { message, source: None },
            status => Self::Status { status, message },
        }
    }

    pub(super) fn request(message: String) -> Self {
        Self::Request { message, source: None }
    }

    pub(super) fn no_app(app: &str, apps: &[String]) -> Self {
        let known = match apps {
            [] => "it has none; its argument is the folder above the folders of the agents".to_owned(),
            apps => format!("it has {}", names(apps)),
        };
        Self::NoApp(format!("the server has no app `{app}`: {known}"))
    }

    pub(super) fn with(mut self, note: &str) -> Self {
        of_message!(&mut self).push_str(note);
        self
    }

    /// The error for the runner, which recognizes unreachable servers by the type of the error, and retries.
    pub(super) fn of_agent(self) -> BoxError {
        match self {
            Self::Unreachable { message, .. } => Unreachable::new(message).into(),
            error => error.into(),
        }
    }
}

impl fmt::Display for AdkServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(of_message!(self))
    }
}

impl std::error::Error for AdkServerError {}

/// A server's message in the body of an error: its `detail`, `message` or `error`, or all of it.
pub(super) fn said(body: &str) -> String {
    let json = Value::parse(body).ok();
    // `error` comes last: Java's servers have the name of the status there.
    let keys = ["detail", "message", "error"];
    let told = json.as_ref().and_then(|json| keys.into_iter().find_map(|key| json[key].as_str()));
    cut(told.unwrap_or(body).trim())
}

/// Foreign names in a sentence of ours.
pub(super) fn names(all: &[impl AsRef<str>]) -> String {
    let quoted = all.iter().map(|one| format!("`{}`", untrusted::name(one.as_ref())));
    quoted.collect::<Vec<_>>().join(", ")
}

/// The beginning of a foreign text, with its lines marked if there are several.
pub(super) fn cut(text: &str) -> String {
    untrusted::quoted(&truncated(text, MAX_TEXT_CHARS, "..."), 0)
}

/// A foreign text at the end of a sentence of ours.
pub(super) fn behind_colon(text: &str) -> String {
    match text {
        "" => String::new(),
        text if text.contains('\n') => format!(":\n{text}"),
        text => format!(": {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_server_are_found_in_its_errors() {
        for (body, shown) in [
            (r#"{"detail": "Session not found: s"}"#, "Session not found: s"),
            (r#"{"error": "Session not found: s"}"#, "Session not found: s"),
            (
                r#"{"status": 500, "error": "Internal Server Error", "message": "Agent run failed"}"#,
                "Agent run failed",
            ),
            (r#"{"detail": [{"loc": ["body"]}]}"#, r#"{"detail": [{"loc": ["body"]}]}"#),
            ("Internal Server Error", "Internal Server Error"),
            ("<pre>one\ntwo</pre>", "| <pre>one\n| two</pre>"),
            ("\x1b[2Jx", r"\u{1b}[2Jx"),
            ("", ""),
        ] {
            assert_eq!(said(body), shown);
        }
        assert!(said(&"x".repeat(10_000)).len() < 2100);
    }
}
