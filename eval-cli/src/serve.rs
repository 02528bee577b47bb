//! The pages of `cargo evalset serve`: recorded runs while tests run, drafts, files to check, and a run started in the browser.

mod answer;
mod check;
mod diff;
mod draft_card;
mod drafts;
mod folder;
mod html;
mod hub;
mod job;
mod lines;
mod review;
mod review_card;
mod runs;
mod site;
mod view;
mod watch;

use std::path::PathBuf;

use eval_report::price::Prices;
use eval_server::axum::Router;
use eval_server::axum::extract::DefaultBodyLimit;
use eval_server::axum::routing::{get, post};

pub(crate) use html::PAGES;
pub(crate) use job::Start;
pub(crate) use site::Site;

/// The routes of the pages, and their shared state. `Site::end` ends the streams of events with the service.
pub(crate) fn site(records: PathBuf, prices: Prices, agent: Option<Start>) -> (Router, std::sync::Arc<Site>) {
    let site = Site::new(records, prices, agent);
    let routes = Router::new()
        .route("/", get(runs::page))
        .route("/runs", get(runs::list))
        .route("/runs/{id}", get(runs::run))
        .route("/runs/{id}/changes", get(runs::changes))
        .route("/events", get(watch::events))
        .route("/drafts", get(drafts::page))
        .route("/drafts/accept", post(drafts::accept))
        .route("/drafts/accept-all", post(drafts::accept_all))
        .route("/drafts/edit", post(drafts::revise))
        .route("/drafts/reject", post(drafts::reject))
        .route("/review", get(review::page))
        .route("/review/choice", post(review::choice))
        .route("/review/write", post(review::write))
        .route("/diff", get(diff::page))
        .route("/diff/case", post(diff::case))
        .route("/check", get(check::page))
        .route("/check/journal", post(check::journal).layer(DefaultBodyLimit::max(check::MAX_JOURNAL_BYTES)))
        .route("/dropped/{number}", get(check::dropped))
        .route("/run", post(runs::start))
        .route("/run/cancel", post(runs::cancel))
        .with_state(std::sync::Arc::clone(&site));
    (routes, site)
}
