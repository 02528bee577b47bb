//! The state of a test in a journal.

use anstyle::Style;
use eval_core::report::Verdict;
use serde::Serialize;

use crate::output::style::{ERROR, GOOD, WARNING};

/// The state of a test: its verdict, or that it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Passed,
    Failed,
    NotEvaluated,
    Error,
    Skipped,
    /// Its process was killed or is still running.
    Unfinished,
}

impl State {
    pub fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Passed => Self::Passed,
            Verdict::Failed => Self::Failed,
            Verdict::Skipped(_) => Self::Skipped,
            Verdict::Error { .. } => Self::Error,
            _ => Self::NotEvaluated,
        }
    }

    /// Whether the test is without a verdict on the case: it neither passed nor failed, and was not skipped.
    pub fn is_unmeasured(self) -> bool {
        matches!(self, Self::NotEvaluated | Self::Error | Self::Unfinished)
    }

    /// The word for the state in a table, and its style.
    pub fn label(self) -> (&'static str, Style) {
        match self {
            Self::Passed => ("PASS", GOOD),
            Self::Failed => ("FAIL", ERROR),
            Self::NotEvaluated => ("UNSCORED", ERROR),
            Self::Error => ("ERROR", ERROR),
            Self::Skipped => ("SKIP", WARNING),
            Self::Unfinished => ("UNFINISHED", ERROR),
        }
    }

    /// The state in one word: that of its verdict, if it has one.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotEvaluated => "not_evaluated",
            Self::Error => "error",
            Self::Skipped => "skipped",
            Self::Unfinished => "unfinished",
        }
    }

    /// The name of the state on the page, for people and for its filters.
    pub fn filter_name(self) -> &'static str {
        if self == Self::NotEvaluated { "unscored" } else { self.name() }
    }

    /// The state in the count of so many cases: `2 errors`.
    pub fn counted(self, number: usize) -> &'static str {
        if self == Self::Error && number != 1 { "errors" } else { self.filter_name() }
    }
}
