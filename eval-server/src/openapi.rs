//! The description of the routes, made of their types.

use std::sync::LazyLock;

use axum::http::StatusCode;
use eval_report::document::SCHEMA;
use serde_json::Value;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Content, Ref, RefOr, ResponseBuilder};
use utoipa::{Modify, OpenApi};

use crate::routes::{
    self, convert, evaluate, info, runs, score, sessions, sessions_draft, sessions_events, sessions_score,
    validate,
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
    modifiers(&Completed)
)]
struct Description;

/// The token and the refusals of each route, and a description of each answer, which the standard asks for.
struct Completed;

impl Modify for Completed {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
        let refused = Content::new(Some(Ref::from_schema_name("Refused")));
        let refused = ResponseBuilder::new().content("application/json", refused).build();
        for (path, item) in &mut openapi.paths.paths {
            let needs_token = routes::needs_token(path);
            let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.delete];
            for operation in operations.into_iter().flatten() {
                if needs_token {
                    operation.security = Some(vec![SecurityRequirement::new("token", [""; 0])]);
                }
                let refusals = [
                    ("401", needs_token),
                    ("404", path.contains("{id}")),
                    // A body that is no text, or no form, is refused with 400.
                    ("400", operation.request_body.is_some()),
                    ("422", operation.request_body.is_some()),
                ];
                let responses = &mut operation.responses.responses;
                for (status, _) in refusals.into_iter().filter(|(_, is_possible)| *is_possible) {
                    responses.insert(status.to_owned(), refused.clone().into());
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
}

static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    // The types are known at compile time, so serializing them does not fail.
    let mut document = serde_json::to_value(Description::openapi()).unwrap_or_default();
    add_report(&mut document["components"]["schemas"]);
    serde_json::to_string_pretty(&document).unwrap_or_default()
});

/// Adds the schema of reports, whose definitions move to `components/schemas`.
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
