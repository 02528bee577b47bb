//! What tests and runs recorded.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use eval_core::Verdict;
use eval_core::journal::file_names::LATEST;
use eval_report::journal::{Completeness, RecordedRun, RecordedTest, RunDir, find_run};
use eval_report::recorded::{own_runs, whose_in};
use serde::Serialize;
use utoipa::ToSchema;

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

/// A recorded run with its tests.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunDetails {
    id: String,
    tests: Vec<TestEntry>,
    /// Whether each test that was to run has a verdict, each line of the records can be read, and no part of the run is missing.
    /// Which tests were to run, their binaries say, or how many cases a set has of which a test began.
    complete: bool,
}

/// A test of a recorded run: its last attempt.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestEntry {
    name: String,
    package: Option<String>,
    eval_set_id: Option<String>,
    eval_id: Option<String>,
    file: Option<String>,
    line: Option<usize>,
    /// `passed`, `failed`, `error`, `not_evaluated`, `skipped`, `informational` or `unfinished`.
    verdict: &'static str,
    /// Why, where it did neither pass nor fail.
    reason: Option<String>,
    metrics: Vec<MetricEntry>,
}

/// A metric of a test.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MetricEntry {
    name: String,
    score: Option<f64>,
    threshold: Option<f64>,
    /// `at_least` or `at_most`; null if the metric only informs.
    direction: Option<&'static str>,
    verdict: &'static str,
    reason: Option<String>,
}

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
        (status = 200, body = Envelope<RunDetails>),
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
            let read = RecordedRun::read(&found.path).map_err(|error| failed(&error))?;
            let complete = is_complete(&read);
            let tests = read.tests.iter().map(TestEntry::of).collect();
            Ok(answer::data(RunDetails { id: found.id, tests, complete }))
        })
        .await?
}

fn is_complete(run: &RecordedRun) -> bool {
    run.torn + run.lost == 0
        && run.unreadable.is_empty()
        && run.missing_parts.is_empty()
        && !run.tests.iter().any(RecordedTest::is_unfinished)
        && Completeness::of(run).is_complete()
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

impl TestEntry {
    fn of(test: &RecordedTest) -> Self {
        let started = test.last().map(|attempt| &attempt.started);
        let decided = test.last().and_then(|attempt| attempt.decided.as_ref());
        let metric = |metric: &eval_core::report::MetricReport| MetricEntry {
            name: metric.name.clone(),
            score: metric.score,
            threshold: metric.threshold(),
            direction: metric.bound().map(|bound| bound.direction.as_str()),
            verdict: metric.verdict.name(),
            reason: metric.verdict.reason().map(str::to_owned),
        };
        Self {
            name: test.name().to_owned(),
            package: test.package().map(str::to_owned),
            eval_set_id: started.and_then(|it| it.eval_set_id.clone()),
            eval_id: started.map(|it| it.eval_id.clone()),
            file: started.and_then(|it| it.file.clone()),
            line: started.and_then(|it| it.line),
            verdict: decided.map_or("unfinished", |decided| decided.verdict.name()),
            reason: decided.and_then(|it| Verdict::reason(&it.verdict)).map(str::to_owned),
            metrics: decided.map(|it| it.metrics.iter().map(metric).collect()).unwrap_or_default(),
        }
    }
}
