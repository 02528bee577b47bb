//! Judges from closures.

use std::fmt::{self, Display};
use std::future::Future;
use std::sync::LazyLock;

use super::{BoxJudge, Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};
use crate::agent::{BoxError, BoxFuture};
use crate::setup::shape;

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
/// The closure returns a text, a [`JudgeReply`], or a `Result` of one of them. A [`JudgeError`] is returned
/// as it is; any other error becomes one of the kind [`Failed`](JudgeErrorKind::Failed).
///
/// As for any other judge, the recording answers, and the closure is called only if `EVALSET_JUDGE` says so.
/// An [offline](ClosureJudge::offline) closure is always called.
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
    /// Marks the closure as offline: it answers without a network and at no cost, so it is asked directly and
    /// not recorded.
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

pub(crate) fn nobody() -> &'static BoxJudge {
    static NOBODY: LazyLock<BoxJudge> = LazyLock::new(|| {
        let message = "this input has no judge; `MetricInput::with_judge` gives it one";
        let refused =
            move |_| async move { Err::<JudgeReply, _>(JudgeError::new(JudgeErrorKind::NoJudge, message)) };
        judge_fn(refused).offline().boxed()
    });
    &NOBODY
}

/// The result of the closure of [`judge_fn`]: a text, a [`JudgeReply`], or a `Result` of one of them.
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

/// The result of a function of `judge = ..`: a judge, or a `Result` of one.
///
/// It is implemented for every [`Judge`] and for every `Result` of one whose error implements `Display`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a judge",
    label = "this is returned where a judge is expected",
    note = "return `impl Judge` or `Result<impl Judge, E>` with `E: Display`"
)]
pub trait IntoJudge {
    /// The judge, or why there is none.
    fn into_judge(self) -> Result<BoxJudge, BoxError>;
}

impl<J: Judge + 'static> IntoJudge for J {
    fn into_judge(self) -> Result<BoxJudge, BoxError> {
        Ok(self.boxed())
    }
}

impl<J: Judge + 'static, E: Display> IntoJudge for Result<J, E> {
    fn into_judge(self) -> Result<BoxJudge, BoxError> {
        // `{:#}` shows the whole chain of an `anyhow::Error`.
        self.map(Judge::boxed).map_err(|error| format!("{error:#}").into())
    }
}

/// A function that `judge = ..` may name: `fn() -> impl Judge`, plain or async, also as a `Result`.
///
/// ```
/// use eval_core::judge::{Judge, JudgeFn, ScriptedJudge};
///
/// fn lenient() -> impl Judge {
///     ScriptedJudge::new(["yes", "yes"])
/// }
///
/// async fn with_key() -> Result<impl Judge, std::env::VarError> {
///     let _key = std::env::var("MY_JUDGE_KEY")?;
///     Ok(ScriptedJudge::new(["no"]))
/// }
///
/// # fn accepts<Shape>(_: impl JudgeFn<Shape>) {}
/// # accepts(lenient);
/// # accepts(with_key);
/// ```
///
/// The function is called once per case, when the first question is asked. Its error counts only if the judge
/// has to be asked: where a recording answers, a missing key does not matter.
///
/// `Shape` tells plain functions from async ones; it is inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not make a judge",
    label = "not a function that makes a judge",
    note = "expected `fn() -> impl Judge`, plain or async, also as `Result<impl Judge, E>` with `E: Display`"
)]
pub trait JudgeFn<Shape>: Copy + Send + 'static {
    /// Calls the function when the returned future is first polled.
    fn make(self) -> impl Future<Output = Result<BoxJudge, BoxError>> + Send + 'static;
}

impl<F, R> JudgeFn<shape::Plain> for F
where
    F: Fn() -> R + Copy + Send + 'static,
    R: IntoJudge + 'static,
{
    async fn make(self) -> Result<BoxJudge, BoxError> {
        self().into_judge()
    }
}

impl<F, Fut, R> JudgeFn<shape::Async> for F
where
    F: Fn() -> Fut + Copy + Send + 'static,
    Fut: Future<Output = R> + Send + 'static,
    R: IntoJudge + 'static,
{
    async fn make(self) -> Result<BoxJudge, BoxError> {
        self().await.into_judge()
    }
}

pub(crate) type Making = BoxFuture<'static, Result<BoxJudge, BoxError>>;

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
