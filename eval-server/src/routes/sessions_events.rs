//! The live sessions as server-sent events.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tokio::time::{sleep, timeout};

use super::sessions::{Receiving, SessionList};
use crate::answer;
use crate::app::Shared;
use crate::events::{self, Event, Events, ReaderGone, SentEvent};
use crate::refusal::Refusal;
use crate::sessions::{Change, SessionState};

const MAX_WAITING_EVENTS: usize = 16;

/// The time for which changes are collected before they are sent.
const COLLECT_PAUSE: Duration = Duration::from_millis(250);

/// The time between two checks for changes that no arrival causes: a session may become complete.
const CHECK_PAUSE: Duration = Duration::from_millis(500);

/// The time between two tests whether a reader is still there.
const BEAT_PAUSE: Duration = Duration::from_secs(15);

/// Tells of live sessions in events, as they change: `about` (what is received, and what was removed or refused), `session` (a
/// session, as the list has it) and `removed` (the id of one that is no longer there). Needs the token.
#[utoipa::path(
    get,
    path = "/api/v1/sessions/events",
    responses((status = 200, body = SentEvent, content_type = "text/event-stream"))
)]
pub(crate) async fn events(State(app): State<Shared>) -> Result<Response, Refusal> {
    let place = app.streams.clone().try_acquire_owned().map_err(|_| {
        Refusal::busy("too many pages look at the sessions; close one, or send it again later")
    })?;
    let (events, body) = events::channel(MAX_WAITING_EVENTS);
    tokio::spawn(async move {
        let mut told = Told { events, sessions: HashMap::new(), about: None };
        // No more events are sent to a reader that has gone.
        drop(tell(&app, &mut told).await);
        drop(place);
    });
    Ok(answer::of_body(StatusCode::OK, events::CONTENT_TYPE, body))
}

struct Told {
    events: Events,
    sessions: HashMap<u64, String>,
    about: Option<Receiving>,
}

async fn tell(app: &Shared, told: &mut Told) -> Result<(), ReaderGone> {
    let mut changes = app.sessions.changes();
    loop {
        changes.mark_unchanged();
        let list = app.work(|app| {
            let list = app.sessions.list();
            Ok((list.is_behind, SessionList::new(app, list)))
        });
        // If the server is too busy, changes are sent later.
        let is_moving = match list.await {
            Ok((is_behind, list)) => told.tell(list).await? || is_behind,
            Err(_) => true,
        };
        if *changes.borrow() == Change::Last {
            return Ok(());
        }
        let wait = if is_moving { CHECK_PAUSE } else { BEAT_PAUSE };
        match timeout(wait, changes.changed()).await {
            Ok(Ok(())) => sleep(COLLECT_PAUSE).await,
            Ok(Err(_)) => return Ok(()),
            Err(_) if is_moving => {}
            Err(_) => told.events.send(Event::beat()).await?,
        }
    }
}

impl Told {
    /// Sends all changes. Returns whether a session may change without a further export.
    async fn tell(&mut self, list: SessionList) -> Result<bool, ReaderGone> {
        let SessionList { about, mut sessions } = list;
        if self.about.as_ref() != Some(&about) {
            self.events.send(Event::named("about", events::json(&about)?)).await?;
            self.about = Some(about);
        }
        let is_moving = sessions.iter().any(|it| it.view.state == SessionState::Receiving);
        let is_there: HashSet<u64> = sessions.iter().map(|it| it.view.id).collect();
        let removed: Vec<u64> = self.sessions.keys().copied().filter(|id| !is_there.contains(id)).collect();
        for id in removed {
            self.events.send(Event::named("removed", events::json(&id.to_string())?)).await?;
            self.sessions.remove(&id);
        }
        // The oldest first, so that a page can put each on top.
        sessions.reverse();
        for session in &sessions {
            let text = events::json(session)?;
            if self.sessions.get(&session.view.id) != Some(&text) {
                self.events.send(Event::named("session", &text)).await?;
                self.sessions.insert(session.view.id, text);
            }
        }
        Ok(is_moving)
    }
}
