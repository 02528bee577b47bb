//! The end of a conversation: what is written, what was never asked for, and what the report says.

use std::time::{Duration, Instant};

use eval_support::message::{NEVER_ASKED_FOR, NOTHING_RECORDED, TO_AN_OLDER_REQUEST, cut};
use eval_support::untrusted::one_line;
use eval_support::variables::MODELS;
use eval_support::words::{count, tokens};

use super::attempts::uncured;
use super::{Conversation, State, kind};
use crate::endpoint;
use crate::mode::ModelMode;
use crate::recording::{CaseRecording, Exchange};
use crate::usage::ModelUse;
use crate::variables;

/// The time in which calls in flight have to end, once the agent has ended.
const CALLS_TIMEOUT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);

/// Remains of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// Remarks for the report.
    pub notes: Vec<String>,
    /// The calls of each model that had an answer.
    pub models: Vec<ModelUse>,
    /// The error of the recording. It makes the case an ERROR.
    pub error: Option<String>,
}

impl From<String> for Ended {
    /// A conversation that broke off.
    fn from(error: String) -> Self {
        Self { error: Some(error), ..Self::default() }
    }
}

impl Conversation {
    /// Ends the conversation: its address is gone, and what was asked is written. It may wait for the disk. `is_whole` says
    /// that the agent came to its end, so that what is recorded should have been asked for.
    pub fn end(&self, is_whole: bool) -> Ended {
        let has_address = self.close_address();
        let open = self.close();
        let mut state = self.0.state.lock();
        let fresh = std::mem::take(&mut state.fresh);
        let rebound = std::mem::take(&mut state.rebound);
        let mut failures = uncured(std::mem::take(&mut state.attempts));
        failures.extend((0..open).map(|_| format!("a call had not ended {CALLS_TIMEOUT:?} after the agent")));
        let is_whole = is_whole && state.misses.is_empty();
        let (all, models) = (state.uses.all(), state.uses.by_model());
        let mut ended = Ended { notes: std::mem::take(&mut state.notes), models, error: None };
        if all.calls > 0 {
            ended.notes.push(told(self.0.mode, &all));
        }
        if self.0.is_copy() && all.calls > 0 {
            ended.notes.push(format!(
                "run {} is a copy: `models_runs` lets it play the recorded answers of run 1",
                self.0.run
            ));
        }
        if state.redirects {
            ended.notes.extend(variables::note(self.0.mode, self.0.settings.is_offline));
        }
        let (misses, asked_nothing) = (state.misses.len(), state.asked_nothing());
        ended.notes.extend(state.before_gateway.take().filter(|_| asked_nothing));
        drop(state);
        if !has_address {
            self.went_past(is_whole, &mut ended);
            return ended;
        }
        if self.0.writes() && misses == 0 {
            ended.error = match failures.first() {
                Some(why) => Some(format!(
                    "{} of a model had no answer, so nothing was recorded: {why}",
                    count(failures.len(), "call")
                )),
                None if is_whole && asked_nothing => self.recorded_nothing(&mut ended.notes),
                None if is_whole => self.write(fresh).err(),
                None if fresh.is_empty() => None,
                None => {
                    ended.notes.push("nothing was recorded, since the conversation broke off".to_owned());
                    None
                }
            };
        }
        if is_whole && !rebound.is_empty() {
            let mut state = self.0.state.lock();
            // The answers leave their old requests.
            state.taken.clear();
            for put in &rebound {
                *state.used.entry(put.exchange.key.clone()).or_default() += 1;
            }
            drop(state);
            ended.error = self.0.cassette.rebind(rebound).err();
        }
        if !is_whole {
            return ended;
        }
        let state = self.0.state.lock();
        let unreached = self.0.faults.unreached(|turn, call| state.reached.contains(&(turn, call)));
        drop(state);
        if let Some(first) = unreached.first().filter(|_| ended.error.is_none()) {
            ended.error =
                Some(format!("the fault {first} was not reached: the turn has fewer calls of models"));
        }
        if asked_nothing && ended.error.is_none() {
            ended.error = self.replayed_nothing(&mut ended.notes);
        }
        if self.0.mode.reads() {
            self.look_back(&mut ended);
        }
        ended
    }

    /// Closes the address. Returns whether the agent or its program had one, so that its calls could come here.
    fn close_address(&self) -> bool {
        let own = self.0.token.get();
        if let Some(Ok(token)) = own {
            endpoint::unregister(token);
        }
        let state = self.0.state.lock();
        own.is_some() || state.redirects || !state.reached.is_empty()
    }

    /// Tells that the agent asked for no address, so that its calls of models, if it makes any, went past the gateway.
    fn went_past(&self, is_whole: bool, ended: &mut Ended) {
        let is_replayed = self.is_replayed();
        // The recorded calls should have been asked for again.
        let is_recorded =
            is_replayed || (self.0.mode == ModelMode::RecordAll && self.0.cassette.has_run(self.0.run));
        let calls = if is_recorded { "its calls" } else { "calls, if it makes any," };
        let text = format!(
            "the agent took no address for its models, so {calls} went past the recording `{}`: give its client \
             `session.model_url(..)`, or start its program or server here; {MODELS}=live lets it ask",
            self.0.cassette.shown()
        );
        if is_whole && is_recorded {
            ended.error = Some(text);
        } else {
            ended.notes.push(text);
        }
        if is_whole && self.0.writes() {
            ended.notes.push(NOTHING_RECORDED.to_owned());
        }
    }

    /// Admits no further call, and waits for the calls that a model answers now. Returns the number of calls that do not end.
    fn close(&self) -> usize {
        self.0.state.lock().is_over = true;
        let begun = Instant::now();
        loop {
            let state = self.0.state.lock();
            // Without a recording to write, no answer is waited for.
            if state.open == 0 || !self.0.mode.records() || !state.misses.is_empty() {
                return 0;
            }
            if begun.elapsed() >= CALLS_TIMEOUT {
                return state.open;
            }
            drop(state);
            std::thread::sleep(PAUSE);
        }
    }

    fn write(&self, fresh: Vec<Exchange>) -> Result<(), String> {
        // Calls that faults answered alone have nothing to add.
        if fresh.is_empty() && self.0.mode != ModelMode::RecordAll {
            return Ok(());
        }
        self.0.cassette.write(self.0.mode, self.0.run, fresh)
    }

    /// Names recorded answers that were never asked for, and answers to an older request.
    fn look_back(&self, ended: &mut Ended) {
        let state = self.0.state.lock();
        let recording = self.0.cassette.recording();
        let unused = self.unused(&recording, &state);
        let number = unused.iter().map(|(number, _)| number).sum();
        let unused: Vec<String> = unused.into_iter().map(|(_, text)| text).collect();
        let shown = self.0.cassette.shown();
        if !unused.is_empty() {
            let text = format!(
                "{} in `{shown}`{NEVER_ASKED_FOR}{}; record the case again: {}",
                was_or_were(number),
                unused.join("; "),
                self.record_all(),
            );
            if self.0.settings.unused_is_error && ended.error.is_none() {
                ended.error = Some(text);
            } else {
                ended.notes.push(text);
            }
        }
        let rebound = recording.rebound();
        if rebound > 0 {
            let verb = if rebound == 1 { "is" } else { "are" };
            ended
                .notes
                .push(format!("{} in `{shown}` {verb}{TO_AN_OLDER_REQUEST}", count(rebound, "answer")));
        }
    }
}

impl Conversation {
    /// The number of recorded answers that no call asked for, by request, each with a text. In a matrix they are those to the
    /// prompts, tools and models of this variant, since other variants have theirs in the same file.
    fn unused(&self, recording: &CaseRecording, state: &State) -> Vec<(usize, String)> {
        let run = self.0.cassette.played_by(self.0.run);
        // An answer that a fault cut off was asked for.
        let mut used = state.used.clone();
        for (key, seen) in &state.seen {
            let used = used.entry(key.clone()).or_default();
            *used = (*used).max(*seen);
        }
        let is_meant = |exchange: &&Exchange| {
            !self.0.cassette.is_variant() || state.kinds.contains(&kind(&exchange.model, &exchange.parts))
        };
        let mut left = Vec::new();
        for exchange in recording.exchanges.iter().filter(is_meant) {
            let recorded = exchange.answers_of(run).count();
            let used = used.entry(exchange.key.clone()).or_default();
            let here = recorded.min(*used);
            *used -= here;
            if here < recorded {
                let last = exchange.parts.messages.last();
                let last = last.map(|message| one_line(&cut(&message.to_string(), 80))).unwrap_or_default();
                let Exchange { turn, wire, model, .. } = exchange;
                left.push((recorded - here, format!("turn {turn}, {wire}, {model}: {last}")));
            }
        }
        if let Some(runs) = self.0.cassette.played_runs().filter(|_| self.0.run == 1) {
            let of_more = |exchange: &Exchange| exchange.answers.iter().filter(|it| it.run > runs).count();
            let number: usize = recording.exchanges.iter().map(of_more).sum();
            if number > 0 {
                let text = format!("{} of runs after run {runs}, the last one", count(number, "answer"));
                left.push((number, text));
            }
        }
        left
    }
}

fn was_or_were(number: usize) -> String {
    format!("{} {}", count(number, "recorded answer"), if number == 1 { "was" } else { "were" })
}

/// A note about all calls: `2 calls of models asked: 36 tokens`.
fn told(mode: ModelMode, all: &ModelUse) -> String {
    let [calls, asked] = [all.calls, all.asked].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let total = tokens(i128::from(all.usage.total()));
    match mode {
        ModelMode::Replay | ModelMode::Rebind => {
            format!("{} of models replayed, recorded: {total}", count(calls, "call"))
        }
        ModelMode::Record if asked < calls => {
            format!("{} of models, {asked} asked and the others replayed: {total}", count(calls, "call"))
        }
        _ => format!("{} of models asked: {total}", count(calls, "call")),
    }
}
