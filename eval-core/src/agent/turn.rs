//! What an agent is given: a session, then one turn after the other.

use std::fmt;
use std::sync::Arc;

use eval_format::{Content, Map};

use super::log::Log;
use super::recorder::Recorder;

/// Who the conversation is with, and the state it starts from.
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
    recorder: Recorder,
}

impl Session {
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
    /// An event counts for the turn in which it is recorded, also if an earlier turn began the work. What is recorded while
    /// no turn is in progress makes the case an ERROR.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// The same session with a recorder for this conversation.
    pub(crate) fn recording_into(&self, log: &Arc<Log>) -> Self {
        Self { recorder: Recorder::of_session(log), ..self.clone() }
    }
}

/// A session without names or state. What its recorder records is lost.
impl Default for Session {
    fn default() -> Self {
        Self {
            app_name: String::new(),
            user_id: String::new(),
            session_id: String::new(),
            state: Map::new(),
            recorder: Recorder::of_session(&Arc::default()),
        }
    }
}

/// Sessions are compared by their names and their state.
impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        let Self { app_name, user_id, session_id, state, recorder: _ } = self;
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
            .finish_non_exhaustive()
    }
}

/// One message of the user, and where to record what the agent does about it.
#[derive(Debug)]
pub struct Turn<'a> {
    content: &'a Content,
    recorder: Recorder,
}

impl<'a> Turn<'a> {
    /// A turn that records into `recorder`.
    pub(crate) fn new(content: &'a Content, recorder: Recorder) -> Self {
        Self { content, recorder }
    }

    /// The message, as it stands in the file.
    pub fn content(&self) -> &Content {
        self.content
    }

    /// The text of the message.
    pub fn text(&self) -> String {
        self.content.text()
    }

    /// The recorder of this turn. It is cheap to clone and can be handed to tools that do not outlive the turn. Others take
    /// [`Session::recorder`].
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }
}
