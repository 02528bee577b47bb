//! Judges from closures.

use std::fmt;
use std::future::Future;

use super::{Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};
use crate::agent::BoxError;

/// A judge from a closure or function that answers one request.
///
/// ```
/// use eval_core::EvalRunner;
/// use eval_core::judge::judge_fn;
///
/// /// Finds every answer valid that is about the weather.
/// let judge = judge_fn(|request| async move {
///     let verdict = if request.prompt.contains("sunny") { "valid" } else { "invalid" };
///     format!(r#"{{"is_the_agent_response_valid": "{verdict}"}}"#)
/// });
/// let runner = EvalRunner::new().judge(judge.offline());
/// # let _ = runner;
/// ```
///
/// It returns a text, a [`JudgeReply`], or a `Result` of one of them. A [`JudgeError`] stays the error that it is; any other
/// error is one of the kind [`Failed`](JudgeErrorKind::Failed).
///
/// Like any other judge it stands behind the recording, and is asked only if `EVALSET_JUDGE` says so, unless it is said to
/// be [offline](ClosureJudge::offline).
pub fn judge_fn<F, Fut, A>(answer: F) -> ClosureJudge<F>
where
    F: Fn(JudgeRequest) -> Fut + Send + Sync,
    Fut: Future<Output = A> + Send,
    A: IntoReply,
{
    ClosureJudge { answer, is_offline: false }
}

/// The judge that [`judge_fn`] makes.
#[derive(Clone)]
pub struct ClosureJudge<F> {
    answer: F,
    is_offline: bool,
}

impl<F> ClosureJudge<F> {
    /// Says that the closure answers without a network and at no cost: it is asked directly, and nothing is recorded.
    #[must_use]
    pub fn offline(mut self) -> Self {
        self.is_offline = true;
        self
    }
}

impl<F> fmt::Debug for ClosureJudge<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClosureJudge").field("is_offline", &self.is_offline).finish_non_exhaustive()
    }
}

impl<F, Fut, A> Judge for ClosureJudge<F>
where
    F: Fn(JudgeRequest) -> Fut + Send + Sync,
    Fut: Future<Output = A> + Send,
    A: IntoReply,
{
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        (self.answer)(request.clone()).await.into_reply()
    }

    fn is_offline(&self) -> bool {
        self.is_offline
    }
}

/// What the closure of [`judge_fn`] returns: a text, a [`JudgeReply`], or a `Result` of one of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no answer of a judge",
    label = "this is returned where an answer is expected",
    note = "return a text, a `JudgeReply`, or a `Result` of one of them"
)]
pub trait IntoReply {
    /// The reply, or why there is none.
    fn into_reply(self) -> Result<JudgeReply, JudgeError>;
}

impl IntoReply for JudgeReply {
    fn into_reply(self) -> Result<JudgeReply, JudgeError> {
        Ok(self)
    }
}

impl IntoReply for String {
    fn into_reply(self) -> Result<JudgeReply, JudgeError> {
        Ok(JudgeReply::new(self))
    }
}

impl IntoReply for &str {
    fn into_reply(self) -> Result<JudgeReply, JudgeError> {
        Ok(JudgeReply::new(self))
    }
}

impl<R: IntoReply, E: Into<BoxError>> IntoReply for Result<R, E> {
    fn into_reply(self) -> Result<JudgeReply, JudgeError> {
        match self.map_err(Into::into) {
            Ok(reply) => reply.into_reply(),
            Err(error) => Err(match error.downcast::<JudgeError>() {
                Ok(error) => *error,
                Err(error) => JudgeError::new(JudgeErrorKind::Failed, error.to_string()),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::ready;

    fn asked(judge: &impl Judge) -> Result<String, JudgeError> {
        ready(judge.ask(&JudgeRequest::new("m", "Is it polite?"))).map(|reply| reply.text)
    }

    #[test]
    fn closures_and_functions_answer_with_texts_replies_and_errors() {
        async fn polite(request: JudgeRequest) -> Result<&'static str, JudgeError> {
            if request.prompt.contains("polite") { Ok("yes") } else { Ok("no") }
        }
        assert_eq!(asked(&judge_fn(polite)).as_deref(), Ok("yes"));
        assert_eq!(asked(&judge_fn(|request| async move { request.model })).as_deref(), Ok("m"));
        assert_eq!(asked(&judge_fn(|_| async { JudgeReply::new("no") })).as_deref(), Ok("no"));
        let refused = JudgeError::new(JudgeErrorKind::Refused, "I would rather not");
        let same = refused.clone();
        let refuses = judge_fn(move |_| {
            let refused = refused.clone();
            async move { Err::<String, _>(refused) }
        });
        assert_eq!(asked(&refuses), Err(same));
        let fails = judge_fn(|_| async { Err::<String, BoxError>("no connection".into()) });
        let error = asked(&fails).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (JudgeErrorKind::Failed, "no connection"));
    }

    #[test]
    fn a_closure_may_cost_money_unless_it_is_said_to_be_offline() {
        let judge = judge_fn(|_| async { "yes" });
        assert!(!judge.is_offline() && judge.clone().offline().is_offline());
        assert!(Box::new(judge.offline()).boxed().is_offline(), "a box is a judge too");
    }
}
