//! The functions that make the agents of a runner.

use std::future::Future;

use eval_format::EvalCase;

use crate::agent::{BoxAgent, BoxError, IntoAgent};
use crate::setup::shape;

/// What [`EvalRunner`](super::EvalRunner) calls before each run: a function or closure that makes the agent.
///
/// ```
/// use eval_core::{BoxError, EvalCase, EvalRunner, EvalSet, Invocation, Replay};
///
/// /// A recording of each case, under its id.
/// fn recorded(case: &EvalCase) -> Result<Replay, BoxError> {
///     match case.eval_id.as_str() {
///         "sunny" => Ok(Replay::new([["It is sunny."]])),
///         other => Err(format!("there is no recording of `{other}`").into()),
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let turn = Invocation::user("Paris?").response("It is sunny.");
/// let set = EvalSet::new("s").case(EvalCase::new("sunny").turn(turn.clone())).case(EvalCase::new("new").turn(turn));
/// let summary = EvalRunner::new().run_set(&set, recorded, 1).await?.summary();
/// assert_eq!((summary.passed, summary.errors), (1, 1));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// Four shapes, told apart by their type: `Fn() -> A`, `Fn() -> impl Future<Output = A>`,
/// `Fn(&EvalCase) -> A`, `Fn(&EvalCase) -> impl Future<Output = A>`, where `A` is an agent or a `Result` of
/// one. The future must not borrow from the case: a closure copies what it needs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot set up an agent",
    label = "wrong shape for a setup function",
    note = "expected `Fn() -> impl Agent` or `Fn(&EvalCase) -> impl Agent`, plain or async, also as `Result<impl Agent, E>`",
    note = "write the type of a closure's argument: `|case: &EvalCase| ..`"
)]
pub trait Setup<Shape>: Sync {
    /// Makes the agent for one run of a case.
    fn set_up(&self, case: &EvalCase) -> impl Future<Output = Result<BoxAgent, BoxError>> + Send;
}

impl<F, R> Setup<shape::Plain> for F
where
    F: Fn() -> R + Sync,
    R: IntoAgent,
{
    async fn set_up(&self, _: &EvalCase) -> Result<BoxAgent, BoxError> {
        self().into_agent()
    }
}

impl<F, Fut, R> Setup<shape::Async> for F
where
    F: Fn() -> Fut + Sync,
    Fut: Future<Output = R> + Send,
    R: IntoAgent,
{
    async fn set_up(&self, _: &EvalCase) -> Result<BoxAgent, BoxError> {
        self().await.into_agent()
    }
}

impl<F, R> Setup<shape::PlainOfCase> for F
where
    F: Fn(&EvalCase) -> R + Sync,
    R: IntoAgent,
{
    async fn set_up(&self, case: &EvalCase) -> Result<BoxAgent, BoxError> {
        self(case).into_agent()
    }
}

impl<F, Fut, R> Setup<shape::AsyncOfCase> for F
where
    F: Fn(&EvalCase) -> Fut + Sync,
    Fut: Future<Output = R> + Send,
    R: IntoAgent,
{
    async fn set_up(&self, case: &EvalCase) -> Result<BoxAgent, BoxError> {
        self(case).await.into_agent()
    }
}
