//! The input of an agent: a session, then one turn after the other.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use eval_format::{Content, Map, Value};
use eval_support::setters;

use super::boxed::BoxError;
use super::event::other_than_text;
use super::log::Log;
use super::recorder::Recorder;

/// The app and the user of the conversation, and its initial state.
///
/// Comes from the `session_input` of the case. The app name and the user id default to `EvaluationGenerator` and
/// `test_user_id`, as in ADK.
#[derive(Clone)]
#[non_exhaustive]
pub struct Session {
    /// The name of the application.
    pub app_name: String,
    /// The id of the user.
    pub user_id: String,
    /// The id that the case gives, or one that is unique to this run.
    pub session_id: String,
    /// The state at the start.
    pub state: Map,
    /// The id of the case; `None` outside of a case. Agents that replay recordings of cases find them by it.
    pub eval_id: Option<String>,
    /// The number of messages of the user. `None` outside of a case, and for a simulated user, who decides on the way.
    pub turns: Option<usize>,
    recorder: Recorder,
}

impl Session {
    /// A session of an application and a user, for tests without a case.
    ///
    /// ```
    /// use eval_core::Session;
    ///
    /// let session = Session::new("shop", "anna").with_session_id("s1").with_state("currency", "EUR");
    /// assert_eq!(session.state["currency"].as_str(), Some("EUR"));
    /// ```
    ///
    /// Events of its recorder are lost; a [`Conversation`](crate::testing::Conversation) gives the session a
    /// recorder whose events count.
    pub fn new(app_name: impl Into<String>, user_id: impl Into<String>) -> Self {
        Self { app_name: app_name.into(), user_id: user_id.into(), ..Self::default() }
    }

    setters! {
        /// Sets the id of the session.
        with_session_id(session_id: impl Into<String>) { session_id = session_id.into() }

        /// Sets a key of the state at the start.
        with_state(key: impl Into<String>, value: impl Into<Value>) { state.insert(key, value) }
    }

    /// A recorder that follows the turn in progress, for tools that are built once in [`start`](super::Agent::start).
    ///
    /// ```
    /// use eval_core::{Recorder, Session};
    ///
    /// /// A tool that lives as long as the conversation.
    /// struct Weather(Recorder);
    ///
    /// fn open(session: &Session) -> Weather {
    ///     Weather(session.recorder().author("weather_agent"))
    /// }
    /// ```
    ///
    /// An event counts for the turn in which it is recorded, also if an earlier turn began the work. Events
    /// that are recorded while no turn is in progress make the case an ERROR.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    pub(crate) fn recording_into(&self, log: &Arc<Log>) -> Self {
        Self { recorder: Recorder::of_session(log), ..self.clone() }
    }
}

/// A session without names or state. Events of its recorder are lost.
impl Default for Session {
    fn default() -> Self {
        Self {
            app_name: String::new(),
            user_id: String::new(),
            session_id: String::new(),
            state: Map::new(),
            eval_id: None,
            turns: None,
            recorder: Recorder::of_session(&Log::detached()),
        }
    }
}

/// Sessions are compared by their names and their state. The case of a session is not recorded with it.
impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        let Self { app_name, user_id, session_id, state, eval_id: _, turns: _, recorder: _ } = self;
        (app_name, user_id, session_id, state)
            == (&other.app_name, &other.user_id, &other.session_id, &other.state)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("app_name", &self.app_name)
            .field("user_id", &self.user_id)
            .field("session_id", &self.session_id)
            .field("state", &self.state)
            .field("eval_id", &self.eval_id)
            .field("turns", &self.turns)
            .finish_non_exhaustive()
    }
}

/// One message of the user, and the recorder for what the agent does about it.
///
/// A test can make a turn itself:
///
/// ```
/// use eval_core::{Agent, Turn, agent_fn};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), eval_core::BoxError> {
/// let turn = Turn::from("Paris?");
/// agent_fn(|text, _| async move { format!("You said: {text}") }).turn(&turn).await?;
/// let events = turn.recorder().events();
/// assert_eq!(events[0].content.as_ref().map(|it| it.text()).as_deref(), Some("You said: Paris?"));
/// # Ok(()) }
/// ```
///
/// A whole conversation is played by [`Conversation`](crate::testing::Conversation).
#[derive(Clone, Debug)]
pub struct Turn<'a> {
    content: Cow<'a, Content>,
    recorder: Recorder,
}

impl<'a> Turn<'a> {
    /// A turn that records into `recorder`.
    pub fn new(content: &'a Content, recorder: Recorder) -> Self {
        Self { content: Cow::Borrowed(content), recorder }
    }

    /// The message, as it is in the file.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The text of the message. Parts that are not text are left out: see [`only_text`](Self::only_text).
    pub fn text(&self) -> String {
        self.content.text()
    }

    /// The text of the message. Fails if it has other parts, such as an image, which an agent that reads the text alone
    /// would not see.
    pub fn only_text(&self) -> Result<String, BoxError> {
        match self.content.parts().iter().find_map(other_than_text) {
            None => Ok(self.text()),
            Some(key) => Err(format!(
                "the user's message has a part `{key}`, and this agent reads its text alone; read all parts with \
                 `turn.content()`, which a closure of `turn_fn` is given too"
            )
            .into()),
        }
    }

    /// The recorder of this turn. It is cheap to clone and can be handed to tools that do not outlive the
    /// turn. Other tools use [`Session::recorder`].
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// The same turn with a message of its own, which can be moved anywhere.
    #[must_use]
    pub fn into_owned(self) -> Turn<'static> {
        Turn { content: Cow::Owned(self.content.into_owned()), recorder: self.recorder }
    }
}

/// A message with a recorder of its own, for tests.
impl From<Content> for Turn<'static> {
    fn from(content: Content) -> Self {
        Self { content: Cow::Owned(content), recorder: Recorder::new() }
    }
}

/// A text of the user with a recorder of its own, for tests.
impl From<&str> for Turn<'static> {
    fn from(text: &str) -> Self {
        Content::user(text).into()
    }
}
