//! Polling for new records, while a page listens.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use std::{fs, mem};

use eval_report::journal::RunDir;
use eval_server::axum::extract::State;
use eval_server::axum::http::StatusCode;
use eval_server::axum::response::Response;
use eval_server::events::{CONTENT_TYPE, Event, channel};
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

use super::answer;
use super::folder::{Files, is_written, journals};
use super::site::Site;
use crate::recorded::own_runs;

const POLL_PAUSE: Duration = Duration::from_millis(300);

/// The most runs that are polled: the newest ones.
const MAX_WATCHED_RUNS: usize = 20;

/// Polls for new records until no page listens any more. One task polls for all pages.
pub(super) fn watch(site: &Arc<Site>) {
    if mem::replace(&mut *site.watches.lock(), true) {
        return;
    }
    let site = Arc::clone(site);
    tokio::spawn(async move {
        let ending = site.hub.ends.subscribe();
        let mut watched =
            Some(Watched { records: site.records.clone(), is_first: true, ..Watched::default() });
        loop {
            {
                let mut watches = site.watches.lock();
                if *ending.borrow() || site.hub.events.receiver_count() == 0 {
                    *watches = false;
                    return;
                }
            }
            let Some(mut now) = watched.take() else { break };
            let looked = tokio::task::spawn_blocking(move || {
                let changes = now.look();
                (now, changes)
            });
            let Ok((now, changes)) = looked.await else { break };
            watched = Some(now);
            for change in changes {
                site.hub.tell("run", &change);
            }
            tokio::time::sleep(POLL_PAUSE).await;
        }
        *site.watches.lock() = false;
    });
}

/// The longest use of a list of runs. The marker of a fetched run is written last, which does not change the
/// folder of runs.
const MAX_LIST_AGE: Duration = Duration::from_secs(5);

/// The age up to which a record may be missing on an open page.
const MAX_RECORD_AGE: Duration = Duration::from_secs(10);

fn is_recent(journals: &[(PathBuf, u64)]) -> bool {
    let age = |path: &PathBuf| fs::metadata(path).and_then(|it| it.modified()).ok()?.elapsed().ok();
    journals.iter().any(|(path, _)| age(path).is_some_and(|age| age < MAX_RECORD_AGE))
}

#[derive(Debug, Default)]
struct Watched {
    records: PathBuf,
    /// The time of the last change to the folder of runs, when it was listed.
    changed: Option<SystemTime>,
    listed: Option<Instant>,
    runs: Vec<RunDir>,
    known: HashMap<String, Known>,
    is_first: bool,
}

#[derive(Debug)]
struct Known {
    files: Files,
    is_written: bool,
}

impl Watched {
    fn look(&mut self) -> Vec<serde_json::Value> {
        let changed = fs::metadata(&self.records).and_then(|it| it.modified()).ok();
        // A new folder may still lack its marker, so the folder of runs is listed again for a moment.
        let is_fresh = changed.is_some_and(|at| at.elapsed().is_ok_and(|age| age < Duration::from_secs(2)));
        let was_listed = self.listed.is_some_and(|at| at.elapsed() < MAX_LIST_AGE);
        if changed != self.changed || is_fresh || !was_listed {
            (self.changed, self.listed) = (changed, Some(Instant::now()));
            self.runs = own_runs(&self.records).unwrap_or_default().0;
            self.runs.truncate(MAX_WATCHED_RUNS);
            let runs = &self.runs;
            self.known.retain(|id, _| runs.iter().any(|run| run.id == *id));
        }
        let is_first = mem::take(&mut self.is_first);
        let mut changes = Vec::new();
        for run in &self.runs {
            let found = journals(&run.path);
            let files = Files::new(&run.path, &found);
            let known = self.known.entry(run.id.clone()).or_insert_with(|| {
                // A run can begin or end between the load of a page and the first poll.
                let is_as_shown = is_first && !is_written(&run.path) && !is_recent(&found);
                let files = if is_as_shown { files.clone() } else { Files::default() };
                Known { files, is_written: false }
            });
            let has_changed = known.files != files;
            // The lock is tested only where a process may have begun or ended.
            let is_now = (known.is_written || has_changed) && is_written(&run.path);
            if !has_changed && is_now == known.is_written {
                continue;
            }
            (known.files, known.is_written) = (files, is_now);
            changes.push(json!({ "run": run.id, "running": is_now }));
        }
        changes
    }
}

/// The longest silence. After it, a comment tests whether the page still listens.
const MAX_SILENCE: Duration = Duration::from_secs(5);

const MAX_WAITING_EVENTS: usize = 16;

/// The stream of events: `run` for new records of a run, `job` and `said` for the run that was started here,
/// `drafts` for decisions on drafts, and `all` if the page is to load everything again.
pub(super) async fn events(State(site): State<Arc<Site>>) -> Response {
    let (mut events, body) = channel(MAX_WAITING_EVENTS);
    let mut told = site.hub.events.subscribe();
    let mut ending = site.hub.ends.subscribe();
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
                received = timeout(MAX_SILENCE, told.recv()) => received,
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
