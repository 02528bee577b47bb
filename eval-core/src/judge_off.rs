//! What stands in for judges if the feature `judges` is off: nobody is asked, and nothing waits for an answer.
//!
//! The names and the calls are those of the module `judge`, so that the modules above need no second version. No metric
//! of such a build asks a judge: criteria and cases that would need one are errors before anything runs.

use crate::guard::Waited;
use crate::judge_outcome::{JudgeError, JudgeUse};

/// No judge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxJudge;

/// The future of a function that makes a judge. There is no such function.
#[derive(Debug)]
pub enum Making {}

/// Nobody to ask.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JudgeRouter;

impl JudgeRouter {
    #[expect(clippy::unused_self, reason = "the call is that of the feature `judges`")]
    pub(crate) fn of_case(self, _: &str) -> BoxJudge {
        BoxJudge
    }

    #[expect(clippy::unused_self, reason = "the call is that of the feature `judges`")]
    pub(crate) fn skips(self, _: &JudgeError) -> bool {
        false
    }

    #[expect(clippy::unused_self, reason = "the call is that of the feature `judges`")]
    pub(crate) fn unused(self, _: &str) -> Option<String> {
        None
    }
}

/// A judge that nobody asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeteredJudge;

impl MeteredJudge {
    pub(crate) fn new(_: BoxJudge) -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "the call is that of the feature `judges`")]
    pub(crate) fn judge(self) -> BoxJudge {
        BoxJudge
    }

    #[expect(clippy::unused_self, reason = "the call is that of the feature `judges`")]
    pub(crate) fn missed(self) -> Option<JudgeError> {
        None
    }

    #[expect(clippy::unused_self, reason = "the call is that of the feature `judges`")]
    pub(crate) fn waited(self) -> Waited {
        Waited::default()
    }

    #[expect(clippy::unused_self, reason = "the call is that of the feature `judges`")]
    pub(crate) fn used(self) -> Vec<JudgeUse> {
        Vec::new()
    }
}

/// What the environment says about judges: it is not asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings;

impl Settings {
    #[expect(clippy::unnecessary_wraps, reason = "the call is that of the feature `judges`")]
    pub(crate) fn from_env() -> Result<Self, String> {
        Ok(Self)
    }

    #[expect(clippy::unused_self, reason = "the call is that of the feature `judges`")]
    pub(crate) fn replays(self) -> bool {
        true
    }
}
