//! What tests and runs recorded.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use eval_core::journal::file_names::LATEST;
use eval_report::document::Document;
use eval_report::journal::{RunDir, find_run};
use eval_report::recorded::{LoadedRun, RunResults, own_runs, whose_in};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::id::Id;
use crate::answer::{self, Envelope};
use crate::app::{App, Shared};
use crate::refusal::{Refusal, Refused};

/// A recorded run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunEntry {
    id: String,
    /// When it began, in seconds since 1970.
    started: f64,
}

/// The report of a run, as `cargo evalset report --format json` prints it. The document of the routes has its schema.
#[derive(Debug)]
pub(crate) struct Report;

impl utoipa::PartialSchema for Report {
    fn schema() -> RefOr<Schema> {
        Schema::default().into()
    }
}

impl ToSchema for Report {}

/// Lists the recorded runs of the project in whose folder the server was started, the newest first. Needs the token.
#[utoipa::path(
    get,
    path = "/api/v1/runs",
    responses((status = 200, body = Envelope<Vec<RunEntry>>), (status = 401, body = Refused)),
    security(("token" = []))
)]
pub(crate) async fn runs(State(app): State<Shared>) -> Result<Response, Refusal> {
    let folder = folder(&app)?;
    app.workers
        .run(move || {
            let entry = |run: RunDir| RunEntry { started: seconds(run.started), id: run.id };
            let (runs, _) = own_runs(&folder).map_err(|error| failed(&error))?;
            let runs: Vec<_> = runs.into_iter().map(entry).collect();
            Ok(answer::data(runs))
        })
        .await?
}

/// Shows a recorded run: `latest`, or one of the list. Needs the token.
#[utoipa::path(
    get,
    path = "/api/v1/runs/{id}",
    params(("id" = String, Path, description = "`latest`, or the id of a run")),
    responses(
        (status = 200, body = Envelope<Report>),
        (status = 401, body = Refused),
        (status = 404, body = Refused)
    ),
    security(("token" = []))
)]
pub(crate) async fn run(State(app): State<Shared>, Id(id): Id) -> Result<Response, Refusal> {
    let folder = folder(&app)?;
    app.workers
        .run(move || {
            let found = match id.as_str() {
                LATEST => own_runs(&folder).map(|(runs, _)| runs.into_iter().next()),
                id => find_run(&folder, id),
            };
            let found = found.map_err(|error| failed(&error))?;
            let found = found.ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "there is no such run"))?;
            if let Some(whose) = whose_in(&folder, &found.path) {
                return Err(Refusal::new(StatusCode::NOT_FOUND, whose));
            }
            let loaded = LoadedRun::of_folder(found.id, found.path, false).map_err(|error| failed(&error))?;
            let results = RunResults::of(&loaded, None, false).map_err(|error| failed(&error))?;
            Ok(answer::data(Document::of(&results)))
        })
        .await?
}

fn folder(app: &App) -> Result<PathBuf, Refusal> {
    let none = || Refusal::new(StatusCode::NOT_FOUND, "this server was given no folder of recorded runs");
    app.options.records.clone().ok_or_else(none)
}

fn failed(error: &dyn std::error::Error) -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the records cannot be read: {error}"))
}

fn seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
