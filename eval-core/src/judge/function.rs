//! Functions that make a judge: what `judge = ..` in the attribute names.

use std::fmt::Display;
use std::future::Future;

use super::{BoxJudge, Judge};
use crate::agent::{BoxError, BoxFuture};
use crate::setup::shape;

/// What a function of `judge = ..` returns: a judge, or a `Result` of one.
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
/// use eval_core::judge::{Judge, JudgeFn, Scripted};
///
/// fn lenient() -> impl Judge {
///     Scripted::new(["yes", "yes"])
/// }
///
/// async fn with_key() -> Result<impl Judge, std::env::VarError> {
///     let _key = std::env::var("MY_JUDGE_KEY")?;
///     Ok(Scripted::new(["no"]))
/// }
///
/// # fn accepts<Shape>(_: impl JudgeFn<Shape>) {}
/// # accepts(lenient);
/// # accepts(with_key);
/// ```
///
/// The function is called once per case, when the first question is asked. Its error counts only if the judge is to be
/// asked: where a recording answers, a missing key does not matter.
///
/// `Shape` tells plain functions from async ones; the compiler finds it.
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

/// A judge that is being made.
pub(crate) type Making = BoxFuture<'static, Result<BoxJudge, BoxError>>;
