//! Agents that replay recorded events.

use std::collections::VecDeque;

use super::boxed::BoxError;
use super::event::Event;
use super::interface::Agent;
use super::turn::Turn;

/// An agent that replays recorded events, turn by turn.
///
/// ```
/// use eval_core::agent::Event;
/// use eval_core::format::{Content, FunctionCall, Part};
/// use eval_core::{Replay, json};
///
/// let call = Part::call(FunctionCall::new("get_weather", json!({ "city": "Paris" })));
/// let agent = Replay::new([
///     vec![Event::new("agent", Content::new("model", vec![call])), Event::from("It is sunny in Paris.")],
///     vec![Event::from("It will rain tomorrow.")],
/// ]);
/// # let _ = agent;
/// ```
///
/// A turn after the last recorded one is an error.
#[derive(Clone, Debug)]
pub struct Replay {
    turns: VecDeque<Vec<Event>>,
    played: usize,
}

impl Replay {
    /// An agent that replays these events, one inner sequence per turn.
    pub fn new<T, E>(turns: impl IntoIterator<Item = T>) -> Self
    where
        T: IntoIterator<Item = E>,
        E: Into<Event>,
    {
        let turns = turns.into_iter().map(|events| events.into_iter().map(Into::into).collect()).collect();
        Self { turns, played: 0 }
    }
}

impl Agent for Replay {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let events = self.turns.pop_front().ok_or_else(|| {
            format!("the recording ends after {}", crate::message::count(self.played, "turn"))
        })?;
        self.played += 1;
        for event in events {
            turn.recorder().event(event);
        }
        Ok(())
    }
}
