//! What came of the conversations.

use eval_agents::draft::{Draft, NewCases};

use crate::drafts::Destination;
use crate::output::CommandError;

/// What came of the conversations so far.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub(super) new: NewCases,
    pub(super) failures: Vec<String>,
}

impl Recorded {
    /// Writes a draft into the set, unless the set has the conversation already.
    pub(super) fn add(&mut self, destination: &Destination, draft: Draft) -> Result<(), CommandError> {
        let written = destination.add(vec![draft])?;
        self.new.drafts.extend(written.new.drafts);
        self.new.equal += written.new.equal;
        Ok(())
    }
}
