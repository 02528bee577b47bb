use std::fmt;

/// Why a judge did not answer.
///
/// Returned by a metric as its error, it makes the metric an ERROR of the role `judge`: no judge's trouble is
/// a score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgeError {
    kind: JudgeErrorKind,
    message: String,
}

/// What kind of trouble a judge had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JudgeErrorKind {
    /// There is nobody to ask: no recording, and neither a judge nor a key.
    NoJudge,
    /// There are recordings, and this request is not among them.
    NotRecorded,
    /// The judge declined to answer.
    Refused,
    /// What the judge answered could not be read.
    Unreadable,
    /// The judge did not answer in time.
    Timeout,
    /// The judge could not be reached, or failed.
    Failed,
}

impl JudgeError {
    /// An error of a kind. The message must not hold a key or a token.
    pub fn new(kind: JudgeErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The first line of the message.
    pub(crate) fn headline(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }

    /// The kind.
    pub fn kind(&self) -> JudgeErrorKind {
        self.kind
    }
}

impl fmt::Display for JudgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for JudgeError {}
