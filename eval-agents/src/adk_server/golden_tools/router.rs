//! The conversations of one server, to which the calls of its tools are routed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::sync::{Arc, Weak};

use eval_core::format::{Map, Value};
use eval_core::tools::GoldenTools;
use eval_support::id::fresh_id;
use eval_support::id::fresh_token;
use eval_support::mutex::Mutex;
use reqwest::{Method, StatusCode};

use super::super::error::AdkServerError;
use super::super::http::Http;
use super::loopback::{self, Caller};
use super::plugin::Plugin;
use eval_core::group::Launch;

/// The questions of the plugins of one server, and their answers.
pub(in super::super) struct ToolRouter {
    token: String,
    state: Mutex<State>,
    /// The plugin on the disk, until an app has loaded it. Python then has its module for the others.
    plugin: Mutex<Option<Plugin>>,
    /// The apps whose plugin is loaded.
    apps: tokio::sync::Mutex<BTreeSet<String>>,
}

#[derive(Default)]
struct State {
    /// The number of plugins that were loaded: one for each app.
    loaded: usize,
    /// The conversations; `None` once one has ended, since the server may go on with its last turn.
    sessions: BTreeMap<SessionKey, Option<GoldenTools>>,
}

/// The user and the id of a session.
type SessionKey = (String, String);

/// The answers to a conversation's calls of tools, until this is dropped.
#[derive(Debug)]
pub(in super::super) struct ToolLease {
    router: Arc<ToolRouter>,
    key: SessionKey,
}

/// An option of ADK's servers with which a session that does not exist is made.
const CREATES_SESSIONS: &str = "--auto_create_session";

impl ToolRouter {
    /// A router, and the plugin that asks it.
    pub(in super::super) fn open() -> Result<Arc<Self>, io::Error> {
        let token = fresh_token()?;
        let router = Arc::new(Self {
            token: token.clone(),
            state: Mutex::default(),
            plugin: Mutex::default(),
            apps: tokio::sync::Mutex::default(),
        });
        let weak: Weak<dyn Caller> = Arc::downgrade(&router) as Weak<dyn Caller>;
        let address = loopback::listen(&token, weak)?;
        *router.plugin.lock() = Some(Plugin::write(address, &token)?);
        Ok(router)
    }

    /// The command of a server with the plugin.
    pub(in super::super) fn plugin_for(&self, launch: &Launch) -> Launch {
        self.plugin.lock().as_ref().map_or_else(|| launch.clone(), |plugin| plugin.loaded_by(launch))
    }

    /// Makes sure that an app of the server has loaded the plugin.
    ///
    /// A run of a session that does not exist loads the plugins of the app, and asks no model.
    pub(in super::super) async fn welcome(&self, http: &Http, app: &str) -> Result<(), AdkServerError> {
        let mut apps = self.apps.lock().await;
        if apps.contains(app) {
            return Ok(());
        }
        if let Ok(Some(known)) = http.apps().await
            && !known.iter().any(|known| known == app)
        {
            return Err(AdkServerError::no_app(app, &known));
        }
        if http.has_argument(CREATES_SESSIONS) {
            return Err(AdkServerError::Tools(format!(
                "golden tools need a server without `{CREATES_SESSIONS}`: whether it loads their plugin is asked with a session \
                 that does not exist"
            )));
        }
        let before = self.state.lock().loaded;
        let message = Map::from([
            ("role", Value::from("user")),
            ("parts", Value::Array(vec![Map::from([("text", "hello")]).into()])),
        ]);
        let mut run = Map::from([("appName", app), ("userId", "evalset")]);
        run.insert("sessionId", fresh_id("evalset-golden-tools"));
        run.insert("newMessage", message);
        let response = http.send(Method::POST, &["run"], Some(&run.into()), None).await?;
        let status = response.status();
        // A broken app fails before ADK comes to its plugins, and later apps still need the module.
        let is_loaded = self.state.lock().loaded > before;
        if is_loaded {
            drop(self.plugin.lock().take());
        }
        if is_loaded && status == StatusCode::NOT_FOUND {
            apps.insert(app.to_owned());
            return Ok(());
        }
        let told = format!("POST /run answered {status}");
        Err(AdkServerError::Tools(format!(
            "the server did not load the plugin of golden tools ({told}), so the tools of `{app}` would run; golden tools need \
             `adk api_server` of google-adk in Python, which takes `--extra_plugins`"
        ))
        .with(&http.wrote_last().await))
    }

    /// Leases the tools to a conversation: the calls of its session are answered by its golden tools.
    pub(in super::super) fn lease(
        self: &Arc<Self>,
        user: &str,
        session: &str,
        tools: GoldenTools,
    ) -> ToolLease {
        let key = (user.to_owned(), session.to_owned());
        self.state.lock().sessions.insert(key.clone(), Some(tools));
        ToolLease { router: Arc::clone(self), key }
    }
}

impl Caller for ToolRouter {
    fn loaded(&self) {
        self.state.lock().loaded += 1;
    }

    fn tools_of(&self, session: &Value) -> Result<GoldenTools, String> {
        let state = self.state.lock();
        let key = session[0].as_str().zip(session[1].as_str());
        let found = key.and_then(|(user, id)| state.sessions.get(&(user.to_owned(), id.to_owned())));
        match found {
            Some(Some(tools)) => Ok(tools.clone()),
            Some(None) => Err("the conversation of this session has ended".to_owned()),
            None => {
                let why = format!("a tool was called in the session {session}, which no case has");
                // It may belong to any of the cases.
                state.sessions.values().flatten().for_each(|tools| tools.miss(&*why));
                Err(why)
            }
        }
    }
}

impl Drop for ToolRouter {
    fn drop(&mut self) {
        loopback::forget(&self.token);
    }
}

impl Drop for ToolLease {
    fn drop(&mut self) {
        self.router.state.lock().sessions.insert(self.key.clone(), None);
    }
}

/// The token is not shown.
impl fmt::Debug for ToolRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolRouter(..)")
    }
}
