//! Conversations: the turns of the traces that name one.

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

/// The conversations of a store, in the order in which they were first seen.
pub(super) fn of(store: &mut Store) -> Vec<Conversation> {
    let mut groups: Vec<(String, Vec<RawTrace>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for trace in store.traces.drain(..) {
        let key = key(&trace);
        let place = *places.entry(key).or_insert_with_key(|key| {
            groups.push((key.clone(), Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(trace);
    }
    // What a group was made of is not needed once its turns are there.
    groups.into_iter().map(|(key, traces)| conversation(key, traces, &mut store.copies)).collect()
}

fn conversation(key: String, mut traces: Vec<RawTrace>, copies: &mut Copies) -> Conversation {
    let began = |trace: &RawTrace| trace.spans.iter().map(|span| span.start).min().flatten();
    traces.sort_by_key(began);
    let mut conversation = Conversation { key, ..Conversation::default() };
    let mut found = Vec::new();
    for trace in traces {
        let id = trace.id.to_string();
        conversation.trace_ids.push(id.clone());
        name_case(&mut conversation, &trace);
        let tree = tree(trace, copies, &mut conversation.gaps);
        let analysis = Analysis::of(tree);
        found.extend(turns::of(&analysis, &id));
        note_strays(&analysis, &mut conversation.gaps);
        conversation.gaps.extend(analysis.tree.gaps);
    }
    found.sort_by(|one, other| one.order().cmp(&other.order()));
    conversation.turns = joined(found).into_iter().map(Found::end).collect();
    conversation
}

/// Joins turns that are one: each model call of a round of tools can have a trace of its own.
fn joined(found: Vec<Found>) -> Vec<Found> {
    let mut turns: Vec<Found> = Vec::with_capacity(found.len());
    for mut turn in found {
        match turns.pop() {
            Some(previous) if turn.continues(&previous) => turns.push(previous.joined(turn)),
            Some(previous) => {
                if turn.may_continue(&previous) {
                    let message = format!(
                        "the turn {} may continue the turn {}: no content says so or denies it",
                        turn.span_id(),
                        previous.span_id()
                    );
                    turn.note(Gap::new(GapKind::PossibleContinuation, message));
                }
                turns.extend([previous, turn]);
            }
            None => turns.push(turn),
        }
    }
    turns
}

/// The spans of a trace with what logs say of them.
fn tree(trace: RawTrace, copies: &mut Copies, gaps: &mut Vec<Gap>) -> Tree {
    let RawTrace { spans, mut logs, .. } = trace;
    let mut tree = Tree::new(spans);
    for span in &mut tree.spans {
        if let Some(events) = logs.remove(&Some(span.id.clone())) {
            overlay::add_events(span.view.get_or_insert_default(), &events, true, copies);
        }
    }
    // Records of no span belong to the one model call, if there is one.
    let of_nobody = logs.remove(&None).unwrap_or_default();
    if !of_nobody.is_empty() {
        let mut calls = tree.spans.iter_mut().filter(|span| span.class() == Some(Class::Inference));
        match (calls.next(), calls.next()) {
            (Some(call), None) => {
                overlay::add_events(call.view.get_or_insert_default(), &of_nobody, true, copies);
            }
            _ => gaps.push(Gap::new(
                GapKind::Malformed,
                format!(
                    "{} records of logs name no span, and there is not one model call that they belong to",
                    of_nobody.len()
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

/// Notes what is wrong with spans of models, agents and tools that are in no turn.
fn note_strays(analysis: &Analysis, gaps: &mut Vec<Gap>) {
    let mut is_member = vec![false; analysis.tree.spans.len()];
    for member in analysis.anchors.iter().flat_map(|(_, members)| members) {
        is_member[*member] = true;
    }
    let strays = analysis.tree.spans.iter().zip(is_member).filter(|(_, is_member)| !is_member);
    gaps.extend(strays.filter(|(span, _)| span.class().is_some()).filter_map(|(span, _)| span.gap()));
}

/// What the spans of a trace and their resources say, the earliest first, each span before its resource.
fn identities(trace: &RawTrace) -> (Vec<&Identity>, Vec<&Identity>) {
    let mut spans: Vec<&Span> =
        trace.spans.iter().filter(|span| span.identity.is_some() || span.resource.is_some()).collect();
    spans.sort_by(|one, other| one.order().cmp(&other.order()));
    let own = spans.iter().filter_map(|span| span.identity.as_deref()).collect();
    (own, spans.iter().filter_map(|span| span.resource.as_deref()).collect())
}

/// The key of the conversation of a trace.
fn key(trace: &RawTrace) -> String {
    type Name = fn(&Identity) -> Option<&str>;
    let (spans, resources) = identities(trace);
    if let Some(name) = resources.iter().find_map(|identity| identity.session_name.as_deref()) {
        return name.to_owned();
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
    found.map_or_else(|| trace.id.to_string(), str::to_owned)
}

/// Takes the case that a trace names.
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
