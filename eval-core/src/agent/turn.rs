//! What an agent is given: a session, then one turn after the other.

use eval_format::{Content, Map};

use super::recorder::Recorder;

/// Who the conversation is with, and the state it starts from.
///
/// Comes from the `session_input` of the case. The app name and the user id default to `EvaluationGenerator` and
/// `test_user_id`, as in ADK.
#[derive(Clone, Debug, Default, PartialEq)]
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

    /// The recorder of this turn. It is cheap to clone and can be handed to tools.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }
}
