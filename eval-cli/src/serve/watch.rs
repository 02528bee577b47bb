//! Looking for new records, while somebody listens.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fs, mem};

use eval_core::journal::{self, RunDir};

use super::folder::{Files, is_written, journals};
use super::hub::lock;
use super::site::Site;
use super::tail::Followed;

/// How often is looked.
const PAUSE: Duration = Duration::from_millis(300);

/// Runs that are looked at: the newest ones.
const RECENT: usize = 20;

/// Looks for new records until nobody listens any more. One task does that for everybody.
pub(super) fn watch(site: &Arc<Site>) {
    if mem::replace(&mut *lock(&site.watches), true) {
        return;
    }
    let site = Arc::clone(site);
    tokio::spawn(async move {
        let ending = site.hub.ending();
        let mut watched = Some(Watched::new(site.records.clone()));
        loop {
            {
                let mut watches = lock(&site.watches);
                if *ending.borrow() || !site.hub.has_listeners() {
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
            tokio::time::sleep(PAUSE).await;
        }
        *lock(&site.watches) = false;
    });
}

/// What is known of the newest runs.
#[derive(Debug)]
struct Watched {
    records: PathBuf,
    /// When the folder of runs was last changed, and the runs in it then.
    changed: Option<SystemTime>,
    runs: Vec<RunDir>,
    known: HashMap<String, Known>,
    is_first: bool,
}

#[derive(Debug)]
struct Known {
    files: Files,
    is_written: bool,
    /// What was read. Nothing is until something is added.
    followed: Option<Followed>,
}

impl Watched {
    fn new(records: PathBuf) -> Self {
        Self { records, changed: None, runs: Vec::new(), known: HashMap::new(), is_first: true }
    }

    /// What changed since the last look, of each run.
    fn look(&mut self) -> Vec<serde_json::Value> {
        let changed = fs::metadata(&self.records).and_then(|it| it.modified()).ok();
        // A folder whose marker is not there yet is found at the next look.
        let is_fresh = changed.is_some_and(|at| at.elapsed().is_ok_and(|age| age < Duration::from_secs(2)));
        if changed != self.changed || is_fresh {
            self.changed = changed;
            self.runs = journal::runs(&self.records).unwrap_or_default();
            self.runs.truncate(RECENT);
            let runs = &self.runs;
            self.known.retain(|id, _| runs.iter().any(|run| run.id == *id));
        }
        let is_first = mem::take(&mut self.is_first);
        let mut changes = Vec::new();
        for run in &self.runs {
            let found = journals(&run.path);
            let files = Files::of(&run.path, &found);
            let known = self.known.entry(run.id.clone()).or_insert_with(|| Known {
                files: if is_first { files.clone() } else { Files::default() },
                is_written: is_first && is_written(&run.path),
                followed: None,
            });
            let has_changed = known.files != files;
            // Whether somebody writes matters only where it may have ended, or begun.
            let is_now = (known.is_written || has_changed) && is_written(&run.path);
            if !has_changed && is_now == known.is_written {
                continue;
            }
            (known.files, known.is_written) = (files, is_now);
            let followed = known.followed.get_or_insert_default();
            let cases = followed.read(found.iter().map(|(path, _)| path.as_path()));
            changes.push(followed.shown(&run.id, is_now, &cases));
        }
        changes
    }
}
