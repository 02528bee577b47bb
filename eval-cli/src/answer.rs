//! What a command comes to.

use clap::ValueEnum;
use serde::Serialize;

/// How a command ended; the worse is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// All is as it should be.
    Passed,
    /// Something was looked at and is not as it should be.
    Failed,
    /// Something could not be looked at, so that nobody knows.
    Unmeasurable,
    /// What another program ended with.
    #[serde(skip)]
    Other(i32),
}

impl Outcome {
    pub(crate) fn exit_code(self) -> i32 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::Unmeasurable => 2,
            Self::Other(code) => code,
        }
    }
}

/// What a command prints on standard output, and how it ended.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) outcome: Outcome,
    /// May hold styles, which are taken out where standard output is no terminal.
    pub(crate) text: String,
}

impl Answer {
    /// An answer for programs: one JSON document.
    pub(crate) fn json(outcome: Outcome, document: &impl Serialize) -> Result<Self, Refusal> {
        match serde_json::to_string_pretty(document) {
            Ok(text) => Ok(Self { outcome, text: text + "\n" }),
            Err(error) => Err(Refusal::new(format!("cannot write JSON: {error}"), "use `--format human`")),
        }
    }
}

/// Why a command did nothing, and what helps.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) help: String,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

/// For whom a command prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Sentences and tables.
    #[default]
    Human,
    /// One JSON document; its fields are described in the README of `eval-cli`.
    Json,
}
