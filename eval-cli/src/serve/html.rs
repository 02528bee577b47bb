//! The frame of all pages, and the page of an error.

use askama::Template;
use eval_server::axum::http::HeaderMap;
use eval_server::axum::response::{IntoResponse, Response};

use super::answer::{self, Failure};
use crate::page;

/// The pages of a server: the name and the path of each.
pub(crate) const PAGES: [(&str, &str); 5] = [
    ("Runs", "/"),
    ("Review", "/review"),
    ("Drafts", "/drafts"),
    ("Sessions", "/sessions"),
    ("Check", "/check"),
];

/// The style of the elements that only served pages have.
pub(super) const STYLE: &str = include_str!("../../templates/live/live.css");
/// The script that all pages run first.
pub(super) const COMMON: &str = include_str!("../../templates/live/live.js");
/// The script of the page of a run while tests run.
pub(super) const RUN: &str = include_str!("../../templates/live/run.js");

/// The frame of each page. The templates know it as `live`.
#[derive(Debug)]
pub(super) struct Frame {
    /// The path of the page that is marked in the navigation, if any.
    pub(super) here: Option<&'static str>,
    pub(super) title: &'static str,
    pub(super) style: [&'static str; 2],
    pub(super) scripts: Vec<&'static str>,
    policy: String,
}

impl Frame {
    /// The frame of a page of the navigation, with its script.
    pub(super) fn new(here: &'static str, script: &'static str) -> Self {
        Self::with_scripts(Some(here), title(here), vec![page::ELEMENTS, COMMON, script])
    }

    /// The frame of a page that shows cases, with the script of their elements.
    pub(super) fn of_cases(here: &'static str, script: &'static str) -> Self {
        Self::with_scripts(Some(here), title(here), vec![page::COMPONENTS, COMMON, script])
    }

    /// The frame of a page that shows cases and that the navigation does not list.
    pub(super) fn unlisted(title: &'static str, script: &'static str) -> Self {
        Self::with_scripts(None, title, vec![page::COMPONENTS, COMMON, script])
    }

    fn with_scripts(here: Option<&'static str>, title: &'static str, scripts: Vec<&'static str>) -> Self {
        let style = [page::STYLE, STYLE];
        let policy = page::policy(&style, &scripts, true);
        Self { here, title, style, scripts, policy }
    }
}

fn title(here: &str) -> &'static str {
    PAGES.iter().find(|(_, path)| *path == here).map_or("", |(title, _)| title)
}

#[derive(Template)]
#[template(path = "live/problem.html")]
struct ProblemPage<'a> {
    live: Frame,
    message: &'a str,
    help: &'a str,
}

/// The failure of a request: as a page if the client accepts HTML, else as JSON.
pub(super) fn problem(failure: Failure, headers: &HeaderMap) -> Response {
    let accepts = headers.get("accept").and_then(|it| it.to_str().ok());
    if !accepts.is_some_and(|accepts| accepts.contains("text/html")) {
        return failure.into_response();
    }
    let live = Frame::with_scripts(None, "Not shown", vec![page::ELEMENTS, COMMON]);
    let (message, help) = (page::line(&failure.error.message), page::line(&failure.error.help));
    let page = |live| ProblemPage { live, message: &message, help: &help };
    let Ok(mut response) = sent(live, page) else { return failure.into_response() };
    *response.status_mut() = failure.status;
    response
}

/// The links to the other pages, for a page whose template is in another crate.
pub(super) fn nav(here: &'static str) -> Result<String, Failure> {
    NavPage { live: Here { here: Some(here) } }.render().map_err(|error| unwritten(&error))
}

#[derive(Template)]
#[template(path = "live/nav.html")]
struct NavPage {
    live: Here,
}

/// The links from a run to its review, and to the page that shows it beside another run.
pub(super) fn run_links(run: &str) -> Result<String, Failure> {
    RunLinks { run }.render().map_err(|error| unwritten(&error))
}

#[derive(Template)]
#[template(
    source = r#"<p class="run-links"><a href="/review?run={{ run }}">Review what failed</a> <a href="/diff?now={{ run }}">Show it beside another run</a></p>"#,
    ext = "html"
)]
struct RunLinks<'a> {
    run: &'a str,
}

struct Here {
    here: Option<&'static str>,
}

pub(super) fn sent<T: Template>(live: Frame, page: impl FnOnce(Frame) -> T) -> Result<Response, Failure> {
    let policy = live.policy.clone();
    let text = page(live).render().map_err(|error| unwritten(&error))?;
    Ok(answer::page(&text, &policy))
}

pub(super) fn unwritten(error: &askama::Error) -> Failure {
    Failure::internal(format!("the page cannot be written: {error}"))
}
