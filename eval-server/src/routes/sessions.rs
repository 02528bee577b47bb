//! Live sessions: the list, a single session, and the choice of the golden one.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::convert::ConvertedTrace;
use crate::answer::{self, Envelope};
use crate::app::{App, Id, Shared};
use crate::display;
use crate::refusal::{Refusal, Refused};
use crate::sessions::{Digest, List, Reading, SessionView};

/// The live sessions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionList {
    #[serde(flatten)]
    pub(super) about: Receiving,
    /// The latest first.
    pub(super) sessions: Vec<SessionEntry>,
}

/// The state of the receiver: data that is not among the sessions.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Receiving {
    /// The port on which traces are received; null if none are.
    otlp_port: Option<u16>,
    /// Whether drafts can be saved.
    saves_drafts: bool,
    /// The number of sessions that were removed to make room.
    removed: u64,
    /// The number of exports that were refused.
    refused_exports: u64,
    /// The reason for the last refusal.
    last_refusal: Option<String>,
}

/// A live session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionEntry {
    #[serde(flatten)]
    pub(super) view: SessionView,
    #[serde(flatten)]
    digest: Digest,
}

/// A live session with its turns.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionDetails {
    session: SessionEntry,
    /// Its turns; null if its spans are of no agent.
    conversation: Option<ConvertedTrace>,
    /// The doubts that keep it from being golden and from passing.
    doubts: Vec<String>,
}

/// The golden session.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Golden {
    /// Null if none is.
    golden: Option<String>,
}

impl SessionEntry {
    pub(super) fn new(reading: &Reading) -> Self {
        Self { digest: reading.digest(), view: reading.view.clone() }
    }
}

impl SessionList {
    pub(super) fn new(app: &App, list: List) -> Self {
        Self {
            about: Receiving {
                otlp_port: app.otlp.map(|address| address.port()),
                saves_drafts: app.options.drafts.is_some(),
                removed: list.removed,
                refused_exports: list.refused,
                last_refusal: list.last_refusal.as_deref().map(display::line),
            },
            sessions: list.sessions.into_iter().map(|(view, digest)| SessionEntry { view, digest }).collect(),
        }
    }
}

/// Lists the live sessions, the latest first. Needs the token.
#[utoipa::path(get, path = "/api/v1/sessions", responses((status = 200, body = Envelope<SessionList>)))]
pub(crate) async fn sessions(State(app): State<Shared>) -> Result<Response, Refusal> {
    app.work(|app| Ok(answer::data(SessionList::new(app, app.sessions.list())))).await
}

/// Shows a live session with its turns. Needs the token.
#[utoipa::path(
    get,
    path = "/api/v1/sessions/{id}",
    params(("id" = String, Path, description = "the id of a session")),
    responses((status = 200, body = Envelope<SessionDetails>))
)]
pub(crate) async fn session(State(app): State<Shared>, Id(id): Id) -> Result<Response, Refusal> {
    app.work(move |app| {
        let reading = found(app, &id)?;
        let gaps: Vec<String> = reading.traces.gaps().iter().map(ToString::to_string).collect();
        Ok(answer::data(SessionDetails {
            conversation: reading.conversation().map(|it| ConvertedTrace::new(it, &gaps, true)),
            doubts: display::lines(&reading.doubts()),
            session: SessionEntry::new(&reading),
        }))
    })
    .await
}

/// Marks a live session as golden: the others are scored against it. It must be complete, and lack nothing. Needs the token.
#[utoipa::path(
    put,
    path = "/api/v1/sessions/{id}/golden",
    params(("id" = String, Path, description = "the id of a session")),
    responses((status = 200, body = Envelope<Golden>), (status = 409, body = Refused))
)]
pub(crate) async fn mark(State(app): State<Shared>, Id(id): Id) -> Result<Response, Refusal> {
    app.work(move |app| {
        let reading = found(app, &id)?;
        check_golden(&reading)?;
        app.sessions.mark(Some(reading.view.id));
        Ok(marked(app))
    })
    .await
}

/// Unmarks a live session that is golden. Needs the token.
#[utoipa::path(
    delete,
    path = "/api/v1/sessions/{id}/golden",
    params(("id" = String, Path, description = "the id of a session")),
    responses((status = 200, body = Envelope<Golden>))
)]
pub(crate) async fn unmark(State(app): State<Shared>, Id(id): Id) -> Result<Response, Refusal> {
    app.work(move |app| {
        let reading = found(app, &id)?;
        if reading.view.is_golden {
            app.sessions.mark(None);
        }
        Ok(marked(app))
    })
    .await
}

fn marked(app: &App) -> Response {
    answer::data(Golden { golden: app.sessions.golden().map(|id| id.to_string()) })
}

pub(super) fn found(app: &App, id: &str) -> Result<Reading, Refusal> {
    let none = || {
        Refusal::new(
            StatusCode::NOT_FOUND,
            "there is no such session; the oldest are removed when there is no room for new ones",
        )
    };
    id.parse().ok().and_then(|id| app.sessions.read(id)).ok_or_else(none)
}

/// Refuses a golden session with doubts: others cannot be compared with it.
pub(super) fn check_golden(reading: &Reading) -> Result<(), Refusal> {
    let doubts = reading.doubts();
    if doubts.is_empty() {
        return Ok(());
    }
    Err(not_golden(reading, &display::lines(&doubts).join("; ")))
}

pub(super) fn not_golden(reading: &Reading, why: &str) -> Refusal {
    let key = display::line(&reading.view.key);
    Refusal::new(StatusCode::CONFLICT, format!("the session `{key}` cannot be golden: {why}"))
}
