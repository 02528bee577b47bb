//! How a command ended, and the exit code for it.

use serde::Serialize;

/// How a command ended. A worse outcome is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Everything that was checked is as it should be.
    Passed,
    /// Something that was checked is not as it should be.
    Failed,
    /// Something could not be checked.
    Unmeasurable,
}

impl Outcome {
    pub fn exit_code(self) -> i32 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::Unmeasurable => 2,
        }
    }

    /// The outcome that an exit code stands for; `None` for codes that no command ends with.
    pub fn of_exit_code(code: i32) -> Option<Self> {
        [Self::Passed, Self::Failed, Self::Unmeasurable]
            .into_iter()
            .find(|outcome| outcome.exit_code() == code)
    }

    /// What the outcome of a run says of its cases.
    pub fn of_cases(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed: a case did not pass",
            Self::Unmeasurable => "not measurable: a case has no verdict, or nothing was run",
        }
    }

    /// The outcome in one word, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unmeasurable => "unmeasurable",
        }
    }
}
