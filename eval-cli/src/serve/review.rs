//! The page on which failing cases and drafts are reviewed. The terminal's review makes the choices and writes them.

use std::ffi::OsString;
use std::sync::Arc;

use askama::Template;
use eval_core::journal::file_names::LATEST;
use eval_report::journal::RunDir;
use eval_server::axum::body::Bytes;
use eval_server::axum::extract::State;
use eval_server::axum::http::{HeaderMap, StatusCode, Uri};
use eval_server::axum::response::Response;
use eval_support::untrusted::one_line;
use serde::Deserialize;
use serde_json::json;

use super::answer::{self, Failure};
use super::drafts::read;
use super::folder::signature;
use super::html::{self, Frame};
use super::review_card::{ReviewCard, shown};
use super::runs::{find, newest};
use super::site::Site;
use super::view::unreadable;
use crate::edited::select;
use crate::output::{CommandError, mask};
use crate::page::{inside_html, line};
use crate::recorded::{LoadedRun, doubts_about_build};
use crate::review::{Choice, Item, Queue};

const SCRIPT: &str = include_str!("../../templates/live/review.js");

#[derive(Template)]
#[template(path = "live/review.html")]
struct ReviewPage<'a> {
    live: Frame,
    /// The id of the run; empty without one.
    run: String,
    /// Whether the address names it.
    named: bool,
    record: String,
    /// Reasons why the run may be of another build: it is not reviewed unless it is named.
    doubts: Vec<String>,
    cards: &'a [ReviewCard],
    /// The number of cards of which something can be accepted.
    offered: usize,
    problem: Option<(String, String)>,
}

impl ReviewPage<'_> {
    #[expect(clippy::unused_self, reason = "the template calls it")]
    fn json(&self, card: &ReviewCard) -> String {
        inside_html(card)
    }
}

/// A run as it is reviewed.
struct Reviewed {
    run: RunDir,
    loaded: LoadedRun,
    /// A hash of its journals: a page that was made of others is not written of.
    record: String,
}

impl Reviewed {
    /// The run of this id, or the newest one that has ended; `None` if there is none.
    fn new(site: &Site, named: Option<&str>) -> Result<Option<Self>, Failure> {
        let found = match named {
            Some(id) => Some(find(site, id)?),
            None => newest(site)?,
        };
        let Some(run) = found else { return Ok(None) };
        let signature = signature(&run);
        if signature.is_written {
            let message = format!("run {} is not at its end", one_line(&run.id));
            return Err(Failure::new(StatusCode::CONFLICT, message, "review it when it has ended"));
        }
        // A run that is not named is doubted as by the command.
        let name = named.map_or_else(|| LATEST.to_owned(), |_| run.id.clone());
        let loaded =
            LoadedRun::of_folder(name, run.path.clone(), false).map_err(|error| unreadable(&error))?;
        Ok(Some(Self { record: signature.record(), run, loaded }))
    }

    fn doubts(&self) -> Vec<String> {
        doubts_about_build(&self.loaded)
    }
}

/// The queue of a run, with the cases and drafts of the sets below the folder of the service. Files elsewhere are not written.
fn queue(reviewed: Option<&Reviewed>) -> Result<Queue<'_>, CommandError> {
    let sets = select(&[OsString::from(".")])?;
    Queue::new(reviewed.map(|it| &it.loaded), Some(&sets))
}

pub(super) async fn page(State(site): State<Arc<Site>>, uri: Uri, headers: HeaderMap) -> Response {
    let named = uri.query().and_then(|query| query.strip_prefix("run=")).map(str::to_owned);
    let page = site.work(move |site| {
        let reviewed = Reviewed::new(site, named.as_deref())?;
        let doubts = reviewed.as_ref().map(Reviewed::doubts).unwrap_or_default();
        // What a doubtful run did is not offered.
        let of_run = reviewed.as_ref().filter(|_| doubts.is_empty() || named.is_some());
        let (cards, problem): (Vec<ReviewCard>, _) = match queue(of_run) {
            Ok(queue) => (queue.items.iter().map(|item| ReviewCard::new(&queue, item)).collect(), None),
            Err(error) => (Vec::new(), Some((line(&error.message), line(&error.help)))),
        };
        let page = |live| ReviewPage {
            live,
            run: reviewed.as_ref().map(|it| mask(&it.run.id).into_owned()).unwrap_or_default(),
            named: named.is_some(),
            record: reviewed.as_ref().map(|it| it.record.clone()).unwrap_or_default(),
            doubts: doubts.iter().map(|doubt| line(doubt)).collect(),
            offered: cards.iter().filter(|card| card.is_offered()).count(),
            cards: &cards,
            problem,
        };
        html::sent(Frame::of_cases("/review", SCRIPT), page)
    });
    page.await.unwrap_or_else(|failure| html::problem(failure, &headers))
}

/// A choice as a page asks for it.
#[derive(Deserialize)]
struct Asked {
    /// The run of the page; empty if it had none.
    run: String,
    named: bool,
    record: String,
    /// `SET:CASE`.
    id: String,
    /// The names of the parts; empty for all.
    #[serde(default)]
    parts: Vec<String>,
    /// The hash of what was shown, in a request to write it.
    hash: Option<String>,
}

impl Asked {
    /// The run of the page, if it is still what the page was made of.
    fn reviewed(&self, site: &Site) -> Result<Option<Reviewed>, Failure> {
        if self.run.is_empty() {
            return Ok(None);
        }
        let reviewed = Reviewed::new(site, self.named.then_some(self.run.as_str()))?;
        let reviewed = reviewed.ok_or_else(|| stale("the run is not there any more"))?;
        if reviewed.run.id != self.run {
            return Err(stale(&format!("run {} came since it was shown", one_line(&reviewed.run.id))));
        }
        if reviewed.record != self.record {
            return Err(stale(&format!("run {} was written to since it was shown", one_line(&self.run))));
        }
        // A page with a doubtful run has drafts alone.
        Ok(Some(reviewed).filter(|it| self.named || it.doubts().is_empty()))
    }

    /// The choice as it is now.
    fn choice<T>(
        &self,
        site: &Site,
        act: impl FnOnce(&Item, Choice) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let reviewed = self.reviewed(site)?;
        let queue = queue(reviewed.as_ref())?;
        let id = one_line(&self.id);
        let item = queue.items.iter().find(|item| item.id == self.id);
        let item = item.ok_or_else(|| stale(&format!("`{id}` is not to be reviewed any more")))?;
        let choice = queue.choices(item).named(&self.parts)?;
        let choice = choice.ok_or_else(|| match item.not_offered() {
            Some(why) => stale(&format!("`{id}`: {}", one_line(why))),
            None => stale(&format!("`{id}`: this is not offered any more")),
        })?;
        act(item, choice)
    }
}

fn stale(message: &str) -> Failure {
    Failure::new(StatusCode::CONFLICT, message, "nothing is written; look at it again")
}

const FIELDS: &str = "send `run`, `named`, `record`, `id` and `parts`";

/// A choice with its warnings, its bytes and what the record would score.
pub(super) async fn choice(State(site): State<Arc<Site>>, body: Bytes) -> Result<Response, Failure> {
    site.work(move |site| {
        let asked: Asked = read(&body, FIELDS)?;
        asked.choice(site, |_, choice| Ok(answer::json(&shown(&choice, &asked.parts))))
    })
    .await
}

/// Writes a choice, if it is still as it was shown.
pub(super) async fn write(State(site): State<Arc<Site>>, body: Bytes) -> Result<Response, Failure> {
    site.work(move |site| {
        let asked: Asked = read(&body, FIELDS)?;
        asked.choice(site, |item, choice| {
            let id = one_line(&asked.id);
            if asked.hash.as_deref() != Some(choice.hash().as_str()) {
                return Err(stale(&format!(
                    "`{id}` is not as it was shown: the case or its warnings changed"
                )));
            }
            choice.edit.write()?;
            let (set, case) = (item.path.display().to_string(), item.case.eval_id.clone());
            site.hub.tell("drafts", &json!({ "set": set, "case": case }));
            site.hub.tell("review", &json!({ "id": asked.id }));
            let rest = match choice.forecast {
                Some(forecast) if !forecast.still_fails.is_empty() => format!("; {}", forecast.said()),
                _ => String::new(),
            };
            Ok(answer::json(&json!({ "done": format!("written: {}{rest}", choice.what) })))
        })
    })
    .await
}
