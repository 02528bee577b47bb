//! Server-sent events: what changes, for whoever looks at a page.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use eval_server::axum::body::{Body, Bytes};
use eval_server::axum::extract::State;
use eval_server::axum::http::StatusCode;
use eval_server::axum::response::Response;
use http_body_util::channel::Channel;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

use super::answer;
use super::site::Site;
use super::watch::watch;

/// How long nothing is said. Then a comment shows whether somebody still listens.
const SILENCE: Duration = Duration::from_secs(5);

/// The events: `run` when records of a run were added, `job` for the run that was started here, and `all` when everything is to be
/// asked for again.
pub(super) async fn events(State(site): State<Arc<Site>>) -> Response {
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(16);
    let mut events = site.hub.listen();
    let mut ending = site.hub.ending();
    watch(&site);
    let job = site.job.shown();
    tokio::spawn(async move {
        let first = format!("event: all\ndata: {{}}\n\nevent: job\ndata: {job}\n\n");
        let mut next = Bytes::from(first);
        while sender.send_data(next).await.is_ok() {
            let received = tokio::select! {
                _ = ending.wait_for(|ends| *ends) => break,
                received = timeout(SILENCE, events.recv()) => received,
            };
            next = match received {
                Ok(Ok(event)) => Bytes::copy_from_slice(event.as_bytes()),
                Ok(Err(RecvError::Lagged(_))) => Bytes::from_static(b"event: all\ndata: {}\n\n"),
                Ok(Err(RecvError::Closed)) => break,
                Err(_) => Bytes::from_static(b":\n\n"),
            };
        }
    });
    answer::of_body(StatusCode::OK, "text/event-stream; charset=utf-8", Body::new(body))
}
