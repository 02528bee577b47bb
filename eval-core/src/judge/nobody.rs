//! The judge of an input that has none: asking it is an error.

use std::sync::LazyLock;

use super::ask::{BoxJudge, Judge};
use super::request::{JudgeReply, JudgeRequest};
use crate::judge_outcome::{JudgeError, JudgeErrorKind};

pub(crate) fn nobody() -> &'static BoxJudge {
    static NOBODY: LazyLock<BoxJudge> = LazyLock::new(|| Nobody.boxed());
    &NOBODY
}

struct Nobody;

impl Judge for Nobody {
    async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let message = "this input has no judge; `MetricInput::with_judge` gives it one";
        Err(JudgeError::new(JudgeErrorKind::NoJudge, message))
    }

    fn is_offline(&self) -> bool {
        true
    }
}
