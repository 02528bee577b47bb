//! Starting a run on the page, and cancelling it.

use std::sync::Arc;

use eval_server::axum::body::Bytes;
use eval_server::axum::extract::State;
use eval_server::axum::http::StatusCode;
use eval_server::axum::response::Response;
use serde::Deserialize;
use serde_json::json;

use super::answer::{self, Failure};
use super::job::begin;
use super::sets;
use super::site::Site;

/// The most runs of a case that the page may ask for.
pub(super) const MOST: u16 = 100;

/// What the page asks for.
#[derive(Deserialize)]
struct Asked {
    sets: Vec<String>,
    runs: u16,
}

/// Starts a run.
pub(super) async fn start(State(site): State<Arc<Site>>, body: Bytes) -> Result<Response, Failure> {
    site.work(move |site| {
        let asked: Asked = serde_json::from_slice(&body).map_err(|error| {
            Failure::bad(format!("the request cannot be read: {error}"), "send `sets` and `runs`")
        })?;
        let Some(start) = site.job.start() else {
            let help = "start `cargo evalset serve` with `--agent-cmd`, `--agent-url` or `--adk-cmd`";
            return Err(Failure::new(StatusCode::CONFLICT, "this service was given no agent", help));
        };
        if !(1..=MOST).contains(&asked.runs) {
            return Err(Failure::bad(
                format!("a case runs from 1 to {MOST} times"),
                "change the number of runs",
            ));
        }
        let known = sets::all()?;
        let sets = known.iter().map(|path| path.display().to_string()).filter(|set| asked.sets.contains(set));
        let sets: Vec<String> = sets.collect();
        if sets.is_empty() || sets.len() != asked.sets.len() {
            let help = "choose one or more of the sets; load the page again if a file was moved";
            return Err(Failure::bad("no set is chosen, or one is not there any more", help));
        }
        let run = begin(&site.job, start, &sets, asked.runs)?;
        site.job.tell();
        Ok(answer::json(&json!({ "run": run })))
    })
    .await
}

/// Cancels the run.
pub(super) async fn cancel(State(site): State<Arc<Site>>) -> Result<Response, Failure> {
    // It waits for no page that is computed: what runs may cost money.
    let ended = tokio::task::spawn_blocking(move || {
        let was_running = site.job.end();
        site.job.tell();
        was_running
    });
    let was_running = ended.await.map_err(|_| Failure::internal("the run could not be cancelled"))?;
    Ok(answer::json(&json!({ "cancelled": was_running })))
}
