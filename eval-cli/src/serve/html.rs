//! The pages as HTML.

use askama::Template;
use eval_format::EvalConfig;
use eval_server::axum::http::HeaderMap;
use eval_server::axum::response::{IntoResponse, Response};

use super::answer::{self, Failure};
use crate::page::{self, PassRate};

/// The style of what only a server shows.
pub(super) const STYLE: &str = include_str!("../../templates/live/live.css");
/// The script that all pages run first.
pub(super) const COMMON: &str = include_str!("../../templates/live/live.js");
/// The script of the page of a run while tests run.
pub(super) const RUN: &str = include_str!("../../templates/live/run.js");
const RUNS: &str = include_str!("../../templates/live/runs.js");
const DRAFTS: &str = include_str!("../../templates/live/drafts.js");
const CHECK: &str = include_str!("../../templates/live/check.js");

/// The frame of each page. The templates know it as `live`.
#[derive(Debug)]
pub(super) struct Frame {
    /// The address of the page that is marked in the navigation, if it is one of these.
    here: Option<&'static str>,
    title: &'static str,
    style: [&'static str; 2],
    scripts: Vec<&'static str>,
    policy: String,
}

impl Frame {
    /// The frame of a page in the navigation, with its script.
    fn new(here: &'static str, title: &'static str, script: &'static str) -> Self {
        Self::with_scripts(Some(here), title, vec![COMMON, script])
    }

    fn with_scripts(here: Option<&'static str>, title: &'static str, scripts: Vec<&'static str>) -> Self {
        let style = [page::STYLE, STYLE];
        let policy = page::policy(&style, &scripts, true);
        Self { here, title, style, scripts, policy }
    }
}

/// A recorded run in the list.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub(super) struct RunLine {
    pub(super) id: String,
    /// `passed`, `failed`, `unmeasurable` or `running`.
    pub(super) outcome: &'static str,
    pub(super) running: bool,
    /// The reason for the outcome, or the progress.
    pub(super) reason: Option<String>,
    pub(super) cases: usize,
    /// Cases that were to run, if that is known.
    pub(super) planned: Option<usize>,
    pub(super) passed: usize,
    /// Cases that are not in work any more.
    pub(super) decided: usize,
    pub(super) when: String,
    /// `None` for a run that cannot be read.
    pub(super) took: Option<String>,
    /// The packages that ran, or the program.
    pub(super) what: Option<String>,
}

/// The form that starts a run.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) agent: String,
    pub(super) sets: Vec<String>,
    /// The most runs of a case that can be asked for.
    pub(super) most: u16,
    /// The reason why there are no sets.
    pub(super) problem: Option<String>,
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

pub(super) fn runs(
    runs: &[RunLine],
    [more, others]: [usize; 2],
    rate: Option<PassRate>,
    form: Option<Form>,
) -> Result<Response, Failure> {
    let live = Frame::new("/", "Runs", RUNS);
    sent(live, |live| RunsPage { live, runs, more, others, rate, form })
}

/// A draft, as `accept` shows it.
#[derive(Debug)]
pub(super) struct DraftCard {
    pub(super) set: String,
    pub(super) case: String,
    /// The names as they are shown.
    pub(super) shown_set: String,
    pub(super) shown_case: String,
    /// The draft as it was shown.
    pub(super) seen: String,
    pub(super) rows: Vec<DraftRow>,
}

/// A line of a draft.
#[derive(Debug)]
pub(super) struct DraftRow {
    /// The number of the turn that begins here.
    pub(super) turn: Option<usize>,
    pub(super) what: String,
    pub(super) said: String,
}

#[derive(Template)]
#[template(path = "live/drafts.html")]
struct DraftsPage<'a> {
    live: Frame,
    drafts: &'a [DraftCard],
    sets: usize,
    problems: &'a [(String, String)],
}

pub(super) fn drafts(
    drafts: &[DraftCard],
    sets: usize,
    problems: &[(String, String)],
) -> Result<Response, Failure> {
    let live = Frame::new("/drafts", "Drafts", DRAFTS);
    sent(live, |live| DraftsPage { live, drafts, sets, problems })
}

#[derive(Template)]
#[template(path = "live/check.html")]
struct CheckPage {
    live: Frame,
    /// ADK's criteria where there is no config, as JSON.
    criteria: String,
}

pub(super) fn check() -> Result<Response, Failure> {
    let config = EvalConfig::adk_default().to_value();
    let live = Frame::new("/check", "Check", CHECK);
    sent(live, |live| CheckPage { live, criteria: config["criteria"].to_string() })
}

#[derive(Template)]
#[template(path = "live/problem.html")]
struct ProblemPage<'a> {
    live: Frame,
    message: &'a str,
    help: &'a str,
}

/// The failure of a request: as a page, if a person asks.
pub(super) fn problem(failure: Failure, headers: &HeaderMap) -> Response {
    let accepts = headers.get("accept").and_then(|it| it.to_str().ok());
    if !accepts.is_some_and(|accepts| accepts.contains("text/html")) {
        return failure.into_response();
    }
    let live = Frame::with_scripts(None, "Not shown", vec![COMMON]);
    let (message, help) = (page::line(&failure.error.message), page::line(&failure.error.help));
    let page = |live| ProblemPage { live, message: &message, help: &help };
    let Ok(mut response) = sent(live, page) else { return failure.into_response() };
    *response.status_mut() = failure.status;
    response
}

/// The links to the other pages, for a page that the templates of this crate do not make.
pub(super) fn nav(here: &'static str) -> Result<String, Failure> {
    NavPage { live: Here { here: Some(here) } }.render().map_err(|error| unwritten(&error))
}

#[derive(Template)]
#[template(path = "live/nav.html")]
struct NavPage {
    live: Here,
}

/// The page of the navigation that is shown.
struct Here {
    here: Option<&'static str>,
}

/// A page in its frame.
fn sent<T: Template>(live: Frame, page: impl FnOnce(Frame) -> T) -> Result<Response, Failure> {
    let policy = live.policy.clone();
    let text = page(live).render().map_err(|error| unwritten(&error))?;
    Ok(answer::page(&text, &policy))
}

pub(super) fn unwritten(error: &askama::Error) -> Failure {
    Failure::internal(format!("the page cannot be written: {error}"))
}
