//! The description of the routes, made of their types.

use std::sync::LazyLock;

use axum::http::StatusCode;
use eval_report::document::SCHEMA;
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use crate::routes::{
    convert, evaluate, info, runs, score, sessions, sessions_draft, sessions_events, sessions_score, validate,
};

/// The routes and their types.
#[derive(OpenApi)]
#[openapi(
    info(title = "evalset", description = "Checks eval sets of Google's Agent Development Kit, and scores with them."),
    paths(
        info::health,
        info::config,
        info::metrics,
        validate::validate_eval_set,
        convert::convert,
        evaluate::evaluate,
        evaluate::evaluate_stream,
        evaluate::evaluate_json,
        evaluate::evaluate_json_stream,
        validate::validate_set_text,
        validate::validate_config,
        score::score,
        runs::runs,
        runs::run,
        sessions::sessions,
        sessions::session,
        sessions::mark,
        sessions::unmark,
        sessions_events::events,
        sessions_score::score,
        sessions_draft::save
    ),
    modifiers(&TokenScheme, &Descriptions)
)]
struct Description;

/// The scheme of the token.
struct TokenScheme;

impl Modify for TokenScheme {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    }
}

/// A description of each answer, which the standard asks for.
struct Descriptions;

impl Modify for Descriptions {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let items = openapi.paths.paths.values_mut();
        let operations =
            items.flat_map(|item| [&mut item.get, &mut item.post, &mut item.put, &mut item.delete]);
        for operation in operations.flatten() {
            let responses = &mut operation.responses.responses;
            // A body that is no text, or no form, is refused with 400.
            if let Some(refused) = responses.get("422").cloned() {
                responses.entry("400".to_owned()).or_insert(refused);
            }
            for (status, response) in responses {
                if let RefOr::T(response) = response {
                    let status = StatusCode::from_bytes(status.as_bytes()).ok();
                    let told = status.and_then(|status| status.canonical_reason()).unwrap_or("an answer");
                    told.clone_into(&mut response.description);
                }
            }
        }
    }
}

static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    // The types are known at compile time, so serializing them does not fail.
    let mut document = serde_json::to_value(Description::openapi()).unwrap_or_default();
    add_report(&mut document["components"]["schemas"]);
    serde_json::to_string_pretty(&document).unwrap_or_default()
});

/// Adds the schema of reports. `OpenAPI` 3.1 takes a JSON Schema as it is, but its definitions move to
/// `components/schemas`.
fn add_report(schemas: &mut Value) {
    let text = SCHEMA.replace("#/$defs/", "#/components/schemas/Report.");
    let mut report: Value = serde_json::from_str(&text).unwrap_or_default();
    let Some(fields) = report.as_object_mut() else { return };
    fields.remove("$schema");
    if let Some(Value::Object(named)) = fields.remove("$defs") {
        for (name, schema) in named {
            schemas[format!("Report.{name}")] = schema;
        }
    }
    schemas["Report"] = report;
}

pub(crate) fn document() -> &'static str {
    &DOCUMENT
}
