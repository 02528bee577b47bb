//! Routing of a program's messages to conversations.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::MutexGuard;

use eval_support::message::show;
use eval_support::mutex::Mutex;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::error::{ProcessError, cut};
use super::message::{Received, Reply};

const MAX_WAITING_MESSAGES: usize = 16;

pub(super) type Delivery = Result<Reply, ProcessError>;

#[derive(Debug, Default)]
pub(super) struct Routes {
    state: Mutex<State>,
    is_shared: bool,
}

#[derive(Debug, Default)]
struct State {
    conversations: BTreeMap<String, Conversation>,
    over: BTreeSet<String>,
    broken: Option<ProcessError>,
    /// Whether a conversation was told why the program broke off.
    is_told: bool,
    /// The first message for a conversation that was over.
    late: Option<String>,
}

#[derive(Debug)]
struct Conversation {
    inbox: Sender<Delivery>,
    awaits: bool,
    notes: Vec<String>,
}

impl Routes {
    pub(super) fn new(is_shared: bool) -> Self {
        Self { is_shared, ..Self::default() }
    }

    /// Adds a conversation. If the program is useless already, no later message would end its inbox.
    pub(super) fn open(&self, session: &str) -> Receiver<Delivery> {
        let (inbox, receiver) = channel(MAX_WAITING_MESSAGES);
        let mut state = self.state();
        if let Some(error) = &state.broken {
            let _ = inbox.try_send(Err(error.clone()));
            state.is_told = true;
        } else {
            state
                .conversations
                .insert(session.to_owned(), Conversation { inbox, awaits: false, notes: Vec::new() });
        }
        receiver
    }

    pub(super) fn close(&self, session: &str) {
        let mut state = self.state();
        let Some(closed) = state.conversations.remove(session) else { return };
        state.over.insert(session.to_owned());
        // Notes may have come since the last `take_notes`.
        for note in closed.notes {
            state.note(note);
        }
    }

    pub(super) fn take_notes(&self, session: &str) -> Vec<String> {
        let mut state = self.state();
        state.conversations.get_mut(session).map(|open| std::mem::take(&mut open.notes)).unwrap_or_default()
    }

    pub(super) fn count(&self) -> usize {
        self.state().conversations.len()
    }

    pub(super) fn has(&self, session: &str) -> bool {
        let state = self.state();
        state.conversations.contains_key(session) || state.over.contains(session)
    }

    pub(super) fn awaits(&self, session: &str) {
        if let Some(conversation) = self.state().conversations.get_mut(session) {
            conversation.awaits = true;
        }
    }

    pub(super) fn is_awaiting(&self, session: &str) -> bool {
        self.state().conversations.get(session).is_some_and(|conversation| conversation.awaits)
    }

    pub(super) fn broken(&self) -> Option<ProcessError> {
        self.state().broken.clone()
    }

    /// The error that broke the program off while it had no conversation, so that no case has it.
    pub(super) fn broken_unheard(&self) -> Option<ProcessError> {
        let state = self.state();
        state.broken.clone().filter(|_| !state.is_told)
    }

    /// The first message for a conversation that was over, in a sentence.
    pub(super) fn late(&self) -> Option<String> {
        self.state().late.clone()
    }

    /// Hands the message of a line to its conversation. A message for a conversation that is over is noted.
    pub(super) fn deliver(&self, received: Received, line: &str) -> Result<(), ProcessError> {
        let Received { session, reply } = received;
        let wrong = |why: &str| {
            Err(ProcessError::Protocol(format!("the program wrote `{reply}` {why}: {}", cut(line))))
        };
        let inbox = {
            let mut state = self.state();
            let open = state.conversations.len();
            let id = match &session {
                Some(id) => id.clone(),
                None => match state.conversations.keys().next() {
                    Some(id) if open == 1 => id.clone(),
                    None if state.over.is_empty() => {
                        return wrong("without being asked; no conversation has begun");
                    }
                    None => return wrong("after the end of its conversation"),
                    Some(_) => {
                        return wrong(&format!("without a `session_id`, and serves {open} conversations"));
                    }
                },
            };
            let is_over = state.over.contains(&id);
            let Some(conversation) = state.conversations.get_mut(&id) else {
                if !is_over {
                    return wrong(&format!(
                        "with the `session_id` `{}`, which no conversation has; write the id of `start`",
                        cut(&id)
                    ));
                }
                let note = format!(
                    "the program wrote `{reply}` for the conversation `{}`, which is over; it counts for no case: {}",
                    cut(&id),
                    cut(line)
                );
                if !self.is_shared {
                    return wrong("after the end of its conversation");
                }
                state.late.get_or_insert_with(|| note.clone());
                state.note(note);
                return Ok(());
            };
            if !conversation.awaits {
                return wrong("without being asked; what happens belongs between `turn` and `turn_end`");
            }
            if matches!(reply, Reply::Started { .. } | Reply::TurnEnd { .. } | Reply::Error { .. }) {
                conversation.awaits = false;
            }
            conversation.inbox.clone()
        };
        // Blocks while the inbox of a slow conversation is full. A conversation that is gone gets nothing.
        let _ = inbox.blocking_send(Ok(reply));
        Ok(())
    }

    /// Tells all conversations, later ones included, that the program is useless.
    pub(super) fn break_off(&self, error: &ProcessError) {
        let open = {
            let mut state = self.state();
            state.broken.get_or_insert_with(|| error.clone());
            let open = std::mem::take(&mut state.conversations);
            state.is_told |= !open.is_empty();
            open
        };
        // Without their senders the inboxes end, full ones too.
        for conversation in open.into_values() {
            let _ = conversation.inbox.try_send(Err(error.clone()));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    /// Adds a note to an open conversation. Without one the note is printed at once.
    fn note(&mut self, note: String) {
        match self.conversations.values_mut().next() {
            Some(open) => open.notes.push(note),
            None => show(&format!("warning: {note}")),
        }
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
        assert!(routes.broken_unheard().is_none());
    }

    #[test]
    fn an_error_while_no_conversation_is_open_is_heard_by_none() {
        let routes = Routes::new(true);
        let _inbox = routes.open("s");
        routes.close("s");
        routes.break_off(&ProcessError::Ended("the program ended".to_owned()));
        assert!(matches!(routes.broken_unheard(), Some(ProcessError::Ended(_))));
    }

    fn text(session: Option<&str>) -> Received {
        let reply = Reply::Text { author: None, text: "hi".to_owned() };
        Received { session: session.map(str::to_owned), reply }
    }

    #[test]
    fn a_message_of_no_conversation_is_an_error_that_quotes_it() {
        let routes = Routes::new(true);
        let _inbox = routes.open("s1");
        routes.awaits("s1");
        let error = routes.deliver(text(Some("x")), "THE LINE").unwrap_err().to_string();
        let expected = "the program wrote `text` with the `session_id` `x`, which no conversation has; write the id of \
                        `start`: THE LINE";
        assert_eq!(error, expected);
        assert!(routes.deliver(text(Some("s1")), "").is_ok() && routes.deliver(text(None), "").is_ok());
    }

    #[test]
    fn a_message_of_a_conversation_that_is_over_is_noted_in_one_that_is_open() {
        let routes = Routes::new(true);
        let (_first, _second) = (routes.open("s1"), routes.open("s2"));
        routes.close("s1");
        routes.deliver(text(Some("s1")), "THE LINE").unwrap();
        let notes = routes.take_notes("s2");
        assert!(
            notes[0].starts_with("the program wrote `text` for the conversation `s1`, which is over"),
            "{notes:?}"
        );
        assert!(notes[0].ends_with("THE LINE") && routes.take_notes("s2").is_empty());
        assert_eq!(routes.late().as_ref(), notes.first());
        // No conversation would show it.
        let alone = Routes::new(false);
        let error = alone.deliver(text(None), "THE LINE").unwrap_err().to_string();
        assert!(error.contains("without being asked; no conversation has begun: THE LINE"), "{error}");
        let _inbox = alone.open("s");
        alone.close("s");
        for session in [Some("s"), None] {
            let error = alone.deliver(text(session), "THE LINE").unwrap_err().to_string();
            assert!(error.contains("after the end of its conversation: THE LINE"), "{error}");
        }
    }
}
