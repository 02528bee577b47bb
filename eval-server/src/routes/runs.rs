//! Recorded runs.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use eval_report::document::Document;
use eval_report::journal::{ReadRunError, RunDir};
use eval_report::recorded::{LoadedRun, RunResults, own_run, own_runs};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use crate::answer::{self, Envelope};
use crate::app::{App, Id, Shared};
use crate::refusal::Refusal;

/// A recorded run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunEntry {
    id: String,
    /// The time at which it began, in seconds since 1970.
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
#[utoipa::path(get, path = "/api/v1/runs", responses((status = 200, body = Envelope<Vec<RunEntry>>)))]
pub(crate) async fn runs(State(app): State<Shared>) -> Result<Response, Refusal> {
    app.work(move |app| {
        let folder = folder(app)?;
        let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0.0, |it| it.as_secs_f64());
        let entry = |run: RunDir| RunEntry { started: seconds(run.started), id: run.id };
        let (runs, _) = own_runs(folder).map_err(|error| failed(&error))?;
        let runs: Vec<_> = runs.into_iter().map(entry).collect();
        Ok(answer::data(runs))
    })
    .await
}

/// Shows a recorded run: `latest`, or one of the list. Needs the token.
#[utoipa::path(
    get,
    path = "/api/v1/runs/{id}",
    params(("id" = String, Path, description = "`latest`, or the id of a run")),
    responses((status = 200, body = Envelope<Report>))
)]
pub(crate) async fn run(State(app): State<Shared>, Id(id): Id) -> Result<Response, Refusal> {
    app.work(move |app| {
        let folder = folder(app)?;
        let found = own_run(folder, &id).map_err(|error| failed(&error))?;
        let found = found.map_err(|why| Refusal::new(StatusCode::NOT_FOUND, why))?;
        let loaded = LoadedRun::of_folder(id, found.path, false).map_err(|error| match error {
            ReadRunError::NoJournal(_) => {
                let help = "what began it was killed, or its disk was full: run the tests again";
                Refusal::new(StatusCode::NOT_FOUND, format!("{error}; {help}"))
            }
            _ => failed(&error),
        })?;
        let results = RunResults::new(&loaded, None, false).map_err(|error| failed(&error))?;
        Ok(answer::data(Document::new(&results)))
    })
    .await
}

fn folder(app: &App) -> Result<&Path, Refusal> {
    let none = || Refusal::new(StatusCode::NOT_FOUND, "this server was given no folder of recorded runs");
    app.options.records.as_deref().ok_or_else(none)
}

fn failed(error: &dyn std::error::Error) -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the records cannot be read: {error}"))
}
