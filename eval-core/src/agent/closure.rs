//! Agents from closures.

use std::future::Future;

use super::boxed::BoxError;
use super::interface::Agent;
use super::recorder::Recorder;
use super::turn::Turn;

struct FnAgent<F>(F);

/// An agent from a closure that answers one message.
///
/// ```
/// use eval_core::{BoxError, agent_fn, json};
///
/// async fn forecast(city: String) -> Result<String, BoxError> {
///     Ok(format!("sunny in {city}"))
/// }
///
/// let agent = agent_fn(|text, recorder| async move {
///     let sky = recorder.tool("forecast", json!({ "city": text }), forecast(text.clone())).await?;
///     Ok::<_, BoxError>(format!("It is {sky}."))
/// });
/// # let _ = agent;
/// ```
///
/// The closure is given the text of the message and the turn's [`Recorder`]. The text that it returns is recorded as the
/// answer. State that lasts from turn to turn lives in what the closure captures.
pub fn agent_fn<F, Fut, R, E>(answer: F) -> impl Agent
where
    F: FnMut(String, Recorder) -> Fut + Send,
    Fut: Future<Output = Result<R, E>> + Send,
    R: Into<String>,
    E: Into<BoxError>,
{
    FnAgent(answer)
}

impl<F, Fut, R, E> Agent for FnAgent<F>
where
    F: FnMut(String, Recorder) -> Fut + Send,
    Fut: Future<Output = Result<R, E>> + Send,
    R: Into<String>,
    E: Into<BoxError>,
{
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let answer = (self.0)(turn.text(), turn.recorder().clone());
        // A statement of its own: an error that is not `Send` is then not held across the await.
        let text = answer.await.map(Into::into).map_err(Into::into)?;
        turn.recorder().text(text);
        Ok(())
    }
}
