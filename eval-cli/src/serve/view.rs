//! A run as its page shows it, and what changed since a page was sent.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use eval_core::__private::{Prices, mask};
use eval_core::journal::{ReadRunError, RunDir};
use eval_format::__private::content_hash;
use eval_server::axum::response::Response;
use serde_json::{Value, json};

use super::answer::{self, Failure};
use super::folder::{Signature, signature};
use super::html::{COMMON, RUN, STYLE};
use super::hub::lock;
use crate::page::{self, CaseRow, Fact, Live, PageModel};
use crate::recorded::{LoadedRun, RunResults};
use crate::run_page;

/// The views of the runs that were asked for last.
#[derive(Debug, Default)]
pub(super) struct Views(Vec<(String, Arc<View>)>);

/// A view may hold a hundred megabytes.
const KEPT: usize = 2;

/// Reading a run that grows takes at most this part of the time.
const SHARE: u32 = 8;

/// How old a view may be for a page: sets may have been edited, which no journal tells.
const FRESH: Duration = Duration::from_secs(2);

/// A run as its page shows it.
#[derive(Debug)]
pub(super) struct View {
    model: PageModel,
    signature: Signature,
    version: u64,
    /// Of each case, by its anchor, a hash of what is shown and the version that it is since.
    rows: HashMap<String, (u64, u64)>,
    made: Instant,
    cost: Duration,
}

impl View {
    /// The view of a run. `is_page` asks for one that is as new as can be; a page that is open already waits if reading takes
    /// long.
    pub(super) fn of(
        views: &Mutex<Views>,
        run: &RunDir,
        prices: &Prices,
        is_page: bool,
    ) -> Result<Arc<Self>, Failure> {
        let known = lock(views).0.iter().find(|(id, _)| *id == run.id).map(|(_, view)| Arc::clone(view));
        let signature = signature(run);
        if let Some(known) = &known {
            let is_same = known.signature == signature;
            if is_same && (!is_page || known.made.elapsed() < FRESH) || !is_same && known.must_wait() {
                return Ok(Arc::clone(known));
            }
        }
        let view = Arc::new(Self::read(run, prices, signature, known.as_deref())?);
        let views = &mut lock(views).0;
        views.retain(|(id, _)| *id != run.id);
        views.insert(0, (run.id.clone(), Arc::clone(&view)));
        views.truncate(KEPT);
        Ok(view)
    }

    fn must_wait(&self) -> bool {
        self.made.elapsed() < self.cost * SHARE
    }

    fn read(
        run: &RunDir,
        prices: &Prices,
        signature: Signature,
        before: Option<&Self>,
    ) -> Result<Self, Failure> {
        let began = Instant::now();
        let loaded = LoadedRun::of_folder(run.id.clone(), run.path.clone(), false)
            .map_err(|error| unreadable(&error))?;
        let model = model(&loaded, prices, signature.is_written)?;
        // It grows over restarts of the service too.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let now = u64::try_from(now).unwrap_or_default();
        let version = now.max(before.map_or(0, |before| before.version + 1));
        let rows = model.cases.iter().map(|case| {
            let hash = content_hash(of_case(case).to_string().as_bytes());
            let known = before.and_then(|before| before.rows.get(&case.anchor));
            let since = known.filter(|(known, _)| *known == hash).map_or(version, |(_, since)| *since);
            (case.anchor.clone(), (hash, since))
        });
        let rows = rows.collect();
        Ok(Self { rows, model, signature, version, made: Instant::now(), cost: began.elapsed() })
    }

    /// The page.
    pub(super) fn page(&self, here: &'static str, id: &str) -> Result<Response, Failure> {
        rendered(&self.model, here, id, self.version)
    }

    /// What changed since a version. `again` says after how many milliseconds there is more.
    pub(super) fn since(&self, version: u64, now: &Signature) -> Value {
        let is_new = |case: &&CaseRow| self.rows.get(&case.anchor).is_none_or(|(_, since)| *since > version);
        let again = (*now != self.signature)
            .then(|| (self.cost * SHARE).saturating_sub(self.made.elapsed()).as_millis() + 100);
        let model = &self.model;
        let counts =
            model.counts.iter().map(|it| json!({ "filter": it.filter, "name": it.name, "cases": it.cases }));
        json!({
            "version": self.version, "again": again, "running": now.is_written, "title": model.title,
            "outcome": model.outcome, "reason": model.reason, "about": model.about,
            "numbers": model.numbers, "notes": model.notes, "counts": counts.collect::<Vec<_>>(),
            "glance": facts(&model.glance), "facts": facts(&model.facts), "rerun": model.rerun,
            "costs": model.has_costs(),
            "rows": model.cases.iter().filter(is_new).map(of_case).collect::<Vec<_>>(),
        })
    }
}

/// Why a run is as it is. While it runs, what did not begin may still begin.
pub(super) fn reason(results: &RunResults<'_>, running: bool) -> String {
    let totals = &results.totals;
    if !running {
        return totals.reason();
    }
    let counted = [
        (totals.passed, "passed"),
        (totals.failed, "failed"),
        (totals.errors, "with errors"),
        (totals.not_evaluated, "not evaluated"),
        (totals.skipped, "skipped"),
        (totals.unfinished, "in work"),
        (totals.missing, "to begin"),
    ];
    let counted = counted.into_iter().filter(|(number, _)| *number > 0);
    let counted: Vec<String> = counted.map(|(number, what)| format!("{number} {what}")).collect();
    if counted.is_empty() { "no case began yet".to_owned() } else { counted.join(", ") }
}

fn model(loaded: &LoadedRun, prices: &Prices, running: bool) -> Result<PageModel, Failure> {
    let mut results =
        RunResults::of(loaded, None, false).map_err(|error| Failure::internal(error.to_string()))?;
    results.prices = prices.clone();
    let mut model = run_page::model(&results);
    if running {
        "running".clone_into(&mut model.outcome);
        model.title = format!("running · {}", model.title);
        model.reason = page::line(&reason(&results, true));
        for case in model.cases.iter_mut().filter(|case| case.state == "unfinished") {
            case.word = "IN WORK";
            case.details.word = "IN WORK";
        }
    }
    Ok(model)
}

/// The page of a run that does not change.
pub(super) fn still(loaded: &LoadedRun, prices: &Prices, here: &'static str) -> Result<Response, Failure> {
    rendered(&model(loaded, prices, false)?, here, "", 0)
}

fn rendered(model: &PageModel, here: &'static str, id: &str, version: u64) -> Result<Response, Failure> {
    let live = Live { here, run: mask(id).into_owned(), version, style: STYLE, scripts: vec![COMMON, RUN] };
    let text = page::render_live(model, &live);
    let text = text.map_err(|error| Failure::internal(format!("the page cannot be written: {error}")))?;
    Ok(answer::page(&text, &page::live_policy(&live)))
}

fn facts(facts: &[Fact]) -> Vec<Value> {
    facts
        .iter()
        .map(|fact| json!({ "name": fact.name, "value": fact.value, "wide": fact.is_wide() }))
        .collect()
}

/// A row with its details, for the script. It has all that the template writes, as a row is written anew.
fn of_case(case: &CaseRow) -> Value {
    let pills = case.pills.iter().map(|it| json!({ "name": it.name, "state": it.state, "score": it.score }));
    let spark = case.spark.as_ref().map(|it| {
        json!({ "passed": it.passed, "others": it.others, "absent": it.absent, "width": it.width, "label": it.label })
    });
    json!({
        "anchor": case.anchor, "name": case.name, "state": case.state, "word": case.word,
        "filters": case.filters, "reason": case.reason, "runs": case.runs, "of_runs": case.of_runs,
        "pills": pills.collect::<Vec<_>>(), "tokens": case.tokens, "cost": case.cost, "time": case.time,
        "spark": spark, "details": case.details,
    })
}

/// A run that was removed meanwhile, or that nobody may read.
pub(super) fn unreadable(error: &ReadRunError) -> Failure {
    Failure::not_found(
        error.to_string(),
        "it may have been removed: the newest runs are kept, as many as `EVALSET_KEEP` says",
    )
}
