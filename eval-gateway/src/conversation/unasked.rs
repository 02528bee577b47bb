//! Conversations in which no call of a model came to the gateway: a recording is neither replaced nor taken for replayed.

use eval_support::message::NOTHING_RECORDED;
use eval_support::variables::MODELS;

use super::{Conversation, Ended, State};
use crate::mode::ModelMode;

const ADDRESS: &str =
    "give the agent's client the address of the gateway (`docs/recorded-models.md` has a table of clients)";

impl State {
    /// Whether no call came. A call that another conversation was charged with came to that one.
    pub(super) fn asked_nothing(&self) -> bool {
        self.reached.is_empty() && self.given == 0
    }
}

impl Conversation {
    /// Tells that nothing was recorded. Returns an error if the answers of before were to be replaced: they stay.
    pub(super) fn recorded_nothing(&self, notes: &mut Vec<String>) -> Option<String> {
        notes.push(NOTHING_RECORDED.to_owned());
        let replaces = self.0.mode == ModelMode::RecordAll && self.0.book.has_run(self.0.run);
        replaces.then(|| {
            format!(
                "{NOTHING_RECORDED}, and the recorded answers in `{shown}` stay: {ADDRESS}; if the case asks no model any more, \
                 remove `{shown}`",
                shown = self.0.book.shown(),
            )
        })
    }

    /// Tells that a replay gave none of the answers that are recorded for it. The agent may have asked its models itself. A
    /// variant may be one that asks no model, so it has a remark.
    pub(super) fn replayed_nothing(&self, ended: &mut Ended) {
        if self.0.mode.asks() || ended.error.is_some() || !self.0.book.has_run(self.0.run) {
            return;
        }
        let text = format!(
            "none of the recorded answers in `{shown}` was asked for, as no call of a model came to the gateway: {ADDRESS}, or \
             let it ask its models itself: {MODELS}=live; if the case asks no model any more, remove `{shown}`; if it asks \
             others, record it again: {}",
            self.record_all(),
            shown = self.0.book.shown(),
        );
        if self.0.book.is_variant() {
            ended.notes.push(text);
        } else {
            ended.error = Some(text);
        }
    }

    /// The command that records the case anew.
    pub(super) fn record_all(&self) -> String {
        self.0.record.replacen("=record ", "=record-all ", 1)
    }
}
