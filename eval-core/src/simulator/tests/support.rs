//! Helpers shared by the tests of the simulated user.

use std::sync::Arc;

use crate::judge::{Judge, JudgeError, JudgeReply, JudgeRequest, ScriptedJudge};

/// A judge that many runs ask and the test looks at.
#[derive(Clone)]
pub(crate) struct Shared(Arc<ScriptedJudge>);

impl Shared {
    pub(crate) fn new(script: ScriptedJudge) -> Self {
        Self(script.into())
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<JudgeRequest> {
        self.0.requests()
    }
}

impl Judge for Shared {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        self.0.ask(request).await
    }

    fn is_offline(&self) -> bool {
        true
    }
}

pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
