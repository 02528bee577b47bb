//! Recorded answers, and the faults that change or replace them.

use std::sync::MutexGuard;

use super::{Conversation, State};
use crate::book::Has;
use crate::faults::{Failure, Twist, changed};
use crate::guest::Reply;
use crate::miss::Place;
use crate::mode::ModelMode;
use crate::recording::{Answer, Body, Exchange};
use crate::wire::Asked;

impl Conversation {
    /// The next answer to a request, if one is recorded or was recorded in this run.
    pub(super) fn known(&self, state: &State, key: &str) -> Option<Answer> {
        let reads = self.0.reads();
        if reads && let Has::Unused(answer) = self.0.has(state, key) {
            return Some(answer);
        }
        let recorded = if reads { self.0.book.number(key, self.0.run) } else { 0 };
        // An answer that a fault cut off is not used up.
        let at = state.given_to(key).checked_sub(recorded)?;
        let fresh = state.fresh.iter().filter(|exchange| exchange.key == key);
        fresh.flat_map(|exchange| &exchange.answers).nth(at).cloned()
    }

    /// Gives a recorded answer, as a fault has it.
    pub(super) fn give(
        &self,
        mut state: MutexGuard<'_, State>,
        asked: &Asked,
        place: Place,
        answer: Answer,
        twist: Option<Twist>,
    ) -> Reply {
        state.use_up(&asked.key, twist);
        state.gave(asked, &answer);
        drop(state);
        match twist {
            Some(twist) => self.play(answer, twist, place),
            None => Reply::Recorded(Box::new(answer)),
        }
    }

    /// The reply with an answer as a fault has it. A fault that cannot be played is an error of the case.
    pub(super) fn play(&self, answer: Answer, twist: Twist, place: Place) -> Reply {
        let is_stream = matches!(answer.body, Body::Events(_));
        let why = match twist {
            Twist::Cut { is_error: true, .. } if !is_stream => "needs a stream, and the answer is none",
            Twist::Cut { events, is_error } => {
                return Reply::Cut { answer: Box::new(answer), events, is_error };
            }
            Twist::Changed(change) => match changed(&answer, change) {
                Some(answer) => return Reply::Recorded(Box::new(answer)),
                None => "changes nothing of the answer: it has no calls, or says nothing",
            },
        };
        let message = format!("the fault {} {why}", self.0.faults.name(place.turn, place.call));
        self.miss(message.clone());
        Reply::Refused(message)
    }

    /// The reply to a call that has a failure in place of an answer. A replay has to know its request all the same: a
    /// changed one is a miss.
    pub(super) fn fail(
        &self,
        mut state: MutexGuard<'_, State>,
        asked: &Asked,
        place: Place,
        failure: Failure,
    ) -> Reply {
        let is_recorded = self.0.book.recording().has(&asked.key);
        let is_known = is_recorded || !matches!(self.0.has(&state, &asked.key), Has::Nothing);
        if !is_known && self.0.writes() {
            // The agent may never send it again.
            state.fresh.push(Exchange::new(place.turn, asked.wire, &asked.model, asked.parts.clone()));
        } else if !is_known && self.0.mode == ModelMode::Replay {
            drop(state);
            return Reply::Refused(self.not_recorded(asked, place));
        }
        Reply::Failed(failure)
    }
}
