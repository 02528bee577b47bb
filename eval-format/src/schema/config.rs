//! Configs: which metrics decide, and how.

use super::Type::{Any, Bool, Choice, Dict, Float, Int, List, Object, String};
use super::eval_set::RUBRIC;
use super::{Extra, Field, Model, Type, defaulted, model, optional, required};
use crate::metric::{self, CriterionField, FieldKind, MetricInfo, Need};

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

static CUSTOM_METRIC: Model = model(
    "a custom metric",
    Extra::Ignored,
    &[
        required("code_config", Type::Model(&CODE_CONFIG), r#"{"name": "my_metrics.brevity"}"#),
        optional("metric_info", Type::Model(&METRIC_INFO)),
        defaulted("description", String),
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
        required("min_value", Float, "0.0"),
        defaulted("open_at_min", Bool),
        required("max_value", Float, "1.0"),
        defaulted("open_at_max", Bool),
    ],
);

/// The user simulator that is backed by a model. What the model is told is checked in `config::model_config`.
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

/// The shape of the criterion of a metric; of a custom one every key is kept.
pub(crate) fn criterion(info: Option<&MetricInfo>) -> &'static Model {
    match info.map(|info| info.name) {
        Some("tool_trajectory_avg_score") => &TOOL_TRAJECTORY_CRITERION,
        Some("trajectory_single_tool_use") => &SINGLE_TOOL_USE_CRITERION,
        Some("response_similarity") => &RESPONSE_SIMILARITY_CRITERION,
        Some("hallucinations_v1") => &HALLUCINATIONS_CRITERION,
        Some("per_turn_user_simulator_quality_v1") => &SIMULATED_USER_CRITERION,
        Some(_) if info.is_some_and(|info| info.rubric_type().is_some()) => &RUBRICS_CRITERION,
        Some(_) if info.is_some_and(|info| info.needs.contains(&Need::Judge)) => &JUDGED_CRITERION,
        Some(_) => &CRITERION,
        None => &CUSTOM_CRITERION,
    }
}

const THRESHOLD: Field = required("threshold", Float, "1.0");
const INTERMEDIATE_RESPONSES: Field = option(&metric::INTERMEDIATE_RESPONSES);

static CUSTOM_CRITERION: Model = model("a criterion", Extra::Kept, &[THRESHOLD, INTERMEDIATE_RESPONSES]);

static CRITERION: Model = criterion_model("a criterion", &[THRESHOLD, INTERMEDIATE_RESPONSES]);

static TOOL_TRAJECTORY_CRITERION: Model = criterion_model(
    "a tool trajectory criterion",
    &[
        THRESHOLD,
        INTERMEDIATE_RESPONSES,
        option(&metric::MATCH_TYPE),
        option(&metric::IGNORE_ARGS),
        option(&metric::ARGS_MATCH),
        option(&metric::FORBIDDEN_TOOLS),
    ],
);

static SINGLE_TOOL_USE_CRITERION: Model = criterion_model(
    "a single tool use criterion",
    &[THRESHOLD, INTERMEDIATE_RESPONSES, Field { example: r#""get_weather""#, ..option(&metric::TOOL_NAME) }],
);

static RESPONSE_SIMILARITY_CRITERION: Model = criterion_model(
    "a response similarity criterion",
    &[
        THRESHOLD,
        INTERMEDIATE_RESPONSES,
        option(&metric::ALGORITHM),
        option(&metric::IGNORE_CASE),
        option(&metric::NORMALIZE),
    ],
);

static JUDGED_CRITERION: Model =
    criterion_model("a judge's criterion", &[THRESHOLD, INTERMEDIATE_RESPONSES, JUDGE]);

static RUBRICS_CRITERION: Model = criterion_model(
    "a criterion with rubrics",
    &[
        THRESHOLD,
        INTERMEDIATE_RESPONSES,
        JUDGE,
        Field { kind: Type::Models(&RUBRIC), ..option(&metric::RUBRICS) },
        option(&metric::WEIGHTS),
    ],
);

const JUDGE: Field = Field { kind: Type::Model(&JUDGE_MODEL_OPTIONS), ..option(&metric::JUDGE) };

/// What a criterion says about asking the judge. Numbers are held to their ranges in `config::judged`.
pub(crate) static JUDGE_MODEL_OPTIONS: Model = Model {
    strangers: &[
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

static HALLUCINATIONS_CRITERION: Model = criterion_model(
    "a hallucinations criterion",
    &[THRESHOLD, INTERMEDIATE_RESPONSES, JUDGE, option(&metric::INTERMEDIATE_SENTENCES)],
);

static SIMULATED_USER_CRITERION: Model = criterion_model(
    "a criterion of the simulated user",
    &[THRESHOLD, INTERMEDIATE_RESPONSES, JUDGE, option(&metric::STOP_SIGNAL)],
);

/// The criterion of a built-in metric: a key that it does not read is somebody else's.
const fn criterion_model(what: &'static str, fields: &'static [Field]) -> Model {
    Model { strangers: OPTIONS, ..model(what, Extra::Refused, fields) }
}

/// The options that only some metrics read. A model looks here for keys that it does not know itself.
const OPTIONS: &[(&str, &str)] = &[
    ("match_type", OF_TRAJECTORY),
    ("ignore_args", OF_TRAJECTORY),
    ("args_match", OF_TRAJECTORY),
    ("forbidden_tools", OF_TRAJECTORY),
    ("tool_name", "move it to `trajectory_single_tool_use`, the metric that reads it"),
    ("algorithm", OF_SIMILARITY),
    ("ignore_case", OF_SIMILARITY),
    ("normalize", OF_SIMILARITY),
    ("rubrics", OF_RUBRICS),
    ("weights", OF_RUBRICS),
    ("judge_model_options", "remove it; only judged metrics read it"),
    ("stop_signal", "move it to `per_turn_user_simulator_quality_v1`, the metric that reads it"),
    ("evaluate_intermediate_nl_responses", "move it to `hallucinations_v1`, the metric that reads it"),
];

const OF_TRAJECTORY: &str = "move it to `tool_trajectory_avg_score`, the metric that reads it";
const OF_SIMILARITY: &str = "move it to `response_similarity`, the metric that reads it";
const OF_RUBRICS: &str = "move it to one of the `rubric_based_...` metrics, which read it";

/// The field of a key that is known from the list of metrics.
const fn option(field: &CriterionField) -> Field {
    let kind = match field.kind {
        FieldKind::Bool => Bool,
        FieldKind::Number => Float,
        FieldKind::String => String,
        FieldKind::Choice { values, numbered } => Choice { values, numbered },
        FieldKind::Strings => List(&String),
        FieldKind::Objects => List(&Object),
        FieldKind::Object => Object,
    };
    Field { required: field.default.is_none(), ..defaulted(field.name, kind) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::METRICS;

    #[test]
    fn criteria_take_the_keys_that_the_list_of_metrics_names() {
        for info in METRICS.iter().filter(|info| info.gates) {
            let fields: Vec<_> = criterion(Some(info)).fields.iter().map(|field| field.name).collect();
            let common = ["threshold", "include_intermediate_responses_in_final"];
            let own = info.criterion.iter().map(|field| field.name).filter(|name| !common.contains(name));
            let listed: Vec<_> = common.into_iter().chain(own).collect();
            assert_eq!(fields, listed, "{}", info.name);
        }
    }
}
