//! Eval sets, cases and turns.

use super::Type::{Any, AuthorsAndParts, Dict, Either, Float, List, Models, Named, Object, String};
use super::content::{CONTENT, FUNCTION_CALL, FUNCTION_RESPONSE, PART};
use super::grounding::{GROUNDING_METADATA, USAGE_METADATA};
use super::{Extra, Field, Model, Type, defaulted, optional, required};

/// The set as ADK reads it: its own keys in `snake_case` only.
pub(crate) static EVAL_SET: Model = eval_set(false);

/// The set as other writers have it: in either spelling.
pub(crate) static EVAL_SET_ANY_CASE: Model = eval_set(true);

const fn eval_set(camel: bool) -> Model {
    Model { what: "an eval set", fields: EVAL_SET_FIELDS, extra: Extra::Ignored, camel, strangers: &[] }
}

const EVAL_SET_FIELDS: &[Field] = &[
    Field { alias: Some("id"), ..required("eval_set_id", String, r#""my_set""#) },
    optional("name", String),
    optional("description", String),
    required("eval_cases", Models(&EVAL_CASE), r#"[{"eval_id": "...", "conversation": [...]}]"#),
    defaulted("creation_timestamp", Float),
];

pub(crate) static EVAL_CASE: Model = Model {
    what: "an eval case",
    fields: &[
        Field { alias: Some("id"), ..required("eval_id", String, r#""my_case""#) },
        Field {
            example: r#"[{"user_content": {"parts": [{"text": "..."}]}}]"#,
            ..optional("conversation", Models(&INVOCATION))
        },
        optional("conversation_scenario", Type::Model(&CONVERSATION_SCENARIO)),
        Field {
            example: r#"{"app_name": "...", "user_id": "...", "state": {}}"#,
            ..optional("session_input", Type::Model(&SESSION_INPUT))
        },
        defaulted("creation_timestamp", Float),
        optional("rubrics", Models(&RUBRIC)),
        optional("final_session_state", Object),
    ],
    extra: Extra::Kept,
    camel: true,
    strangers: &[],
};

pub(crate) static INVOCATION: Model = Model {
    what: "an invocation",
    fields: &[
        defaulted("invocation_id", String),
        required("user_content", Type::Model(&CONTENT), MESSAGE),
        Field { example: MESSAGE, ..optional("final_response", Type::Model(&CONTENT)) },
        optional("intermediate_data", Either(&INTERMEDIATE_DATA, &INVOCATION_EVENTS)),
        defaulted("creation_timestamp", Float),
        optional("duration", Float),
        optional("model_duration", Float),
        optional("tool_duration", Float),
        optional("rubrics", Models(&RUBRIC)),
        optional("app_details", Type::Model(&APP_DETAILS)),
    ],
    extra: Extra::Forbidden,
    camel: true,
    strangers: &[
        ("query", r#"write `"user_content": {"parts": [{"text": "..."}]}`"#),
        ("prompt", r#"write `"user_content": {"parts": [{"text": "..."}]}`"#),
        ("reference", r#"write `"final_response": {"parts": [{"text": "..."}]}`"#),
        ("agent_content", "write `final_response`"),
        ("expected_tool_use", r#"write `"intermediate_data": {"tool_uses": [...]}`"#),
        ("tool_uses", r#"write `"intermediate_data": {"tool_uses": [...]}`"#),
        ("tools", r#"write `"intermediate_data": {"tool_uses": [...]}`"#),
        ("invocation_events", r#"write `"intermediate_data": {"invocation_events": [...]}`"#),
        ("session_input", "it stands in the eval case, beside `conversation`"),
        ("expected_response_contains", "write the whole answer as `final_response`"),
    ],
};

const MESSAGE: &str = r#"{"parts": [{"text": "..."}]}"#;

static INTERMEDIATE_DATA: Model = Model {
    what: "an intermediate data object",
    fields: &[
        defaulted("tool_uses", Models(&FUNCTION_CALL)),
        defaulted("tool_responses", Models(&FUNCTION_RESPONSE)),
        defaulted("intermediate_responses", AuthorsAndParts(&PART)),
    ],
    extra: Extra::Forbidden,
    camel: true,
    strangers: &[("tool_calls", "write `tool_uses`"), ("events", "write `invocation_events`")],
};

static INVOCATION_EVENTS: Model = Model {
    what: "an invocation events object",
    fields: &[defaulted("invocation_events", Models(&INVOCATION_EVENT))],
    extra: Extra::Forbidden,
    camel: true,
    strangers: &[],
};

static INVOCATION_EVENT: Model = Model {
    what: "an event",
    fields: &[
        required("author", String, r#""my_agent""#),
        Field { example: MESSAGE, ..optional("content", Type::Model(&CONTENT)) },
        optional("grounding_metadata", Type::Model(&GROUNDING_METADATA)),
        optional("usage_metadata", Type::Model(&USAGE_METADATA)),
        optional("model_version", String),
    ],
    extra: Extra::IgnoredOnPurpose,
    camel: true,
    strangers: &[],
};

static SESSION_INPUT: Model = Model {
    what: "a session input",
    fields: &[
        required("app_name", String, r#""my_app""#),
        required("user_id", String, r#""user""#),
        optional("session_id", String),
        defaulted("state", Object),
    ],
    extra: Extra::Kept,
    camel: true,
    strangers: &[],
};

static RUBRIC: Model = Model {
    what: "a rubric",
    fields: &[
        required("rubric_id", String, r#""my_rubric""#),
        required("rubric_content", Type::Model(&RUBRIC_CONTENT), r#"{"text_property": "..."}"#),
        optional("description", String),
        optional("type", String),
    ],
    extra: Extra::Forbidden,
    camel: true,
    strangers: &[("id", "write `rubric_id`"), ("content", "write `rubric_content`")],
};

static RUBRIC_CONTENT: Model = Model {
    what: "a rubric content",
    fields: &[optional("text_property", String)],
    extra: Extra::Forbidden,
    camel: true,
    strangers: &[("text", "write `text_property`")],
};

static CONVERSATION_SCENARIO: Model = Model {
    what: "a conversation scenario",
    fields: &[
        required("starting_prompt", String, r#""...""#),
        required("conversation_plan", String, r#""...""#),
        optional("user_persona", Named(&USER_PERSONA, &["EXPERT", "NOVICE", "EVALUATOR"])),
    ],
    extra: Extra::Forbidden,
    camel: true,
    strangers: &[],
};

static USER_PERSONA: Model = Model {
    what: "a user persona",
    fields: &[
        required("id", String, r#""my_persona""#),
        required("description", String, r#""...""#),
        required("behaviors", Models(&USER_BEHAVIOR), "[]"),
    ],
    extra: Extra::Ignored,
    camel: false,
    strangers: &[],
};

static USER_BEHAVIOR: Model = Model {
    what: "a user behavior",
    fields: &[
        required("name", String, r#""...""#),
        required("description", String, r#""...""#),
        required("behavior_instructions", List(&String), r#"["..."]"#),
        required("violation_rubrics", List(&String), r#"["..."]"#),
    ],
    extra: Extra::Ignored,
    camel: false,
    strangers: &[],
};

static APP_DETAILS: Model = Model {
    what: "an app details object",
    fields: &[defaulted("agent_details", Dict(&AGENT_DETAILS))],
    extra: Extra::Forbidden,
    camel: true,
    strangers: &[],
};

static AGENT_DETAILS: Model = Model {
    what: "an agent details object",
    fields: &[
        required("name", String, r#""my_agent""#),
        defaulted("instructions", String),
        defaulted("tool_declarations", List(&Any)),
    ],
    extra: Extra::Forbidden,
    camel: true,
    strangers: &[],
};
