//! Answers that any of several conversations may have got, since all of them have the same one.
//!
//! Such an answer is charged to one of them. If that one asks for it later, another one that may have got it is charged instead,
//! so that each has as many answers as it asked for, in whatever order they ask and end.

use std::collections::HashSet;
use std::sync::Arc;

use crate::conversation::Conversation;
use crate::recording::Answer;
use crate::usage::Usage;
use crate::wire::Asked;

#[derive(Default)]
pub(super) struct Attributions(Vec<Attribution>);

struct Attribution {
    key: String,
    model: String,
    usage: Usage,
    charged: Conversation,
    candidates: Vec<Conversation>,
}

pub(super) fn is(one: &Conversation, other: &Conversation) -> bool {
    Arc::ptr_eq(&one.0, &other.0)
}

impl Attributions {
    /// Notes an answer that was charged to the first of the conversations that may have got it.
    pub(super) fn note(
        &mut self,
        asked: &Asked,
        answer: &Answer,
        charged: &Conversation,
        among: &[&Conversation],
    ) {
        let candidates = among.iter().copied().cloned().collect();
        let usage = answer.usage(asked.wire).unwrap_or_default();
        let (key, model) = (asked.key.clone(), asked.model.clone());
        self.0.push(Attribution { key, model, usage, charged: charged.clone(), candidates });
    }

    /// Lets a conversation have an unused answer, if another one can be charged with one that this one was charged with. Returns
    /// whether it has one.
    pub(super) fn free(&mut self, conversation: &Conversation, key: &str) -> bool {
        conversation.has_unused(key) || self.shift(conversation, key, &mut Vec::new())
    }

    fn shift(&mut self, from: &Conversation, key: &str, seen: &mut Vec<Conversation>) -> bool {
        seen.push(from.clone());
        for at in 0..self.0.len() {
            let attribution = &self.0[at];
            if attribution.key != key || !is(&attribution.charged, from) {
                continue;
            }
            for other in attribution.candidates.clone() {
                let is_new = !seen.iter().any(|seen| is(seen, &other));
                if is_new && (other.has_unused(key) || self.shift(&other, key, seen)) {
                    self.0[at].charge(&other);
                    return true;
                }
            }
        }
        false
    }

    /// Charges a conversation that leaves with what it may have got, since it asks no more. `active` are the others.
    pub(super) fn settle(&mut self, leaving: &Conversation, active: &[Conversation]) {
        for attribution in &mut self.0 {
            let is_of_it =
                !is(&attribution.charged, leaving) && attribution.candidates.iter().any(|of| is(of, leaving));
            if is_of_it && leaving.has_unused(&attribution.key) {
                attribution.charge(leaving);
            }
        }
        self.forget_unlinked(active);
    }

    /// Forgets the attributions that can free no answer of an active conversation: none of their candidates is active, nor a
    /// candidate of one that is kept.
    fn forget_unlinked(&mut self, active: &[Conversation]) {
        let mut linked: HashSet<(&str, usize)> = HashSet::new();
        let mut kept = vec![false; self.0.len()];
        loop {
            let before = linked.len();
            for (kept, Attribution { key, candidates, .. }) in kept.iter_mut().zip(&self.0) {
                let is_linked = |of: &Conversation| {
                    linked.contains(&(&**key, address(of))) || active.iter().any(|active| is(active, of))
                };
                if !*kept && candidates.iter().any(is_linked) {
                    *kept = true;
                    linked.extend(candidates.iter().map(|of| (&**key, address(of))));
                }
            }
            if linked.len() == before {
                break;
            }
        }
        let mut kept = kept.into_iter();
        self.0.retain(|_| kept.next().unwrap_or(false));
    }
}

fn address(of: &Conversation) -> usize {
    Arc::as_ptr(&of.0).addr()
}

impl Attribution {
    fn charge(&mut self, other: &Conversation) {
        self.charged.got_less(&self.key, other, &self.model, self.usage);
        self.charged = other.clone();
    }
}
