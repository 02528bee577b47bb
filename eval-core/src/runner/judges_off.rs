//! The judge of a runner in a build without the feature `judges`.

use std::path::Path;

use super::error::RunnerError;
use crate::judge::JudgeRouter;

/// No judge: without the feature `judges` no metric asks one.
#[derive(Debug, Default)]
pub(super) struct JudgeChoice(());

impl JudgeChoice {
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "the call is that of the feature `judges`"
    )]
    pub(super) fn router(&self, _: Option<&Path>) -> Result<JudgeRouter, RunnerError> {
        Ok(JudgeRouter::default())
    }
}
