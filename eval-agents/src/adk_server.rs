//! Agents behind a server with the routes of ADK's development server.

mod conversation;
mod error;
mod event_stream;
mod golden_tools;
mod http;
mod kept_state;
mod listener;
mod spawned;

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use eval_core::format::{AppDetails, Map, ToolSource};
use eval_core::{Agent, BoxError, Session, Turn};
use eval_support::mutex::Mutex;
use eval_support::setters;

use crate::secret_headers::Headers;
use conversation::Conversation;
pub use error::AdkServerError;
use eval_core::group::Launch;
use eval_core::models::{Lease as ModelLease, ModelCalls, ModelMode, Router as ModelRouter};
use golden_tools::{ToolLease, ToolRouter};
use http::Http;
use spawned::{Answered, Spawned};

const READY_WITHIN: Duration = Duration::from_mins(1);

const NOT_REDIRECTED: &str = "the server runs already, so its calls of models are neither recorded nor replayed; start it here: \
                              `AdkServer::spawn(..)`, or `--adk-cmd`";

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
/// The app is given here. The `app_name` of a case names the app that the case was recorded with, and is not
/// sent.
///
/// Servers on this machine are reached without a proxy. `https` needs the feature `https` of this crate.
#[derive(Debug)]
pub struct AdkServer {
    place: Place,
    app: String,
    headers: Headers,
    prefix: String,
    streaming: bool,
    ready_within: Duration,
    details: AppDetails,
    tools: ToolSource,
    models: Option<ModelMode>,
    conversation: Option<Conversation>,
    /// Address of the golden tools.
    lease: Option<ToolLease>,
    /// Address of recorded model calls.
    models_lease: Option<ModelLease>,
}

#[derive(Clone, Debug)]
enum Place {
    At(String),
    Spawned(Launch),
}

/// The servers of this process by their launch, and by what answers their tools and their models. They end with the process.
static SPAWNED: Mutex<BTreeMap<(Launch, Answered), Arc<Spawned>>> = Mutex::new(BTreeMap::new());

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
    /// All conversations of this process with the same command share one server: the same program, arguments,
    /// variables and folder. The server and all processes that it starts end with this process, however it
    /// ends.
    ///
    /// A free port takes the place of `{port}` in the arguments. Without one, `--port` and the port are
    /// appended. Other settings of a [`Command`], such as `env_clear` or pipes, are ignored.
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
            tools: ToolSource::Real,
            models: None,
            conversation: None,
            lease: None,
            models_lease: None,
        }
    }

    setters! {
        /// Adds a header to each request, for servers that need authentication. Its value is never shown: not in
        /// `Debug` output, not in errors that quote it, not in records.
        header(name: &str, value: &str) { headers.add(name, value) }

        /// Sets the path below which a spawned server has its routes: `/api` for ADK in Go.
        prefix(path: impl Into<String>) { prefix = path.into() }

        /// Sets whether the model streams its answers; by default it does not. Fragments are recorded, and not
        /// scored: the whole answer follows them.
        streaming(streaming: bool) { streaming = streaming }

        /// Sets the time limit for a spawned server to answer: 60 seconds by default. A run that is
        /// [repeated](eval_core::EvalRunner::retry) waits as long for any server to answer again. The limit
        /// should be less than the time limit of a turn, which applies to both waits too.
        ready_within(limit: Duration) { ready_within = limit }

        /// Sets the tools with which [`ready`](Self::ready) starts a server. In a run with [golden
        /// tools](eval_core::tools) they are golden in any case: a plugin is loaded into the server, and the tools of its
        /// agents do not run.
        tools(tools: ToolSource) { tools = tools }

        /// Sets how calls of models are answered in a server that [`ready`](Self::ready) starts. A conversation whose calls
        /// are recorded or replayed has a server that asks the gateway in any case.
        models(mode: Option<ModelMode>) { models = mode }
    }

    /// Waits until the server answers, and fails if it has no such app. A spawned server is started.
    ///
    /// Programs call it before the first case, to fail once instead of in each case. An agent of your own
    /// that calls it should return [`Unreachable`](eval_core::agent::Unreachable) in place of
    /// [`AdkServerError::Unreachable`], so that its runs are [retried](eval_core::EvalRunner::retry). The
    /// methods of [`Agent`] do so here.
    pub async fn ready(&self) -> Result<(), AdkServerError> {
        let Reached { http, router, .. } = self.reach(self.answered()).await?;
        let known = http.apps().await?;
        match (known, router) {
            (Some(apps), _) if !apps.contains(&self.app) => Err(AdkServerError::no_app(&self.app, &apps)),
            (_, Some(router)) => router.welcome(&http, &self.app).await,
            _ => Ok(()),
        }
    }

    fn answered(&self) -> Answered {
        Answered { golden: self.tools == ToolSource::Golden, models: self.models }
    }

    /// The answerers of each server that conversations used. A server of this process that has ended is removed, so that another
    /// one starts in its place.
    fn used_so_far(&self) -> Vec<Answered> {
        let Place::Spawned(launch) = &self.place else { return vec![Answered::default()] };
        let mut used = Vec::new();
        for ((of, answered), spawned) in SPAWNED.lock().iter_mut().filter(|((of, _), _)| of == launch) {
            if spawned.has_ended() {
                *spawned = Arc::new(Spawned::new(of.clone(), *answered));
            }
            used.push(*answered);
        }
        used
    }

    /// The server with its desks. A server that does not run yet is started.
    async fn reach(&self, answered: Answered) -> Result<Reached, AdkServerError> {
        match &self.place {
            Place::At(_) if answered.golden => Err(AdkServerError::Tools(
                "golden tools need a server that is started here, since a plugin is loaded into it, and this one runs already: \
                 its tools would run; start it with `AdkServer::spawn(..)`, or `--adk-cmd`"
                    .to_owned(),
            )),
            Place::At(url) => {
                Ok(Reached { http: Http::new(url, self.headers.clone(), None)?, router: None, models: None, note: None })
            }
            Place::Spawned(launch) => {
                let spawned = {
                    let mut all = SPAWNED.lock();
                    let new = || Arc::new(Spawned::new(launch.clone(), answered));
                    Arc::clone(all.entry((launch.clone(), answered)).or_insert_with(new))
                };
                let running = spawned.running(&self.prefix, self.ready_within).await?;
                let http = Http::new(&running.url(&self.prefix), self.headers.clone(), Some(running.program))?;
                Ok(Reached { http, router: running.router, models: running.models, note: running.note })
            }
        }
    }

    async fn read_details(&self, http: &Http) -> Result<AppDetails, AdkServerError> {
        let key = (http.base.to_string(), self.app.clone());
        let known = |key| DETAILS.lock().get(key).cloned();
        if let Some(details) = known(&key) {
            return Ok(details);
        }
        let details = http.details(&self.app).await?;
        DETAILS.lock().insert(key, details.clone());
        Ok(details)
    }
}

/// A server with what its conversations need.
struct Reached {
    http: Http,
    /// Address of the golden tools.
    router: Option<Arc<ToolRouter>>,
    /// Address of recorded model calls.
    models: Option<ModelRouter>,
    /// The variables that its command keeps from being redirected.
    note: Option<String>,
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
            tools: self.tools,
            models: self.models,
            ..Self::new(self.place.clone(), self.app.clone())
        }
    }
}

impl Agent for AdkServer {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        session.recorder().answers_by("the last event of the server's agent with text is the answer");
        let tools = session.recorder().golden_tools();
        let models = session.recorder().model_calls();
        if let (Place::At(_), Some(models)) = (&self.place, &models) {
            // Its turns would be paid for, and tell nothing about the recording.
            if models.is_replayed() {
                return Err(format!("{NOT_REDIRECTED}; EVALSET_MODELS=live lets it ask its models").into());
            }
            session.recorder().note(NOT_REDIRECTED);
        }
        let answered = Answered { golden: tools.is_some(), models: models.as_ref().map(ModelCalls::mode) };
        let begun = async {
            let Reached { http, router, models: of_models, note } = self.reach(answered).await?;
            if let Some(note) = note {
                session.recorder().note(note);
            }
            if let Some(router) = &router {
                router.welcome(&http, &self.app).await?;
            }
            if let Some((router, models)) = of_models.zip(models) {
                self.models_lease = Some(router.lease(&models).await);
            }
            self.details = self.read_details(&http).await?;
            let conversation = Conversation::begin(http, &self.app, session).await?;
            Ok((conversation, router))
        };
        let (conversation, router) = begun.await.map_err(AdkServerError::of_agent)?;
        if let Some((tools, router)) = tools.zip(router) {
            // The plugin asks for each call of a tool that the server knows.
            tools.records_others();
            self.lease = Some(router.lease(conversation.user(), conversation.session(), tools));
        }
        self.conversation = Some(conversation);
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
        self.lease = None;
        let ended = match self.conversation.take() {
            Some(conversation) => conversation.end().await.map_err(AdkServerError::of_agent),
            None => Ok(()),
        };
        self.models_lease = None;
        ended
    }

    fn details(&self) -> AppDetails {
        self.details.clone()
    }

    /// Waits until the server answers, at most for this [limit](AdkServer::ready_within). An ended server of
    /// this process is started again.
    async fn wait_until_reachable(&mut self) {
        // Whether the next run has golden tools is not known here, and a server with real ones must not start for it.
        let used = self.used_so_far();
        let answers = async {
            for answered in used {
                while let Ok(Reached { http, .. }) = self.reach(answered).await
                    && !http.answers_soon().await
                {
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
            }
        };
        // If the server still does not answer, the next run reports the error.
        let _ = tokio::time::timeout(self.ready_within, answers).await;
    }
}
