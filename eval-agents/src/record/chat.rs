//! A conversation whose messages are not known in advance.

use std::fmt;

use eval_core::Agent;
use eval_core::format::{Content, Map};
use eval_core::report::{RunError, TurnRecord};
use eval_core::testing::Conversation;

use super::draft_recorder::{DraftRecorder, DraftRecorderError};
use super::script::Script;
use crate::draft::{Draft, played};

/// A conversation with an agent that becomes a draft. Its last turn can be taken back.
///
/// ```
/// use eval_agents::record::{Chat, DraftRecorder};
/// use eval_core::agent_fn;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let mut chat = Chat::new(DraftRecorder::new("an echo"), || agent_fn(|text, _| async move { text }));
/// chat.say("Hi").await?;
/// chat.say("Oops").await?;
/// chat.undo().await?;
/// let draft = chat.finish(Some("greeting")).await?.expect("a turn");
/// assert_eq!((draft.case.eval_id.as_str(), draft.case.conversation.len()), ("greeting", 1));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct Chat<A, F> {
    recorder: DraftRecorder,
    make: F,
    said: Script,
    conversation: Option<Conversation<A>>,
    /// The error of the last turn. The turn can be taken back.
    failed: Option<RunError>,
}

impl<A, F> fmt::Debug for Chat<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat").field("said", &self.said).field("failed", &self.failed).finish_non_exhaustive()
    }
}

impl<A: Agent, F: Fn() -> A> Chat<A, F> {
    /// A conversation that has not begun. `make` makes the agent, and makes it anew when a turn is taken back.
    pub fn new(recorder: DraftRecorder, make: F) -> Self {
        Self { recorder, make, said: Script::default(), conversation: None, failed: None }
    }

    /// The number of turns, a failed one included.
    pub fn turns(&self) -> usize {
        self.said.turns.len()
    }

    /// Says a text to the agent. After an error the turn has to be taken back before anything else is said.
    pub async fn say(&mut self, text: impl Into<String>) -> Result<(), RunError> {
        self.send(Content::user(text)).await.map(drop)
    }

    /// Sends a message of any parts to the agent, and returns what it did and answered.
    pub async fn send(&mut self, message: Content) -> Result<&TurnRecord, RunError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.said.turns.push(message.clone());
        let open = || self.recorder.open(&self.said, (self.make)());
        let conversation = self.conversation.get_or_insert_with(open);
        let sent = conversation.send(message).await;
        if let Err(error) = &sent {
            self.failed = Some(error.clone());
        }
        sent
    }

    /// Takes the last turn back. An agent cannot forget, so a new one gets all earlier messages again.
    /// Returns the number of turns that are left.
    ///
    /// The new agent may answer differently. Its answers count.
    pub async fn undo(&mut self) -> Result<usize, RunError> {
        self.said.turns.pop();
        self.failed = None;
        if let Some(conversation) = self.conversation.take() {
            drop(conversation.finish().await);
        }
        let turns = std::mem::take(&mut self.said.turns);
        for message in turns {
            self.send(message).await?;
        }
        Ok(self.said.turns.len())
    }

    /// The session state now.
    pub async fn state(&mut self) -> Result<Map, RunError> {
        match &mut self.conversation {
            Some(conversation) => conversation.state().await.cloned(),
            None => Ok(Map::new()),
        }
    }

    /// Ends the conversation. The draft has this id, or without one an id made of the first words of the
    /// user. There is no draft if nothing was said. Afterwards another conversation can begin.
    ///
    /// Fails if a turn failed and was not taken back.
    pub async fn finish(&mut self, eval_id: Option<&str>) -> Result<Option<Draft>, DraftRecorderError> {
        self.said.turns.clear();
        let Some(conversation) = self.conversation.take() else { return Ok(None) };
        let ended = conversation.finish().await;
        let ended = match self.failed.take() {
            Some(error) => Err(error),
            None => ended,
        };
        let transcript = ended.map_err(|source| DraftRecorderError::Run { run: 1, source })?;
        let Some((case, gaps)) = played(eval_id, &transcript) else { return Ok(None) };
        let draft = Draft::from_case(case, self.recorder.origin()).map_err(DraftRecorderError::Case)?;
        Ok(Some(draft.with_gaps(gaps)))
    }
}
