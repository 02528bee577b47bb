//! Transcripts: the events of one run of a case, before it is scored.

mod usage;

use std::fmt;
use std::sync::Arc;

use eval_format::{Content, IntermediateData, Invocation, Map};
use eval_support::debug_without_secrets;

use crate::agent::{Event, Session};
use crate::judge_outcome::JudgeError;
use crate::model_use::ModelUse;
use crate::verdict::Role;

/// The record of one run: the session, the turns, the state at the end, and the error if there was one.
#[derive(Clone, Default, PartialEq)]
pub struct Transcript {
    /// The session it ran in.
    pub session: Arc<Session>,
    /// The turns that took place. The last one may be unfinished.
    pub turns: Vec<TurnRecord>,
    /// The session state at the end.
    pub state: Map,
    /// The error that ended the run early.
    pub error: Option<RunError>,
    /// Remarks on the run: [`Recorder::note`](crate::Recorder::note).
    pub notes: Vec<String>,
    /// The calls of models that the gateway saw, by model. Empty if the agent asked its models itself.
    pub models: Vec<ModelUse>,
}

debug_without_secrets!(Transcript { session, turns, state, error, notes, models });

impl Transcript {
    /// The turns in ADK's form, as metrics see them.
    pub fn invocations(&self) -> Vec<Invocation> {
        self.turns.iter().map(|turn| turn.invocation.clone()).collect()
    }

    /// Takes the turns out, for metrics, which read them as one slice. [`return_invocations`](Self::return_invocations) gives
    /// them back.
    pub(crate) fn lend_invocations(&mut self) -> Vec<Invocation> {
        self.turns.iter_mut().map(|turn| std::mem::take(&mut turn.invocation)).collect()
    }

    pub(crate) fn return_invocations(&mut self, lent: Vec<Invocation>) {
        for (turn, invocation) in self.turns.iter_mut().zip(lent) {
            turn.invocation = invocation;
        }
    }
}

/// The record of one turn.
#[derive(Clone, Default, PartialEq)]
pub struct TurnRecord {
    /// All recorded events, in order.
    pub events: Vec<Event>,
    /// The turn in ADK's form, as metrics see it.
    pub invocation: Invocation,
}

debug_without_secrets!(TurnRecord { events, invocation });

/// An error that ended a run early. It makes the verdict an ERROR, never a low score, unless it is a failure.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunError {
    /// The part that failed.
    pub role: Role,
    /// The turn in which it happened, from 1; `None` outside of turns.
    pub turn: Option<usize>,
    /// The error in words.
    pub message: String,
    /// The error of the model that plays the user, if that model failed.
    pub judge: Option<JudgeError>,
    /// Whether the agent was not reached: see [`Unreachable`](crate::agent::Unreachable).
    pub unreachable: bool,
    /// Whether the run ended normally and failed anyway, as when a fault of a tool was not reached. It is scored, and its
    /// case has FAILED.
    pub is_failure: bool,
}

debug_without_secrets!(RunError { role, turn, message, judge, unreachable, is_failure });

impl RunError {
    /// An error without a judge's error behind it.
    pub fn new(role: Role, turn: Option<usize>, message: impl Into<String>) -> Self {
        Self { role, turn, message: message.into(), judge: None, unreachable: false, is_failure: false }
    }

    /// The failure of a run that came to its end.
    pub(crate) fn failure(role: Role, turn: usize, message: String) -> Self {
        Self { is_failure: true, ..Self::new(role, Some(turn), message) }
    }

    /// Whether a run with this error broke, so that it has no scores.
    pub(crate) fn breaks(&self) -> bool {
        !self.is_failure
    }
}

impl fmt::Display for RunError {
    /// For example `agent error in turn 2: connection refused`, and `failed in turn 2: the fault ..` of a failure.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_failure {
            f.write_str("failed")?;
        } else {
            write!(f, "{} error", self.role)?;
        }
        if let Some(turn) = self.turn {
            write!(f, " in turn {turn}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for RunError {}

/// The turn in ADK's form, as metrics see it.
///
/// The answer is the last final event with text. If there is none, it is the last final event that says
/// something. The other events are kept in order. The answer's own event is kept for its tokens; its content
/// is left out unless it holds calls. Unlike in ADK, events that carry only tokens are kept, so that every
/// model call is counted.
#[doc(hidden)]
pub fn invocation(user: &Content, events: &[Event]) -> Invocation {
    let answer = answer(events);
    let mut kept = Vec::with_capacity(events.len());
    for (at, event) in events.iter().enumerate() {
        if event.partial || event.is_users() {
            continue;
        }
        let is_answer = answer == Some(at);
        if is_answer || event.is_of_a_model_call() || event.says_something() {
            let is_repeated = is_answer && event.calls().next().is_none();
            kept.push(event.to_invocation_event(if is_repeated { None } else { event.content.clone() }));
        }
    }
    let mut turn = Invocation::new(user.clone()).with_intermediate_data(IntermediateData::Events(kept));
    turn.final_response = answer.and_then(|at| events[at].content.clone());
    turn
}

pub(crate) fn answer(events: &[Event]) -> Option<usize> {
    let finals = || {
        events
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, event)| !event.is_users() && event.is_final() && event.says_something())
    };
    finals().find(|(_, event)| event.has_text()).or_else(|| finals().next()).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eval_format::{FunctionCall, FunctionResponse, Part, UsageMetadata};
    use serde_json::json;

    fn call() -> Event {
        Event::new("a", Content::new("model", vec![Part::call(FunctionCall::new("f", json!({})))]))
    }

    fn result() -> Event {
        Event::new("a", Content::new("user", vec![Part::response(FunctionResponse::new("f", json!({})))]))
    }

    #[test]
    fn the_last_final_text_is_the_answer() {
        let user = Content::user("hi");
        let events = [Event::from("let me see"), call(), result(), Event::from("done")];
        let turn = invocation(&user, &events);
        assert_eq!(turn.response_text(), "done");
        assert_eq!(turn.tool_calls().count(), 1);
        let kept = turn.events();
        assert_eq!(kept.len(), 4);
        assert_eq!(kept[0].content.as_ref().map(Content::text).as_deref(), Some("let me see"));
        assert_eq!(kept[3].content, None, "the answer is not repeated among the events");
    }

    #[test]
    fn an_empty_text_is_no_answer_but_its_tokens_count() {
        let usage = Some(UsageMetadata::default().with_prompt_token_count(3));
        let events = [call(), result(), Event { usage, ..Event::from("") }];
        let turn = invocation(&Content::user("hi"), &events);
        assert_eq!(turn.final_response, None);
        assert_eq!(turn.events().len(), 3);
    }

    #[test]
    fn fragments_and_the_users_own_events_are_left_out() {
        let user = Event::new("user", Content::user("hi"));
        let loud = Event::new("USER", Content::model("not the agent's"));
        let fragment = Event { partial: true, ..Event::from("do") };
        let turn = invocation(&Content::user("hi"), &[user, loud, fragment, Event::from("done")]);
        assert_eq!((turn.events().len(), turn.response_text().as_str()), (1, "done"));
    }
}
