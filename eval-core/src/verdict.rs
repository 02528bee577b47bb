//! Verdicts, on metrics and on cases.

use std::fmt;

/// The part that failed, in a [`Verdict::Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The agent failed, panicked, hung, or answered nothing.
    Agent,
    /// The setup function failed or panicked.
    Setup,
    /// The test's own body failed or panicked: an assertion of the user's.
    Body,
    /// A call of a tool has no golden answer.
    Tools,
    /// A call of a model is not recorded, or could not be recorded.
    Recording,
    /// A metric failed: its function, or what it calls.
    Metric,
    /// A judge failed, or there is no judge.
    Judge,
    /// The simulated user failed, or did not end the conversation.
    Simulator,
    /// The harness failed, or the test left nothing to decide on: a stale file, a config that cannot be read, a
    /// variable with an unknown value, a test body that evaluated nothing.
    Harness,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "agent",
            Self::Setup => "setup",
            Self::Body => "test body",
            Self::Tools => "tools",
            Self::Recording => "recording",
            Self::Metric => "metric",
            Self::Judge => "judge",
            Self::Simulator => "simulator",
            Self::Harness => "harness",
        })
    }
}

/// The verdict on a metric or on a case. A missing score is never a number: it is `NotEvaluated`, with the reason.
///
/// A case passes if every metric that gates passed and there is at least one such metric. `Failed`, `NotEvaluated` and
/// `Error` fail its test, each under its own name. If a judge fails, its metric is an `Error` of the role `judge`,
/// never a low score. `Skipped` fails nothing: a case is skipped only if there is no judge to ask and
/// `EVALSET_MISSING_JUDGE=skip` allows that.
///
/// ```
/// use eval_core::{CaseReport, Verdict};
///
/// fn summary(report: &CaseReport) -> String {
///     match &report.verdict {
///         Verdict::Passed => format!("{} is fine", report.eval_id()),
///         Verdict::Error { role, message } => format!("{} broke ({role}): {message}", report.eval_id()),
///         other => format!("{}: {other}", report.eval_id()),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The score reached the threshold.
    Passed,
    /// The score is below the threshold, or a fault of a tool was not reached.
    Failed,
    /// There is no score, for this reason.
    NotEvaluated(String),
    /// Something failed, so there is no score.
    Error {
        /// The part that failed.
        role: Role,
        /// The error.
        message: String,
    },
    /// It does not apply, for this reason.
    Skipped(String),
    /// The score is for information. It never gates.
    Informational,
}

impl Verdict {
    /// Whether this is `Passed`.
    pub fn passed(&self) -> bool {
        matches!(self, Self::Passed)
    }

    /// Whether a case with this verdict on a metric cannot pass.
    pub fn fails(&self) -> bool {
        matches!(self, Self::Failed | Self::NotEvaluated(_) | Self::Error { .. })
    }

    /// Whether a run passed, by the verdicts of its metrics that gate: at least one passed, and none failed. `None` if
    /// it has no verdict: a metric broke or lacks a score, or none decided.
    ///
    /// ```
    /// use eval_core::Verdict::{self, Failed, NotEvaluated, Passed};
    ///
    /// assert_eq!(Verdict::run_passed([&Passed, &Failed]), Some(false));
    /// assert_eq!(Verdict::run_passed([&Passed, &NotEvaluated("turn 2: no answer".to_owned())]), None);
    /// ```
    pub fn run_passed<'v>(verdicts: impl IntoIterator<Item = &'v Self>) -> Option<bool> {
        let mut passed = None;
        for verdict in verdicts {
            match verdict {
                Self::Passed => passed = passed.or(Some(true)),
                Self::Failed => passed = Some(false),
                Self::Error { .. } | Self::NotEvaluated(_) => return None,
                Self::Skipped(_) | Self::Informational => {}
            }
        }
        passed
    }

    /// The reason or the error message; `None` for verdicts without one.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::NotEvaluated(reason) | Self::Skipped(reason) => Some(reason),
            Self::Error { message, .. } => Some(message),
            Self::Passed | Self::Failed | Self::Informational => None,
        }
    }

    /// The verdict in one word, as journals and reports have it.
    ///
    /// ```
    /// use eval_core::Verdict;
    ///
    /// assert_eq!(Verdict::NotEvaluated("no turn expects an answer".to_owned()).name(), "not_evaluated");
    /// ```
    pub fn name(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotEvaluated(_) => "not_evaluated",
            Self::Error { .. } => "error",
            Self::Skipped(_) => "skipped",
            Self::Informational => "informational",
        }
    }

    pub(crate) fn error(role: Role, message: impl Into<String>) -> Self {
        Self::Error { role, message: message.into() }
    }
}

/// The verdict of a metric on one turn, or on a run that it scores as a whole. It is decided once, where the run is
/// scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TurnVerdict {
    /// The score reached the threshold.
    Passed,
    /// The score is below the threshold.
    Failed,
    /// There is no score, and there had to be one.
    NotEvaluated,
    /// It decides nothing: the metric only informs, or nothing is expected of the turn.
    Informational,
}

impl TurnVerdict {
    /// Whether a run with this turn does not pass if each turn counts.
    pub fn fails(self) -> bool {
        matches!(self, Self::Failed | Self::NotEvaluated)
    }

    /// The verdict in one word, as journals and pages have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotEvaluated => "not_evaluated",
            Self::Informational => "informational",
        }
    }
}

/// Verdicts that fail a test are in capitals.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "passed",
            Self::Failed => "FAILED",
            Self::NotEvaluated(_) => "NOT EVALUATED",
            Self::Error { .. } => "ERROR",
            Self::Skipped(_) => "skipped",
            Self::Informational => "informational",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_have_a_word_each_and_some_fail_a_case() {
        let error = Verdict::error(Role::Judge, "no answer");
        let all = [
            (Verdict::Passed, "passed", "passed", false),
            (Verdict::Failed, "failed", "FAILED", true),
            (Verdict::NotEvaluated("why".to_owned()), "not_evaluated", "NOT EVALUATED", true),
            (error, "error", "ERROR", true),
            (Verdict::Skipped("why".to_owned()), "skipped", "skipped", false),
            (Verdict::Informational, "informational", "informational", false),
        ];
        for (verdict, name, shown, fails) in all {
            assert_eq!((verdict.name(), verdict.to_string().as_str(), verdict.fails()), (name, shown, fails));
            assert_eq!(verdict.passed(), name == "passed");
        }
        for (verdict, name, fails) in [
            (TurnVerdict::Passed, "passed", false),
            (TurnVerdict::Failed, "failed", true),
            (TurnVerdict::NotEvaluated, "not_evaluated", true),
            (TurnVerdict::Informational, "informational", false),
        ] {
            assert_eq!((verdict.name(), verdict.fails()), (name, fails));
        }
    }
}
