//! The trait of judges, and a judge behind a pointer.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::time_limit;
use super::{JudgeError, JudgeReply, JudgeRequest};
use crate::agent::BoxFuture;

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
/// One value answers all questions of a case. Some of them are asked at the same time. A closure can be a judge too: see
/// [`judge_fn`](super::judge_fn).
///
/// A judge is tested by asking it: requests and replies can be made.
///
/// ```
/// # use eval_core::judge::{Judge, JudgeError, JudgeReply, JudgeRequest};
/// # struct Kind;
/// # impl Judge for Kind {
/// #     async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> { Ok(JudgeReply::new("valid")) }
/// # }
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let request = JudgeRequest::new("any", "Is it right?").with_template("right/1").with_sample(2);
/// assert_eq!(Kind.ask(&request).await?, JudgeReply::new("valid"));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
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
    /// An offline judge is asked directly. Any other judge stands behind a recording, and is asked only if
    /// `EVALSET_JUDGE` is `record` or `live`.
    fn is_offline(&self) -> bool {
        false
    }

    /// How long one question may take. `None` if the judge sets a limit of its own.
    ///
    /// Unless implemented, it is the number of seconds in `EVALSET_JUDGE_TIMEOUT`, else two minutes. A judge that asks
    /// another judge returns the limit of that one.
    fn time_limit(&self) -> Option<Duration> {
        Some(time_limit::default())
    }

    /// The judge behind a pointer, cheap to clone.
    fn boxed(self) -> BoxJudge
    where
        Self: Sized + 'static,
    {
        BoxJudge::shared(Arc::new(self))
    }
}

/// A judge behind a pointer is asked as it is.
macro_rules! behind_a_pointer {
    ($pointer:ident) => {
        impl<J: Judge> Judge for $pointer<J> {
            async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
                J::ask(self, request).await
            }

            fn is_offline(&self) -> bool {
                J::is_offline(self)
            }

            fn time_limit(&self) -> Option<Duration> {
                J::time_limit(self)
            }
        }
    };
}

behind_a_pointer!(Arc);
behind_a_pointer!(Box);

/// The form of [`Judge`] that can be a trait object: its futures are boxed.
trait DynJudge: Send + Sync {
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
/// use eval_core::judge::{BoxJudge, Judge, Scripted};
///
/// let judges: Vec<BoxJudge> = vec![Scripted::new(["yes"]).boxed(), Scripted::new(["no"]).boxed()];
/// assert!(judges.iter().all(Judge::is_offline));
/// ```
#[derive(Clone)]
pub struct BoxJudge(Arc<dyn DynJudge>);

impl BoxJudge {
    /// A judge that others hold too.
    pub(super) fn shared(judge: Arc<impl Judge + 'static>) -> Self {
        Self(judge)
    }
}

impl fmt::Debug for BoxJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxJudge(..)")
    }
}

impl Judge for BoxJudge {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        self.0.ask(request).await
    }

    fn is_offline(&self) -> bool {
        self.0.is_offline()
    }

    fn time_limit(&self) -> Option<Duration> {
        self.0.time_limit()
    }

    fn boxed(self) -> BoxJudge {
        self
    }
}
