//! The trait that an agent implements.

use std::fmt::{self, Display};
use std::future::Future;

use eval_format::{AppDetails, Map};

use super::boxed::{BoxError, BoxFuture};
use super::turn::{Session, Turn};

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
/// A new value is made for each run of each case, so the history of the conversation can live in `self`. A turn records
/// what happens with its [`Recorder`](super::Recorder) instead of returning it: if the turn times out, panics or fails,
/// the report still shows what was done until then.
///
/// The methods are `async`, so the trait is not dyn compatible: there is no `Box<dyn Agent>`. To choose an
/// agent at run time, use [`BoxAgent`], which holds any agent: `agent.boxed()` makes one. An agent that is
/// not `Send` is a [`LocalAgent`](super::LocalAgent).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent",
    label = "not an agent",
    note = "implement `Agent` for it, or wrap a closure with `agent_fn(|text, recorder| async move {{ .. }})`",
    note = "a `LocalAgent`, which need not be `Send`, becomes one with `agent::local(|| ..)`"
)]
pub trait Agent: Send {
    /// Opens the conversation. The default does nothing.
    fn start(&mut self, session: &Session) -> impl Future<Output = Result<(), BoxError>> + Send {
        let _ = session;
        async { Ok(()) }
    }

    /// Answers one message of the user and records everything that it does on the way.
    ///
    /// An error makes the verdict on the case an ERROR with this text, never a low score.
    // The compiler shows the next line in its errors about `dyn Agent`, and where an agent is not `Send`.
    fn turn(&mut self, turn: &Turn<'_>) -> impl Future<Output = Result<(), BoxError>> + Send; // dyn: BoxAgent; !Send: LocalAgent

    /// The session state at the end, for agents that keep it themselves.
    ///
    /// The default is `None`: the state is then the initial state with every recorded change applied.
    fn state(&mut self) -> impl Future<Output = Result<Option<Map>, BoxError>> + Send {
        async { Ok(None) }
    }

    /// Ends the conversation: closes what [`start`](Self::start) or a turn opened. The default does nothing.
    ///
    /// It is called once, after the last turn and after [`state`](Self::state), also if one of them failed,
    /// panicked or timed out. It has the time limit of a turn. An error makes the case an ERROR. Recording an
    /// event in it is an error too, since no turn is in progress. It is not called if the process ends. If
    /// the future of [`evaluate`](crate::EvalRun::evaluate) is dropped, `Drop` runs instead.
    fn end(&mut self) -> impl Future<Output = Result<(), BoxError>> + Send {
        async { Ok(()) }
    }

    /// Instructions and tools of each agent. Some judged metrics read them.
    fn details(&self) -> AppDetails {
        AppDetails::default()
    }

    /// Waits until the agent can be reached. It is called before a run is repeated because its agent was [not
    /// reached](super::Unreachable). It has the time limit of a turn, and the run begins even if this times
    /// out. The default does not wait.
    fn wait_until_reachable(&mut self) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// Whether this may ask a model while it is played. An agent that tells what is stored asks none, so nothing answers in
    /// place of its models.
    #[doc(hidden)]
    fn __asks_models(&self) -> bool {
        true
    }

    /// This agent behind a pointer, to choose between agents at run time.
    fn boxed(self) -> BoxAgent
    where
        Self: Sized + 'static,
    {
        BoxAgent(Box::new(self))
    }
}

/// [`Agent`] with boxed futures, so that it can be a trait object.
pub(crate) trait Erased: Send {
    fn start<'a>(&'a mut self, session: &'a Session) -> BoxFuture<'a, Result<(), BoxError>>;
    fn turn<'a>(&'a mut self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<(), BoxError>>;
    fn state(&mut self) -> BoxFuture<'_, Result<Option<Map>, BoxError>>;
    fn end(&mut self) -> BoxFuture<'_, Result<(), BoxError>>;
    fn details(&self) -> AppDetails;
    fn asks_models(&self) -> bool;
    fn wait_until_reachable(&mut self) -> BoxFuture<'_, ()>;
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

    fn end(&mut self) -> BoxFuture<'_, Result<(), BoxError>> {
        Box::pin(Agent::end(self))
    }

    fn details(&self) -> AppDetails {
        Agent::details(self)
    }

    fn asks_models(&self) -> bool {
        Agent::__asks_models(self)
    }

    fn wait_until_reachable(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(Agent::wait_until_reachable(self))
    }
}

/// An agent behind a pointer.
///
/// ```
/// use eval_core::{Agent, BoxAgent, Replay, agent_fn};
///
/// fn choose(live: bool) -> BoxAgent {
///     if live {
///         agent_fn(|text, _| async move { text }).boxed()
///     } else {
///         Replay::new([["recorded answer"]]).boxed()
///     }
/// }
/// # let _ = choose(true);
/// ```
pub struct BoxAgent(pub(crate) Box<dyn Erased>);

impl fmt::Debug for BoxAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxAgent(..)")
    }
}

/// Implements `Agent` for pointers to agents: each method is forwarded.
macro_rules! forward {
    ($($pointer:ty $(where $of:ident: Agent)?, |$this:ident| $pointed:expr $(, $boxed:item)?;)*) => {
        $(
            impl$(<$of: Agent>)? Agent for $pointer {
                async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
                    let $this = self;
                    $pointed.start(session).await
                }

                async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
                    let $this = self;
                    $pointed.turn(turn).await
                }

                async fn state(&mut self) -> Result<Option<Map>, BoxError> {
                    let $this = self;
                    $pointed.state().await
                }

                async fn end(&mut self) -> Result<(), BoxError> {
                    let $this = self;
                    $pointed.end().await
                }

                fn details(&self) -> AppDetails {
                    let $this = self;
                    $pointed.details()
                }

                fn __asks_models(&self) -> bool {
                    let $this = self;
                    $pointed.asks_models()
                }

                async fn wait_until_reachable(&mut self) {
                    let $this = self;
                    $pointed.wait_until_reachable().await;
                }

                $($boxed)?
            }
        )*
    };
}

forward! {
    BoxAgent, |agent| agent.0, fn boxed(self) -> BoxAgent { self };
    // A borrowed agent can be looked at after its conversation.
    &mut A where A: Agent, |agent| **agent;
    Box<A> where A: Agent, |agent| **agent;
}

/// Values that users hold across threads are `Send`, and `Sync` if they are shared.
const _: () = {
    const fn send<T: Send>() {}
    const fn sync<T: Send + Sync>() {}
    send::<BoxAgent>();
    sync::<super::recorder::Recorder>();
    sync::<Session>();
};

/// The result of a setup function: an agent, or a `Result` of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent",
    label = "this is returned where an agent is expected",
    note = "return `impl Agent` or `Result<impl Agent, E>` with `E: Display`",
    note = "a test body of your own takes an `EvalRun` and returns `()` or `Result<(), E>`"
)]
pub trait IntoAgent {
    /// The agent, or the error that kept it from being set up.
    fn into_agent(self) -> Result<BoxAgent, BoxError>;
}

impl<A: Agent + 'static> IntoAgent for A {
    fn into_agent(self) -> Result<BoxAgent, BoxError> {
        Ok(self.boxed())
    }
}

impl<A: Agent + 'static, E: Display> IntoAgent for Result<A, E> {
    fn into_agent(self) -> Result<BoxAgent, BoxError> {
        // `{:#}` shows the whole chain of an `anyhow::Error`.
        self.map(Agent::boxed).map_err(|error| format!("{error:#}").into())
    }
}
