//! A run as its page shows it, and the changes since a page was sent.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use eval_report::journal::{ReadRunError, RunDir};
use eval_report::price::Prices;
use eval_server::axum::response::Response;
use eval_support::hash::content_hash;
use eval_support::mutex::Mutex;
use serde_json::json;

use super::answer::{self, Failure};
use super::folder::{Signature, signature};
use super::html::{COMMON, RUN, STYLE, nav, run_links, unwritten};
use crate::output::mask;
use crate::page::{self, CaseRow, Live, PageModel};
use crate::recorded::{LoadedRun, RunResults};
use crate::run_page::{self, Against};
use crate::sides::against;

/// The cached views of the runs that were requested last, by requested name and by id.
#[derive(Debug, Default)]
pub(super) struct Views(Vec<([String; 2], Arc<View>)>);

/// The most cached views. A view may hold a hundred megabytes.
const MAX_KEPT_VIEWS: usize = 2;

/// The share of time for reading a growing run: at most one part in this many.
const READING_SHARE: u32 = 8;

/// The longest age of a view for a page: sets may have been edited, which no journal tells.
const MAX_VIEW_AGE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct View {
    model: PageModel,
    signature: Signature,
    version: u64,
    /// For each case, by its anchor: a hash of its display, and the version in which the hash appeared.
    rows: HashMap<String, (u64, u64)>,
    made: Instant,
    cost: Duration,
}

impl View {
    /// The view of a run. With `is_page`, an unchanged run is read again after [`MAX_VIEW_AGE`]. A changed
    /// run is read again once [`READING_SHARE`] allows it.
    pub(super) fn new(
        views: &Mutex<Views>,
        name: &str,
        run: &RunDir,
        prices: &Prices,
        is_page: bool,
    ) -> Result<Arc<Self>, Failure> {
        let key = [name.to_owned(), run.id.clone()];
        let known = views.lock().0.iter().find(|(known, _)| *known == key).map(|(_, view)| Arc::clone(view));
        let signature = signature(run);
        if let Some(known) = &known {
            let is_same = known.signature == signature;
            let age = known.made.elapsed();
            let must_wait = age < known.cost * READING_SHARE;
            if is_same && (!is_page || age < MAX_VIEW_AGE) || !is_same && must_wait {
                return Ok(Arc::clone(known));
            }
        }
        let began = Instant::now();
        let loaded = LoadedRun::of_folder(name.to_owned(), run.path.clone(), false)
            .map_err(|error| unreadable(&error))?;
        let view = Arc::new(Self::made(loaded, prices, signature, known.as_deref(), began)?);
        let views = &mut views.lock().0;
        views.retain(|(known, _)| *known != key);
        views.insert(0, (key, Arc::clone(&view)));
        views.truncate(MAX_KEPT_VIEWS);
        Ok(view)
    }

    fn made(
        mut loaded: LoadedRun,
        prices: &Prices,
        signature: Signature,
        before: Option<&Self>,
        began: Instant,
    ) -> Result<Self, Failure> {
        // The signature says whether the run is being written, so that all texts of the page agree.
        loaded.is_running = signature.is_written;
        let model = model(&loaded, prices, against(None)?.as_ref())?;
        // Versions are times, so that they grow over restarts of the service too.
        let version = now().max(before.map_or(0, |before| before.version + 1));
        let rows = model.cases.iter().map(|case| {
            let hash = content_hash(json!(case).to_string().as_bytes());
            let known = before.and_then(|before| before.rows.get(&case.anchor));
            let since = known.filter(|(known, _)| *known == hash).map_or(version, |(_, since)| *since);
            (case.anchor.clone(), (hash, since))
        });
        let rows = rows.collect();
        Ok(Self { rows, model, signature, version, made: Instant::now(), cost: began.elapsed() })
    }

    pub(super) fn page(&self, here: &'static str, id: &str) -> Result<Response, Failure> {
        rendered(&self.model, here, id, self.version)
    }

    /// The changes since a version, as a page of the new header and of the rows that changed.
    pub(super) fn since(&self, version: u64, now: &Signature) -> Result<Response, Failure> {
        Ok(answer::page(&self.news(version, now)?, &page::policy(&[], &[], false)))
    }

    fn news(&self, version: u64, now: &Signature) -> Result<String, Failure> {
        let is_new = |case: &&CaseRow| self.rows.get(&case.anchor).is_none_or(|(_, since)| *since > version);
        let again = (*now != self.signature)
            .then(|| (self.cost * READING_SHARE).saturating_sub(self.made.elapsed()).as_millis() + 100);
        let rows: Vec<&CaseRow> = self.model.cases.iter().filter(is_new).collect();
        page::render_changes(&self.model, &rows, self.version, again).map_err(|error| unwritten(&error))
    }
}

fn model(loaded: &LoadedRun, prices: &Prices, against: Option<&Against>) -> Result<PageModel, Failure> {
    let mut results =
        RunResults::new(loaded, None, false).map_err(|error| Failure::internal(error.to_string()))?;
    results.prices = prices.clone();
    Ok(run_page::model(&results, against))
}

pub(super) fn still(loaded: &LoadedRun, prices: &Prices, here: &'static str) -> Result<Response, Failure> {
    // A journal that was dropped may be of any project.
    rendered(&model(loaded, prices, None)?, here, "", 0)
}

fn rendered(model: &PageModel, here: &'static str, id: &str, version: u64) -> Result<Response, Failure> {
    let run = mask(id).into_owned();
    // A journal that was dropped is no run of this folder.
    let links = if run.is_empty() { String::new() } else { run_links(&run)? };
    let live = Live {
        nav: nav(here)? + &links,
        run,
        version,
        now: now(),
        style: STYLE,
        scripts: vec![page::ELEMENTS, COMMON, RUN],
    };
    let text = page::render_live(model, &live).map_err(|error| unwritten(&error))?;
    Ok(answer::page(&text, &page::live_policy(&live)))
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    u64::try_from(now).unwrap_or_default()
}

pub(super) fn unreadable(error: &ReadRunError) -> Failure {
    Failure::not_found(
        error.to_string(),
        "it may have been removed: the newest runs are kept, as many as `EVALSET_KEEP` says",
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use eval_core::journal::sealed_line;

    use super::*;

    /// A run in which one case failed, one has no verdict, and a program was to run two more.
    fn view(is_written: bool) -> View {
        let folder = tempfile::tempdir().unwrap();
        let at = "2026-11-22T02:31:07.250Z";
        let started = |test: u32, name: &str| {
            json!({ "record": "started", "test": test, "name": name, "eval_id": name, "runs": 2, "pass": "mean", "gate": "mean",
                "asks": "0", "expects": "1", "attempt": 1, "file": "a.evalset.json", "of_program": true, "at": at })
        };
        let records = [
            json!({ "record": "head", "schema": 2, "evalset": "0", "run": "r", "pid": 1, "started": at, "env": {},
                "again": ["--agent-cmd", "x"] }),
            json!({ "record": "planned", "cases": ["a/failed", "a/open", "a/third", "a/fourth"] }),
            started(1, "a/failed"),
            json!({ "record": "decided", "test": 1, "verdict": { "is": "failed" }, "elapsed": 1.0, "headline": "m is 0.0, below 1.0", "at": at }),
            started(2, "a/open"),
            json!({ "record": "turn", "test": 2, "run": 1, "turn": 2, "turns": 3, "at": "2026-11-22T02:31:09.000Z" }),
        ];
        // The last line is being written.
        let sealed = records.iter().zip(1..).map(|(record, number)| sealed_line(record, number));
        let text = sealed.collect::<String>() + "{\"record\":\"ran\"";
        fs::write(folder.path().join("a.jsonl"), text).unwrap();
        let loaded = LoadedRun::of_folder("r".to_owned(), folder.path().to_owned(), false).unwrap();
        let mut signature = Signature::default();
        signature.is_written = is_written;
        View::made(loaded, &Prices::default(), signature, None, Instant::now()).unwrap()
    }

    /// All texts of the view.
    fn said(view: &View) -> String {
        let news = view.news(0, &view.signature).unwrap();
        format!("{news}{:?}", view.model)
    }

    #[test]
    fn nothing_says_of_a_running_run_that_it_has_ended() {
        let running = view(true);
        let text = said(&running);
        for word in [
            "ended before",
            "killed",
            "nmeasurable",
            "UNFINISHED",
            "Unfinished",
            "took ",
            "did not run",
            "never began",
            "a/open,",
        ] {
            assert!(!text.contains(word), "{word}: {text}");
        }
        let headline = &running.model.headline;
        assert_eq!(
            (headline.text.as_str(), headline.outcome),
            ("1 failed, 1 in work, 2 to begin", "running")
        );
        let progress = headline.progress.as_ref().unwrap();
        assert_eq!((progress.decided, progress.of), (1, 4));
        let open = running.model.cases.iter().find(|case| case.details.state == "working").unwrap();
        assert_eq!((open.details.word, open.why.as_deref()), ("IN WORK", Some("run 1 of 2: turn 2 of 3")));
        assert_eq!(open.details.in_work.as_ref().unwrap().began.as_deref(), Some("2026-11-22T02:31:09.000Z"));
        assert!(text.contains(
            "turn 2 of 3<span data-began=\"2026-11-22T02:31:09.000Z\">, since 2026-11-22 02:31:09 UTC</span>"
        ));
        assert!(open.details.next.is_none() && open.cause.is_none());
        let rerun: Vec<&str> = running.model.rerun.iter().map(|it| it.command.as_str()).collect();
        assert_eq!(rerun, ["cargo evalset run a.evalset.json:a/failed --agent-cmd x"]);
        // A later visitor learns of the end with the final numbers, and not before.
        let news = running.news(0, &Signature::default()).unwrap();
        assert!(news.contains("class=\"running bad\"") && news.contains("data-again="), "{news}");
    }

    #[test]
    fn what_has_ended_without_a_verdict_is_told() {
        let ended = view(false);
        let text = said(&ended);
        for word in [
            "ended before",
            "was killed or is still running",
            "has no verdict",
            "UNFINISHED",
            "a/failed,a/open",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
        // Nothing of a dead run is in progress.
        for word in ["turn 2 of 3", "data-began", "IN WORK"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
        let headline = &ended.model.headline;
        assert_eq!(headline.text, "1 failed, 1 unfinished, 2 never began");
        assert_eq!(headline.cause.as_deref(), Some("1 of 2 cases has no verdict; 2 more tests never began"));
        assert!(!ended.news(0, &ended.signature).unwrap().contains("data-again"));
    }

    #[test]
    fn only_rows_that_changed_are_sent() {
        let ended = view(false);
        let rows =
            |version| ended.news(version, &ended.signature).unwrap().matches("<tr role=\"row\" id=").count();
        assert_eq!((rows(0), rows(ended.version)), (2, 0));
    }
}
