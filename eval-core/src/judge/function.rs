use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;

use super::{BoxJudge, Judge};
use crate::agent::BoxError;
use crate::setup::shape;

/// What a function named in `judge = ..` returns: a judge, or a `Result` of one.
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
/// use eval_core::judge::{Judge, Scripted};
///
/// fn lenient() -> impl Judge {
///     Scripted::new(["yes", "yes"])
/// }
///
/// async fn with_key() -> Result<impl Judge, std::env::VarError> {
///     let _key = std::env::var("MY_JUDGE_KEY")?;
///     Ok(Scripted::new(["no"]))
/// }
/// # let _ = (eval_core::__private::judge(lenient), eval_core::__private::judge(with_key));
/// ```
///
/// It is called once per case, when the first question is asked. Where an answer is recorded its error does not
/// matter, so a key that is missing is an error only where the judge is to be asked.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not make a judge",
    label = "not a function that makes a judge",
    note = "expected `fn() -> impl Judge`, plain or async, also as `Result<impl Judge, E>` with `E: Display`"
)]
pub trait JudgeFn<Shape>: Copy + Send + 'static {
    /// Calls the function.
    fn make(self) -> Making;
}

/// The future of a call.
pub type Making = Pin<Box<dyn Future<Output = Result<BoxJudge, BoxError>> + Send>>;

impl<F, R> JudgeFn<shape::Plain> for F
where
    F: Fn() -> R + Copy + Send + 'static,
    R: IntoJudge + 'static,
{
    fn make(self) -> Making {
        Box::pin(async move { self().into_judge() })
    }
}

impl<F, Fut, R> JudgeFn<shape::Async> for F
where
    F: Fn() -> Fut + Copy + Send + 'static,
    Fut: Future<Output = R> + Send + 'static,
    R: IntoJudge + 'static,
{
    fn make(self) -> Making {
        Box::pin(async move { self().await.into_judge() })
    }
}
