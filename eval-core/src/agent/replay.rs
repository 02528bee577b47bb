//! Agents that replay recorded events.

use std::collections::VecDeque;

use eval_format::options::DEFAULT_AUTHOR;
use eval_format::{Content, EvalCase, IntermediateData, Invocation, Part};

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

/// Replays the expectations of a case: its calls, its answers, and its final session state.
///
/// ```
/// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay, json};
/// use eval_core::format::FunctionCall;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let call = FunctionCall::new("get_weather", json!({ "city": "Paris" }));
/// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?").call(call).response("It is sunny."));
/// let report = EvalRunner::new().run_case(&case, |case: &EvalCase| Replay::from(case)).await?;
/// assert!(report.verdict.passed());
/// # Ok(()) }
/// ```
impl From<&EvalCase> for Replay {
    fn from(case: &EvalCase) -> Self {
        let mut turns: VecDeque<Vec<Event>> = case.conversation.iter().map(events_of).collect();
        if let Some(last) = turns.back_mut().filter(|_| !case.final_session_state.is_empty()) {
            last.push(Event {
                state_delta: case.final_session_state.clone(),
                ..Event::empty(DEFAULT_AUTHOR)
            });
        }
        Self { turns, played: 0 }
    }
}

/// The events of a turn of a set, its answer last.
pub(crate) fn events_of(turn: &Invocation) -> Vec<Event> {
    let of_parts = |author: &str, role: &str, parts| Event::new(author, Content::new(role, parts));
    let mut events = match &turn.intermediate_data {
        None => Vec::new(),
        Some(IntermediateData::Events(events)) => events.iter().map(Event::from_set).collect(),
        Some(IntermediateData::Tools { tool_uses, tool_responses, intermediate_responses }) => {
            let said = intermediate_responses.iter().map(|(author, parts)| {
                of_parts(if author.is_empty() { DEFAULT_AUTHOR } else { author }, "model", parts.clone())
            });
            let calls = tool_uses
                .iter()
                .map(|call| of_parts(DEFAULT_AUTHOR, "model", vec![Part::call(call.clone())]));
            let responses = tool_responses
                .iter()
                .map(|it| of_parts(DEFAULT_AUTHOR, "user", vec![Part::response(it.clone())]));
            said.chain(calls).chain(responses).collect()
        }
    };
    events.extend(turn.final_response.clone().map(|answer| Event::new(DEFAULT_AUTHOR, answer)));
    events
}

impl Agent for Replay {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let events = self.turns.pop_front().ok_or_else(|| {
            format!("the recording ends after {}", eval_support::words::count(self.played, "turn"))
        })?;
        self.played += 1;
        for event in events {
            turn.recorder().event(event);
        }
        Ok(())
    }
}
