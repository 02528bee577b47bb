//! Agents behind a server with the routes of ADK's development server.

mod conversation;
mod error;
mod event_stream;
mod http;
mod kept_state;
mod listener;
mod spawned;

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use eval_core::format::{AppDetails, Map};
use eval_core::{Agent, BoxError, Session, Turn};

use crate::group::Launch;
use crate::secret_headers::Headers;
use conversation::Conversation;
pub use error::AdkServerError;
use http::Http;
use spawned::Spawned;

/// The time limit for a server to answer at first.
const READY_WITHIN: Duration = Duration::from_mins(1);

/// The time between two looks at a server that is not reached.
const RETRY_PAUSE: Duration = Duration::from_millis(250);

/// An agent behind a server with the routes of `adk api_server`: ADK in Python, TypeScript, Go and Java, and adk-rs.
///
/// ```no_run
/// # mod tests {
/// use std::process::Command;
///
/// use eval_agents::AdkServer;
/// use eval_core::{Agent, EvalRunner};
///
/// fn trip() -> impl Agent {
///     AdkServer::spawn(Command::new("adk").args(["api_server", "--no_use_local_storage", "agents"]), "trip")
/// }
///
/// fn trip_in_staging() -> impl Agent {
///     let token = std::env::var("STAGING_TOKEN").unwrap_or_default();
///     AdkServer::at("https://trip.example.com", "trip").header("Authorization", &format!("Bearer {token}"))
/// }
/// # }
/// ```
///
/// One value is one conversation, and so is each clone. A conversation creates a session with the state of its case, sends
/// each message to `/run_sse`, reads the state of the session at the end, and deletes the session. The id of the session is
/// the id in the server's answer. The instructions and tools that some judges read come from `/apps/{app}/app-info`,
/// where a server has it.
///
/// The app is given here. The `app_name` of a case, which names the app of the recording user, is not sent.
///
/// Servers on this machine are reached without a proxy. `https` is a feature of this crate.
#[derive(Debug)]
pub struct AdkServer {
    place: Place,
    app: String,
    headers: Headers,
    prefix: String,
    streaming: bool,
    ready_within: Duration,
    details: AppDetails,
    conversation: Option<Conversation>,
}

#[derive(Clone, Debug)]
enum Place {
    At(String),
    Spawned(Launch),
}

/// The servers of this process, by what starts them. They end with the process.
static SPAWNED: Mutex<BTreeMap<Launch, Arc<Spawned>>> = Mutex::new(BTreeMap::new());

/// The details of the apps that were asked for them, by address and app.
static DETAILS: Mutex<BTreeMap<(String, String), AppDetails>> = Mutex::new(BTreeMap::new());

impl AdkServer {
    /// An app of a server that runs already.
    ///
    /// `url` may have a path, such as the `/api` of ADK's server in Go: the routes are below it.
    pub fn at(url: impl Into<String>, app: impl Into<String>) -> Self {
        Self::new(Place::At(url.into()), app.into())
    }

    /// An app of a server that is started when it is first needed.
    ///
    /// All conversations of this process with the same command share one server: the same program, arguments, variables and
    /// folder. It ends with this process, however that ends, and everything that it started ends with it.
    ///
    /// A free port takes the place of `{port}` in the arguments. Without one, `--port` and the port are appended. What else a
    /// [`Command`] can be told, such as `env_clear` or pipes, is not looked at.
    ///
    /// The conversation fails if the server ends, or if it does not answer [within a minute](Self::ready_within); the error
    /// shows what the server wrote last.
    pub fn spawn(command: impl Borrow<Command>, app: impl Into<String>) -> Self {
        Self::new(Place::Spawned(Launch::new(command.borrow())), app.into())
    }

    fn new(place: Place, app: String) -> Self {
        Self {
            place,
            app,
            headers: Headers::default(),
            prefix: String::new(),
            streaming: false,
            ready_within: READY_WITHIN,
            details: AppDetails::default(),
            conversation: None,
        }
    }

    /// Adds a header to each request, for servers that ask who is there. Its value is shown nowhere: not in `Debug` output, not
    /// in errors that quote it, not in what is recorded.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.add(name, value);
        self
    }

    /// Sets the path below which a spawned server has its routes: `/api` for ADK in Go.
    #[must_use]
    pub fn prefix(mut self, path: impl Into<String>) -> Self {
        self.prefix = path.into();
        self
    }

    /// Says whether answers are streamed by the model, which they are not otherwise. The fragments are recorded, and not
    /// scored: the whole follows them.
    #[must_use]
    pub fn streaming(mut self, streaming: bool) -> Self {
        self.streaming = streaming;
        self
    }

    /// Sets how long a spawned server may take until it answers: 60 seconds otherwise. So long, a run that is
    /// [repeated](eval_core::EvalRunner::retry) waits for any server to answer again. It should be less than the time limit of a
    /// turn, which both have too.
    #[must_use]
    pub fn ready_within(mut self, limit: Duration) -> Self {
        self.ready_within = limit;
        self
    }

    /// Waits until the server answers, and fails if it has no such app. A spawned server is started.
    ///
    /// Programs call it before the first case, to fail once instead of in each case. An agent of your own that calls it and is to
    /// be [retried](eval_core::EvalRunner::retry) returns [`Unreachable`](eval_core::agent::Unreachable) in place of
    /// [`AdkServerError::Unreachable`]; the methods of [`Agent`] do so here.
    pub async fn ready(&self) -> Result<(), AdkServerError> {
        let http = self.http().await?;
        let known = http.apps().await?;
        match known {
            Some(apps) if !apps.contains(&self.app) => Err(AdkServerError::no_app(&self.app, &apps)),
            _ => Ok(()),
        }
    }

    /// Forgets a server of this process that has ended, so that the next conversation starts another.
    fn forget_ended(&self) {
        if let Place::Spawned(launch) = &self.place {
            let mut all = SPAWNED.lock().unwrap_or_else(PoisonError::into_inner);
            if all.get(launch).is_some_and(|spawned| spawned.has_ended()) {
                all.remove(launch);
            }
        }
    }

    /// The server, which is started if it is not there.
    async fn http(&self) -> Result<Http, AdkServerError> {
        match &self.place {
            Place::At(url) => Http::new(url, self.headers.clone(), None),
            Place::Spawned(launch) => {
                let spawned = {
                    let mut all = SPAWNED.lock().unwrap_or_else(PoisonError::into_inner);
                    Arc::clone(
                        all.entry(launch.clone()).or_insert_with(|| Arc::new(Spawned::new(launch.clone()))),
                    )
                };
                let (url, program) = spawned.url(&self.prefix, self.ready_within).await?;
                Http::new(&url, self.headers.clone(), Some(program))
            }
        }
    }

    /// The details of the app. A server is asked once.
    async fn read_details(&self, http: &Http) -> Result<AppDetails, AdkServerError> {
        let key = (http.base().to_owned(), self.app.clone());
        let known = |key| DETAILS.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        if let Some(details) = known(&key) {
            return Ok(details);
        }
        let details = http.details(&self.app).await?;
        DETAILS.lock().unwrap_or_else(PoisonError::into_inner).insert(key, details.clone());
        Ok(details)
    }
}

/// Another conversation with the same app.
impl Clone for AdkServer {
    fn clone(&self) -> Self {
        Self {
            headers: self.headers.clone(),
            prefix: self.prefix.clone(),
            streaming: self.streaming,
            ready_within: self.ready_within,
            details: self.details.clone(),
            ..Self::new(self.place.clone(), self.app.clone())
        }
    }
}

impl Agent for AdkServer {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        session.recorder().answers_by("the last event of the server's agent with text is the answer");
        let begun = async {
            let http = self.http().await?;
            self.details = self.read_details(&http).await?;
            Conversation::begin(http, &self.app, session).await
        };
        self.conversation = Some(begun.await.map_err(AdkServerError::of_agent)?);
        Ok(())
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let streaming = self.streaming;
        let conversation = self.conversation.as_mut().ok_or("the session was not opened")?;
        conversation.turn(turn, streaming).await.map_err(AdkServerError::of_agent)
    }

    async fn state(&mut self) -> Result<Option<Map>, BoxError> {
        let conversation = self.conversation.as_mut().ok_or("the session was not opened")?;
        conversation.state().await.map_err(AdkServerError::of_agent)
    }

    async fn end(&mut self) -> Result<(), BoxError> {
        match self.conversation.take() {
            Some(conversation) => conversation.end().await.map_err(AdkServerError::of_agent),
            None => Ok(()),
        }
    }

    fn details(&self) -> AppDetails {
        self.details.clone()
    }

    /// A server that runs elsewhere may be [started anew](AdkServer::ready_within). One of this process that ended is.
    async fn wait_until_reachable(&mut self) {
        self.forget_ended();
        let answers = async {
            while let Ok(http) = self.http().await
                && !http.answers_soon().await
            {
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        };
        // The next run says what is wrong.
        let _ = tokio::time::timeout(self.ready_within, answers).await;
    }
}
