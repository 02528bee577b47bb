//! What comes of asking a judge: its errors, and how often it was asked.

use std::fmt;
use std::time::Duration;

use eval_format::UsageMetadata;

/// Why a judge did not answer.
///
/// Returned by a metric as its error, it makes the metric an ERROR of the role `judge`: no judge's trouble is
/// a score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgeError {
    kind: JudgeErrorKind,
    message: String,
    transient: bool,
    retry_after: Option<Duration>,
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
        Self { kind, message: message.into(), transient: false, retry_after: None }
    }

    /// Says that asking again may help, after a while where the judge named one.
    ///
    /// ```
    /// use std::time::Duration;
    /// use eval_core::judge::{JudgeError, JudgeErrorKind};
    ///
    /// let error = JudgeError::new(JudgeErrorKind::Failed, "429 Too Many Requests");
    /// assert!(!error.is_transient());
    /// let error = error.transient(Some(Duration::from_secs(20)));
    /// assert!(error.is_transient());
    /// assert_eq!(error.retry_after(), Some(Duration::from_secs(20)));
    /// ```
    #[must_use]
    pub fn transient(mut self, retry_after: Option<Duration>) -> Self {
        self.transient = true;
        self.retry_after = retry_after;
        self
    }

    /// The first line of the message.
    pub(crate) fn headline(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }

    /// The kind.
    pub fn kind(&self) -> JudgeErrorKind {
        self.kind
    }

    /// Whether asking again may help.
    pub fn is_transient(&self) -> bool {
        self.transient
    }

    /// How long the judge wants to be left alone before it is asked again.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// The same error with more to say.
    #[cfg(feature = "model-judge")]
    pub(crate) fn told(self, message: impl FnOnce(&str) -> String) -> Self {
        Self { message: message(&self.message), ..self }
    }
}

impl fmt::Display for JudgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for JudgeError {}

/// What a judge was asked, and what that took.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct JudgeUse {
    /// The model as the criterion names it.
    pub model: String,
    /// How many questions it was asked, samples counted one by one.
    pub asked: usize,
    /// How many of them it did not answer.
    pub failed: usize,
    /// How many of them a recording answered; absent in journals of versions that did not tell.
    pub replayed: Option<usize>,
    /// The tokens of all answers that told theirs. A recorded answer tells those of its recording.
    pub usage: UsageMetadata,
}
