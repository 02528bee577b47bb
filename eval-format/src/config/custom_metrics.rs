//! The `custom_metrics` of a config: their shape, and whether each has an answer in Rust.

use std::collections::HashSet;

use super::check::not_a_table;
use super::criteria::answer;
use super::object::Extra;
use super::shape::{Field, Kind, Shape};
use crate::problem::{Code, JsonPath, Problem};
use crate::syntax::Entry;
use crate::value::{Map, Value};

/// Reads `custom_metrics`. `criteria` are the entries beside it: a metric that is not among them never runs.
pub(super) fn read(
    entry: &Entry<'_>,
    criteria: &[Entry<'_>],
    answered: &[&str],
    problems: &mut Vec<Problem>,
) -> Map {
    if entry.value.is_null() {
        return Map::new();
    }
    let Some(entries) = entry.value.object() else {
        problems
            .push(not_a_table(entry, r#"{ "brevity": { "code_config": { "name": "metrics.brevity" } } }"#));
        return Map::new();
    };
    let criteria: HashSet<&str> = criteria.iter().map(|entry| entry.key.as_ref()).collect();
    let path = JsonPath::default().key(&entry.key);
    let mut metrics = Vec::with_capacity(entries.len());
    for entry in entries {
        let path = path.key(&entry.key);
        if !answered.contains(&entry.key.as_ref()) {
            problems.push(unanswered(entry, path.clone()));
        }
        if !criteria.contains(entry.key.as_ref()) {
            problems.push(never_runs(entry, path.clone()));
        }
        if let Some(metric) = CUSTOM_METRIC.read(&entry.value, path, problems) {
            metrics.push((entry.key.clone().into_owned(), Value::Object(metric)));
        }
    }
    Map::from_unique(metrics)
}

fn unanswered(entry: &Entry<'_>, path: JsonPath) -> Problem {
    let function = entry.value.get("code_config").or_else(|| entry.value.get("codeConfig"));
    let function = function.and_then(|entry| entry.value.get("name")?.value.string());
    let label = match function {
        Some(name) if name.len() <= 80 => format!("the Python function `{name}` is not run"),
        _ => "its Python function is not run".to_owned(),
    };
    let name = &entry.key;
    Problem::error(
        Code::UnansweredCustomMetric,
        path,
        entry.key_range.clone(),
        format!("custom metric `{name}` has no function in Rust"),
    )
    .label(label)
    .help(format!("write it in Rust and name it in the attribute: `{}`", answer(name)))
}

fn never_runs(entry: &Entry<'_>, path: JsonPath) -> Problem {
    let name = &entry.key;
    Problem::warning(
        Code::IgnoredKey,
        path,
        entry.key_range.clone(),
        format!("custom metric `{name}` is not in `criteria`, so it never runs"),
    )
    .label("declared and not used")
    .help(format!(r#"give it a threshold: "criteria": {{ "{name}": 0.5 }}"#))
}

/// ADK's `CustomMetricConfig`.
const CUSTOM_METRIC: Shape = Shape {
    what: "a custom metric",
    fields: &[
        Field::required(
            "code_config",
            Kind::Shape(&CODE_CONFIG),
            r#""code_config": { "name": "my_metrics.brevity" }"#,
        ),
        Field::nullable("metric_info", Kind::Shape(&METRIC_INFO)),
        Field::optional("description", Kind::String),
    ],
    extra: Extra::Ignore,
};

const CODE_CONFIG: Shape = Shape {
    what: "`code_config`",
    fields: &[Field::required("name", Kind::String, r#""name": "my_metrics.brevity""#)],
    extra: Extra::Forbid,
};

const METRIC_INFO: Shape = Shape {
    what: "`metric_info`",
    fields: &[
        Field::required("metric_name", Kind::String, r#""metric_name": "brevity""#),
        Field::nullable("description", Kind::String),
        Field::required("metric_value_info", Kind::Shape(&VALUE_INFO), r#""metric_value_info": {}"#),
        Field::optional("requires_threshold", Kind::Bool),
    ],
    extra: Extra::Forbid,
};

const VALUE_INFO: Shape = Shape {
    what: "`metric_value_info`",
    fields: &[Field::nullable("interval", Kind::Shape(&INTERVAL))],
    extra: Extra::Forbid,
};

const INTERVAL: Shape = Shape {
    what: "`interval`",
    fields: &[
        Field::required("min_value", Kind::Float, r#""min_value": 0.0"#),
        Field::optional("open_at_min", Kind::Bool),
        Field::required("max_value", Kind::Float, r#""max_value": 1.0"#),
        Field::optional("open_at_max", Kind::Bool),
    ],
    extra: Extra::Forbid,
};
