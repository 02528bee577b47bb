//! Server-sent events: what changes, for whoever looks at a page.

use std::sync::Arc;
use std::time::Duration;

use eval_server::axum::extract::State;
use eval_server::axum::http::StatusCode;
use eval_server::axum::response::Response;
use eval_server::events::{CONTENT_TYPE, Event, channel};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

use super::answer;
use super::site::Site;
use super::watch::watch;

/// How long nothing is said. Then a comment shows whether somebody still listens.
const SILENCE: Duration = Duration::from_secs(5);

/// How many events may wait for their reader.
const WAITING: usize = 16;

/// The events: `run` when records of a run were added, `job` for the run that was started here, and `all` when everything is to be
/// asked for again.
pub(super) async fn events(State(site): State<Arc<Site>>) -> Response {
    let (mut events, body) = channel(WAITING);
    let mut told = site.hub.listen();
    let mut ending = site.hub.ending();
    watch(&site);
    let all = || Event::named("all", "{}");
    let job = Event::named("job", site.job.shown());
    tokio::spawn(async move {
        if events.send(all()).await.is_err() {
            return;
        }
        let mut next = job;
        while events.send(next).await.is_ok() {
            let received = tokio::select! {
                _ = ending.wait_for(|ends| *ends) => break,
                received = timeout(SILENCE, told.recv()) => received,
            };
            next = match received {
                Ok(Ok(event)) => event,
                Ok(Err(RecvError::Lagged(_))) => all(),
                Ok(Err(RecvError::Closed)) => break,
                Err(_) => Event::beat(),
            };
        }
    });
    answer::of_body(StatusCode::OK, CONTENT_TYPE, body)
}
