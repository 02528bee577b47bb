//! Events that no turn of a conversation could take.

use std::fmt;

use eval_support::words::count;

use super::event::Event;

/// The recorder of such an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Of this turn, which had ended.
    Turn(usize),
    /// Of the session, while no turn was in progress.
    Session,
    /// Of no conversation.
    Detached,
}

/// What was recorded although no turn could take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Late {
    source: Source,
    /// How many events there are, of all sources.
    count: usize,
    /// Whether they are of more than one source.
    several: bool,
    /// What the first one says.
    first: String,
}

impl Late {
    pub(super) fn new(source: Source, first: &Event) -> Self {
        Self { source, count: 0, several: false, first: first.in_short() }
    }

    pub(super) fn add(&mut self, source: Source) {
        self.count += 1;
        self.several |= self.source != source;
    }

    /// The turn of the first event; `None` if its recorder was of no turn.
    pub(crate) fn turn(&self) -> Option<usize> {
        match self.source {
            Source::Turn(number) => Some(number),
            Source::Session | Source::Detached => None,
        }
    }
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, count: events, several, first } = self;
        let events = count(*events, "event");
        match source {
            Source::Turn(_) => write!(
                f,
                "{events} recorded after {} had ended, the first: {first}; await what a turn starts before it returns, \
                 and give tools that are built once `session.recorder()`",
                if *several { "their turns" } else { "the turn" }
            ),
            Source::Session => write!(
                f,
                "{events} recorded through `session.recorder()` while no turn was in progress, the first: {first}; \
                 only what happens in a turn is scored"
            ),
            Source::Detached => write!(
                f,
                "{events} recorded into a recorder of no case (`Recorder::new()`, `Turn::from(..)`, `Session::new(..)`) and \
                 never read, the first: {first}; record with `turn.recorder()`, with `session.recorder()` in tools that are \
                 built once, and give an inner agent `Turn::new(&message, turn.recorder().clone())`"
            ),
        }
    }
}
