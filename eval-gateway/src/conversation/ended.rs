//! The end of a conversation: what is written, what was never asked for, and what the report says.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use eval_support::message::cut;
use eval_support::untrusted::one_line;
use eval_support::words::{count, tokens};

use super::{Conversation, State};
use crate::endpoint;
use crate::mode::ModelMode;
use crate::recording::{CaseRecording, Exchange};
use crate::variables;

/// The time in which calls in flight have to end, once the agent has ended.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);

/// What a conversation leaves behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// Remarks for the report.
    pub notes: Vec<String>,
    /// Why the recording is not what it should be. It makes the case an ERROR.
    pub error: Option<String>,
}

impl From<String> for Ended {
    /// A conversation that broke off.
    fn from(error: String) -> Self {
        Self { notes: Vec::new(), error: Some(error) }
    }
}

impl Conversation {
    /// Ends the conversation: its address is gone, and what was asked is written. It may wait for the disk. `is_whole` says
    /// that the agent came to its end, so that what is recorded should have been asked for.
    pub fn end(&self, is_whole: bool) -> Ended {
        if let Some(Ok(token)) = self.0.token.get() {
            endpoint::dismiss(token);
        }
        let open = self.close();
        let (fresh, failures, misses, calls, total, reached, redirects) = {
            let mut state = self.0.state.lock();
            let fresh = std::mem::take(&mut state.fresh);
            let mut failures: Vec<String> = std::mem::take(&mut state.failures).into_values().collect();
            failures.extend((0..open).map(|_| format!("a call had not ended {PATIENCE:?} after the agent")));
            (
                fresh,
                failures,
                state.misses.len(),
                state.given,
                state.usage.total(),
                std::mem::take(&mut state.reached),
                state.redirects,
            )
        };
        let mut ended = Ended::default();
        if calls > 0 {
            ended.notes.push(told(self.0.mode, calls, total, asked(&fresh)));
        }
        if redirects {
            ended.notes.extend(variables::note(self.0.mode, self.0.settings.is_offline));
        }
        if self.0.mode.records() && misses == 0 {
            ended.error = match failures.first() {
                Some(why) => Some(format!(
                    "{} of a model had no answer, so nothing was recorded: {why}",
                    count(failures.len(), "call")
                )),
                None if !is_whole && self.0.mode == ModelMode::RecordAll => {
                    ended.notes.push("nothing was recorded, since the conversation broke off".to_owned());
                    None
                }
                None => self.write(fresh).err(),
            };
        }
        if self.0.mode == ModelMode::RecordAll && (!is_whole || misses > 0 || ended.error.is_some()) {
            self.0.book.keep();
        }
        let rebound = {
            let mut state = self.0.state.lock();
            let rebound = std::mem::take(&mut state.rebound);
            for (key, _) in &rebound {
                // The answer leaves its old key.
                state.used.entry(key.clone()).and_modify(|used| *used = used.saturating_sub(1));
            }
            rebound
        };
        if misses == 0 && !rebound.is_empty() {
            ended.error = self.0.book.rebind(rebound).err();
        }
        let unreached = self.0.faults.unreached(|turn, call| reached.contains(&(turn, call)));
        if let Some(first) = unreached.first().filter(|_| is_whole && misses == 0 && ended.error.is_none()) {
            ended.error =
                Some(format!("the fault {first} was not reached: the turn has fewer calls of models"));
        }
        if self.0.mode.reads() && is_whole && misses == 0 {
            self.look_back(&mut ended);
        }
        ended
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
            if begun.elapsed() >= PATIENCE {
                return state.open;
            }
            drop(state);
            std::thread::sleep(PAUSE);
        }
    }

    fn write(&self, fresh: Vec<Exchange>) -> Result<(), String> {
        if fresh.is_empty() {
            return Ok(());
        }
        self.0.book.write(self.0.mode, self.0.run, fresh)
    }

    /// Names recorded answers that were never asked for, and answers to an older request.
    fn look_back(&self, ended: &mut Ended) {
        let state = self.0.state.lock();
        let recording = self.0.book.recording();
        let unused = unused(&recording, &state, self.0.run);
        let shown = self.0.book.shown();
        if !unused.is_empty() {
            let text = format!(
                "{} in `{shown}` never asked for: {}; record the case again: {}",
                was_or_were(unused.len()),
                unused.join("; "),
                self.0.record.replacen("=record ", "=record-all ", 1),
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
            ended.notes.push(format!("{} in `{shown}` {verb} to an older request", count(rebound, "answer")));
        }
    }
}

fn was_or_were(number: usize) -> String {
    format!("{} {}", count(number, "recorded answer"), if number == 1 { "was" } else { "were" })
}

/// The number of answers that models gave.
fn asked(fresh: &[Exchange]) -> usize {
    fresh.iter().map(|exchange| exchange.answers.len()).sum()
}

fn told(mode: ModelMode, calls: u64, total: u64, asked: usize) -> String {
    let calls = usize::try_from(calls).unwrap_or(usize::MAX);
    let total = tokens(i128::from(total));
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

/// Recorded answers of a run that no call asked for, each as a sentence.
fn unused(recording: &CaseRecording, state: &State, run: usize) -> Vec<String> {
    let left = recording.exchanges.iter().filter_map(|exchange| {
        let recorded = exchange.answers_of(run).count();
        let count = |counts: &HashMap<String, usize>| counts.get(&exchange.key).copied().unwrap_or(0);
        let used = count(&state.used).max(count(&state.seen));
        let last = exchange.parts.messages.last().map(|message| one_line(&cut(&message.to_string(), 80)));
        (used < recorded).then(|| {
            format!(
                "turn {}, {}, {}: {}",
                exchange.turn,
                exchange.wire,
                exchange.model,
                last.unwrap_or_default()
            )
        })
    });
    left.collect()
}
