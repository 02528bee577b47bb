//! Recorded runs: the list, and the page of each.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use eval_core::journal::{self, RunDir};
use eval_server::axum::extract::{Path, State};
use eval_server::axum::http::{HeaderMap, Uri};
use eval_server::axum::response::{IntoResponse, Response};
use serde_json::json;

use super::answer::{self, Failure};
use super::html::{self, RunLine};
use super::sets;
use super::site::{Site, lock};
use super::tail::is_written;
use super::view::{self, View};
use super::watch::journals;
use crate::output::{CommandError, shell, time};
use crate::page::{PassRate, line};
use crate::recorded::{LoadedRun, RunResults};

/// Runs that are listed.
const LISTED: usize = 50;
/// Runs of which the pass rate is drawn.
const DRAWN: usize = 12;

/// The lines of runs that were read, and what the files were then.
pub(super) type Lines = HashMap<String, (Signature, RunLine)>;

/// The bytes of the journals of a run, and whether somebody writes there. A journal only grows.
pub(super) type Signature = (u64, bool);

pub(super) fn signature(run: &RunDir) -> Signature {
    (journals(&run.path).iter().map(|(_, size)| size).sum(), is_written(&run.path))
}

/// The runs in the folder, the newest first. An id is looked up here, and never part of a path.
fn all(site: &Site) -> Result<Vec<RunDir>, Failure> {
    journal::runs(&site.records).map_err(|error| {
        let shown = site.records.display();
        CommandError::new(format!("cannot list `{shown}`: {error}"), "give this user permission to read it")
            .into()
    })
}

/// The page with all runs.
pub(super) async fn page(State(site): State<Arc<Site>>) -> Response {
    let page = site.work(|site| {
        let (runs, more) = lines(site)?;
        let past = runs.iter().filter(|run| !run.running).take(DRAWN);
        let mut past: Vec<_> = past.map(|run| (run.when.clone(), run.passed, run.cases)).collect();
        past.reverse();
        let form = site.job.start().map(|start| {
            let found = sets::all();
            html::Form {
                agent: line(&start.agent).replace('`', ""),
                problem: found
                    .as_ref()
                    .err()
                    .map(|error| line(&format!("{}; {}", error.message, error.help))),
                sets: found.unwrap_or_default().iter().map(|path| path.display().to_string()).collect(),
            }
        });
        let mut rate = PassRate::of(&past);
        if let Some(rate) = &mut rate {
            rate.summary = rate.summary.replace("this run", "the newest run");
        }
        html::runs(&runs, more, rate, form)
    });
    page.await.unwrap_or_else(IntoResponse::into_response)
}

/// All runs as JSON.
pub(super) async fn list(State(site): State<Arc<Site>>) -> Result<Response, Failure> {
    site.work(|site| {
        let (runs, more) = lines(site)?;
        Ok(answer::json(&json!({ "runs": runs, "more": more })))
    })
    .await
}

/// A line for each of the newest runs, and how many more there are. What did not change is not read again.
fn lines(site: &Site) -> Result<(Vec<RunLine>, usize), Failure> {
    let runs = all(site)?;
    let more = runs.len().saturating_sub(LISTED);
    let mut known = std::mem::take(&mut *lock(&site.lines));
    let mut now = HashMap::new();
    let mut lines = Vec::new();
    for run in runs.into_iter().take(LISTED) {
        let signature = signature(&run);
        let line = match known.remove(&run.id) {
            Some((before, line)) if before == signature => line,
            _ => of_run(&run, signature.1),
        };
        now.insert(run.id, (signature, line.clone()));
        lines.push(line);
    }
    *lock(&site.lines) = now;
    Ok((lines, more))
}

fn of_run(run: &RunDir, running: bool) -> RunLine {
    let mut shown = RunLine {
        id: run.id.clone(),
        outcome: if running { "running" } else { "unmeasurable" },
        running,
        reason: String::new(),
        cases: 0,
        planned: None,
        passed: 0,
        decided: 0,
        when: time::shown(run.started),
        took: String::new(),
        what: String::new(),
    };
    let loaded = LoadedRun::of_folder(run.id.clone(), run.path.clone(), true);
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(error) => {
            shown.reason = line(&error.to_string());
            return shown;
        }
    };
    // Without a `k` nothing can be wrong with it.
    let Ok(results) = RunResults::of(&loaded, None, false) else { return shown };
    let totals = &results.totals;
    shown.outcome = if running { "running" } else { totals.outcome().name() };
    shown.reason = view::reason(&results, running);
    shown.cases = totals.cases - totals.skipped;
    shown.planned = (loaded.run.never_began > 0).then_some(totals.cases + loaded.run.never_began);
    shown.passed = totals.passed;
    shown.decided = totals.cases - totals.unfinished;
    shown.took = time::took(totals.elapsed);
    shown.what = what(&loaded);
    shown
}

/// What ran: the packages of tests, or the command of a program.
fn what(loaded: &LoadedRun) -> String {
    let of_head = |head: &Arc<journal::Head>| match (&head.package, &head.program) {
        (Some(package), _) => package.clone(),
        (None, Some(program)) => {
            let name = std::path::Path::new(program).file_stem().unwrap_or_default().to_string_lossy();
            let args = head.args.iter().skip_while(|arg| *arg == "evalset").map(String::as_str);
            format!("{} {}", name.replace("cargo-", "cargo "), shell::line(&args.collect::<Vec<_>>()))
        }
        (None, None) => String::new(),
    };
    let all: BTreeSet<String> =
        loaded.run.processes.iter().map(of_head).filter(|it| !it.is_empty()).collect();
    let mut shown = line(&all.into_iter().collect::<Vec<_>>().join(", "));
    if let Some((end, _)) = shown.char_indices().nth(120) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}

fn find(site: &Site, id: &str) -> Result<RunDir, Failure> {
    let mut runs = all(site)?.into_iter();
    let found = if id == "latest" { runs.next() } else { runs.find(|run| run.id == id) };
    found.ok_or_else(|| {
        Failure::not_found("there is no such run", "the page “Runs” lists those that are there")
    })
}

/// The page of a run.
pub(super) async fn run(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let page = site.work(move |site| {
        let run = find(site, &id)?;
        let view = View::of(&site.views, &run, true)?;
        view.page("runs", &run.id)
    });
    page.await.unwrap_or_else(|failure| failure.shown(&headers))
}

/// What changed on the page of a run since the version that it has.
pub(super) async fn changes(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    uri: Uri,
) -> Result<Response, Failure> {
    let after = uri.query().and_then(|query| query.strip_prefix("after=")).and_then(|it| it.parse().ok());
    site.work(move |site| {
        let run = find(site, &id)?;
        let view = View::of(&site.views, &run, false)?;
        Ok(answer::json(&view.since(after.unwrap_or(0), signature(&run))))
    })
    .await
}
