//! Files that are dropped on the page. The service's own routes check and score them; a journal is shown as the page of its run.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use askama::Template;
use eval_core::journal::file_names::JOURNAL;
use eval_format::EvalConfig;
use eval_server::axum::body::Bytes;
use eval_server::axum::extract::rejection::BytesRejection;
use eval_server::axum::extract::{Path, State};
use eval_server::axum::http::{HeaderMap, StatusCode};
use eval_server::axum::response::Response;
use serde_json::json;

use super::answer::{self, Failure};
use super::html::{self, Frame};
use super::site::Site;
use super::view::{still, unreadable};
use crate::recorded::{LoadedRun, RunResults};

const SCRIPT: &str = include_str!("../../templates/live/check.js");

#[derive(Template)]
#[template(path = "live/check.html")]
struct CheckPage {
    live: Frame,
    /// ADK's default criteria, as JSON.
    criteria: String,
}

/// The most dropped journals that are kept: the newest ones, until the service ends.
const MAX_KEPT_JOURNALS: usize = 4;

pub(super) async fn page() -> Result<Response, Failure> {
    let config = EvalConfig::adk_default().to_value();
    let page = |live| CheckPage { live, criteria: config["criteria"].to_string() };
    html::sent(Frame::new("/check", SCRIPT), page)
}

pub(super) async fn journal(
    State(site): State<Arc<Site>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Failure> {
    static NEXT: AtomicU64 = AtomicU64::new(1);

    let body = body.map_err(|error| unread(&error))?;

    site.work(move |site| {
        let no_room = |error: std::io::Error| {
            Failure::internal(format!("the journal cannot be written into a temporary folder: {error}"))
        };
        let folder = tempfile::Builder::new().prefix("evalset-dropped-").tempdir().map_err(no_room)?;
        fs::create_dir(folder.path().join(DROPPED_RUN)).map_err(no_room)?;
        fs::write(folder.path().join(DROPPED_RUN).join(format!("{DROPPED_RUN}.{JOURNAL}")), &body)
            .map_err(no_room)?;
        let loaded = loaded(&folder)?;
        if loaded.run.processes.is_empty() {
            let help = "drop a file `*.jsonl` of a run's folder below `target/evalset`";
            return Err(Failure::bad("this is no journal: no line says who wrote it", help));
        }
        let results =
            RunResults::new(&loaded, None, true).map_err(|error| Failure::internal(error.to_string()))?;
        let (outcome, reason) = (results.totals.outcome().name(), results.totals.reason());
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut kept = site.dropped.lock();
        kept.insert(0, (number, Arc::new(folder)));
        kept.truncate(MAX_KEPT_JOURNALS);
        Ok(answer::json(
            &json!({ "link": format!("/dropped/{number}"), "outcome": outcome, "reason": reason }),
        ))
    })
    .await
}

pub(super) const MAX_JOURNAL_BYTES: usize = 64 << 20;

fn unread(error: &BytesRejection) -> Failure {
    if error.status() != StatusCode::PAYLOAD_TOO_LARGE {
        return Failure::bad(format!("the journal did not arrive: {error}"), "drop it again");
    }
    Failure::new(
        error.status(),
        format!("the journal is larger than the {} MiB that this page takes", MAX_JOURNAL_BYTES >> 20),
        "`cargo evalset report FOLDER` reads one of any size in its folder, and `--html FILE` writes its page",
    )
}

/// The name of the folder of a dropped run, whatever run its journal names.
const DROPPED_RUN: &str = "dropped";

fn loaded(folder: &tempfile::TempDir) -> Result<LoadedRun, Failure> {
    let run = folder.path().join(DROPPED_RUN);
    LoadedRun::of_folder("dropped".to_owned(), run, false).map_err(|error| unreadable(&error))
}

pub(super) async fn dropped(
    State(site): State<Arc<Site>>,
    Path(number): Path<String>,
    headers: HeaderMap,
) -> Response {
    let page = site.work(move |site| {
        let found =
            |(known, folder): &(u64, Arc<_>)| (known.to_string() == number).then(|| Arc::clone(folder));
        let folder = site.dropped.lock().iter().find_map(found).ok_or_else(|| {
            Failure::not_found("this journal is not kept any more", "drop it again on the page “Check”")
        })?;
        still(&loaded(&folder)?, &site.prices, "/check")
    });
    page.await.unwrap_or_else(|failure| html::problem(failure, &headers))
}
