//! The two formats that ADK had before eval sets.

use super::table::Type::{Any, EmptyOr, Models, Object, String};
use super::table::{Extra, Field, Model, Type, defaulted, model, optional, required};

/// A model of the old formats: ADK reads the keys it knows and ignores others.
const fn old(what: &'static str, fields: &'static [Field]) -> Model {
    Model { camel: false, ..model(what, Extra::IgnoredOnPurpose, fields) }
}

/// A key that must be there, but may be `null`.
const fn required_or_null(name: &'static str, kind: Type, example: &'static str) -> Field {
    Field { nullable: true, ..required(name, kind, example) }
}

pub(crate) static OLD_TURN: Model = old(
    "a turn of the old format",
    &[
        required_or_null("query", String, r#""...""#),
        defaulted("expected_tool_use", EmptyOr(&Models(&OLD_TOOL_USE))),
        defaulted("expected_intermediate_agent_responses", EmptyOr(&Models(&OLD_RESPONSE))),
        optional("reference", String),
    ],
);

static OLD_TOOL_USE: Model = old(
    "a tool use of the old format",
    &[required_or_null("tool_name", String, r#""my_tool""#), required_or_null("tool_input", Object, "{}")],
);

static OLD_RESPONSE: Model = Model {
    sample: r#"{"author": "...", "text": "..."}"#,
    ..old(
        "an intermediate response of the old format",
        &[required("author", String, r#""my_agent""#), required_or_null("text", String, r#""...""#)],
    )
};

pub(crate) static OLD_CASE: Model = old(
    "a case of the old format",
    &[
        required("name", String, r#""my_case""#),
        required("data", Models(&OLD_TURN), r#"[{"query": "...", "reference": "..."}]"#),
        defaulted("initial_session", EmptyOr(&Type::Model(&OLD_SESSION))),
        optional("_draft", Any),
    ],
);

pub(crate) static OLD_SESSION: Model = old(
    "an initial session",
    &[defaulted("state", Object), defaulted("app_name", String), defaulted("user_id", String)],
);
