//! The annotated function, told apart by its type.
//!
//! The attribute does not read the signature of the annotated function. The trait here infers the shape from
//! the type, so type aliases, macros and re-exports all work, and a wrong shape is explained in a sentence.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use eval_format::EvalCase;

use super::eval_run::EvalRun;
use crate::agent::{BoxAgent, BoxError, IntoAgent};
use crate::judge::Making;
use crate::metric::MakeMetric;
use crate::setup::{IntoOutcome, shape};

/// The outcome of a call of the annotated function.
#[derive(Debug)]
pub enum Driven {
    /// An agent to run the case with.
    Agent(BoxAgent),
    /// The function is a test body; it ran the case itself.
    Body,
}

/// The future of a call. It is not `Send`: a test stays on its thread.
pub type Driving = Pin<Box<dyn Future<Output = Result<Driven, BoxError>>>>;

/// A function that `#[eval_set]` can annotate.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot drive an eval case",
    label = "wrong shape for `#[eval_set]`",
    note = "expected `fn() -> impl Agent` or `fn(&EvalCase) -> impl Agent`, plain or async, also as `Result<impl Agent, E>`",
    note = "or a test body of your own: `fn(EvalRun)`, plain or async, returning `()` or `Result<(), E>`"
)]
pub trait EvalFn<Shape>: Copy + 'static {
    /// Whether the function is a test body: it runs the case itself and has no time limit of its own.
    const IS_BODY: bool = false;

    /// Calls the function for one run of a case.
    fn call(self, case: &'static EvalCase, run: EvalRun) -> Driving;
}

/// The functions of an attribute: the annotated function, and the functions that its arguments name.
#[derive(Debug)]
pub struct Functions {
    /// The annotated function.
    pub annotated: Annotated,
    /// The functions that make the custom metrics, by name.
    pub metrics: &'static [(&'static str, MakeMetric)],
    /// Calls the function that makes the judge, if the attribute names one.
    pub judge: Option<fn() -> Making>,
}

/// The annotated function, whatever its shape.
pub struct Annotated {
    /// Whether the function is a test body: it runs the case itself and has no time limit of its own.
    pub(super) is_body: bool,
    /// Calls the function for one run of a case.
    pub(super) call: Box<dyn Fn(&'static EvalCase, EvalRun) -> Driving>,
}

impl fmt::Debug for Annotated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Annotated").field("is_body", &self.is_body).finish_non_exhaustive()
    }
}

/// The annotated function as a value. Compiles only for functions that `#[eval_set]` can annotate.
pub fn annotated<Shape, F: EvalFn<Shape>>(function: F) -> Annotated {
    Annotated { is_body: F::IS_BODY, call: Box::new(move |case, run| function.call(case, run)) }
}

fn agent(value: impl IntoAgent) -> Result<Driven, BoxError> {
    value.into_agent().map(Driven::Agent)
}

fn body(value: impl IntoOutcome) -> Result<Driven, BoxError> {
    value.into_outcome().map(|()| Driven::Body)
}

impl<F, R> EvalFn<shape::Plain> for F
where
    F: Fn() -> R + Copy + 'static,
    R: IntoAgent + 'static,
{
    fn call(self, _: &'static EvalCase, _: EvalRun) -> Driving {
        Box::pin(async move { agent(self()) })
    }
}

impl<F, Fut, R> EvalFn<shape::Async> for F
where
    F: Fn() -> Fut + Copy + 'static,
    Fut: Future<Output = R> + 'static,
    R: IntoAgent + 'static,
{
    fn call(self, _: &'static EvalCase, _: EvalRun) -> Driving {
        Box::pin(async move { agent(self().await) })
    }
}

impl<F, R> EvalFn<shape::PlainOfCase> for F
where
    F: Fn(&'static EvalCase) -> R + Copy + 'static,
    R: IntoAgent + 'static,
{
    fn call(self, case: &'static EvalCase, _: EvalRun) -> Driving {
        Box::pin(async move { agent(self(case)) })
    }
}

impl<F, Fut, R> EvalFn<shape::AsyncOfCase> for F
where
    F: Fn(&'static EvalCase) -> Fut + Copy + 'static,
    Fut: Future<Output = R> + 'static,
    R: IntoAgent + 'static,
{
    fn call(self, case: &'static EvalCase, _: EvalRun) -> Driving {
        Box::pin(async move { agent(self(case).await) })
    }
}

impl<F, R> EvalFn<shape::Body> for F
where
    F: Fn(EvalRun) -> R + Copy + 'static,
    R: IntoOutcome + 'static,
{
    const IS_BODY: bool = true;

    fn call(self, _: &'static EvalCase, run: EvalRun) -> Driving {
        Box::pin(async move { body(self(run)) })
    }
}

impl<F, Fut, R> EvalFn<shape::AsyncBody> for F
where
    F: Fn(EvalRun) -> Fut + Copy + 'static,
    Fut: Future<Output = R> + 'static,
    R: IntoOutcome + 'static,
{
    const IS_BODY: bool = true;

    fn call(self, _: &'static EvalCase, run: EvalRun) -> Driving {
        Box::pin(async move { body(self(run).await) })
    }
}
