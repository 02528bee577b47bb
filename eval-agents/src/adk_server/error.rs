//! How a conversation with a server fails.

use std::fmt;

use eval_core::agent::Unreachable;
use eval_core::foreign;
use eval_core::format::Value;

/// The most characters of a server's text that are shown.
const SHOWN: usize = 2000;

/// Why a server did not do what it was asked for. What the server said is in it.
#[derive(Debug)]
#[non_exhaustive]
pub enum AdkServerError {
    /// The program of the server cannot be started, ended, or did not answer in time.
    NotReady(String),
    /// No connection to the server.
    Unreachable(Unreachable),
    /// The server answered with an error, or with something that was not expected.
    Answer(String),
    /// The server has no such app.
    NoApp(String),
    /// The connection broke off, or there was no answer in time.
    Broken(String),
    /// The agent of the server failed in a turn.
    Agent(String),
    /// The request cannot be made: an address, a header.
    Request(String),
}

impl AdkServerError {
    /// The error of an answer with a status that is no success.
    pub(super) fn status(what: &str, status: reqwest::StatusCode, body: &str) -> Self {
        let message = format!("{what} answered {status}{}", behind_colon(&said(body)));
        match status.as_u16() {
            // Nobody behind the way took the request.
            502 | 503 => Self::Unreachable(Unreachable::new(message)),
            _ => Self::Answer(message),
        }
    }

    pub(super) fn no_app(app: &str, apps: &[String]) -> Self {
        let known = match apps {
            [] => "it has none; its argument is the folder above the folders of the agents".to_owned(),
            apps => {
                let names: Vec<String> = apps.iter().map(|app| format!("`{}`", foreign::name(app))).collect();
                format!("it has {}", names.join(", "))
            }
        };
        Self::NoApp(format!("the server has no app `{app}`: {known}"))
    }

    /// The same error with what is known of the server.
    pub(super) fn with(self, note: &str) -> Self {
        let add = |message: String| format!("{message}{note}");
        match self {
            Self::NotReady(message) => Self::NotReady(add(message)),
            Self::Unreachable(error) => Self::Unreachable(Unreachable::new(add(error.to_string()))),
            Self::Answer(message) => Self::Answer(add(message)),
            Self::NoApp(message) => Self::NoApp(add(message)),
            Self::Broken(message) => Self::Broken(add(message)),
            Self::Agent(message) => Self::Agent(add(message)),
            Self::Request(message) => Self::Request(add(message)),
        }
    }
}

impl fmt::Display for AdkServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(error) => error.fmt(f),
            Self::NotReady(message)
            | Self::Answer(message)
            | Self::NoApp(message)
            | Self::Broken(message)
            | Self::Agent(message)
            | Self::Request(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for AdkServerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreachable(error) => Some(error),
            _ => None,
        }
    }
}

/// What a server says in the body of an error: its `detail`, `message` or `error`, or all of it.
pub(super) fn said(body: &str) -> String {
    let json = Value::parse(body).ok();
    // In Java's `error` stands the name of the status.
    let keys = ["detail", "message", "error"];
    let told = json.as_ref().and_then(|json| keys.into_iter().find_map(|key| json[key].as_str()));
    cut(told.unwrap_or(body).trim())
}

/// The beginning of a foreign text, with its lines marked if there are several.
pub(super) fn cut(text: &str) -> String {
    let shown = match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    };
    foreign::quoted(&shown, 0)
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
