//! Configs, without the criteria of metrics.

use super::table::Type::{Any, Bool, Dict, Int, List, Object, PythonFloat, String};
use super::table::{Extra, Field, Model, Type, defaulted, model, optional, required};

pub(crate) static EVAL_CONFIG: Model = model(
    "a config",
    Extra::Ignored,
    &[
        Field { example: r#"{"response_match_score": 0.8}"#, ..defaulted("criteria", Object) },
        Field {
            example: r#"{"brevity": {"code_config": {"name": "my_metrics.brevity"}}}"#,
            ..optional("custom_metrics", Dict(&CUSTOM_METRIC))
        },
        Field { example: r#"{"type": "llm_backed"}"#, ..optional("user_simulator_config", Object) },
        optional("live_model_config", Any),
    ],
);

pub(crate) static CUSTOM_METRIC: Model = model(
    "a custom metric",
    Extra::Ignored,
    &[
        // ADK requires it. `config::custom_metrics` accepts an entry with a `command` alone.
        Field {
            example: r#"{"name": "my_metrics.brevity"}"#,
            ..defaulted("code_config", Type::Model(&CODE_CONFIG))
        },
        optional("metric_info", Type::Model(&METRIC_INFO)),
        defaulted("description", String),
        // Keys of this project, which ADK drops.
        Field { example: r#"["metrics/brevity.py"]"#, ..defaulted("command", List(&String)) },
        Field { example: "30", ..defaulted("timeout", PythonFloat) },
    ],
);

static CODE_CONFIG: Model = Model {
    camel: false,
    ..model("a code config", Extra::Forbidden, &[required("name", String, r#""my_metrics.brevity""#)])
};

static METRIC_INFO: Model = model(
    "a metric info",
    Extra::Forbidden,
    &[
        required("metric_name", String, r#""brevity""#),
        optional("description", String),
        required("metric_value_info", Type::Model(&METRIC_VALUE_INFO), "{}"),
        defaulted("requires_threshold", Bool),
    ],
);

static METRIC_VALUE_INFO: Model =
    model("a metric value info", Extra::Forbidden, &[optional("interval", Type::Model(&INTERVAL))]);

static INTERVAL: Model = model(
    "an interval",
    Extra::Forbidden,
    &[
        required("min_value", PythonFloat, "0.0"),
        defaulted("open_at_min", Bool),
        required("max_value", PythonFloat, "1.0"),
        defaulted("open_at_max", Bool),
    ],
);

/// The user simulator that is backed by a model. `config::model_config` checks `model_configuration`.
pub(crate) static LLM_BACKED_USER_SIMULATOR: Model = model(
    "a user simulator config",
    Extra::Kept,
    &[
        optional("type", String),
        defaulted("model", String),
        defaulted("model_configuration", Object),
        defaulted("max_allowed_invocations", Int),
        optional("custom_instructions", String),
        defaulted("include_function_calls", Bool),
    ],
);

/// `judge_model_options` of a criterion. `config::judged` checks the ranges of its numbers.
pub(crate) static JUDGE_MODEL_OPTIONS: Model = Model {
    foreign_keys: &[
        ("model", "write `judge_model`"),
        ("samples", "write `num_samples`"),
        ("temperature", r#"write `"judge_model_config": {"temperature": ...}`"#),
    ],
    ..model(
        "the judge's options",
        Extra::Forbidden,
        &[
            defaulted("judge_model", String),
            optional("judge_model_config", Object),
            defaulted("num_samples", Int),
            defaulted("parallelism_limit", Int),
        ],
    )
};
