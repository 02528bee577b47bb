//! Outcomes of questions to a judge: errors, and the numbers of questions and tokens. Reports and journals
//! hold these in every build.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use eval_format::UsageMetadata;
use eval_support::debug_without_secrets;
use eval_support::untrusted::headline;

use crate::verdict::{Role, Verdict};

/// The reason why a judge did not answer.
///
/// ```
/// # #[cfg(feature = "judges")] {
/// use eval_core::judge::{JudgeError, JudgeErrorKind};
///
/// let error = JudgeError::new(JudgeErrorKind::Refused, "the judge declined to answer");
/// assert_eq!(error.to_string(), "the judge declined to answer");
/// # }
/// ```
///
/// If a metric returns it as its error, the metric is an ERROR of the role `judge`: a judge that fails never
/// makes a score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgeError {
    pub(crate) kind: JudgeErrorKind,
    pub(crate) message: String,
    pub(crate) transient: bool,
    pub(crate) retry_after: Option<Duration>,
}

/// The kind of a [`JudgeError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JudgeErrorKind {
    /// There is no judge to ask: no recording, and no judge or no key.
    NoJudge,
    /// There is a recording, and the request is not in it.
    NotRecorded,
    /// The judge declined to answer.
    Refused,
    /// The answer of the judge cannot be read.
    Unreadable,
    /// The judge did not answer in time.
    Timeout,
    /// The judge cannot be reached, or it failed.
    Failed,
}

impl JudgeError {
    /// An error of a kind. The message is shown and recorded, so it must not hold a key or a token.
    pub fn new(kind: JudgeErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), transient: false, retry_after: None }
    }

    #[cfg(feature = "judges")]
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(JudgeErrorKind::Failed, message)
    }

    /// Marks the error as transient: a retry may help. `retry_after` is the wait that the judge asks for, if
    /// any.
    ///
    /// ```
    /// # #[cfg(feature = "judges")] {
    /// use std::time::Duration;
    /// use eval_core::judge::{JudgeError, JudgeErrorKind};
    ///
    /// let error = JudgeError::new(JudgeErrorKind::Failed, "429 Too Many Requests");
    /// assert!(!error.is_transient());
    /// let error = error.transient(Some(Duration::from_secs(20)));
    /// assert!(error.is_transient());
    /// assert_eq!(error.retry_after(), Some(Duration::from_secs(20)));
    /// # }
    /// ```
    #[must_use]
    pub fn transient(mut self, retry_after: Option<Duration>) -> Self {
        self.transient = true;
        self.retry_after = retry_after;
        self
    }

    pub(crate) fn headline(&self) -> Cow<'_, str> {
        headline(&self.message)
    }

    /// The error with the number of the question's turn in its message, if there are several turns. `at`
    /// counts from 0.
    #[cfg(feature = "judges")]
    pub(crate) fn in_turn(mut self, at: usize, turns: usize) -> Self {
        if turns > 1 {
            self.message = format!("turn {}: {}", at + 1, self.message);
        }
        self
    }

    /// The kind of the error.
    pub fn kind(&self) -> JudgeErrorKind {
        self.kind
    }

    /// Whether asking again may help.
    pub fn is_transient(&self) -> bool {
        self.transient
    }

    /// The wait that the judge asks for before it is asked again.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

/// The words behind the reason why no judge is asked: a variable may change that.
pub const ASKED_IF: &str = "and a judge is asked only if `EVALSET_JUDGE` says so";
pub(crate) const NOT_RECORDED: &str = "not recorded: ";
pub(crate) const NO_RECORDING: &str = "no judge: there is no recording";

/// Whether a verdict is an error that recording the judge resolves, and rerunning the case does not.
pub fn asks_for_a_recording(verdict: &Verdict) -> bool {
    let is_miss = |message: &str| message.contains(NOT_RECORDED) || message.contains(NO_RECORDING);
    matches!(verdict, Verdict::Error { role: Role::Judge | Role::Simulator, message } if is_miss(message))
}

impl fmt::Display for JudgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for JudgeError {}

/// The number of questions that a metric asked a model, and their tokens.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct JudgeUse {
    /// The model, as the criterion names it.
    pub model: String,
    /// The number of questions. Each sample counts.
    pub asked: usize,
    /// The number of questions without an answer.
    pub failed: usize,
    /// The number of questions that a recording answered. `None` in journals of versions that did not record it.
    pub replayed: Option<usize>,
    /// The tokens of all answers, as far as they are known. A recorded answer counts the tokens of its recording.
    pub usage: UsageMetadata,
    /// Questions and answers, for people to read. Long texts are truncated, and of very many questions only the first
    /// ones are kept: [`asked`](Self::asked) counts all of them. Empty in journals of versions that did not record it.
    pub questions: Vec<JudgeQuestion>,
}

/// A question that a model was asked, and its answers.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JudgeQuestion {
    /// The name and the version of the prompt: `final_response_match_v2/1`. `None` if the prompt has no name.
    pub template: Option<String>,
    /// The prompt. A long one is truncated, with a note of how much is left out.
    pub prompt: String,
    /// The answer to each sample, in the order of the samples. A sample without an answer has `no answer:`
    /// and the reason.
    pub answers: Vec<String>,
}

debug_without_secrets!(JudgeQuestion { template, prompt, answers });
