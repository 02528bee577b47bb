//! The module `judge` of a build without the feature `judges`: stubs, without a judge.
//!
//! It has the names that modules above use, so that these modules are the same in every build. Such a build
//! refuses every criterion and case that needs a judge before anything runs.
#![expect(clippy::unused_self, reason = "the feature `judges` has these methods")]

use std::convert::Infallible;

use crate::guard::Waited;
use crate::judge_outcome::{JudgeError, JudgeUse};

#[derive(Clone, Debug)]
pub(crate) struct BoxJudge;

pub(crate) fn nobody() -> &'static BoxJudge {
    &BoxJudge
}

/// The result of a function that makes a judge. There is no such function.
pub(crate) type Making = Infallible;

pub(crate) async fn in_case<T>(_: &str, run: impl Future<Output = T>) -> T {
    run.await
}

pub(crate) fn inherited<T>(work: impl Future<Output = T>) -> impl Future<Output = T> {
    work
}

#[derive(Clone, Debug, Default)]
pub(crate) struct JudgeRouter(());

impl JudgeRouter {
    pub(crate) fn of_case(&self, _: &str) -> BoxJudge {
        BoxJudge
    }

    pub(crate) fn skips(&self, _: &JudgeError) -> bool {
        false
    }

    pub(crate) fn unused(&self, _: &str) -> Option<String> {
        None
    }
}

#[derive(Debug)]
pub(crate) struct MeteredJudge;

impl MeteredJudge {
    pub(crate) fn new(_: BoxJudge) -> Self {
        Self
    }

    pub(crate) fn judge(&self) -> BoxJudge {
        BoxJudge
    }

    pub(crate) fn missed(&self) -> Option<JudgeError> {
        None
    }

    pub(crate) fn waited(&self) -> Waited {
        Waited::default()
    }

    pub(crate) fn used(&self) -> Vec<JudgeUse> {
        Vec::new()
    }
}

/// The settings of judges in the environment: the variables are not read.
#[derive(Debug)]
pub(crate) struct Settings;

impl Settings {
    #[expect(clippy::unnecessary_wraps, reason = "the feature `judges` has this function")]
    pub(crate) fn from_env() -> Result<Self, Infallible> {
        Ok(Self)
    }

    /// Whether recordings answer and no judge is asked: always, in this build.
    pub(crate) fn replays(&self) -> bool {
        true
    }
}
