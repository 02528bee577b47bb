//! Conversations in which no call of a model came to the gateway: a recording is neither replaced nor taken for replayed.

use eval_support::message::NOTHING_RECORDED;
use eval_support::variables::MODELS;

use super::{Conversation, State};
use crate::mode::ModelMode;

/// Help if the agent asks models.
const ADDRESS: &str = "the agent's client needs the address of the gateway, and no cache of answers: `docs/recorded-models.md` has a table of clients";

impl State {
    /// Whether no call came. A call that another conversation answered is charged to the one that made it.
    pub(super) fn asked_nothing(&self) -> bool {
        self.reached.is_empty() && self.uses.all().calls == 0
    }
}

impl Conversation {
    /// Tells that nothing was recorded. Returns an error if the answers of before were to be replaced: they stay.
    pub(super) fn recorded_nothing(&self, notes: &mut Vec<String>) -> Option<String> {
        notes.push(NOTHING_RECORDED.to_owned());
        let replaces = self.0.mode == ModelMode::RecordAll && self.0.cassette.has_run(self.0.run);
        replaces.then(|| {
            format!(
                "{NOTHING_RECORDED}, and the recorded answers in `{shown}` stay\n{ADDRESS}\nif the case asks no model any more, \
                 remove `{shown}`",
                shown = self.0.cassette.shown(),
            )
        })
    }

    /// Tells that a replay gave none of the answers that are recorded for it; `None` if there are none. The agent may have asked
    /// its models itself. A variant may be one that asks no model, so it has a remark.
    pub(super) fn replayed_nothing(&self, notes: &mut Vec<String>) -> Option<String> {
        if self.0.mode.asks() || !self.0.cassette.has_run(self.0.run) {
            return None;
        }
        let text = format!(
            "none of the recorded answers in `{shown}` was asked for, as no call of a model came to the gateway\n{ADDRESS}; \
             {MODELS}=live lets it ask its models itself\nif the case asks no model any more, remove `{shown}`\n\
             record the case again  {}",
            self.record_all(),
            shown = self.0.cassette.shown(),
        );
        if !self.0.cassette.is_variant() {
            return Some(text);
        }
        notes.push(text.replace('\n', "; "));
        None
    }

    /// The command that records the case anew.
    pub(super) fn record_all(&self) -> String {
        self.0.record.replacen("=record ", "=record-all ", 1)
    }
}
