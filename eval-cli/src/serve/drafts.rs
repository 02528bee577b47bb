//! Drafts of all sets, and the decisions of reviewers.

use std::path::Path;
use std::sync::Arc;

use askama::Template;
use eval_format::{Meaning, SetEditor};
use eval_server::axum::body::Bytes;
use eval_server::axum::extract::State;
use eval_server::axum::http::StatusCode;
use eval_server::axum::response::{IntoResponse, Response};
use eval_support::untrusted::{LONGEST_TEXT, excerpt, one_line};
use serde::Deserialize;
use serde_json::json;

use super::answer::{self, Failure};
use super::html::{self, Frame};
use super::site::{Site, all_sets};
use crate::drafts::{self, Draft, Part, parts};
use crate::edited::open;
use crate::output::{CommandError, mask};
use crate::page::line;

const SCRIPT: &str = include_str!("../../templates/live/drafts.js");

/// A draft, as `accept` shows it.
#[derive(Debug)]
struct DraftCard {
    set: String,
    case: String,
    /// The names as they are shown.
    shown_set: String,
    shown_case: String,
    /// Its place on the page.
    anchor: String,
    /// The meaning of the draft as it was shown, so that later changes are noticed.
    seen: String,
    rows: Vec<DraftRow>,
}

#[derive(Debug)]
struct DraftRow {
    turn: Option<usize>,
    what: String,
    said: String,
}

#[derive(Template)]
#[template(path = "live/drafts.html")]
struct DraftsPage<'a> {
    live: Frame,
    drafts: &'a [DraftCard],
    sets: usize,
    problems: &'a [(String, String)],
}

pub(super) async fn page(State(site): State<Arc<Site>>) -> Response {
    let page = site.work(|_| {
        let (mut cards, mut problems) = (Vec::new(), Vec::new());
        let mut problem = |error: CommandError| problems.push((line(&error.message), line(&error.help)));
        let sets = all_sets().unwrap_or_else(|error| {
            problem(error);
            Vec::new()
        });
        for path in &sets {
            match open(path) {
                Ok(editor) => cards.extend(of_set(path, &editor)),
                Err(error) => problem(error),
            }
        }
        let page = |live| DraftsPage { live, drafts: &cards, sets: sets.len(), problems: &problems };
        html::sent(Frame::new("/drafts", SCRIPT), page)
    });
    page.await.unwrap_or_else(IntoResponse::into_response)
}

fn of_set(path: &Path, editor: &SetEditor) -> Vec<DraftCard> {
    if editor.drafts().next().is_none() {
        return Vec::new();
    }
    let set = mask(&path.display().to_string()).into_owned();
    let card = |id: &str| {
        Some(DraftCard {
            set: set.clone(),
            case: mask(id).into_owned(),
            shown_set: line(&set),
            shown_case: line(id),
            anchor: drafts::anchor(path, id),
            seen: seen(editor, id)?,
            rows: parts(editor.case(id)?).into_iter().map(row).collect(),
        })
    };
    editor.drafts().filter_map(card).collect()
}

fn row(part: Part) -> DraftRow {
    let (turn, what, said) = match part {
        Part::Turn(number) => (Some(number), String::new(), String::new()),
        Part::Line { what, said } => (None, line(&what), said),
        Part::NoAnswer => (None, "answer".to_owned(), "no answer is expected".to_owned()),
    };
    DraftRow { turn, what, said: excerpt(&said, LONGEST_TEXT).noted() }
}

fn seen(editor: &SetEditor, id: &str) -> Option<String> {
    let Meaning { asks, expects, .. } = Meaning::from_case(editor.case(id)?);
    Some(format!("{asks}{expects}"))
}

/// A reviewer's decision, with the draft as the reviewer saw it.
#[derive(Deserialize)]
struct Decision {
    set: String,
    case: String,
    seen: String,
}

pub(super) async fn accept(State(site): State<Arc<Site>>, body: Bytes) -> Result<Response, Failure> {
    decide(site, body, |draft| {
        drafts::accept(std::slice::from_ref(draft))?;
        Ok(format!("accepted `{}`: it is a test in the next build", one_line(&draft.case.eval_id)))
    })
    .await
}

pub(super) async fn reject(State(site): State<Arc<Site>>, body: Bytes) -> Result<Response, Failure> {
    decide(site, body, |draft| {
        drafts::reject(draft)?;
        if drafts::golden_of(&draft.case).is_some() {
            return Ok(format!("`{}` is the golden again that it was", one_line(&draft.case.eval_id)));
        }
        let set = one_line(&draft.path.display().to_string());
        let is_empty = open(&draft.path).is_ok_and(|editor| editor.case_ids().len() == 0);
        let rest =
            if is_empty { format!("; `{set}` has no cases now, and tests refuse it") } else { String::new() };
        Ok(format!("removed `{}` from `{set}`{rest}", one_line(&draft.case.eval_id)))
    })
    .await
}

async fn decide(
    site: Arc<Site>,
    body: Bytes,
    act: impl FnOnce(&Draft) -> Result<String, CommandError> + Send + 'static,
) -> Result<Response, Failure> {
    site.work(move |site| {
        let decision: Decision = serde_json::from_slice(&body).map_err(|error| {
            Failure::bad(format!("the request cannot be read: {error}"), "send `set`, `case` and `seen`")
        })?;
        // A path is looked up among the sets, and never taken from a request.
        let mut sets = all_sets()?.into_iter();
        let path = sets.find(|path| path.display().to_string() == decision.set).ok_or_else(|| {
            Failure::not_found(
                "there is no such set below this folder",
                "load the page again: the file was moved or removed",
            )
        })?;
        let editor = open(&path)?;
        let id = one_line(&decision.case);
        let conflict = |what: &str| {
            let file = one_line(&path.display().to_string());
            Failure::new(StatusCode::CONFLICT, format!("`{file}`: {what}"), "look at it again")
        };
        let case = editor.case(&decision.case).filter(|case| case.draft().is_some());
        let case =
            case.ok_or_else(|| conflict(&format!("`{id}` is no draft any more: it was decided meanwhile")))?;
        if seen(&editor, &decision.case).as_ref() != Some(&decision.seen) {
            return Err(conflict(&format!("the case `{id}` was changed meanwhile")));
        }
        let said = act(&Draft { case: case.clone(), path: path.clone() })?;
        site.hub.tell("drafts", &json!({ "set": decision.set, "case": decision.case }));
        Ok(answer::json(&json!({ "done": said })))
    })
    .await
}
