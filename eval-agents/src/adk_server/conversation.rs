//! One conversation with an app of a server: a session, its turns, its state.

use std::time::Duration;

use eval_core::format::options::DEFAULT_USER_ID;
use eval_core::format::{Map, Value};
use eval_core::{Session, Turn};
use eval_support::id::fresh_id;
use reqwest::Method;

use super::error::{AdkServerError, behind_colon, cut};
use super::event_stream::{EventStream, Sent};
use super::http::{Http, has_no_route};
use super::kept_state::KeptState;
use crate::wire;
use crate::wire::ReadEvent;

const DELETE_TIMEOUT: Duration = Duration::from_secs(10);

const CREATE: &str = "POST of a session";
const RUN: &str = "POST /run_sse";
const READ: &str = "GET of the session";
const REMOVE: &str = "DELETE of the session";

#[derive(Debug)]
pub(super) struct Conversation {
    http: Http,
    app: String,
    user: String,
    session: String,
    kept: KeptState,
    /// Whether the connection to the server failed, so that the session cannot be deleted.
    is_lost: bool,
    in_turn: bool,
}

impl Conversation {
    /// Creates the session, with the state of the case. A case without a user gets a new one: in google-adk's
    /// evaluation no state of a user comes from another process.
    pub(super) async fn begin(http: Http, app: &str, session: &Session) -> Result<Self, AdkServerError> {
        let user = match session.user_id.as_str() {
            DEFAULT_USER_ID => fresh_id(DEFAULT_USER_ID),
            named => named.to_owned(),
        };
        let path = ["apps", app, "users", &user, "sessions"];
        let mut wanted = Map::from([("state", Value::Object(session.state.clone()))]);
        wanted.insert("sessionId", session.session_id.as_str());
        let created = http.ask(CREATE, Method::POST, &path, Some(&wanted.clone().into())).await;
        let created = match created {
            // Sessions with the same id can exist at the same time: cases can share it, and so can the runs
            // of a case.
            Err(AdkServerError::Status { status, message })
                if status == 409 || status == 400 && message.contains("already exists") =>
            {
                wanted.remove("sessionId");
                http.ask(CREATE, Method::POST, &path, Some(&wanted.into())).await
            }
            created => created,
        };
        let created = match created {
            Ok(created) => created,
            Err(error) => return Err(with_apps(error, &http, app).await),
        };
        let id = created["id"].as_str().filter(|id| !id.is_empty()).ok_or_else(|| {
            let answer = http.headers.mask(&created.to_string());
            AdkServerError::Answer(format!("{CREATE} answered without the id of a session: {}", cut(&answer)))
        })?;
        let begun = Self {
            app: app.to_owned(),
            session: id.to_owned(),
            user,
            http,
            kept: KeptState::new(&session.state),
            is_lost: false,
            in_turn: false,
        };
        match created["state"].as_object().map_or(Ok(()), |state| begun.kept.check_start(state)) {
            Ok(()) => Ok(begun),
            // The session is useless. A failure to delete it changes nothing about the error.
            Err(error) => {
                drop(begun.end().await);
                Err(error)
            }
        }
    }

    pub(super) fn user(&self) -> &str {
        &self.user
    }

    pub(super) fn session(&self) -> &str {
        &self.session
    }

    pub(super) async fn turn(&mut self, turn: &Turn<'_>, streaming: bool) -> Result<(), AdkServerError> {
        self.in_turn = true;
        let ran = self.run(turn, streaming).await;
        self.in_turn = false;
        self.is_lost = matches!(ran, Err(AdkServerError::Unreachable { .. } | AdkServerError::Broken { .. }));
        ran
    }

    async fn run(&mut self, turn: &Turn<'_>, streaming: bool) -> Result<(), AdkServerError> {
        let mut request = Map::new();
        request.insert("appName", self.app.as_str());
        request.insert("userId", self.user.as_str());
        request.insert("sessionId", self.session.as_str());
        request.insert("newMessage", wire::content(turn.content()));
        request.insert("streaming", streaming);
        let mut response = self.http.send(Method::POST, &["run_sse"], Some(&request.into()), None).await?;
        if !response.status().is_success() {
            let error = self.http.refused(RUN, response).await;
            return Err(with_apps(error, &self.http, &self.app).await);
        }
        let (mut stream, mut events, mut received) =
            (EventStream::default(), Vec::new(), Received::default());
        let headers = self.http.headers.clone();
        let broken = |why: String| AdkServerError::Answer(format!("{RUN} {}", headers.mask(&why)));
        while let Some(piece) = self.http.piece(&mut response).await? {
            let read = stream.read(&piece, &mut events);
            self.record(turn, &mut events, &mut received)?;
            read.map_err(broken)?;
        }
        let ended = stream.end(&mut events);
        self.record(turn, &mut events, &mut received)?;
        ended.map_err(broken)
    }

    fn record(
        &mut self,
        turn: &Turn<'_>,
        events: &mut Vec<Sent>,
        received: &mut Received,
    ) -> Result<(), AdkServerError> {
        for sent in events.drain(..) {
            match received.event(&sent) {
                Ok(Some(read)) => {
                    // As in ADK, fragments do not change the state.
                    if !read.event.partial {
                        self.kept.change(&read.event.state_delta);
                    }
                    for key in read.unread {
                        turn.recorder().note(format!("the server sent `{key}`, which nothing reads"));
                    }
                    turn.recorder().event(read.event);
                }
                Ok(None) => {}
                Err(AdkServerError::Agent(why)) => {
                    return Err(AdkServerError::Agent(self.http.headers.mask(&why)));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(super) async fn state(&mut self) -> Result<Option<Map>, AdkServerError> {
        let path = ["apps", &self.app, "users", &self.user, "sessions", &self.session];
        let session = self.http.ask(READ, Method::GET, &path, None).await?;
        match session["state"].as_object() {
            Some(state) => self.kept.check_end(state).map(|()| Some(state.clone())),
            // Servers leave out an empty state.
            None if session["state"].is_null() => Ok(Some(Map::new())),
            None => Err(AdkServerError::Answer(format!("{READ} answered with a state that is no object"))),
        }
    }

    pub(super) async fn end(self) -> Result<(), AdkServerError> {
        if self.is_lost {
            return Ok(());
        }
        let path = ["apps", &self.app, "users", &self.user, "sessions", &self.session];
        let deleted = match self.http.send(Method::DELETE, &path, None, Some(DELETE_TIMEOUT)).await {
            Ok(response) if response.status().is_success() || has_no_route(response.status()) => Ok(()),
            Ok(response) => Err(self.http.refused(REMOVE, response).await),
            Err(error) => Err(error),
        };
        // A turn that did not end gives no reason. The output of the server may.
        if !self.in_turn {
            return deleted;
        }
        let note = self.http.wrote_last().await;
        match deleted {
            // This error has the output already.
            Err(error @ AdkServerError::Status { status: 500.., .. }) => Err(error),
            Err(error) => Err(error.with(&note)),
            Ok(()) if note.is_empty() => Ok(()),
            Ok(()) => {
                Err(AdkServerError::Broken { message: format!("the turn did not end{note}"), source: None })
            }
        }
    }
}

/// The same error, or the error of a missing app if the server lacks it.
async fn with_apps(error: AdkServerError, http: &Http, app: &str) -> AdkServerError {
    if !matches!(&error, AdkServerError::Status { status: 404, .. }) {
        return error;
    }
    match http.apps().await {
        Ok(Some(apps)) if !apps.iter().any(|known| known == app) => {
            AdkServerError::no_app(app, &apps).with(&format!(" ({error})"))
        }
        // Go's server has all routes below `/api`.
        Ok(None) => {
            error.with("; it has no route `/list-apps` either: the address may lack a path, such as `/api`")
        }
        _ => error,
    }
}

#[derive(Debug, Default)]
struct Received {
    /// The id of the last event.
    last: Option<String>,
    count: usize,
}

impl Received {
    /// Parses an event of the server; `None` if it repeats the last one.
    fn event(&mut self, sent: &Sent) -> Result<Option<ReadEvent>, AdkServerError> {
        self.count += 1;
        let number = self.count;
        let unreadable =
            |why: &str| AdkServerError::Answer(format!("{RUN}, event {number}: {why}: {}", cut(&sent.data)));
        if sent.name == "error" {
            return Err(failed(&sent.data, Value::parse(&sent.data).ok().as_ref()));
        }
        let value = wire::parse(&sent.data).map_err(|why| unreadable(&why))?;
        // Once a response has begun, the server can report an error only as an event.
        if !value["error"].is_null() && value["author"].is_null() {
            return Err(failed(&sent.data, Some(&value)));
        }
        let id = value["id"].as_str().map(str::to_owned);
        // Python's server sends an event that stores artifacts twice: without them, and without the content.
        let stores =
            value["actions"]["artifactDelta"].as_object().is_some_and(|artifacts| !artifacts.is_empty());
        if stores && id.is_some() && id == self.last && value["content"].is_null() {
            return Ok(None);
        }
        self.last = id;
        let event =
            wire::Reader::new(value, "event").and_then(wire::event).map_err(|why| unreadable(&why))?;
        Ok(Some(event))
    }
}

fn failed(text: &str, value: Option<&Value>) -> AdkServerError {
    let told = value.and_then(|value| value["error"].as_str().or_else(|| value["error"]["message"].as_str()));
    AdkServerError::Agent(format!("the agent failed{}", behind_colon(&cut(told.unwrap_or(text)))))
}
