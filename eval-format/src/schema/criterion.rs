//! Criteria: a table for each metric, made from the list of metrics.

use std::sync::LazyLock;

use super::config::JUDGE_MODEL_OPTIONS;
use super::eval_set::RUBRIC;
use super::table::Type::{Bool, Choice, Float, List, Models, Object, String};
use super::table::{Extra, Field, Model, Type, defaulted, model, required};
use crate::metric::fields::{DIRECTION, INTERMEDIATE_RESPONSES, JUDGE};
use crate::metric::{CriterionField, FieldKind, METRICS, MetricInfo, Need};

const THRESHOLD: Field = required("threshold", Float, "1.0");

/// The criterion of a custom metric, which may read any key. The keys that mean the same in all criteria are
/// checked: the two that ADK knows, the direction, and the options of the judge.
static CUSTOM: Model = model(
    "a criterion",
    Extra::Kept,
    &[THRESHOLD, field(&INTERMEDIATE_RESPONSES), field(&DIRECTION), field(&JUDGE)],
);

/// The criteria of the built-in metrics, in the order of their list. A key that a metric does not read is refused.
static BUILT_IN: LazyLock<Vec<Model>> = LazyLock::new(|| {
    let foreign_keys: &[_] = foreign_keys().leak();
    // Leaked, since tables live as long as the program.
    let of = |info: &MetricInfo| {
        let what = format!("a criterion of `{}`", info.name).leak();
        Model { foreign_keys, ..model(what, Extra::Refused, fields(info).leak()) }
    };
    METRICS.iter().map(of).collect()
});

/// The shape of a metric's criterion. Without `info`, the shape of a custom metric's criterion.
pub(crate) fn criterion(info: Option<&MetricInfo>) -> &'static Model {
    let at = info.and_then(|info| METRICS.iter().position(|known| known.name == info.name));
    at.and_then(|at| BUILT_IN.get(at)).unwrap_or(&CUSTOM)
}

fn fields(info: &MetricInfo) -> Vec<Field> {
    let own = info.criterion.iter().filter(|own| own.name != INTERMEDIATE_RESPONSES.name).map(field);
    [THRESHOLD, field(&INTERMEDIATE_RESPONSES)].into_iter().chain(own).collect()
}

/// The keys that only some metrics read, each with the help for the criterion of another metric.
fn foreign_keys() -> Vec<(&'static str, &'static str)> {
    let mut found: Vec<(&'static str, &'static str)> = Vec::new();
    for info in METRICS {
        for field in info.criterion {
            let is_common = field.name == INTERMEDIATE_RESPONSES.name;
            if !is_common && !found.iter().any(|(name, _)| *name == field.name) {
                found.push((field.name, remedy(field.name).leak()));
            }
        }
    }
    found
}

/// The remedy for a key in the criterion of a metric that does not read it.
fn remedy(key: &str) -> std::string::String {
    let reads = |info: &&MetricInfo| info.criterion.iter().any(|field| field.name == key);
    let readers: Vec<&str> = METRICS.iter().filter(reads).map(|info| info.name).collect();
    let judged = METRICS.iter().filter(reads).all(|info| info.needs.contains(&Need::Judge));
    match readers.as_slice() {
        [only] => format!("move it to `{only}`, the metric that reads it"),
        _ if key == DIRECTION.name => {
            "remove it; metrics of your own read it, and those that count or measure, such as `token_usage_v1`".to_owned()
        }
        [_, _] | [_, _, _] => format!("move it to one of `{}`, which read it", readers.join("`, `")),
        _ if judged => "remove it; only judged metrics read it".to_owned(),
        _ => "remove it; this metric does not read it".to_owned(),
    }
}

/// The field of a key that the list of metrics declares.
const fn field(declared: &CriterionField) -> Field {
    let kind = match declared.kind {
        FieldKind::Bool => Bool,
        FieldKind::Number => Float,
        FieldKind::String => String,
        FieldKind::Choice { values, numbered } => Choice { values, numbered },
        FieldKind::Strings => List(&String),
        FieldKind::Rubrics => Models(&RUBRIC),
        FieldKind::Weights => Object,
        FieldKind::JudgeOptions => Type::Model(&JUDGE_MODEL_OPTIONS),
    };
    let example = match declared.example {
        Some(example) => example,
        None => "",
    };
    Field { required: declared.default.is_none(), example, ..defaulted(declared.name, kind) }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_key_of_other_metrics_is_explained() {
        for (key, help) in [
            ("args_match", "move it to `tool_trajectory_avg_score`, the metric that reads it"),
            ("judge_model_options", "remove it; only judged metrics read it"),
        ] {
            assert_eq!(remedy(key), help);
        }
        assert!(
            remedy("weights").ends_with("`rubric_based_multi_turn_trajectory_quality_v1`, which read it")
        );
    }
}
