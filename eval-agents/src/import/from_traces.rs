//! Conversations of stored traces.

use std::io::Read;

use super::error::ImportError;
use super::format::{Format, ReadDrafts};
use crate::draft::{Draft, Origin};
use crate::traces::{Conversation, Traces};

/// The drafts of traces, and what is left out. `wanted` are keys of conversations or ids of traces.
pub(super) fn read(from: &str, file: impl Read, wanted: &[String]) -> Result<ReadDrafts, ImportError> {
    let traces =
        Traces::from_reader(file).map_err(|source| ImportError::Traces { from: from.to_owned(), source })?;
    let mut left_out: Vec<String> = traces.gaps().iter().map(ToString::to_string).collect();
    let has_id = |conversation: &Conversation, id: &String| {
        conversation.key == *id || conversation.trace_ids.contains(id)
    };
    let conversations = traces.conversations();
    if let Some(id) = wanted.iter().find(|id| !conversations.iter().any(|one| has_id(one, id))) {
        return Err(ImportError::Missing {
            from: from.to_owned(),
            what: format!("conversation `{id}`"),
            there: conversations.iter().map(|one| one.key.clone()).collect(),
        });
    }
    let mut drafts = Vec::new();
    for conversation in conversations {
        if !wanted.is_empty() && !wanted.iter().any(|id| has_id(conversation, id)) {
            continue;
        }
        let named = format!("conversation `{}`", conversation.key);
        let first_unheard_turn =
            conversation.turns.iter().position(|turn| turn.user.as_deref().is_none_or(str::is_empty));
        let why = match first_unheard_turn {
            _ if conversation.turns.is_empty() => Some("no agent answers in it".to_owned()),
            Some(at) => Some(format!("what the user said in turn {} was not captured", at + 1)),
            None => None,
        };
        if let Some(why) = why {
            left_out.push(format!("{named}: {why}"));
            continue;
        }
        let mut origin = Origin::new(from).with("format", Format::Trace.name());
        origin = origin.with("conversation", conversation.key.as_str());
        if let Some(trace) = conversation.trace_ids.first().filter(|trace| **trace != conversation.key) {
            origin = origin.with("trace", trace.as_str());
        }
        let case = conversation.to_case(conversation.case_id.clone().unwrap_or_default());
        let draft = Draft::from_case(case, origin).map_err(ImportError::case(from, named))?;
        drafts.push(draft.with_gaps(gaps(conversation)));
    }
    Ok(ReadDrafts { drafts, left_out })
}

fn gaps(conversation: &Conversation) -> Vec<String> {
    let place = |turn: Option<usize>| turn.map(|turn| format!("turn {turn}: ")).unwrap_or_default();
    let mut gaps: Vec<String> =
        conversation.all_gaps().map(|(turn, gap)| format!("{}{gap}", place(turn))).collect();
    for (number, turn) in (1..).zip(&conversation.turns) {
        if let Some(error) = &turn.error {
            gaps.push(format!("turn {number} failed: {error}"));
        }
        if turn.answer.is_none() {
            gaps.push(format!("turn {number} has no answer"));
        }
    }
    gaps
}
