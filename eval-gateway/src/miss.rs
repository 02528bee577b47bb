//! Errors about calls that were not recorded: the nearest recorded call, and how it differs, part by part.

mod difference;
mod likeness;

use eval_support::message::{changed_call, unrecorded_call};
use eval_support::words::count;

use crate::recording::{CaseRecording, Exchange};
use crate::wire::Asked;

/// A call that got no answer, or another fault of a conversation with models. It makes the case an ERROR.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Miss {
    /// The turn, from 1; 0 before the first one.
    pub turn: usize,
    /// The message: the call, how it differs from what is recorded, and the command that helps.
    pub message: String,
}

/// The place of a call in a conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) run: usize,
    pub(crate) turn: usize,
    /// The number of the call in its turn, from 1.
    pub(crate) call: usize,
}

/// The known facts about the recording.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    pub(crate) recording: &'a CaseRecording,
    /// The file as messages show it.
    pub(crate) shown: &'a str,
    pub(crate) exists: bool,
    /// The command that records what is missing of the case.
    pub(crate) record: &'a str,
    /// The command that records the case again. Answers to a request that changed would stay otherwise, and none asks for them.
    pub(crate) record_all: &'a str,
}

/// The message for a call without a recorded answer.
pub(crate) fn not_recorded(asked: &Asked, place: Place, known: Known<'_>) -> String {
    let Known { recording, shown, exists, mut record, record_all } = known;
    let Place { run, turn, call } = place;
    let who = format!("call {call} of a model ({}, {})", asked.wire, asked.model);
    let mut text = unrecorded_call(&who);
    if !exists {
        text.push_str(&format!(": there is no recording `{shown}`"));
    } else if recording.exchanges.is_empty() {
        text.push_str(&format!(": `{shown}` has no calls"));
    } else if recording.has(&asked.key) {
        let here = recording.answers_to(&asked.key, run).count();
        let of_request = recording.exchanges.iter().filter(|exchange| exchange.key == asked.key);
        if of_request.map(|exchange| exchange.answers.len()).sum::<usize>() == 0 {
            text.push_str(&format!(": in `{shown}` a fault of the case is in place of its answer"));
        } else if here == 0 && recording.runs() < run {
            text.push_str(&format!(
                " for run {run}: `{shown}` has {}; was `runs` raised?",
                count(recording.runs(), "run")
            ));
        } else {
            text.push_str(&format!(
                " so often: `{shown}` has {} of run {run} to this request, and all were given",
                count(here, "answer")
            ));
        }
    } else if let Some(nearest) = nearest(recording, asked, turn) {
        record = record_all;
        let parts = difference::parts(nearest, asked);
        // In the first line, so that a list of cases shows whether all miss for one reason.
        let changed: Vec<String> = parts.iter().map(|(part, _)| part.to_string()).collect();
        text = changed_call(&who, &changed.join(" and "));
        text.push_str(&format!(
            "\nthe nearest recorded call is of turn {} (- recorded, + asked):",
            nearest.turn
        ));
        let lines = parts.iter().flat_map(|(_, lines)| lines);
        lines.for_each(|line| text.push_str(&format!("\n  {line}")));
    }
    text.push_str(&format!("\nrecord it  {record}"));
    text
}

/// The recorded request that is most like the asked one: of the same wire, with the most words in common. Among
/// equally similar requests, the one with the same model, turn and length.
fn nearest<'a>(recording: &'a CaseRecording, asked: &Asked, turn: usize) -> Option<&'a Exchange> {
    let words = likeness::words(&asked.parts);
    recording.exchanges.iter().max_by_key(|known| {
        let apart = known.parts.messages.len().abs_diff(asked.parts.messages.len());
        (
            known.wire == asked.wire,
            likeness::likeness(&words, &likeness::words(&known.parts)),
            known.model == asked.model,
            known.turn == turn,
            std::cmp::Reverse(apart),
        )
    })
}

#[cfg(test)]
mod tests;
