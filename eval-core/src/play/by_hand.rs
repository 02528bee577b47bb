//! A conversation that a test plays by hand, without a case.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use eval_format::{Content, DEFAULT_TIMEOUT, EvalCase, Map};

use super::conversation::{Conditions, drop_agent, end, late, missed_tool, read_state, settle, start, turn};
use super::user::Message;
use crate::agent::{Agent, Log, Session};
use crate::tools::GoldenTools;
use crate::transcript::{RunError, Transcript, TurnRecord};

/// A conversation with an agent, for a test that looks at its turns one by one.
///
/// ```
/// use eval_core::testing::Conversation;
/// use eval_core::{Recorder, agent_fn, json};
///
/// async fn answer(text: String, recorder: Recorder) -> String {
///     recorder.tool_call("get_weather", json!({ "city": text }), "sunny");
///     recorder.state("last_city", text);
///     "It is sunny.".to_owned()
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut conversation = Conversation::new(agent_fn(answer));
/// let turn = conversation.say("Paris").await?;
/// assert_eq!(turn.invocation.response_text(), "It is sunny.");
/// assert_eq!(turn.invocation.tool_calls().next().unwrap().to_string(), r#"get_weather(city: "Paris")"#);
///
/// let transcript = conversation.finish().await?;
/// assert_eq!(transcript.state["last_city"], "Paris");
/// # Ok(()) }
/// ```
///
/// It is played like a case: everything that makes a case an ERROR is an error here, with the same message.
/// Each turn has a time limit of 120 seconds, as in a case. The transcript can be scored: see
/// [`EvalRunner::score_case`](crate::EvalRunner::score_case).
pub struct Conversation<A> {
    agent: A,
    log: Arc<Log>,
    transcript: Transcript,
    is_open: bool,
    timeout: Duration,
}

impl<A> fmt::Debug for Conversation<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation").field("transcript", &self.transcript).finish_non_exhaustive()
    }
}

impl<A: Agent> Conversation<A> {
    /// A conversation that begins with the first message. The agent may be borrowed: `&mut agent`.
    pub fn new(agent: A) -> Self {
        Self {
            agent,
            log: Arc::default(),
            transcript: Transcript::default(),
            is_open: false,
            timeout: DEFAULT_TIMEOUT,
        }
    }

    /// Sets the session, which is empty otherwise.
    #[must_use]
    pub fn with_session(mut self, session: Session) -> Self {
        self.transcript.state.clone_from(&session.state);
        self.transcript.session = session.into();
        self
    }

    /// Has the [golden tools](crate::tools) of a case answer the agent's calls, turn by turn.
    #[must_use]
    pub fn with_golden_tools(mut self, case: &EvalCase) -> Self {
        self.log = Log::with_tools(Some(GoldenTools::new(case)));
        self
    }

    /// Sets the time limit of each turn.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Says a text to the agent, and returns what it did and answered.
    pub async fn say(&mut self, text: impl Into<String>) -> Result<&TurnRecord, RunError> {
        self.send(Content::user(text)).await
    }

    /// Sends a message of any parts to the agent, and returns what it did and answered.
    pub async fn send(&mut self, message: Content) -> Result<&TurnRecord, RunError> {
        let conditions = conditions(self.timeout);
        if !self.is_open {
            self.is_open = true;
            start(&mut self.agent, &conditions, &self.log, &self.transcript.session).await?;
        }
        let message = Message::of(message);
        turn(&mut self.agent, &message, &conditions, &self.log, &mut self.transcript).await?;
        Ok(&self.transcript.turns[self.transcript.turns.len() - 1])
    }

    /// The session state now. An agent that keeps the state itself is asked for it.
    ///
    /// ```
    /// use eval_core::agent_fn;
    /// use eval_core::testing::Conversation;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut conversation = Conversation::new(agent_fn(|text, recorder| async move {
    ///     recorder.state("last", text.as_str());
    ///     text
    /// }));
    /// conversation.say("Hi").await?;
    /// assert_eq!(conversation.state().await?["last"], "Hi");
    /// # Ok(()) }
    /// ```
    pub async fn state(&mut self) -> Result<&Map, RunError> {
        if self.is_open {
            read_state(&mut self.agent, &conditions(self.timeout), &mut self.transcript).await?;
        }
        Ok(&self.transcript.state)
    }

    /// Ends the conversation and returns its transcript. Fails if the agent fails, or if it recorded an event
    /// too late.
    pub async fn finish(mut self) -> Result<Transcript, RunError> {
        let conditions = conditions(self.timeout);
        let known = self.log.tools().map_or(0, |tools| tools.misses().len());
        let ended = if self.is_open {
            let read = read_state(&mut self.agent, &conditions, &mut self.transcript).await;
            let ended = end(&mut self.agent, &conditions, read).await;
            missed_tool(&self.log, known).map_or(ended, Err)
        } else {
            Ok(())
        };
        let Self { agent, log, mut transcript, .. } = self;
        let dropped = drop_agent(agent, &conditions);
        settle(&log).await;
        transcript.notes = log.notes();
        ended.and(dropped)?;
        late(&log).map_or(Ok(transcript), Err)
    }
}

fn conditions(timeout: Duration) -> Conditions<'static> {
    Conditions { app_name: "", user_id: "", timeout, label: "a conversation".into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{BoxError, Recorder, Turn, agent_fn};

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    /// Greets the user of its session, and keeps the recorder of it.
    #[derive(Default)]
    struct Polite {
        session: Option<Session>,
        ended: usize,
    }

    impl Agent for Polite {
        async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
            self.session = Some(session.clone());
            Ok(())
        }

        async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
            let session = self.session.as_ref().ok_or("not open")?;
            match &*turn.text() {
                "nothing" => {}
                "hang" => std::future::pending().await,
                text => session.recorder().text(format!("{text}, {}", session.user_id)),
            }
            Ok(())
        }

        async fn end(&mut self) -> Result<(), BoxError> {
            self.ended += 1;
            self.session = None;
            Ok(())
        }
    }

    #[test]
    fn a_conversation_by_hand_goes_the_way_of_a_case() {
        let mut agent = Polite::default();
        let transcript = run(async {
            let session = Session::new("shop", "Anna").with_state("k", 1);
            let limit = Duration::from_millis(200);
            let mut talk = Conversation::new(&mut agent).with_session(session).with_timeout(limit);
            let turn = talk.say("Hello").await.unwrap();
            assert_eq!(turn.invocation.response_text(), "Hello, Anna");
            let nothing = talk.say("nothing").await.unwrap_err().to_string();
            assert!(nothing.starts_with("agent error in turn 2: the agent answered nothing"), "{nothing}");
            let hangs = talk.say("hang").await.unwrap_err();
            assert_eq!(
                hangs.to_string(),
                "agent error in turn 3: timed out after 200ms (`timeout` sets the limit)"
            );
            talk.finish().await.unwrap()
        });
        assert_eq!((transcript.turns.len(), transcript.state["k"].as_i64()), (3, Some(1)));
        assert_eq!(agent.ended, 1);
    }

    #[test]
    fn what_is_recorded_too_late_by_hand_is_an_error() {
        let kept: Arc<std::sync::Mutex<Option<Recorder>>> = Arc::default();
        let keeps = Arc::clone(&kept);
        let agent = agent_fn(move |text, recorder| {
            *keeps.lock().unwrap() = Some(recorder);
            async move { text }
        });
        let error = run(async {
            let mut talk = Conversation::new(agent);
            talk.say("hi").await.unwrap();
            kept.lock().unwrap().take().unwrap().text("late");
            talk.finish().await.unwrap_err()
        });
        assert!(error.to_string().contains("recorded after the turn had ended"), "{error}");
    }
}
