//! What a setup function returns.

use std::fmt::Display;

use super::boxed::BoxError;
use super::interface::{Agent, BoxAgent};

/// What a setup function returns: an agent, or a `Result` of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent",
    label = "this is returned where an agent is expected",
    note = "return `impl Agent` or `Result<impl Agent, E>` with `E: Display`",
    note = "a test body of your own takes an `EvalRun` and returns `()` or `Result<(), E>`"
)]
pub trait IntoAgent {
    /// The agent, or the error that kept it from being set up.
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
