//! The functions that make the agents of a runner.

use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

use eval_format::EvalCase;

use crate::agent::{BoxAgent, BoxError, IntoAgent};
use crate::setup::shape;

/// A setup function, which [`EvalRunner`](crate::EvalRunner) calls before each run: a function or closure that makes
/// the agent.
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
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let turn = Invocation::user("Paris?").response("It is sunny.");
/// let set = EvalSet::new("s").case(EvalCase::new("sunny").turn(turn.clone())).case(EvalCase::new("new").turn(turn));
/// let summary = EvalRunner::new().run_set(&set, recorded, 1).await?.summary();
/// assert_eq!((summary.passed, summary.errors), (1, 1));
/// # Ok(()) }
/// ```
///
/// Four shapes, told apart by their type: `Fn() -> A`, `Fn() -> impl Future<Output = A>`,
/// `Fn(&EvalCase) -> A`, `Fn(&EvalCase) -> impl Future<Output = A>`, where `A` is an agent or a `Result` of
/// one. A function that changes its captures (`FnMut`) is passed in a [`Mutex`].
///
/// ```
/// use std::sync::Mutex;
///
/// use eval_core::{EvalCase, EvalRunner, Invocation, Replay};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?").response("It is sunny."));
/// let runner = EvalRunner::new();
///
/// // An async closure may borrow: from the case, and from what is around it.
/// let known = vec!["It is sunny.".to_owned()];
/// let setup = async |case: &EvalCase| {
///     assert_eq!(case.eval_id, "sunny");
///     Replay::new([[known[0].as_str()]])
/// };
/// assert!(runner.run_case(&case, setup).await?.verdict.passed());
///
/// let mut made = 0;
/// let setup = || {
///     made += 1;
///     Replay::new([["It is sunny."]])
/// };
/// assert!(runner.run_case(&case, Mutex::new(setup)).await?.verdict.passed());
/// assert_eq!(made, 1);
/// # Ok(()) }
/// ```
///
/// Three shapes do not compile yet. For an `async move` closure whose future borrows from the closure's
/// captures, write `move |case: &EvalCase| { let client = client.clone(); async move { .. } }`. For a future
/// that borrows from a function in a lock, clone in the same way. For an agent that borrows, use
/// [`run_agent`](crate::EvalRunner::run_agent), which takes it as a value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot set up an agent",
    label = "wrong shape for a setup function",
    note = "expected `Fn() -> impl Agent` or `Fn(&EvalCase) -> impl Agent`, plain or async, also as `Result<impl Agent, E>`",
    note = "write the type of a closure's argument: `|case: &EvalCase| ..`",
    note = "a closure that changes what it captured needs a lock: `Mutex::new(|| ..)`"
)]
pub trait Setup<Shape>: Sync {
    /// Makes the agent for one run of a case.
    fn set_up(&self, case: &EvalCase) -> impl Future<Output = Result<BoxAgent, BoxError>> + Send;
}

/// Implements `Setup` for functions of a shape: their type, the type that the function returns with its future if it
/// is async, and the call.
macro_rules! setups {
    ($(
        $shape:ty: $for:ty, $call:ident($($of:ty)?) -> $returned:ident $(is $fut:ident)? + $auto:ident,
        |$function:ident, $case:ident| $agent:expr;
    )+) => {
        $(
            impl<F, $($fut,)? R> Setup<$shape> for $for
            where
                F: $call($($of)?) -> $returned + $auto,
                $($fut: Future<Output = R> + Send,)?
                R: IntoAgent,
            {
                async fn set_up(&self, $case: &EvalCase) -> Result<BoxAgent, BoxError> {
                    let $function = self;
                    // A separate statement, so that no lock is held across an await.
                    let agent = $agent;
                    $(
                        let future: $fut = agent;
                        let agent = future.await;
                    )?
                    agent.into_agent()
                }
            }
        )+
    };
}

setups! {
    shape::Plain: F, Fn() -> R + Sync, |function, _case| function();
    shape::Async: F, Fn() -> Fut is Fut + Sync, |function, _case| function();
    shape::PlainOfCase: F, Fn(&EvalCase) -> R + Sync, |function, case| function(case);
    shape::Locked<shape::Plain>: Mutex<F>, FnMut() -> R + Send, |function, _case| locked(function)();
    shape::Locked<shape::Async>: Mutex<F>, FnMut() -> Fut is Fut + Send, |function, _case| locked(function)();
    shape::Locked<shape::PlainOfCase>: Mutex<F>, FnMut(&EvalCase) -> R + Send,
        |function, case| locked(function)(case);
    shape::Locked<shape::AsyncOfCase>: Mutex<F>, FnMut(&EvalCase) -> Fut is Fut + Send,
        |function, case| locked(function)(case);
}

/// An async function of the case, for one lifetime of the case. The bound `for<'a> AsyncOfCase<'a>` expresses
/// what `Fn(&'a EvalCase) -> impl Future + 'a` cannot.
pub trait AsyncOfCase<'a>: Fn(&'a EvalCase) -> Self::Answer {
    /// The output of the future.
    type Agent: IntoAgent;
    /// The future.
    type Answer: Future<Output = Self::Agent> + Send;
}

impl<'a, F, Fut, R> AsyncOfCase<'a> for F
where
    F: Fn(&'a EvalCase) -> Fut,
    Fut: Future<Output = R> + Send,
    R: IntoAgent,
{
    type Agent = R;
    type Answer = Fut;
}

impl<F> Setup<shape::AsyncOfCase> for F
where
    F: for<'a> AsyncOfCase<'a> + Sync,
{
    async fn set_up(&self, case: &EvalCase) -> Result<BoxAgent, BoxError> {
        self(case).await.into_agent()
    }
}

/// The function in a lock. Poison is ignored: a call that panicked is an error of its own case alone.
fn locked<F>(function: &Mutex<F>) -> MutexGuard<'_, F> {
    function.lock().unwrap_or_else(PoisonError::into_inner)
}
