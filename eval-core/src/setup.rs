//! Functions that set up a run, told apart by their types.
//!
//! The attribute does not read the signature of the function it stands on; the traits here decide what
//! it is, so type aliases, macros and re-exports all work, and wrong shapes get a sentence.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;

use eval_format::EvalCase;

use crate::agent::{Agent, BoxAgent, BoxError};
use crate::eval_run::EvalRun;

/// What a setup function returns: an agent, or a `Result` of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent",
    label = "this is returned where an agent is expected",
    note = "return `impl Agent` or `Result<impl Agent, E>` with `E: Display`",
    note = "a test body of your own takes an `EvalRun` and returns `()` or `Result<(), E>`"
)]
pub trait IntoAgent {
    /// The agent, or why there is none.
    fn into_agent(self) -> Result<BoxAgent, BoxError>;
}

impl<A: Agent + 'static> IntoAgent for A {
    fn into_agent(self) -> Result<BoxAgent, BoxError> {
        Ok(self.boxed())
    }
}

impl<A: Agent + 'static, E: Display> IntoAgent for Result<A, E> {
    fn into_agent(self) -> Result<BoxAgent, BoxError> {
        // `{:#}` shows the whole chain of an `anyhow::Error`.
        self.map(Agent::boxed).map_err(|error| format!("{error:#}").into())
    }
}

/// What a test body returns: nothing, or a `Result` of nothing.
pub trait IntoOutcome {
    /// Success, or why not.
    fn into_outcome(self) -> Result<(), BoxError>;
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<E: Display> IntoOutcome for Result<(), E> {
    fn into_outcome(self) -> Result<(), BoxError> {
        self.map_err(|error| format!("{error:#}").into())
    }
}

/// What a call of the annotated function led to.
#[derive(Debug)]
pub enum Driven {
    /// An agent to run the case with.
    Agent(BoxAgent),
    /// The function ran the case itself, to its end.
    Body,
}

/// The future of a call; it stays on its thread.
pub type Driving = Pin<Box<dyn Future<Output = Result<Driven, BoxError>>>>;

/// A function that `#[eval_set]` can stand on.
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

/// The shapes of [`EvalFn`], one type each, so that the implementations do not overlap.
pub mod shape {
    /// `fn() -> impl Agent`.
    #[derive(Debug)]
    pub struct Plain;
    /// `async fn() -> impl Agent`.
    #[derive(Debug)]
    pub struct Async;
    /// `fn(&EvalCase) -> impl Agent`.
    #[derive(Debug)]
    pub struct PlainOfCase;
    /// `async fn(&EvalCase) -> impl Agent`.
    #[derive(Debug)]
    pub struct AsyncOfCase;
    /// `fn(EvalRun)`.
    #[derive(Debug)]
    pub struct Body;
    /// `async fn(EvalRun)`.
    #[derive(Debug)]
    pub struct AsyncBody;
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
