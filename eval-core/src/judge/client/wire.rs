//! APIs of providers: their requests, and the reading of their answers.

pub(super) mod anthropic;
pub(super) mod gemini;
pub(super) mod open_ai;
mod options;

use eval_format::UsageMetadata;
use serde_json::Value;

use crate::judge::{JudgeError, JudgeRequest};

/// The API of a provider, without the HTTP around it.
pub(in crate::judge) trait Wire: Sync {
    /// The path that answers for a model, as segments below the base address.
    fn path(&self, model: &str) -> Vec<String>;

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn key_header(&self, key: &str) -> (&'static str, String);

    fn body(&self, asked: &WireRequest<'_>) -> Result<Value, JudgeError>;

    /// Reads the body of an answer. The error names the missing part, such as ``no `choices` ``.
    fn answer(&self, body: &Value) -> Result<Answer, &'static str>;
}

#[derive(Clone, Copy, Debug)]
pub(in crate::judge) struct WireRequest<'a> {
    pub(in crate::judge) request: &'a JudgeRequest,
    /// The provider's name for the model.
    pub(in crate::judge) model: &'a str,
    pub(in crate::judge) provider: &'a str,
    /// Whether the request goes to the provider's own address, not to something compatible.
    pub(in crate::judge) is_own: bool,
}

#[derive(Debug, PartialEq)]
pub(in crate::judge) struct Answer {
    /// The text without thoughts. It may be empty.
    pub(in crate::judge) text: String,
    pub(in crate::judge) end: End,
    pub(in crate::judge) usage: Option<UsageMetadata>,
}

/// The reason for the end of an answer. `Unfinished` holds one that is not known to be a good one, or none. `Failed` is
/// a failure in an answer with a success status; its body may name the failure's status.
#[derive(Debug, PartialEq)]
pub(in crate::judge) enum End {
    Complete,
    Cut,
    Refused(String),
    Unfinished(Option<String>),
    Failed { status: Option<u16>, message: String },
}

/// The failure in an answer with a success status: some proxies report failures of the server behind them
/// like this.
pub(super) fn failure(body: &Value) -> Option<End> {
    let error = &body["error"];
    if error.is_null() {
        return None;
    }
    let message =
        error["message"].as_str().or(error.as_str()).map_or_else(|| error.to_string(), str::to_owned);
    let status = error["code"].as_u64().and_then(|code| u16::try_from(code).ok());
    Some(End::Failed { status, message })
}

pub(super) fn unfinished(reason: &Value) -> End {
    End::Unfinished(reason.as_str().map(str::to_owned))
}

/// The texts of the parts that have one, joined. All APIs name them in the same way.
pub(super) fn texts<'a>(parts: impl Iterator<Item = &'a Value>) -> String {
    parts.filter_map(|part| part["text"].as_str()).collect()
}

pub(super) fn usage(usage: UsageMetadata) -> Option<UsageMetadata> {
    (usage != UsageMetadata::default()).then_some(usage)
}
