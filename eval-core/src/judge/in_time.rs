//! Asking a judge within its time limit: one that hangs must not hold up the tests for ever.

use std::time::Duration;

use super::environment::TIMEOUT;
use super::{Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};
use crate::guard::{self, What};

/// Asks a judge and waits as long as its time limit says. The outer error says that the time is up.
///
/// If the judge blocks its thread, a watchdog prints a line that begins with `whose`.
pub(super) async fn ask_in_time(
    judge: &impl Judge,
    request: &JudgeRequest,
    whose: &str,
) -> Result<Result<JudgeReply, JudgeError>, JudgeError> {
    let Some(limit) = judge.time_limit() else { return Ok(judge.ask(request).await) };
    let what = What::of(format!("{whose}the judge `{}`", request.model));
    let answer = tokio::time::timeout(limit, judge.ask(request));
    guard::watched(limit, what, answer).await.map_err(|_| too_long(limit))
}

/// Asks a judge within its time limit, for callers that treat both errors alike.
#[cfg(feature = "model-judge")]
pub(super) async fn ask(judge: &impl Judge, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
    ask_in_time(judge, request, "").await.flatten()
}

fn too_long(limit: Duration) -> JudgeError {
    let message =
        format!("the judge gave no answer within {limit:?}; `{TIMEOUT}` says how many seconds it may take");
    JudgeError::new(JudgeErrorKind::Timeout, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{BoxJudge, Scripted};

    /// Never answers; has a limit of its own, or says nothing about it.
    struct Hangs(Option<Duration>);

    impl Judge for Hangs {
        async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
            std::future::pending().await
        }

        fn time_limit(&self) -> Option<Duration> {
            self.0
        }
    }

    /// What comes of asking, and after how many seconds.
    fn asked(judge: &BoxJudge) -> (Result<JudgeReply, JudgeError>, u64) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let begun = tokio::time::Instant::now();
            let answer = ask_in_time(judge, &JudgeRequest::new("m", "?"), "").await;
            (answer.flatten(), begun.elapsed().as_secs())
        })
    }

    #[test]
    fn a_judge_that_hangs_has_failed_when_its_time_is_up() {
        let (answer, after) = asked(&Hangs(Some(Duration::from_secs(90))).boxed());
        let error = answer.unwrap_err();
        assert_eq!((error.kind(), after), (JudgeErrorKind::Timeout, 90));
        let said =
            "the judge gave no answer within 90s; `EVALSET_JUDGE_TIMEOUT` says how many seconds it may take";
        assert_eq!(error.to_string(), said);
    }

    #[test]
    fn a_judge_that_says_nothing_about_it_has_two_minutes() {
        struct Silent;
        impl Judge for Silent {
            async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
                std::future::pending().await
            }
        }
        let (answer, after) = asked(&Silent.boxed());
        assert_eq!((answer.unwrap_err().kind(), after), (JudgeErrorKind::Timeout, 120));
    }

    #[test]
    fn a_judge_that_keeps_its_own_time_is_let_be() {
        assert_eq!(Scripted::new([""]).boxed().time_limit(), None);
        let judge = std::sync::Arc::new(Hangs(Some(Duration::from_secs(1)))).boxed();
        assert_eq!(judge.time_limit(), Some(Duration::from_secs(1)), "pointers hand it on");
    }
}
