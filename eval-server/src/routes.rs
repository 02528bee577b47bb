//! The routes: a module for each, with its types and a function that answers.

pub(crate) mod convert;
pub(crate) mod evaluate;
mod evaluate_answer;
mod evaluate_job;
mod evaluate_request;
pub(crate) mod info;
mod page;
pub(crate) mod runs;
pub(crate) mod score;
pub(crate) mod sessions;
pub(crate) mod sessions_draft;
pub(crate) mod sessions_events;
mod sessions_page;
pub(crate) mod sessions_score;
pub(crate) mod validate;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};

use crate::access::{Access, Needs};
use crate::answer;
use crate::app::Shared;
use crate::refusal::Refusal;

/// All routes; `document` describes them. A request passes the checks of `Host`, `Origin` and token before anything of it is read.
pub(crate) fn all(app: Shared, document: &'static str) -> Router {
    let own = Router::new()
        .route(
            "/openapi.json",
            get(move || async move { answer::of_bytes(StatusCode::OK, "application/json", document) }),
        )
        .route("/api/health", get(info::health))
        .route("/api/config", get(info::config))
        .route("/api/metrics", get(info::metrics))
        .route("/api/validate/eval-set", post(validate::validate_eval_set))
        .route("/api/convert", post(convert::convert))
        .route("/api/evaluate", post(evaluate::evaluate))
        .route("/api/evaluate/stream", post(evaluate::evaluate_stream))
        .route("/api/evaluate/json", post(evaluate::evaluate_json))
        .route("/api/evaluate/json/stream", post(evaluate::evaluate_json_stream))
        .route("/api/v1/validate/eval-set", post(validate::validate_set_text))
        .route("/api/v1/validate/config", post(validate::validate_config))
        .route("/api/v1/score", post(score::score))
        .route("/api/v1/runs", get(runs::runs))
        .route("/api/v1/runs/{id}", get(runs::run))
        .route("/sessions", get(sessions_page::page))
        .route("/sessions.css", get(sessions_page::style))
        .route("/sessions.js", get(sessions_page::script))
        .route("/api/v1/sessions", get(sessions::sessions))
        .route("/api/v1/sessions/events", get(sessions_events::events))
        .route("/api/v1/sessions/score", post(sessions_score::score))
        .route("/api/v1/sessions/{id}", get(sessions::session))
        .route("/api/v1/sessions/{id}/golden", put(sessions::mark).delete(sessions::unmark))
        .route("/api/v1/sessions/{id}/draft", post(sessions_draft::save))
        .with_state(app.clone());
    let pages = app.options.pages.clone();
    own.merge(pages.unwrap_or_else(|| Router::new().route("/", get(page::page))))
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed)
        .layer(from_fn_with_state(app, guard))
}

/// What each path needs.
fn needs(path: &str, has_pages: bool) -> Needs {
    match path {
        "/" | "/sessions" if !has_pages => Needs::Nothing,
        "/api/health" | "/sessions.css" | "/sessions.js" => Needs::Nothing,
        _ if path.starts_with("/api/v1/runs") || path.starts_with("/api/v1/sessions") => Needs::Token,
        _ if has_pages && page::is_page(path) => Needs::Token,
        _ => Needs::Computing,
    }
}

async fn guard(State(app): State<Shared>, mut request: Request, next: Next) -> Response {
    let caller = match app.access.caller(request.method(), request.uri(), request.headers()) {
        Ok(caller) => caller,
        Err(refusal) => return refusal.into_response(),
    };
    let has_pages = app.options.pages.is_some();
    if has_pages && let Some(answer) = page::entrance(&app, caller, &request) {
        return answer;
    }
    if let Err(refusal) = Access::check(caller, needs(request.uri().path(), has_pages)) {
        return refusal.into_response();
    }
    request.extensions_mut().insert(caller);
    next.run(request).await
}

async fn not_found() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "Not Found")
}

async fn not_allowed() -> Refusal {
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")
}
