//! Answers for requests that changed since they were recorded.

use std::time::Duration;

use eval_format::Value;
use eval_support::words::count;
use similar::TextDiff;

use super::{Conversation, State};
use crate::book::Rebound;
use crate::miss::Place;
use crate::recording::{Answer, Exchange};
use crate::wire::{Asked, Parts};

/// The time after which a comparison is no longer exact.
const PATIENCE: Duration = Duration::from_millis(200);

impl Conversation {
    /// The answer to the recorded request that is nearest to one that changed: of the same turn, wire and model. `None` if
    /// there is none. Fails if two are as near, and if an unchanged request asks for an answer that was given away.
    pub(super) fn rebound(
        &self,
        state: &mut State,
        asked: &Asked,
        place: Place,
    ) -> Result<Option<Answer>, String> {
        let refused = |why: &str| {
            let record = self.0.record.replacen("=record ", "=record-all ", 1);
            let Place { turn, call, .. } = place;
            Err(format!("call {call} of a model in turn {turn} {why}\nrecord the case again  {record}"))
        };
        if state.taken.contains_key(&asked.key) {
            return refused("did not change, and its answer was put under a request before it that changed");
        }
        let recording = self.0.book.recording().clone();
        let run = self.0.book.played_by(place.run);
        let number = |key: &str| state.used.get(key).unwrap_or(&0) + state.taken.get(key).unwrap_or(&0);
        let of_call = recording.exchanges.iter().filter(|known| {
            known.turn == place.turn && known.wire == asked.wire && known.model == asked.model
        });
        let mut near: Vec<(f32, &Exchange)> = of_call
            .filter(|known| recording.answers_to(&known.key, run).nth(number(&known.key)).is_some())
            .map(|known| (likeness(&known.parts, &asked.parts), known))
            .collect();
        near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        near.dedup_by(|(_, one), (_, other)| one.key == other.key);
        let known = match near[..] {
            [] => return Ok(None),
            [(one, _), (other, _), ..] if one.total_cmp(&other).is_eq() => {
                let as_near = near.iter().filter(|(other, _)| other.total_cmp(&one).is_eq()).count();
                return refused(&format!(
                    "changed, and {} of the turn are as near to it, so it is not known which one it was",
                    count(as_near, "recorded call")
                ));
            }
            [(_, known), ..] => known,
        };
        let before = number(&known.key);
        let of_key = recording.exchanges.iter().filter(|other| other.key == known.key);
        let mut answers = of_key.flat_map(|of| of.answers_of(run).map(move |answer| (of, answer)));
        let Some((known, answer)) = answers.nth(before) else { return Ok(None) };
        *state.taken.entry(known.key.clone()).or_default() += 1;
        state.gave(asked, answer);
        let mut exchange = Exchange::new(place.turn, asked.wire, &asked.model, asked.parts.clone());
        let first = known.answered.as_ref().unwrap_or(&known.key);
        // A request that is again what it was has its own answer.
        exchange.answered = Some(first.clone()).filter(|first| *first != exchange.key);
        exchange.answers.push(answer.clone());
        let (key, answered) = (known.key.clone(), known.answered.clone());
        state.rebound.push(Rebound { key, answered, exchange });
        Ok(Some(answer.clone()))
    }
}

/// The share of their words that two requests have in common.
fn likeness(known: &Parts, asked: &Parts) -> f32 {
    let text = |parts: &Parts| {
        let values = parts.options.iter().map(|(_, value)| value);
        let values = values.chain(&parts.system).chain(&parts.tools).chain(&parts.messages);
        values.map(Value::to_string).collect::<Vec<_>>().join("\n")
    };
    TextDiff::configure().timeout(PATIENCE).diff_words(&*text(known), &*text(asked)).ratio()
}
