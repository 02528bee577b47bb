//! The page of the drafts of all sets, and the decisions of reviewers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use askama::Template;
use eval_format::SetEditor;
use eval_server::axum::body::Bytes;
use eval_server::axum::extract::State;
use eval_server::axum::http::StatusCode;
use eval_server::axum::response::{IntoResponse, Response};
use eval_support::hash::{block_hash, content_hash};
use eval_support::untrusted::one_line;
use eval_support::words::count;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::answer::{self, Failure};
use super::draft_card::DraftCard;
use super::html::{self, Frame};
use super::site::{Site, all_sets};
use crate::drafts::{self, Draft, revised};
use crate::edited::{edit, open, refused};
use crate::output::{CommandError, mask};
use crate::page::{inside_html, line};

const SCRIPT: &str = include_str!("../../templates/live/drafts.js");

#[derive(Template)]
#[template(path = "live/drafts.html")]
struct DraftsPage<'a> {
    live: Frame,
    of_sets: &'a [DraftsOfSet],
    drafts: usize,
    sets: usize,
    problems: &'a [(String, String)],
}

#[derive(Debug)]
struct DraftsOfSet {
    set: String,
    shown: String,
    drafts: Vec<DraftCard>,
}

impl DraftsPage<'_> {
    #[expect(clippy::unused_self, reason = "the template calls it")]
    fn json(&self, card: &DraftCard) -> String {
        inside_html(card)
    }
}

pub(super) async fn page(State(site): State<Arc<Site>>) -> Response {
    let page = site.work(|_| {
        let (mut of_sets, mut problems) = (Vec::new(), Vec::new());
        let mut problem = |error: CommandError| problems.push((line(&error.message), line(&error.help)));
        let sets = all_sets().unwrap_or_else(|error| {
            problem(error);
            Vec::new()
        });
        for path in &sets {
            match open(path) {
                Ok(editor) => of_sets.extend(of_set(path, &editor)),
                Err(error) => problem(error),
            }
        }
        let drafts = of_sets.iter().map(|of_set| of_set.drafts.len()).sum();
        let page =
            |live| DraftsPage { live, of_sets: &of_sets, drafts, sets: sets.len(), problems: &problems };
        html::sent(Frame::of_cases("/drafts", SCRIPT), page)
    });
    page.await.unwrap_or_else(IntoResponse::into_response)
}

/// The drafts of a set; `None` if it has none.
fn of_set(path: &Path, editor: &SetEditor) -> Option<DraftsOfSet> {
    let set = mask(&path.display().to_string()).into_owned();
    let drafts: Vec<DraftCard> = editor.drafts().filter_map(|id| card(path, editor, id)).collect();
    (!drafts.is_empty()).then(|| DraftsOfSet { shown: line(&set), set, drafts })
}

fn card(path: &Path, editor: &SetEditor, id: &str) -> Option<DraftCard> {
    let anchor = drafts::anchor(path, id);
    Some(DraftCard::new(editor.case(id)?, anchor, seen(editor, id)?))
}

/// The hash of a draft's text as it was shown, so that any later change is noticed.
fn seen(editor: &SetEditor, id: &str) -> Option<String> {
    let text = editor.case_text(id)?.as_bytes();
    Some(format!("{:016x}{:016x}", content_hash(text), block_hash(text)))
}

/// A draft as the reviewer saw it.
#[derive(Deserialize)]
struct Seen {
    case: String,
    seen: String,
}

/// A reviewer's decision about a draft.
#[derive(Deserialize)]
struct Decision {
    set: String,
    #[serde(flatten)]
    draft: Seen,
    /// The edits of its turns, in a request to edit it.
    #[serde(default)]
    turns: Vec<revised::Edit>,
}

/// A reviewer's decision about several drafts of a set.
#[derive(Deserialize)]
struct Decisions {
    set: String,
    drafts: Vec<Seen>,
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
        let Decision { set, draft: wanted, .. } = read(&body, "send `set`, `case` and `seen`")?;
        let path = path_of(&set)?;
        let editor = open(&path)?;
        let case = still_draft(&path, &editor, &wanted)?;
        let said = act(&Draft { case: case.clone(), path: path.clone() })?;
        site.hub.tell("drafts", &json!({ "set": set, "case": wanted.case }));
        Ok(answer::json(&json!({ "done": said })))
    })
    .await
}

/// Changes a draft in its file. Returns the card of the draft as it is now.
pub(super) async fn revise(State(site): State<Arc<Site>>, body: Bytes) -> Result<Response, Failure> {
    site.work(move |site| {
        let Decision { set, draft: wanted, turns } = read(&body, "send `set`, `case`, `seen` and `turns`")?;
        let path = path_of(&set)?;
        let id = &wanted.case;
        let case = still_draft(&path, &open(&path)?, &wanted)?.clone();
        // An edit that cannot be written is corrected on the page, which keeps it.
        let edited = revised::revised(&case, turns)
            .map_err(|error| Failure { status: StatusCode::BAD_REQUEST, error })?;
        let is_changed = edited != case;
        drafts::revise(&Draft { case, path: path.clone() }, &edited)?;
        let card = card(&path, &open(&path)?, id);
        let card = card.ok_or_else(|| Failure::internal("the draft that was written is not found"))?;
        let shown = one_line(id);
        let said = if is_changed {
            format!("`{shown}` is written; it waits for your decision")
        } else {
            format!("`{shown}` is as it was")
        };
        site.hub.tell("drafts", &json!({ "set": set, "case": id, "seen": card.seen }));
        Ok(answer::json(&json!({ "done": said, "card": card })))
    })
    .await
}

/// Accepts the drafts of a set that are as they were shown, and says which were accepted and which were not.
pub(super) async fn accept_all(State(site): State<Arc<Site>>, body: Bytes) -> Result<Response, Failure> {
    site.work(move |site| {
        let Decisions { set, drafts } =
            read(&body, "send `set`, and `drafts` with `case` and `seen` of each")?;
        let path = path_of(&set)?;
        let (mut accepted, mut left) = (Vec::new(), Vec::new());
        edit(&path, |editor| {
            for draft in &drafts {
                let is_accepted = still_draft(&path, editor, draft)
                    .map(drop)
                    .and_then(|()| Ok(editor.accept(&draft.case).map_err(|error| refused(&path, &error))?));
                match is_accepted {
                    Ok(()) => accepted.push(draft.case.as_str()),
                    Err(Failure { error, .. }) => {
                        left.push(json!({ "case": draft.case, "error": error.message, "help": error.help }));
                    }
                }
            }
            Ok(())
        })?;
        for case in &accepted {
            site.hub.tell("drafts", &json!({ "set": set, "case": case }));
        }
        let tests = if accepted.len() == 1 { "it is a test" } else { "they are tests" };
        let mut said = match accepted.len() {
            0 => "no draft is accepted".to_owned(),
            number => format!("accepted {}: {tests} in the next build", count(number, "draft")),
        };
        if !left.is_empty() {
            said.push_str(&format!(
                "; {} left",
                if left.len() == 1 { "1 is".to_owned() } else { format!("{} are", left.len()) }
            ));
        }
        Ok(answer::json(&json!({ "done": said, "accepted": accepted, "left": left })))
    })
    .await
}

pub(super) fn read<T: DeserializeOwned>(body: &Bytes, help: &str) -> Result<T, Failure> {
    serde_json::from_slice(body)
        .map_err(|error| Failure::bad(format!("the request cannot be read: {error}"), help))
}

/// The set of a request. Its path is looked up among the sets, and never taken from the request.
fn path_of(set: &str) -> Result<PathBuf, Failure> {
    let mut sets = all_sets()?.into_iter();
    sets.find(|path| path.display().to_string() == set).ok_or_else(|| {
        Failure::not_found(
            "there is no such set below this folder",
            "load the page again: the file was moved or removed",
        )
    })
}

/// The draft of a set, if it is still the one that was shown.
fn still_draft<'e>(
    path: &Path,
    editor: &'e SetEditor,
    wanted: &Seen,
) -> Result<&'e eval_format::EvalCase, Failure> {
    let id = one_line(&wanted.case);
    let conflict = |what: &str| {
        let file = one_line(&path.display().to_string());
        Failure::new(StatusCode::CONFLICT, format!("`{file}`: {what}"), "look at it again")
    };
    let case = editor.case(&wanted.case).filter(|case| case.draft().is_some());
    let case =
        case.ok_or_else(|| conflict(&format!("`{id}` is no draft any more: it was decided meanwhile")))?;
    if seen(editor, &wanted.case).as_ref() != Some(&wanted.seen) {
        return Err(conflict(&format!("the case `{id}` was changed meanwhile")));
    }
    Ok(case)
}
