//! The trait of judges, and a judge behind a pointer.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::environment::{self, TIMEOUT};
use super::{JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};
use crate::agent::BoxFuture;
use crate::guard::{self, What};

/// A model that answers questions about what an agent did.
///
/// ```
/// use eval_core::judge::{Judge, JudgeError, JudgeReply, JudgeRequest};
///
/// /// Finds everything fine.
/// struct Kind;
///
/// impl Judge for Kind {
///     async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
///         Ok(JudgeReply::new(r#"{"reasoning": "fine", "is_the_agent_response_valid": "valid"}"#))
///     }
///
///     fn is_offline(&self) -> bool {
///         true
///     }
/// }
/// ```
///
/// One value answers all questions of a case, some of them concurrently. A closure can be a judge too: see
/// [`judge_fn`](super::judge_fn).
///
/// To test a judge, ask it: requests and replies have public constructors.
///
/// ```
/// # use eval_core::judge::{Judge, JudgeError, JudgeReply, JudgeRequest};
/// # struct Kind;
/// # impl Judge for Kind {
/// #     async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> { Ok(JudgeReply::new("valid")) }
/// # }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let request = JudgeRequest::new("any", "Is it right?").with_template("right/1").with_sample(2);
/// assert_eq!(Kind.ask(&request).await?, JudgeReply::new("valid"));
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a judge",
    label = "not a judge",
    note = "implement `Judge` for it, or wrap a closure with `judge_fn(|request| async move {{ .. }})`"
)]
pub trait Judge: Send + Sync {
    /// Answers one request.
    fn ask(&self, request: &JudgeRequest) -> impl Future<Output = Result<JudgeReply, JudgeError>> + Send;

    /// Whether the judge answers without a network and at no cost; `false` unless implemented.
    ///
    /// An offline judge is asked directly. For any other judge the recording answers, unless `EVALSET_JUDGE` is
    /// `record` or `live`.
    fn is_offline(&self) -> bool {
        false
    }

    /// The time limit of one question. `None` if the judge sets a limit of its own.
    ///
    /// Unless implemented, it is the number of seconds in `EVALSET_JUDGE_TIMEOUT`, else two minutes. A judge
    /// that asks another judge returns the limit of the other judge.
    fn time_limit(&self) -> Option<Duration> {
        Some(environment::time_limit())
    }

    /// The judge behind a pointer, cheap to clone.
    fn boxed(self) -> BoxJudge
    where
        Self: Sized + 'static,
    {
        BoxJudge(Arc::new(self))
    }
}

/// The form of [`Judge`] that can be a trait object: its futures are boxed.
pub(super) trait DynJudge: Send + Sync {
    fn ask<'a>(&'a self, request: &'a JudgeRequest) -> BoxFuture<'a, Result<JudgeReply, JudgeError>>;
    fn is_offline(&self) -> bool;
    fn time_limit(&self) -> Option<Duration>;
}

impl<J: Judge> DynJudge for J {
    fn ask<'a>(&'a self, request: &'a JudgeRequest) -> BoxFuture<'a, Result<JudgeReply, JudgeError>> {
        Box::pin(Judge::ask(self, request))
    }

    fn is_offline(&self) -> bool {
        Judge::is_offline(self)
    }

    fn time_limit(&self) -> Option<Duration> {
        Judge::time_limit(self)
    }
}

/// A judge of any type behind a pointer, cheap to clone.
///
/// ```
/// use eval_core::judge::{BoxJudge, Judge, ScriptedJudge};
///
/// let judges: Vec<BoxJudge> = vec![ScriptedJudge::new(["yes"]).boxed(), ScriptedJudge::new(["no"]).boxed()];
/// assert!(judges.iter().all(Judge::is_offline));
/// ```
#[derive(Clone)]
pub struct BoxJudge(pub(super) Arc<dyn DynJudge>);

impl fmt::Debug for BoxJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxJudge(..)")
    }
}

/// Implements [`Judge`] for a pointer: each call is forwarded to the judge behind it.
macro_rules! forward {
    ($($pointer:ty $(where $of:ident: Judge)?, |$this:ident| $pointed:expr $(, $boxed:item)?;)*) => {
        $(
            impl$(<$of: Judge>)? Judge for $pointer {
                async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
                    let $this = self;
                    $pointed.ask(request).await
                }

                fn is_offline(&self) -> bool {
                    let $this = self;
                    $pointed.is_offline()
                }

                fn time_limit(&self) -> Option<Duration> {
                    let $this = self;
                    $pointed.time_limit()
                }

                $($boxed)?
            }
        )*
    };
}

forward! {
    BoxJudge, |judge| judge.0, fn boxed(self) -> BoxJudge { self };
    Arc<J> where J: Judge, |judge| **judge;
    Box<J> where J: Judge, |judge| **judge;
}

/// Asks a judge within its time limit. The outer error is the timeout. If the judge blocks its thread, a watchdog
/// prints a line that begins with `whose`.
pub(super) async fn ask_in_time(
    judge: &impl Judge,
    request: &JudgeRequest,
    whose: &str,
) -> Result<Result<JudgeReply, JudgeError>, JudgeError> {
    let Some(limit) = judge.time_limit() else { return Ok(judge.ask(request).await) };
    let what = What::of(format!("{whose}the judge `{}`", request.model));
    let answer = tokio::time::timeout(limit, judge.ask(request));
    guard::watched(limit, what, answer).await.map_err(|_| {
        let message = format!(
            "the judge gave no answer within {limit:?}; `{TIMEOUT}` says how many seconds it may take"
        );
        JudgeError::new(JudgeErrorKind::Timeout, message)
    })
}

/// Asks a judge within its time limit, for callers that treat both errors alike.
#[cfg(feature = "model-judge")]
pub(super) async fn ask_within(judge: &impl Judge, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
    ask_in_time(judge, request, "").await.flatten()
}

#[cfg(test)]
mod in_time_tests {
    use super::*;
    use crate::judge::{BoxJudge, ScriptedJudge};

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

    /// The outcome of asking, and its duration in seconds.
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
        assert_eq!(Judge::time_limit(&ScriptedJudge::new([""]).boxed()), None);
        let judge = Arc::new(Hangs(Some(Duration::from_secs(1)))).boxed();
        assert_eq!(Judge::time_limit(&judge), Some(Duration::from_secs(1)), "pointers hand it on");
    }
}
