//! Which conversation a message of a program belongs to.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::error::ProcessError;
use super::message::Reply;

/// How many messages wait for a conversation that is slow to take them.
const WAITING: usize = 16;

/// What a conversation receives.
pub(super) type Delivery = Result<Reply, ProcessError>;

/// The conversations of a program.
#[derive(Debug, Default)]
pub(super) struct Routes(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    conversations: BTreeMap<String, Conversation>,
    /// Why the program is of no use any more.
    broken: Option<ProcessError>,
}

#[derive(Debug)]
struct Conversation {
    inbox: Sender<Delivery>,
    /// Whether the program was asked for something that it did not finish.
    awaits: bool,
}

impl Routes {
    /// Adds a conversation. One with a program that is of no use any more is told at once: nobody else would end its inbox.
    pub(super) fn open(&self, session: &str) -> Receiver<Delivery> {
        let (inbox, receiver) = channel(WAITING);
        let mut state = self.state();
        if let Some(error) = &state.broken {
            let _ = inbox.try_send(Err(error.clone()));
        } else {
            state.conversations.insert(session.to_owned(), Conversation { inbox, awaits: false });
        }
        receiver
    }

    pub(super) fn close(&self, session: &str) {
        self.state().conversations.remove(session);
    }

    /// How many conversations there are.
    pub(super) fn count(&self) -> usize {
        self.state().conversations.len()
    }

    /// Whether there is a conversation of this id.
    pub(super) fn has(&self, session: &str) -> bool {
        self.state().conversations.contains_key(session)
    }

    /// Says that the program is being asked for something.
    pub(super) fn awaits(&self, session: &str) {
        if let Some(conversation) = self.state().conversations.get_mut(session) {
            conversation.awaits = true;
        }
    }

    /// Whether the program was asked for something that it did not finish.
    pub(super) fn is_awaiting(&self, session: &str) -> bool {
        self.state().conversations.get(session).is_some_and(|conversation| conversation.awaits)
    }

    /// Why the program is of no use any more, if it is not.
    pub(super) fn broken(&self) -> Option<ProcessError> {
        self.state().broken.clone()
    }

    /// Hands a message to its conversation. Fails if it belongs to none.
    pub(super) fn deliver(&self, session: Option<&str>, reply: Reply) -> Result<(), ProcessError> {
        let inbox = {
            let mut state = self.state();
            let only = state.conversations.len() == 1;
            let known = match session {
                Some(session) => state.conversations.get_mut(session),
                None if only => state.conversations.values_mut().next(),
                None if state.conversations.is_empty() => {
                    return Err(ProcessError::Protocol(format!(
                        "the program wrote `{reply}` after the end of its conversation"
                    )));
                }
                None => {
                    return Err(ProcessError::Protocol(format!(
                        "the program wrote `{reply}` without a `session_id`, and serves {} conversations",
                        state.conversations.len()
                    )));
                }
            };
            // The conversation may have ended meanwhile.
            let Some(conversation) = known else { return Ok(()) };
            if !conversation.awaits {
                return Err(ProcessError::Protocol(format!(
                    "the program wrote `{reply}` without being asked; what happens belongs between `turn` and `turn_end`"
                )));
            }
            if matches!(reply, Reply::Started { .. } | Reply::TurnEnd { .. } | Reply::Error { .. }) {
                conversation.awaits = false;
            }
            conversation.inbox.clone()
        };
        // Waits for a conversation that is slow. One that is gone wants nothing.
        let _ = inbox.blocking_send(Ok(reply));
        Ok(())
    }

    /// Says to all conversations, those to come too, that the program is of no use any more.
    pub(super) fn break_off(&self, error: &ProcessError) {
        let inboxes: Vec<Sender<Delivery>> = {
            let mut state = self.state();
            state.broken.get_or_insert_with(|| error.clone());
            state.conversations.values().map(|conversation| conversation.inbox.clone()).collect()
        };
        for inbox in inboxes {
            let _ = inbox.try_send(Err(error.clone()));
        }
        // With their senders the inboxes end, also those that are full.
        for conversation in std::mem::take(&mut self.state().conversations).into_values() {
            drop(conversation);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_with_a_program_that_ended_is_told_whenever_it_begins() {
        let routes = Routes::default();
        let mut before = routes.open("before");
        routes.break_off(&ProcessError::Ended("the program ended".to_owned()));
        let mut after = routes.open("after");
        for inbox in [&mut before, &mut after] {
            assert!(matches!(inbox.try_recv(), Ok(Err(ProcessError::Ended(_)))));
            assert!(inbox.try_recv().is_err(), "nothing else comes");
            assert!(inbox.is_closed());
        }
        assert_eq!(routes.count(), 0);
    }
}
