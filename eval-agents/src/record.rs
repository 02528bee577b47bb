//! Drafts of cases from new conversations with an agent.
//!
//! ```
//! use eval_agents::record::{DraftRecorder, Script};
//! use eval_core::{Recorder, agent_fn, json};
//!
//! async fn answer(text: String, recorder: Recorder) -> String {
//!     recorder.tool_call("get_weather", json!({ "city": text }), "sunny");
//!     "It is sunny.".to_owned()
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let script = Script::default().say("Paris").say("Oslo");
//! let draft = DraftRecorder::new("the weather agent").runs(2).record(&script, || agent_fn(answer)).await?;
//! assert_eq!(draft.case.conversation[1].tool_calls().next().unwrap().to_string(), r#"get_weather(city: "Oslo")"#);
//! assert!(draft.varied.is_empty(), "it was the same both times");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! A conversation runs like a case: if a case would be an ERROR, there is no draft. With
//! [`runs`](DraftRecorder::runs) it runs several times, and the case keeps the parts that were equal each
//! time.
//!
//! [`Script`]s are read from a file by [`scripts`]. A [`Chat`] is a conversation whose messages are not known
//! in advance.

mod chat;
mod draft_recorder;
mod script;

use std::fmt;
use std::pin::pin;
use std::time::{Duration, Instant};

use eval_core::agent::Event;
use eval_core::format::{AppDetails, Map};
use eval_core::{Agent, BoxError, Session, Turn};

pub use chat::Chat;
pub use draft_recorder::{DraftRecorder, DraftRecorderError};
pub use script::{Script, ScriptError, scripts};

const POLL_PAUSE: Duration = Duration::from_millis(50);
/// The ratio of the time that the agent runs to the time that a look at its events takes. A look copies all events, so without this factor the
/// time would be quadratic.
const POLL_SHARE: u32 = 9;

/// An agent whose events are shown as they come.
///
/// ```
/// use std::sync::Mutex;
///
/// use eval_agents::record::{DraftRecorder, Script, Watched};
/// use eval_core::agent_fn;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let seen = Mutex::new(0);
/// let agent = || Watched::new(agent_fn(|text, _| async move { text }), |_| *seen.lock().unwrap() += 1);
/// DraftRecorder::new("an echo").record(&Script::new("hi").say("Hi"), agent).await?;
/// assert_eq!(*seen.lock().unwrap(), 1);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// Fragments of streamed answers are not shown; the whole answer is.
pub struct Watched<A, F> {
    agent: A,
    show: F,
}

impl<A, F: Fn(&Event) + Send> Watched<A, F> {
    /// Calls `show` with each event of the agent.
    pub fn new(agent: A, show: F) -> Self {
        Self { agent, show }
    }
}

impl<A: fmt::Debug, F> fmt::Debug for Watched<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").field("agent", &self.agent).finish_non_exhaustive()
    }
}

impl<A: Agent, F: Fn(&Event) + Send> Agent for Watched<A, F> {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        self.agent.start(session).await
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let mut shown = 0;
        let mut pause = POLL_PAUSE;
        let mut running = pin!(self.agent.turn(turn));
        loop {
            let ended = tokio::time::timeout(pause, running.as_mut()).await;
            let begun = Instant::now();
            let events = turn.recorder().events();
            pause = POLL_PAUSE.max(begun.elapsed() * POLL_SHARE);
            // The last event may be an answer that is still being streamed.
            let grows = |event: &Event| event.is_final() && event.error_code.is_none();
            let ready = match events.last().filter(|last| ended.is_err() && grows(last)) {
                Some(_) => events.len() - 1,
                None => events.len(),
            };
            for event in events.iter().take(ready).skip(shown).filter(|event| !event.partial) {
                (self.show)(event);
            }
            shown = shown.max(ready);
            if let Ok(ended) = ended {
                return ended;
            }
        }
    }

    async fn state(&mut self) -> Result<Option<Map>, BoxError> {
        self.agent.state().await
    }

    async fn end(&mut self) -> Result<(), BoxError> {
        self.agent.end().await
    }

    fn details(&self) -> AppDetails {
        self.agent.details()
    }
}
