//! The description of the routes, made of their types.

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::response::Response;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use crate::answer;
use crate::routes;

/// The routes and their types.
#[derive(OpenApi)]
#[openapi(
    info(title = "evalset", description = "Checks eval sets of Google's Agent Development Kit, and scores with them."),
    paths(
        routes::health,
        routes::config,
        routes::metrics,
        routes::validate_eval_set,
        routes::convert,
        routes::evaluate,
        routes::evaluate_stream,
        routes::evaluate_json,
        routes::evaluate_json_stream,
        routes::validate_set_text,
        routes::validate_config,
        routes::score,
        routes::runs,
        routes::run
    ),
    modifiers(&Token)
)]
struct Description;

/// How the token is shown.
struct Token;

impl Modify for Token {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    }
}

static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    // Types that are made at compile time can be written.
    Description::openapi().to_pretty_json().unwrap_or_default()
});

pub(crate) fn document() -> &'static str {
    &DOCUMENT
}

pub(crate) async fn answer() -> Response {
    answer::of_bytes(StatusCode::OK, "application/json", document())
}
