//! Conversations without a name in their spans, joined by the history that models were sent.

use std::collections::HashMap;
use std::sync::Arc;

use crate::traces::conversation::Conversation;
use crate::traces::message::Response;
use crate::traces::turns::Found;

/// A conversation whose turns are not yet joined.
#[derive(Debug)]
pub(super) struct Loose {
    pub(super) conversation: Conversation,
    pub(super) found: Vec<Found>,
    pub(super) is_named: bool,
}

/// Joins conversations that continue each other. Each is continued at one place only.
pub(super) fn linked(all: Vec<Loose>) -> Vec<Loose> {
    let mut order: Vec<usize> =
        (0..all.len()).filter(|at| !all[*at].is_named && !all[*at].found.is_empty()).collect();
    order.sort_by(|one, other| all[*one].found[0].order().cmp(&all[*other].found[0].order()));
    let mut all: Vec<Option<Loose>> = all.into_iter().map(Some).collect();
    let mut ends = Ends::default();
    for at in order {
        let Some(next) = all[at].take() else { continue };
        let first = &next.found[0];
        let found = ends.by_history(first, &all).or_else(|| ends.by_result(first, &all));
        let found = found.filter(|root| {
            let cases = |it: &Loose| it.conversation.case_id.clone();
            all[*root].as_ref().and_then(cases).zip(cases(&next)).is_none_or(|(one, other)| one == other)
        });
        let place = match found.and_then(|root| Some((root, all[root].as_mut()?))) {
            Some((root, known)) => {
                ends.forget(root, known);
                known.go_on(next);
                root
            }
            None => {
                all[at] = Some(next);
                at
            }
        };
        if let Some(known) = &all[place] {
            ends.note(place, known);
        }
    }
    all.into_iter().flatten().collect()
}

impl Loose {
    fn go_on(&mut self, next: Self) {
        let Self { conversation, found, .. } = next;
        self.conversation.trace_ids.extend(conversation.trace_ids);
        self.conversation.gaps.extend(conversation.gaps);
        self.conversation.case_id = self.conversation.case_id.take().or(conversation.case_id);
        self.found.extend(found);
    }
}

#[derive(Default)]
struct Ends {
    /// Conversations by the hash of all their messages.
    by_tail: HashMap<u64, Vec<usize>>,
    /// Conversations by the ids of calls in the last output of the model, and of results in its last input.
    by_id: HashMap<String, Vec<usize>>,
}

impl Ends {
    /// The conversation that is a prefix of the model's input: the longest, then the latest.
    fn by_history(&self, first: &Found, all: &[Option<Loose>]) -> Option<usize> {
        let history = &first.input()?.history;
        let places = history.beginnings().find_map(|(point, _)| self.by_tail.get(&point))?;
        // Equal histories are distinguished by ids.
        let asked = |root: &usize| {
            let mut asked = latest(all, *root).into_iter().flat_map(Found::asked);
            asked.any(|id| first.answered().any(|answered| answered == id))
        };
        places.iter().rfind(|root| asked(root)).or(places.last()).copied()
    }

    /// The fallback for histories that were truncated or rephrased. If `first` begins with results: the only
    /// conversation with the same messages of the user that asked for them. Otherwise: the only one whose
    /// last input shares a result with the input of `first`.
    fn by_result(&self, first: &Found, all: &[Option<Loose>]) -> Option<usize> {
        let input = first.input()?;
        let only = |id: &str, goes_on: &dyn Fn(&Found) -> bool| {
            let mut places =
                self.by_id.get(id)?.iter().filter(|root| latest(all, **root).is_some_and(goes_on));
            places.next().copied().filter(|_| places.next().is_none())
        };
        if input.ends_with_result {
            return first.answered().find_map(|id| {
                only(id, &|last| last.asked().any(|asked| asked == id) && last.users == first.users)
            });
        }
        let is_same = |result: &Arc<Response>, last: &Found| last.results().contains(result);
        let sent = input.results.iter().rev();
        sent.filter_map(|result| Some((result.id.as_deref()?, result)))
            .find_map(|(id, result)| only(id, &|last| is_same(result, last)))
    }

    fn note(&mut self, place: usize, known: &Loose) {
        let Some(last) = known.found.last() else { return };
        if let Some(tail) = last.tail() {
            self.by_tail.entry(tail).or_default().push(place);
        }
        for id in ids(last) {
            let places = self.by_id.entry(id.to_owned()).or_default();
            if places.last() != Some(&place) {
                places.push(place);
            }
        }
    }

    fn forget(&mut self, place: usize, known: &Loose) {
        let Some(last) = known.found.last() else { return };
        if let Some(places) = last.tail().and_then(|tail| self.by_tail.get_mut(&tail)) {
            places.retain(|root| *root != place);
        }
        for id in ids(last) {
            if let Some(places) = self.by_id.get_mut(id) {
                places.retain(|root| *root != place);
            }
        }
    }
}

fn latest(all: &[Option<Loose>], root: usize) -> Option<&Found> {
    all[root].as_ref().and_then(|it| it.found.last())
}

fn ids(last: &Found) -> impl Iterator<Item = &str> {
    last.asked().chain(last.results().iter().filter_map(|result| result.id.as_deref()))
}
