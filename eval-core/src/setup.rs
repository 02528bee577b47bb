//! What functions of the user's return, and the shapes that such functions have.

use std::fmt::Display;

use crate::agent::{Agent, BoxAgent, BoxError};

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

/// The shapes of functions, one type each.
///
/// A trait that is implemented for functions of several shapes takes one of these as its parameter, so that the
/// implementations do not overlap.
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
