//! Answers to calls of models: recorded ones, faults in their place, and calls that a model answers now.

use std::sync::MutexGuard;
use std::time::Instant;

use super::attempts::{Attempt, Outcome};
use super::failure::failure_of;
use super::{Conversation, Shared, State, kind, rebound};
use crate::cassette::{Has, Rebound};
use crate::faults::{Failure, Played, Twist, changed};
use crate::handler::{Call, Handler, Reply};
use crate::limits::Sending;
use crate::miss::{self, Known, Place};
use crate::mode::{ModelMode, Settings};
use crate::recording::{Answer, Body, Exchange};
use crate::wire::{Asked, Incoming, NoWire, Wire};

/// A call of this conversation that a model answers.
struct Ticket {
    conversation: Conversation,
    asked: Asked,
    place: Place,
    began: Instant,
    is_over: bool,
    twist: Option<Twist>,
}

impl Conversation {
    /// Makes a call a miss: the recording has no answer to it.
    fn not_recorded(&self, asked: &Asked, place: Place) -> String {
        let place = Place { run: self.0.cassette.played_by(place.run), ..place };
        let exists = self.0.cassette.exists();
        let recording = self.0.cassette.recording().clone();
        let (shown, record) = (self.0.cassette.shown(), &*self.0.record);
        // Other variants have answers in the same file.
        let again = if self.0.cassette.is_variant() { record.to_owned() } else { self.record_all() };
        let known = Known { recording: &recording, shown, exists, record, record_all: &again };
        let message = miss::not_recorded(asked, place, known);
        self.miss(message.clone());
        message
    }

    /// Decides what answers a call.
    pub(crate) fn answer(&self, asked: Asked) -> Reply {
        let mut state = self.0.state.lock();
        if state.is_over {
            return Reply::Refused(format!("the conversation of case `{}` is over", self.eval_id()));
        }
        if let Some(miss) = state.misses.first() {
            // What comes after a miss is not known, and would be paid for in vain.
            let first = miss.message.lines().next().unwrap_or_default();
            return Reply::Refused(format!("the case `{}` is an error already: {first}", self.eval_id()));
        }
        state.calls_of_turn += 1;
        let place = Place { run: self.0.run, turn: state.said.len(), call: state.calls_of_turn };
        let (turn, call) = (place.turn, place.call);
        state.reached.insert((turn, call));
        state.uses.request(&asked.model);
        state.kinds.insert(kind(&asked.model, &asked.parts));
        let twist = match self.0.faults.at(turn, call) {
            Some(Played::Failure(failure)) => return self.fail(state, &asked, place, failure),
            Some(Played::Twist(twist)) => Some(twist),
            None => None,
        };
        if let Some(answer) = self.known(&state, &asked.key) {
            return self.give(state, &asked, place, answer, twist);
        }
        if self.0.mode == ModelMode::Rebind {
            match self.rebound(&mut state, &asked, place) {
                Ok(Some(answer)) => return Reply::Recorded(Box::new(answer)),
                Ok(None) => {}
                Err(why) => {
                    drop(state);
                    self.miss(why.clone());
                    return Reply::Refused(why);
                }
            }
        }
        if !self.0.mode.asks() {
            drop(state);
            return Reply::Refused(self.not_recorded(&asked, place));
        }
        if let Err(limit) = self.send(&mut state, &asked, place) {
            drop(state);
            self.miss(limit.clone());
            return Reply::Refused(limit);
        }
        state.open += 1;
        drop(state);
        let (conversation, began) = (self.clone(), Instant::now());
        let ticket = Ticket { conversation, asked, place, began, is_over: false, twist };
        Reply::Ask(Box::new(ticket), twist)
    }

    /// The answer to the recorded call that a request was before it changed. Fails if it is not known which one that was, and
    /// if an unchanged request asks for an answer that was given away.
    fn rebound(&self, state: &mut State, asked: &Asked, place: Place) -> Result<Option<Answer>, String> {
        let place = Place { run: self.0.cassette.played_by(place.run), ..place };
        let recording = self.0.cassette.recording().clone();
        let found = if state.taken.contains_key(&asked.key) {
            Err("did not change, and its answer was put under a request before it that changed".to_owned())
        } else {
            rebound::nearest(&recording, asked, place, |key| state.given_to(key))
        };
        let found = found.map_err(|why| {
            let record = self.record_all();
            let Place { turn, call, .. } = place;
            format!("call {call} of a model in turn {turn} {why}\nrecord the case again  {record}")
        });
        let Some((known, answer)) = found? else { return Ok(None) };
        *state.taken.entry(known.key.clone()).or_default() += 1;
        state.gave(asked, answer, false);
        let exchange = rebound::put_under(asked, place, known, answer);
        let (key, answered) = (known.key.clone(), known.answered.clone());
        state.rebound.push(Rebound { key, answered, exchange });
        Ok(Some(answer.clone()))
    }

    /// Counts a call that is sent to a model. Fails with the sentence about a limit that it would exceed, or about a recording that
    /// cannot be written.
    fn send(&self, state: &mut State, asked: &Asked, place: Place) -> Result<(), String> {
        if self.0.writes() {
            self.0.cassette.check_writable()?;
        }
        let Settings { limits, total, .. } = &self.0.settings;
        let has_tokens = asked.wire != Wire::Models && !asked.model.is_empty();
        let model = Some(&*asked.model).filter(|_| has_tokens);
        let Place { run, call, .. } = place;
        limits.send(Sending { eval_id: self.eval_id(), run, call, model }, &mut state.spent, total)
    }

    /// The next answer to a request, if one is recorded or was recorded in this run.
    fn known(&self, state: &State, key: &str) -> Option<Answer> {
        let reads = self.0.reads();
        if reads && let Has::Unused(answer) = self.0.has(state, key) {
            return Some(answer);
        }
        let recorded = if reads { self.0.cassette.number(key, self.0.run) } else { 0 };
        // An answer that a fault cut off is not used up.
        let at = state.given_to(key).checked_sub(recorded)?;
        let fresh = state.fresh.iter().filter(|exchange| exchange.key == key);
        fresh.flat_map(|exchange| &exchange.answers).nth(at).cloned()
    }

    /// Gives a recorded answer, as a fault has it.
    fn give(
        &self,
        mut state: MutexGuard<'_, State>,
        asked: &Asked,
        place: Place,
        answer: Answer,
        twist: Option<Twist>,
    ) -> Reply {
        state.use_up(&asked.key, twist);
        state.gave(asked, &answer, false);
        if self.0.mode.records() {
            state.attempts.push(Attempt::ends(&asked.key, Instant::now(), Outcome::Answered));
        }
        drop(state);
        match twist {
            Some(twist) => self.play(answer, twist, place),
            None => Reply::Recorded(Box::new(answer)),
        }
    }

    /// The reply with an answer as a fault has it. A fault that cannot be played is an error of the case.
    fn play(&self, answer: Answer, twist: Twist, place: Place) -> Reply {
        let is_stream = matches!(answer.body, Body::Events(_));
        let why = match twist {
            Twist::Cut { is_error: true, .. } if !is_stream => "needs a stream, and the answer is not one",
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

    /// The reply to a call that has a failure in place of an answer. A replay has to know its request anyway: a
    /// changed one is a miss.
    fn fail(&self, mut state: MutexGuard<'_, State>, asked: &Asked, place: Place, failure: Failure) -> Reply {
        let is_recorded = self.0.cassette.recording().has(&asked.key);
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

impl Handler for Conversation {
    fn reply(&self, incoming: &Incoming<'_>) -> Result<(Wire, Reply), NoWire> {
        let asked = self.read(incoming)?;
        Ok((asked.wire, self.answer(asked)))
    }

    fn miss(&self, why: &str) {
        Self::miss(self, why.to_owned());
    }

    fn may_ask(&self, said: &str) -> bool {
        self.said().last().is_some_and(|last| !last.is_empty() && said.contains(&**last))
    }

    fn is_offline(&self) -> bool {
        self.0.settings.is_offline
    }
}

impl Call for Ticket {
    fn asked(&self) -> &Asked {
        &self.asked
    }

    fn address(&self) -> String {
        let Asked { provider, rest, .. } = &self.asked;
        let given = self.conversation.0.settings.upstreams.get(provider);
        provider.upstream(given.map(String::as_str), rest)
    }

    fn play(&self, answer: Answer, twist: Twist) -> Reply {
        self.conversation.play(answer, twist, self.place)
    }

    fn answered(mut self: Box<Self>, answer: Answer) {
        self.is_over = true;
        let Shared { settings, run, .. } = &*self.conversation.0;
        let usage = answer.usage(self.asked.wire).unwrap_or_default();
        let mut state = self.conversation.0.state.lock();
        // An answer that broke off was paid for, too.
        settings.limits.took(&self.asked.model, usage, &mut state.spent, &settings.total);
        if let Some(failure) = failure_of(&answer, self.asked.wire)
            && !settings.keeps_failures
        {
            state.attempts.push(self.ends(Outcome::Failed(failure)));
            return;
        }
        state.attempts.push(self.ends(Outcome::Answered));
        let answer = Answer { run: *run, ..answer };
        state.use_up(&self.asked.key, self.twist);
        state.gave(&self.asked, &answer, true);
        let Asked { wire, model, parts, .. } = &self.asked;
        let mut exchange = Exchange::new(self.place.turn, *wire, model, parts.clone());
        exchange.answers.push(answer);
        state.fresh.push(exchange);
    }

    fn failed(mut self: Box<Self>, why: String) {
        self.is_over = true;
        let attempt = self.ends(Outcome::Failed(why));
        self.conversation.0.state.lock().attempts.push(attempt);
    }
}

impl Ticket {
    /// The call as it ends now.
    fn ends(&self, outcome: Outcome) -> Attempt {
        Attempt::ends(&self.asked.key, self.began, outcome)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.conversation.0.state.lock();
        state.open -= 1;
        if !self.is_over {
            state.attempts.push(self.ends(Outcome::Left));
        }
    }
}
