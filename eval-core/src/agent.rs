//! The system under test: one value is one conversation, and what it does is recorded as it happens.
#![doc = crate::pages::page!("../docs/agents.md")]

mod closure;
mod event;
mod recorder;
mod replay;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use eval_format::{AppDetails, Content, Map};

pub use closure::agent_fn;
pub use event::Event;
pub use recorder::Recorder;
pub(crate) use recorder::{MOST_EVENTS, Recorded};
pub use replay::Replay;

/// Any error: `?` works on the errors of every agent framework.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A boxed future that can move between threads.
pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One conversation with the system under test.
///
/// ```
/// use eval_core::{Agent, BoxError, Turn};
///
/// /// Repeats what it hears and counts the turns.
/// struct Echo { turns: usize }
///
/// impl Agent for Echo {
///     async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
///         self.turns += 1;
///         turn.recorder().text(format!("{}: {}", self.turns, turn.text()));
///         Ok(())
///     }
/// }
/// ```
///
/// A fresh value is made for each run of each case, so history lives in `self`. What happens
/// is pushed into the turn's [`Recorder`], not returned: when a turn times out, panics or fails, the
/// report still shows what was done until then.
///
/// # A turn that blocks
///
/// A turn that blocks its thread (a synchronous HTTP client, a long computation) cannot be
/// cancelled: its timeout takes effect when it next awaits. Wrap such work in
/// `tokio::task::spawn_blocking`. While it blocks, a line on stderr names the case, run and turn.
///
/// # A turn that ends the process
///
/// `std::process::exit(0)` in a test would pass for success with the harness, cargo and nextest, all tests that had not
/// ended included. Called on the thread of a test of the attribute, or on one of its runtime, it aborts the process
/// instead and says so; on threads that an agent starts by itself nobody sees it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent",
    label = "not an agent",
    note = "implement `Agent` for it, or wrap a closure with `agent_fn(|text, recorder| async move {{ .. }})`"
)]
pub trait Agent: Send {
    /// Opens the conversation. The default does nothing.
    fn start(&mut self, session: &Session) -> impl Future<Output = Result<(), BoxError>> + Send {
        let _ = session;
        async { Ok(()) }
    }

    /// Answers one message of the user, recording everything it does on the way.
    ///
    /// An error makes the case an ERROR with this text, never a low score.
    fn turn(&mut self, turn: &Turn<'_>) -> impl Future<Output = Result<(), BoxError>> + Send;

    /// The session state now, if the agent knows better than the recorded state changes.
    ///
    /// The default is `None`: the initial state with every recorded change applied.
    fn state(&mut self) -> impl Future<Output = Result<Option<Map>, BoxError>> + Send {
        async { Ok(None) }
    }

    /// Instructions and tools of each agent, for the metrics that read them.
    fn details(&self) -> AppDetails {
        AppDetails::default()
    }

    /// This agent behind a pointer, to choose between agents at run time.
    fn boxed(self) -> BoxAgent
    where
        Self: Sized + 'static,
    {
        BoxAgent(Box::new(self))
    }
}

/// Whose conversation it is and what it starts from.
///
/// Built from the case's `session_input`; app name and user id default to `EvaluationGenerator` and
/// `test_user_id`, as in ADK.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Session {
    /// The application.
    pub app_name: String,
    /// The user.
    pub user_id: String,
    /// The id that the case pins, or one that is unique to this run.
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

    /// The message as it stands in the file.
    pub fn content(&self) -> &Content {
        self.content
    }

    /// The text of the message.
    pub fn text(&self) -> String {
        self.content.text()
    }

    /// Where to record events; cheap to clone and to hand to tools.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }
}

/// The twin of [`Agent`] that can stand behind a pointer.
pub(crate) trait Erased: Send {
    fn start<'a>(&'a mut self, session: &'a Session) -> BoxFuture<'a, Result<(), BoxError>>;
    fn turn<'a>(&'a mut self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<(), BoxError>>;
    fn state(&mut self) -> BoxFuture<'_, Result<Option<Map>, BoxError>>;
    fn details(&self) -> AppDetails;
}

impl<A: Agent> Erased for A {
    fn start<'a>(&'a mut self, session: &'a Session) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(Agent::start(self, session))
    }

    fn turn<'a>(&'a mut self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(Agent::turn(self, turn))
    }

    fn state(&mut self) -> BoxFuture<'_, Result<Option<Map>, BoxError>> {
        Box::pin(Agent::state(self))
    }

    fn details(&self) -> AppDetails {
        Agent::details(self)
    }
}

/// An agent behind a pointer.
///
/// ```
/// use eval_core::{Agent, BoxAgent, BoxError, Replay, agent_fn};
///
/// fn choose(live: bool) -> BoxAgent {
///     if live {
///         agent_fn(|text, _| async move { Ok::<_, BoxError>(text) }).boxed()
///     } else {
///         Replay::new([["recorded answer"]]).boxed()
///     }
/// }
/// # let _ = choose(true);
/// ```
pub struct BoxAgent(Box<dyn Erased>);

impl BoxAgent {
    /// What stands behind the pointer.
    pub(crate) fn into_erased(self) -> Box<dyn Erased> {
        self.0
    }
}

impl fmt::Debug for BoxAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxAgent(..)")
    }
}

impl Agent for BoxAgent {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        self.0.start(session).await
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        self.0.turn(turn).await
    }

    async fn state(&mut self) -> Result<Option<Map>, BoxError> {
        self.0.state().await
    }

    fn details(&self) -> AppDetails {
        self.0.details()
    }

    fn boxed(self) -> BoxAgent {
        self
    }
}

/// What users hold across threads stays `Send` (and `Sync` where it is shared).
const _: () = {
    const fn send<T: Send>() {}
    const fn sync<T: Send + Sync>() {}
    send::<BoxAgent>();
    sync::<Recorder>();
    sync::<Session>();
};
