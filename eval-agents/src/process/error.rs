//! Errors of conversations with a program.

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;

use eval_support::message::truncated;
use eval_support::untrusted;

pub(super) const ENDED: &str = "the program ended";
/// Behind it, unless its status says that the program ended.
pub(super) const OR_CLOSED: &str = ", or closed its standard output";

const MAX_LINE_CHARS: usize = 500;

/// An error of a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ProcessError {
    /// The program cannot be started.
    #[non_exhaustive]
    Start {
        /// The program and its arguments.
        program: String,
        /// The error of the system.
        source: Arc<io::Error>,
    },
    /// The program did not say `hello` in time.
    NotReady(String),
    /// The program ended, or closed its output.
    Ended(String),
    /// The program wrote something that the protocol does not have.
    Protocol(String),
    /// The program has no golden tools, so that its tools would run.
    Tools(String),
    /// The program reported an error.
    Agent(String),
    /// The program did not end in time, or not well.
    End(String),
    /// There is no conversation.
    NotOpen(String),
}

impl ProcessError {
    pub(super) fn agent(message: &str) -> Self {
        let shown = untrusted::quoted(message.trim(), 0);
        let space = if shown.contains('\n') { ":\n" } else { ": " };
        Self::Agent(format!("the agent failed{space}{shown}"))
    }

    pub(super) fn unexpected(reply: &impl fmt::Display, expected: &str) -> Self {
        Self::Protocol(format!("the program wrote `{reply}`, where {expected} is expected"))
    }

    /// The error of a program that ended with a status.
    pub(super) fn ended_with(self, status: ExitStatus) -> Self {
        match self {
            Self::Ended(message) if message.strip_suffix(OR_CLOSED).unwrap_or(&message) == ENDED => {
                Self::Ended(format!("{ENDED} with {status}"))
            }
            error => error.with(&format!(" ({status})")),
        }
    }

    pub(super) fn with(mut self, note: &str) -> Self {
        match &mut self {
            // A program that did not start wrote nothing.
            Self::Start { .. } => {}
            Self::NotReady(message)
            | Self::Ended(message)
            | Self::Protocol(message)
            | Self::Tools(message)
            | Self::Agent(message)
            | Self::End(message)
            | Self::NotOpen(message) => message.push_str(note),
        }
        self
    }
}

impl fmt::Display for ProcessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { program, source } => {
                write!(f, "the program `{program}` cannot be started: {source}")
            }
            Self::NotReady(message)
            | Self::Ended(message)
            | Self::Protocol(message)
            | Self::Tools(message)
            | Self::Agent(message)
            | Self::End(message)
            | Self::NotOpen(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ProcessError {}

pub(super) fn cut(line: &str) -> String {
    untrusted::one_line(&truncated(line, MAX_LINE_CHARS, "..."))
}
