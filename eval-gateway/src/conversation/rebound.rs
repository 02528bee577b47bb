//! The recorded call that a request was before it changed.

use std::time::Duration;

use eval_format::Value;
use eval_support::words::count;
use similar::TextDiff;

use crate::miss::Place;
use crate::recording::{Answer, CaseRecording, Exchange};
use crate::wire::{Asked, Parts};

/// The time after which a comparison is no longer exact.
const COMPARISON_TIMEOUT: Duration = Duration::from_millis(200);

/// The recorded call that is nearest to a request that changed, with its next answer: of the same turn, wire and model. `None`
/// if there is none. Fails if two are as near. `given` is the number of answers to a key that were given.
pub(super) fn nearest<'r>(
    recording: &'r CaseRecording,
    asked: &Asked,
    place: Place,
    given: impl Fn(&str) -> usize,
) -> Result<Option<(&'r Exchange, &'r Answer)>, String> {
    let of_call = recording
        .exchanges
        .iter()
        .filter(|known| known.turn == place.turn && known.wire == asked.wire && known.model == asked.model);
    let mut near: Vec<(f32, &Exchange)> = of_call
        .filter(|known| recording.answers_to(&known.key, place.run).nth(given(&known.key)).is_some())
        .map(|known| (likeness(&known.parts, &asked.parts), known))
        .collect();
    near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    // Answers to an older request are under the same key.
    near.dedup_by(|(_, one), (_, other)| one.key == other.key);
    let key = match near[..] {
        [] => return Ok(None),
        [(one, _), (other, _), ..] if one.total_cmp(&other).is_eq() => {
            let as_near = near.iter().filter(|(other, _)| other.total_cmp(&one).is_eq()).count();
            return Err(format!(
                "changed, and {} of the turn are as near to it, so it is not known which one it was",
                count(as_near, "recorded call")
            ));
        }
        [(_, known), ..] => &known.key,
    };
    let of_key = recording.exchanges.iter().filter(|known| known.key == *key);
    let mut answers = of_key.flat_map(|of| of.answers_of(place.run).map(move |answer| (of, answer)));
    Ok(answers.nth(given(key)))
}

/// The request as it is now, with an answer that it was given to another one before.
pub(super) fn put_under(asked: &Asked, place: Place, known: &Exchange, answer: &Answer) -> Exchange {
    let mut exchange = Exchange::new(place.turn, asked.wire, &asked.model, asked.parts.clone());
    let first = known.answered.as_ref().unwrap_or(&known.key);
    // A request that is again what it was has its own answer.
    exchange.answered = Some(first.clone()).filter(|first| *first != exchange.key);
    exchange.answers.push(answer.clone());
    exchange
}

/// The share of their words that two requests have in common.
fn likeness(known: &Parts, asked: &Parts) -> f32 {
    let text = |parts: &Parts| {
        let values = parts.options.iter().map(|(_, value)| value);
        let values = values.chain(&parts.system).chain(&parts.tools).chain(&parts.messages);
        values.map(Value::to_string).collect::<Vec<_>>().join("\n")
    };
    TextDiff::configure().timeout(COMPARISON_TIMEOUT).diff_words(&*text(known), &*text(asked)).ratio()
}
