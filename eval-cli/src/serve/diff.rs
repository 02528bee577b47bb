//! The page of two runs side by side: the categories of a comparison, and both conversations of a case.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::SystemTime;

use askama::Template;
use eval_format::Invocation;
use eval_report::baseline::{Key, key, remarks};
use eval_report::comparison::{Card, Category, ComparedCase, Comparison, METRIC_FELL};
use eval_report::decide::gate::Policy;
use eval_report::journal::Evaluation;
use eval_report::run_page::{RunSide, run_side, turns};
use eval_server::axum::body::Bytes;
use eval_server::axum::extract::State;
use eval_server::axum::http::{HeaderMap, Uri};
use eval_server::axum::response::Response;
use eval_support::hash::content_hash;
use eval_support::untrusted::one_line;
use serde::Deserialize;
use serde_json::json;

use super::answer::{self, Failure};
use super::drafts::read;
use super::html::{self, Frame};
use super::runs::find;
use super::site::Site;
use super::view::unreadable;
use crate::output::mask;
use crate::page::{Run, line};
use crate::recorded::{LoadedRun, TestResult, own_runs};
use crate::sides::{NamedSide, baseline_path, read_baseline};

const SCRIPT: &str = include_str!("../../templates/live/diff.js");

/// The name of the baseline among the sides.
const BASELINE: &str = "baseline";

/// The most runs that can be chosen: the newest ones.
const MAX_OFFERED: usize = 100;

#[derive(Template)]
#[template(path = "live/diff.html")]
struct DiffPage {
    live: Frame,
    before: String,
    now: String,
    runs: Vec<String>,
    has_baseline: bool,
    found: Option<Found>,
}

impl DiffPage {
    /// The card of a case as HTML.
    #[expect(clippy::unused_self, reason = "the template calls it")]
    fn card(&self, row: &Row) -> String {
        row.card.html().unwrap_or_default()
    }
}

/// Two sides that were compared.
struct Found {
    /// Reasons why the sides may not be whole, and what a reader has to know.
    said: Vec<String>,
    /// The cases, those that changed first.
    categories: Vec<(String, Vec<Row>)>,
}

struct Row {
    card: Card,
    /// Whether the case changed. Such a case is open, the others are closed.
    is_changed: bool,
    /// Whether fewer of its runs passed a metric, with the same verdict.
    fell: bool,
    /// Whether the agent said and called something else; `None` if a side has no transcript.
    did: Option<&'static str>,
    /// The identity of the case as JSON, for the request for its conversations; empty if a side lacks it.
    key: String,
}

fn loaded(site: &Site, id: &str) -> Result<LoadedRun, Failure> {
    let run = find(site, id)?;
    LoadedRun::of_folder(run.id, run.path, false).map_err(|error| unreadable(&error))
}

/// The deeds of the agent in the run of a case that is shown: the hashes of its answers and of its calls.
type Deeds = HashMap<Key, [u64; 2]>;

/// A side, with what the agent did in it. A baseline does not hold that.
fn side(site: &Site, name: &str) -> Result<(NamedSide, Deeds), Failure> {
    if name != BASELINE {
        let loaded = loaded(site, name)?;
        let deeds = deeds(&loaded);
        return Ok((NamedSide::of_run(loaded)?, deeds));
    }
    let path = baseline_path(None);
    Ok((NamedSide::of_baseline(&path.display().to_string(), read_baseline(&path)?), Deeds::new()))
}

fn deeds(loaded: &LoadedRun) -> Deeds {
    let of_test = |test: &TestResult<'_>| {
        let turns = &shown(test)?.ran.transcript.turns;
        let answers: Vec<String> = turns.iter().map(|turn| turn.invocation.response_text()).collect();
        let calls: Vec<Vec<String>> = turns
            .iter()
            .map(|turn| turn.invocation.tool_calls().map(ToString::to_string).collect())
            .collect();
        let hash = |it: &dyn Debug| content_hash(format!("{it:?}").as_bytes());
        Some((key(test)?, [hash(&answers), hash(&calls)]))
    };
    TestResult::all(&loaded.run).iter().filter_map(of_test).collect()
}

/// Of a case that did the same in both.
const SAME: &str = "same answer";

fn did([before, now]: [&[u64; 2]; 2]) -> &'static str {
    match (before[0] == now[0], before[1] == now[1]) {
        (true, true) => SAME,
        (true, false) => "same answer, other calls",
        (false, true) => "other answer",
        (false, false) => "other answer, other calls",
    }
}

impl Found {
    fn new(site: &Site, before: &str, now: &str) -> Result<Self, Failure> {
        let (now, done_now) = side(site, now)?;
        let (before, done_before) = side(site, before)?;
        let now = now.recorded();
        let before = before.before(&now.cases)?;
        let comparison = Comparison::new(&before.cases, &now.cases, &now.cases, Policy::default());
        let said = [before.doubts, now.doubts, before.notes, now.notes].concat();
        let remarks = remarks(&before.cases, &now.cases, SystemTime::now());
        let row = |case: &ComparedCase| {
            let both = done_before.get(&case.key).zip(done_now.get(&case.key));
            Row::new(case, both.map(|(before, now)| did([before, now])))
        };
        let mut rows: Vec<(Category, Row)> =
            comparison.cases.iter().map(|case| (case.category, row(case))).collect();
        rows.sort_by_key(|(category, row)| {
            let place = if row.fell { Category::Fell } else { *category };
            (place, row.fell, row.card.now.rank())
        });
        let mut categories: Vec<(String, Vec<Row>)> = Vec::new();
        for (category, row) in rows {
            let words = row.section(category);
            match categories.iter_mut().find(|(known, _)| *known == words) {
                Some((_, rows)) => rows.push(row),
                None => categories.push((words, vec![row])),
            }
        }
        // What changed is first, also where the verdict is the same.
        categories.sort_by_key(|(_, rows)| rows.iter().all(|row| !row.is_changed));
        let said = said.into_iter().chain(remarks).map(|said| line(&said)).collect();
        Ok(Self { said, categories })
    }
}

impl Row {
    fn new(case: &ComparedCase, did: Option<&'static str>) -> Self {
        let Key { set, case: eval_id, variant } = &case.key;
        let is_on_both = case.before.is_some() && case.now.is_some();
        let fell = case.is_same_but_for_a_metric();
        let key = json!({ "set": set, "case": eval_id, "variant": variant }).to_string();
        Self {
            card: Card::new(case),
            is_changed: case.category != Category::Same || fell || did.is_some_and(|did| did != SAME),
            fell,
            did,
            key: if is_on_both { mask(&key).into_owned() } else { String::new() },
        }
    }

    /// The heading of its section. The same share of its runs may have passed with another answer.
    fn section(&self, category: Category) -> String {
        if category != Category::Same || self.fell {
            return if self.fell { METRIC_FELL } else { category.words() }.to_owned();
        }
        let verdict = self.card.now.word;
        self.did.map_or(format!("same verdict: {verdict}"), |did| format!("same verdict: {verdict}, {did}"))
    }
}

/// The value of a parameter. Ids of runs have no characters that are escaped in an address.
fn parameter(uri: &Uri, name: &str) -> String {
    let pairs = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned()).next().unwrap_or_default()
}

pub(super) async fn page(State(site): State<Arc<Site>>, uri: Uri, headers: HeaderMap) -> Response {
    let [before, now] = ["before", "now"].map(|name| parameter(&uri, name));
    let page = site.work(move |site| {
        let runs = own_runs(&site.records).map(|(runs, _)| runs).unwrap_or_default();
        let found = (!before.is_empty() && !now.is_empty()).then(|| Found::new(site, &before, &now));
        let found = found.transpose()?;
        let page = |live| DiffPage {
            live,
            before: mask(&before).into_owned(),
            now: mask(&now).into_owned(),
            runs: runs.iter().take(MAX_OFFERED).map(|run| mask(&run.id).into_owned()).collect(),
            has_baseline: baseline_path(None).is_file(),
            found,
        };
        html::sent(Frame::unlisted("Two runs side by side", SCRIPT), page)
    });
    page.await.unwrap_or_else(|failure| html::problem(failure, &headers))
}

/// A case of two sides.
#[derive(Deserialize)]
struct Asked {
    before: String,
    now: String,
    set: String,
    case: String,
    variant: String,
}

/// The conversations of a case on both sides, each of the first run that did not pass, else of the first run.
pub(super) async fn case(State(site): State<Arc<Site>>, body: Bytes) -> Result<Response, Failure> {
    site.work(move |site| {
        let asked: Asked = read(&body, "send `before`, `now`, `set`, `case` and `variant`")?;
        let key = Key { set: asked.set, case: asked.case, variant: asked.variant };
        let before = conversation(site, &asked.before, &key)?;
        let now = conversation(site, &asked.now, &key)?;
        let run = Run::of_turns(turns(&now.turns, Some(&before.turns), None, "compared with those before"));
        let sides = [before.side, now.side];
        let (before, now) = (line(&before.name), line(&now.name));
        Ok(answer::json(&json!({ "before": before, "now": now, "run": run, "sides": sides })))
    })
    .await
}

/// A run of a case on a side.
struct Conversation {
    /// The run in words.
    name: String,
    turns: Vec<Invocation>,
    side: RunSide,
}

/// The run of a case that is shown. A baseline holds none: its runs do, if they are here.
fn conversation(site: &Site, name: &str, key: &Key) -> Result<Conversation, Failure> {
    if name != BASELINE {
        return of_run(&loaded(site, name)?, key);
    }
    let baseline = read_baseline(&baseline_path(None))?;
    let runs = baseline.get(key).map(|line| line.from.runs.clone()).unwrap_or_default();
    let found = runs.iter().find_map(|id| loaded(site, id).ok().and_then(|run| of_run(&run, key).ok()));
    found.ok_or_else(|| {
        let message = "the baseline holds no transcripts, and its runs are not here";
        Failure::not_found(message, format!("it was measured in {}", one_line(&runs.join(", "))))
    })
}

/// The run of a case that is shown: the first one that did not pass, else the first one.
fn shown<'r>(test: &TestResult<'r>) -> Option<&'r Evaluation> {
    let evaluations = &test.attempt.evaluations;
    evaluations.iter().find(|it| it.passed != Some(true)).or(evaluations.first())
}

fn of_run(loaded: &LoadedRun, wanted: &Key) -> Result<Conversation, Failure> {
    let tests = TestResult::all(&loaded.run);
    let test = tests.iter().find(|test| key(test).as_ref() == Some(wanted));
    let found = test.and_then(|test| Some((test, shown(test)?)));
    let (test, evaluation) = found.ok_or_else(|| {
        let message = format!("{wanted} has no run in {}", loaded.name());
        Failure::not_found(message, "load the page again")
    })?;
    let turns = evaluation.ran.transcript.turns.iter().map(|turn| turn.invocation.clone());
    let name = format!("run {} of the case in {}", evaluation.ran.run, loaded.name());
    Ok(Conversation { name, turns: turns.collect(), side: run_side(test, evaluation) })
}
