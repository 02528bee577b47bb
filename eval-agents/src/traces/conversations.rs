//! Conversations: turns of traces that name the same conversation, or that continue each other.

mod linked;

use std::collections::HashMap;

use super::anchors::Analysis;
use super::conversation::Conversation;
use super::copies::Copies;
use super::gap::{Gap, GapKind};
use super::overlay;
use super::store::{RawTrace, Store};
use super::tree::Tree;
use super::turns::{self, Found};
use super::view::{Class, Identity, Span};
use linked::{Loose, linked};

/// The conversations of a store, in the order in which they were first seen.
pub(super) fn group(store: &mut Store) -> Vec<Conversation> {
    let mut groups: Vec<(Key, Vec<RawTrace>)> = Vec::new();
    let mut places: HashMap<Key, usize> = HashMap::new();
    for trace in store.traces.drain(..) {
        let key = key(&trace);
        let place = *places.entry(key).or_insert_with_key(|key| {
            groups.push((key.clone(), Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(trace);
    }
    // Groups are read one by one: the spans of each are dropped once its turns are found.
    let read = groups.into_iter().map(|(key, traces)| Loose::new(key, traces, &mut store.copies));
    linked(read.collect()).into_iter().map(Loose::end).collect()
}

impl Loose {
    fn new(key: Key, mut traces: Vec<RawTrace>, copies: &mut Copies) -> Self {
        let began = |trace: &RawTrace| trace.spans.iter().map(|span| span.start).min().flatten();
        traces.sort_by_key(began);
        let Key { name: key, is_given } = key;
        let mut conversation = Conversation { key, ..Conversation::default() };
        let mut found = Vec::new();
        for trace in traces {
            let id = trace.id.to_string();
            conversation.trace_ids.push(id.clone());
            name_case(&mut conversation, &trace);
            let tree = tree(trace, copies, &mut conversation.gaps);
            let analysis = Analysis::new(tree);
            found.extend(turns::find(&analysis, &id));
            note_strays(&analysis, &mut conversation.gaps);
            conversation.gaps.extend(analysis.tree.gaps);
        }
        found.sort_by(|one, other| one.order().cmp(&other.order()));
        Self { conversation, found, is_named: is_given }
    }

    fn end(self) -> Conversation {
        let Self { mut conversation, mut found, .. } = self;
        for at in 1..found.len() {
            let (before, after) = found.split_at_mut(at);
            after[0].forget_users_of(&before[at - 1]);
        }
        if found.first().and_then(Found::input).is_some_and(|input| input.has_earlier) {
            let message = "the model was sent earlier turns, which are in none of its traces";
            conversation.gaps.push(Gap::new(GapKind::EarlierTurns, message));
        }
        conversation.turns = joined(found).into_iter().map(Found::end).collect();
        conversation
    }
}

/// Joins the parts of one turn: each model call between tool calls can have a trace of its own.
fn joined(found: Vec<Found>) -> Vec<Found> {
    let mut turns: Vec<Found> = Vec::with_capacity(found.len());
    // By the id of a tool call, the turn whose last model call asked for it.
    let mut asked: HashMap<String, usize> = HashMap::new();
    for mut turn in found {
        let begins_with_results = turn.begins_with_results();
        let by_id = turn.answered().find_map(|id| asked.get(id)).copied();
        let at = by_id.filter(|_| begins_with_results).or_else(|| {
            let last = turns.len().checked_sub(1)?;
            turn.continues_without_ids(&turns[last]).then_some(last)
        });
        let at = match at {
            Some(at) => {
                turns[at].join(turn);
                at
            }
            None => {
                if begins_with_results {
                    let message = format!(
                        "the turn {} begins with results of tools that no call in these traces asked for",
                        turn.turn.span_id
                    );
                    turn.gaps.push(Gap::new(GapKind::CallsNotCaptured, message));
                } else if let Some(previous) = turns.last().filter(|previous| turn.may_continue(previous)) {
                    let message = format!(
                        "the turn {} may continue the turn {}: no content says so or denies it",
                        turn.turn.span_id, previous.turn.span_id
                    );
                    turn.gaps.push(Gap::new(GapKind::PossibleContinuation, message));
                }
                turns.push(turn);
                turns.len() - 1
            }
        };
        asked.extend(turns[at].asked().map(|id| (id.to_owned(), at)));
    }
    turns
}

fn tree(trace: RawTrace, copies: &mut Copies, gaps: &mut Vec<Gap>) -> Tree {
    let RawTrace { spans, mut logs, .. } = trace;
    let mut tree = Tree::new(spans);
    for span in &mut tree.spans {
        if let Some(events) = logs.remove(&Some(span.id.clone())) {
            overlay::add_events(span.view.get_or_insert_default(), &events, true, copies);
        }
    }
    // Records that name no span belong to the model call, if there is exactly one.
    let of_no_span = logs.remove(&None).unwrap_or_default();
    if !of_no_span.is_empty() {
        let mut calls = tree.spans.iter_mut().filter(|span| span.class() == Some(Class::Inference));
        match (calls.next(), calls.next()) {
            (Some(call), None) => {
                overlay::add_events(call.view.get_or_insert_default(), &of_no_span, true, copies);
            }
            _ => gaps.push(Gap::new(
                GapKind::Malformed,
                format!(
                    "{} records of logs name no span, and there is not one model call that they belong to",
                    of_no_span.len()
                ),
            )),
        }
    }
    let lost: usize = logs.values().map(Vec::len).sum();
    if lost > 0 {
        gaps.push(Gap::new(
            GapKind::Malformed,
            format!("{lost} records of logs are of spans that are not there"),
        ));
    }
    tree
}

/// Notes the gaps of spans outside of turns, if they concern a model, agent or tool, or lost data to limits.
fn note_strays(analysis: &Analysis, gaps: &mut Vec<Gap>) {
    let mut is_member = vec![false; analysis.tree.spans.len()];
    for member in analysis.anchors.iter().flat_map(|(_, members)| members) {
        is_member[*member] = true;
    }
    let strays = analysis.tree.spans.iter().zip(is_member).filter(|(_, is_member)| !is_member);
    let matters = |span: &Span| span.class().is_some() || span.dropped > 0;
    gaps.extend(strays.filter(|(span, _)| matters(span)).flat_map(|(span, _)| span.gaps()));
}

/// The identities in a trace's spans, and the identities in their resources, each the earliest first.
fn identities(trace: &RawTrace) -> (Vec<&Identity>, Vec<&Identity>) {
    let mut spans: Vec<&Span> =
        trace.spans.iter().filter(|span| span.identity.is_some() || span.resource.is_some()).collect();
    spans.sort_by(|one, other| one.order().cmp(&other.order()));
    let own = spans.iter().filter_map(|span| span.identity.as_deref()).collect();
    (own, spans.iter().filter_map(|span| span.resource.as_deref()).collect())
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    name: String,
    /// Whether spans or resources give the name. If not, it is the id of the trace.
    is_given: bool,
}

fn key(trace: &RawTrace) -> Key {
    type Name = fn(&Identity) -> Option<&str>;
    let (spans, resources) = identities(trace);
    let given = |name: &str| Key { name: name.to_owned(), is_given: true };
    if let Some(name) = resources.iter().find_map(|identity| identity.session_name.as_deref()) {
        return given(name);
    }
    let names: [Name; 3] = [
        |identity| identity.conversation_id.as_deref(),
        |identity| identity.session_id.as_deref(),
        |identity| identity.adk_session_id.as_deref(),
    ];
    let found = names.iter().find_map(|name| {
        let in_spans = spans.iter().find_map(|identity| name(identity));
        in_spans.or_else(|| resources.iter().find_map(|identity| name(identity)))
    });
    found.map_or_else(|| Key { name: trace.id.to_string(), is_given: false }, given)
}

fn name_case(conversation: &mut Conversation, trace: &RawTrace) {
    let (spans, resources) = identities(trace);
    for id in spans.into_iter().chain(resources).filter_map(|identity| identity.case_id.as_deref()) {
        match &conversation.case_id {
            None => conversation.case_id = Some(id.to_owned()),
            Some(known) if known == id => {}
            Some(known) => {
                let message = format!("its spans name several cases: {known}, {id}");
                let gap = Gap::new(GapKind::Contradiction, message);
                if conversation.gaps.len() < 100 && !conversation.gaps.contains(&gap) {
                    conversation.gaps.push(gap);
                }
            }
        }
    }
}
