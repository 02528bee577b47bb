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
mod sessions_case;
pub(crate) mod sessions_draft;
pub(crate) mod sessions_events;
pub(crate) mod sessions_score;
pub(crate) mod validate;

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::handler::Handler;
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{self, MethodRouter};

use crate::access::{Access, Needs};
use crate::answer;
use crate::app::Shared;
use crate::refusal::Refusal;

struct Route {
    path: &'static str,
    needs: Needs,
    methods: Vec<(Method, MethodRouter<Shared>)>,
}

impl Route {
    fn new<const N: usize>(
        path: &'static str,
        needs: Needs,
        methods: [(Method, MethodRouter<Shared>); N],
    ) -> Self {
        Self { path, needs, methods: methods.into() }
    }
}

fn get<T: 'static>(handler: impl Handler<T, Shared>) -> (Method, MethodRouter<Shared>) {
    (Method::GET, routing::get(handler))
}

fn post<T: 'static>(handler: impl Handler<T, Shared>) -> (Method, MethodRouter<Shared>) {
    (Method::POST, routing::post(handler))
}

fn put<T: 'static>(handler: impl Handler<T, Shared>) -> (Method, MethodRouter<Shared>) {
    (Method::PUT, routing::put(handler))
}

fn delete<T: 'static>(handler: impl Handler<T, Shared>) -> (Method, MethodRouter<Shared>) {
    (Method::DELETE, routing::delete(handler))
}

/// The routes that the `OpenAPI` document describes.
fn described() -> Vec<Route> {
    use Needs::{Computing, Nothing, Token};
    vec![
        Route::new("/api/health", Nothing, [get(info::health)]),
        Route::new("/api/config", Computing, [get(info::config)]),
        Route::new("/api/metrics", Computing, [get(info::metrics)]),
        Route::new("/api/validate/eval-set", Computing, [post(validate::validate_eval_set)]),
        Route::new("/api/convert", Computing, [post(convert::convert)]),
        Route::new("/api/evaluate", Computing, [post(evaluate::evaluate)]),
        Route::new("/api/evaluate/stream", Computing, [post(evaluate::evaluate_stream)]),
        Route::new("/api/evaluate/json", Computing, [post(evaluate::evaluate_json)]),
        Route::new("/api/evaluate/json/stream", Computing, [post(evaluate::evaluate_json_stream)]),
        Route::new("/api/v1/validate/eval-set", Computing, [post(validate::validate_set_text)]),
        Route::new("/api/v1/validate/config", Computing, [post(validate::validate_config)]),
        Route::new("/api/v1/score", Computing, [post(score::score)]),
        Route::new("/api/v1/runs", Token, [get(runs::runs)]),
        Route::new("/api/v1/runs/{id}", Token, [get(runs::run)]),
        Route::new("/api/v1/sessions", Token, [get(sessions::sessions)]),
        Route::new("/api/v1/sessions/events", Token, [get(sessions_events::events)]),
        Route::new("/api/v1/sessions/score", Token, [post(sessions_score::score)]),
        Route::new("/api/v1/sessions/{id}", Token, [get(sessions::session)]),
        Route::new("/api/v1/sessions/{id}/golden", Token, [put(sessions::mark), delete(sessions::unmark)]),
        Route::new("/api/v1/sessions/{id}/draft", Token, [post(sessions_draft::save)]),
    ]
}

/// Whether a route that the document describes needs the token.
pub(crate) fn needs_token(path: &str) -> bool {
    described().iter().any(|route| route.path == path && route.needs == Needs::Token)
}

/// The routes that the document does not describe: itself, and pages for people with their files.
fn undescribed(document: &'static str, has_pages: bool) -> Vec<Route> {
    let described = move || async move { answer::of_bytes(StatusCode::OK, "application/json", document) };
    let sessions = if has_pages { Needs::Token } else { Needs::Nothing };
    let mut routes = vec![
        Route::new("/openapi.json", Needs::Computing, [get(described)]),
        Route::new("/sessions", sessions, [get(page::sessions)]),
        Route::new("/sessions/{id}/case", Needs::Token, [post(sessions_case::case)]),
        Route::new("/sessions.css", Needs::Nothing, [get(page::style)]),
        Route::new("/sessions.js", Needs::Nothing, [get(page::script)]),
    ];
    if !has_pages {
        routes.push(Route::new("/", Needs::Nothing, [get(async || page::overview())]));
    }
    routes
}

/// All routes. `Host`, `Origin` and token of a request are checked before its body is read.
pub(crate) fn all(app: Shared, document: &'static str) -> Router {
    let mut needs = HashMap::new();
    let mut own = Router::new();
    for route in described().into_iter().chain(undescribed(document, app.options.pages.is_some())) {
        let methods = route.methods.into_iter().fold(MethodRouter::new(), |all, (_, one)| all.merge(one));
        own = own.route(route.path, methods);
        needs.insert(route.path, route.needs);
    }
    let pages = app.options.pages.clone().unwrap_or_default();
    own.with_state(app.clone())
        .merge(pages)
        .fallback(async || Refusal::new(StatusCode::NOT_FOUND, "Not Found"))
        .method_not_allowed_fallback(async || {
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")
        })
        .layer(from_fn_with_state((app, Arc::new(needs)), guard))
}

type AllNeeds = Arc<HashMap<&'static str, Needs>>;

async fn guard(State((app, needs)): State<(Shared, AllNeeds)>, mut request: Request, next: Next) -> Response {
    let has_pages = app.options.pages.is_some();
    let caller = match app.access.caller(request.method(), request.uri(), request.headers()) {
        Ok(caller) => caller,
        Err(refusal) => {
            let page = has_pages.then(|| page::wrong_token(&refusal, &request)).flatten();
            return page.unwrap_or_else(|| refusal.into_response());
        }
    };
    if has_pages && let Some(answer) = page::response_before_page(&app, caller, &request) {
        return answer;
    }
    let route = request.extensions().get::<MatchedPath>().and_then(|path| needs.get(path.as_str()));
    let needed = match route {
        Some(needed) => *needed,
        // The path belongs to the pages, or to no route.
        None if has_pages && page::is_page(request.uri().path()) => Needs::Token,
        None => Needs::Computing,
    };
    if let Err(refusal) = Access::check(caller, needed) {
        return refusal.into_response();
    }
    request.extensions_mut().insert(caller);
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::Value;

    use super::*;
    use crate::openapi;

    #[test]
    fn the_document_describes_the_routes_their_methods_and_what_they_need() {
        let name = |path: &str, method: &str| format!("{} {path}", method.to_uppercase());
        let routed: BTreeMap<String, bool> = described()
            .iter()
            .flat_map(|route| route.methods.iter().map(move |(method, _)| (route, method)))
            .map(|(route, method)| (name(route.path, method.as_str()), route.needs == Needs::Token))
            .collect();
        let document: Value = serde_json::from_str(openapi::document()).unwrap();
        let mut written = BTreeMap::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, described) in methods.as_object().unwrap() {
                written.insert(name(path, method), described["security"][0]["token"].is_array());
            }
        }
        assert_eq!(written, routed);
    }

    #[test]
    fn what_is_not_described_is_the_document_and_pages() {
        let paths = |has_pages| {
            let routes = undescribed("", has_pages).into_iter();
            routes.map(|route| (route.path, route.needs)).collect::<Vec<_>>()
        };
        let common = [
            ("/openapi.json", Needs::Computing),
            ("/sessions/{id}/case", Needs::Token),
            ("/sessions.css", Needs::Nothing),
            ("/sessions.js", Needs::Nothing),
        ];
        for (has_pages, own) in [
            (false, [Some(("/sessions", Needs::Nothing)), Some(("/", Needs::Nothing))]),
            (true, [Some(("/sessions", Needs::Token)), None]),
        ] {
            let expected = common.into_iter().chain(own.into_iter().flatten());
            let (mut expected, mut found): (Vec<_>, _) = (expected.collect(), paths(has_pages));
            expected.sort_by_key(|route| route.0);
            found.sort_by_key(|route| route.0);
            assert_eq!(found, expected);
        }
    }
}
