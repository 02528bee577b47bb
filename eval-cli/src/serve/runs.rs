//! Recorded runs: the list, and the page of each.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use askama::Template;
use eval_report::journal::RunDir;
use eval_server::axum::body::Bytes;
use eval_server::axum::extract::{Path, State};
use eval_server::axum::http::{HeaderMap, StatusCode, Uri};
use eval_server::axum::response::{IntoResponse, Response};
use eval_support::secrets::mask;
use serde::Deserialize;
use serde_json::json;

use super::answer::{self, Failure};
use super::folder::{is_written, signature};
use super::html::{self, Frame};
use super::job::begin;
use super::lines::{RunLine, lines_of};
use super::site::{Site, all_sets};
use super::view::View;
use crate::output::CommandError;
use crate::page::{PassRate, line};
use crate::recorded::{own_run, own_runs, run_of_suspects};

const SCRIPT: &str = include_str!("../../templates/live/runs.js");

#[derive(Debug)]
struct Form {
    agent: String,
    sets: Vec<String>,
    most: u16,
    /// The reason why there are no sets.
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "live/runs.html")]
struct RunsPage<'a> {
    live: Frame,
    runs: &'a [RunLine],
    more: usize,
    /// Runs of other projects.
    others: usize,
    rate: Option<PassRate>,
    form: Option<Form>,
}

const MAX_DRAWN_RUNS: usize = 12;

fn unlisted(site: &Site, error: &io::Error) -> Failure {
    let shown = site.records.display();
    CommandError::new(format!("cannot list `{shown}`: {error}"), "give this user permission to read it")
        .into()
}

/// A line for each of the newest runs, the number of older runs, and the number of runs of other projects.
fn lines(site: &Site) -> Result<(Vec<RunLine>, usize, usize), Failure> {
    let (runs, others) = own_runs(&site.records).map_err(|error| unlisted(site, &error))?;
    let (lines, more) = lines_of(&site.lines, runs);
    Ok((lines, more, others))
}

/// The list of runs. With the query `list`, which an open page asks for, the form of a run is left out.
pub(super) async fn page(State(site): State<Arc<Site>>, uri: Uri) -> Response {
    let is_list = uri.query() == Some("list");
    let page = site.work(move |site| {
        let (runs, more, others) = lines(site)?;
        // The rates of runs of other sets do not belong on one line.
        let sets = runs.iter().find(|run| !run.running).map(|run| run.sets.clone()).unwrap_or_default();
        let past = runs.iter().filter(|run| !run.running && run.sets == sets).take(MAX_DRAWN_RUNS);
        let mut past: Vec<_> = past.map(|run| (run.when.clone(), run.passed, run.cases)).collect();
        past.reverse();
        let form = site.job.start.as_ref().filter(|_| !is_list).map(|start| {
            let found = all_sets();
            let shown = |path: &PathBuf| mask(&path.display().to_string()).into_owned();
            Form {
                agent: line(&start.agent).replace('`', ""),
                most: MAX_ASKED_RUNS,
                problem: found.as_ref().err().map(|error| line(&error.to_string())),
                sets: found.unwrap_or_default().iter().map(shown).collect(),
            }
        });
        let rate = PassRate::new(&past, "the newest run");
        html::sent(Frame::new("/", SCRIPT), |live| RunsPage { live, runs: &runs, more, others, rate, form })
    });
    page.await.unwrap_or_else(IntoResponse::into_response)
}

pub(super) async fn list(State(site): State<Arc<Site>>) -> Result<Response, Failure> {
    site.work(|site| {
        let (runs, more, others) = lines(site)?;
        Ok(answer::json(&json!({ "runs": runs, "more": more, "others": others })))
    })
    .await
}

/// The newest run that has ended. In a run of suspects only failing cases ran.
pub(super) fn newest(site: &Site) -> Result<Option<RunDir>, Failure> {
    let (runs, _) = own_runs(&site.records).map_err(|error| unlisted(site, &error))?;
    Ok(runs.into_iter().find(|run| run_of_suspects(&run.id).is_none() && !is_written(&run.path)))
}

pub(super) fn find(site: &Site, id: &str) -> Result<RunDir, Failure> {
    let found = own_run(&site.records, id).map_err(|error| unlisted(site, &error))?;
    found.map_err(|why| Failure::not_found(why, "the page “Runs” lists those that are there"))
}

pub(super) async fn run(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let page = site.work(move |site| {
        let run = find(site, &id)?;
        let view = View::new(&site.views, &id, &run, &site.prices, true)?;
        view.page("/", &run.id)
    });
    page.await.unwrap_or_else(|failure| html::problem(failure, &headers))
}

/// The changes of a run since the version that its page has, as a page that its script takes apart.
pub(super) async fn changes(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    uri: Uri,
) -> Result<Response, Failure> {
    let after = uri.query().and_then(|query| query.strip_prefix("after=")).and_then(|it| it.parse().ok());
    site.work(move |site| {
        let run = find(site, &id)?;
        let view = View::new(&site.views, &id, &run, &site.prices, false)?;
        view.since(after.unwrap_or(0), &signature(&run))
    })
    .await
}

pub(super) const MAX_ASKED_RUNS: u16 = 100;

#[derive(Deserialize)]
struct Asked {
    sets: Vec<String>,
    runs: u16,
}

pub(super) async fn start(State(site): State<Arc<Site>>, body: Bytes) -> Result<Response, Failure> {
    site.work(move |site| {
        let asked: Asked = serde_json::from_slice(&body).map_err(|error| {
            Failure::bad(format!("the request cannot be read: {error}"), "send `sets` and `runs`")
        })?;
        let Some(start) = &site.job.start else {
            let help =
                "start `cargo evalset serve` with `--agent`, `--agent-cmd`, `--agent-url` or `--adk-cmd`";
            return Err(Failure::new(StatusCode::CONFLICT, "this service was given no agent", help));
        };
        if !(1..=MAX_ASKED_RUNS).contains(&asked.runs) {
            return Err(Failure::bad(
                format!("a case runs from 1 to {MAX_ASKED_RUNS} times"),
                "change the number of runs",
            ));
        }
        let known = all_sets()?;
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

pub(super) async fn cancel(State(site): State<Arc<Site>>) -> Result<Response, Failure> {
    // Not by `Site::work`, which may wait for pages that are computed: a run may cost money meanwhile.
    let ended = tokio::task::spawn_blocking(move || {
        let was_running = site.job.end();
        site.job.tell();
        was_running
    });
    let was_running = ended.await.map_err(|_| Failure::internal("the run could not be cancelled"))?;
    Ok(answer::json(&json!({ "cancelled": was_running })))
}
