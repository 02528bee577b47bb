//! Eval sets, cases and turns.

use super::content::{CONTENT, FUNCTION_CALL, FUNCTION_RESPONSE, PART};
use super::grounding::{GROUNDING_METADATA, USAGE_METADATA};
use super::table::Type::{Any, AuthorsAndParts, Dict, Either, Float, List, Models, Named, Object, String};
use super::table::{Extra, Field, Model, Type, defaulted, model, optional, required};

/// The set as ADK reads it: its own keys in `snake_case` only.
pub(crate) static EVAL_SET: Model = eval_set(false);

/// The set as other writers save it: its own keys in either spelling.
pub(crate) static EVAL_SET_ANY_CASE: Model = eval_set(true);

const fn eval_set(camel: bool) -> Model {
    Model { camel, ..model("an eval set", Extra::Ignored, EVAL_SET_FIELDS) }
}

const EVAL_SET_FIELDS: &[Field] = &[
    Field { alias: Some("id"), ..required("eval_set_id", String, r#""my_set""#) },
    optional("name", String),
    optional("description", String),
    required("eval_cases", Models(&EVAL_CASE), r#"[{"eval_id": "...", "conversation": [...]}]"#),
    defaulted("creation_timestamp", Float),
];

pub(crate) static EVAL_CASE: Model = Model {
    ours: &[Field { example: r#"["smoke"]"#, ..optional("tags", List(&String)) }, optional("_draft", Any)],
    ..model("an eval case", Extra::Kept, EVAL_CASE_FIELDS)
};

const EVAL_CASE_FIELDS: &[Field] = &[
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
];

pub(crate) static INVOCATION: Model = Model {
    foreign_keys: &[
        ("query", r#"write `"user_content": {"parts": [{"text": "..."}]}`"#),
        ("prompt", r#"write `"user_content": {"parts": [{"text": "..."}]}`"#),
        ("reference", r#"write `"final_response": {"parts": [{"text": "..."}]}`"#),
        ("agent_content", "write `final_response`"),
        ("expected_tool_use", r#"write `"intermediate_data": {"tool_uses": [...]}`"#),
        ("tool_uses", r#"write `"intermediate_data": {"tool_uses": [...]}`"#),
        ("tools", r#"write `"intermediate_data": {"tool_uses": [...]}`"#),
        ("invocation_events", r#"write `"intermediate_data": {"invocation_events": [...]}`"#),
        ("session_input", "it belongs in the eval case, beside `conversation`"),
        ("_expect", IN_THE_CASE),
        ("expect", IN_THE_CASE),
        ("expects", IN_THE_CASE),
        ("_match", IN_THE_CASE),
        ("match", IN_THE_CASE),
        ("expected_response_contains", "write the whole answer as `final_response`"),
    ],
    ..model(
        "an invocation",
        Extra::Forbidden,
        &[
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
    )
};

/// google-adk refuses a turn with a key of ours.
const IN_THE_CASE: &str = r#"what may vary belongs in the eval case, beside `conversation`, by the number of the turn: `"_expect": {"1": {..}}`"#;

const MESSAGE: &str = r#"{"parts": [{"text": "..."}]}"#;

static INTERMEDIATE_DATA: Model = Model {
    foreign_keys: &[("tool_calls", "write `tool_uses`"), ("events", "write `invocation_events`")],
    ..model(
        "an intermediate data object",
        Extra::Forbidden,
        &[
            defaulted("tool_uses", Models(&FUNCTION_CALL)),
            defaulted("tool_responses", Models(&FUNCTION_RESPONSE)),
            defaulted("intermediate_responses", AuthorsAndParts(&PART)),
        ],
    )
};

static INVOCATION_EVENTS: Model = model(
    "an invocation events object",
    Extra::Forbidden,
    &[defaulted("invocation_events", Models(&INVOCATION_EVENT))],
);

pub(crate) static INVOCATION_EVENT: Model = model(
    "an event",
    Extra::IgnoredOnPurpose,
    &[
        required("author", String, r#""my_agent""#),
        Field { example: MESSAGE, ..optional("content", Type::Model(&CONTENT)) },
        optional("grounding_metadata", Type::Model(&GROUNDING_METADATA)),
        optional("usage_metadata", Type::Model(&USAGE_METADATA)),
        optional("model_version", String),
    ],
);

pub(crate) static SESSION_INPUT: Model = model(
    "a session input",
    Extra::Kept,
    &[
        required("app_name", String, r#""my_app""#),
        required("user_id", String, r#""user""#),
        optional("session_id", String),
        defaulted("state", Object),
    ],
);

pub(crate) static RUBRIC: Model = Model {
    foreign_keys: &[("id", "write `rubric_id`"), ("content", "write `rubric_content`")],
    ..model(
        "a rubric",
        Extra::Forbidden,
        &[
            required("rubric_id", String, r#""my_rubric""#),
            required("rubric_content", Type::Model(&RUBRIC_CONTENT), r#"{"text_property": "..."}"#),
            optional("description", String),
            optional("type", String),
        ],
    )
};

static RUBRIC_CONTENT: Model = Model {
    foreign_keys: &[("text", "write `text_property`")],
    ..model("a rubric content", Extra::Forbidden, &[optional("text_property", String)])
};

pub(crate) static CONVERSATION_SCENARIO: Model = model(
    "a conversation scenario",
    Extra::Forbidden,
    &[
        required("starting_prompt", String, r#""...""#),
        required("conversation_plan", String, r#""...""#),
        optional("user_persona", Named(&USER_PERSONA, &PERSONAS)),
    ],
);

pub(crate) const PERSONAS: [&str; 3] = ["EXPERT", "NOVICE", "EVALUATOR"];

pub(crate) static USER_PERSONA: Model = Model {
    camel: false,
    ..model(
        "a user persona",
        Extra::Ignored,
        &[
            required("id", String, r#""my_persona""#),
            required("description", String, r#""...""#),
            required("behaviors", Models(&USER_BEHAVIOR), "[]"),
        ],
    )
};

pub(crate) static USER_BEHAVIOR: Model = Model {
    camel: false,
    ..model(
        "a user behavior",
        Extra::Ignored,
        &[
            required("name", String, r#""...""#),
            required("description", String, r#""...""#),
            required("behavior_instructions", List(&String), r#"["..."]"#),
            required("violation_rubrics", List(&String), r#"["..."]"#),
        ],
    )
};

static APP_DETAILS: Model =
    model("an app details object", Extra::Forbidden, &[defaulted("agent_details", Dict(&AGENT_DETAILS))]);

pub(crate) static AGENT_DETAILS: Model = model(
    "an agent details object",
    Extra::Forbidden,
    &[
        required("name", String, r#""my_agent""#),
        defaulted("instructions", String),
        defaulted("tool_declarations", List(&Any)),
    ],
);
