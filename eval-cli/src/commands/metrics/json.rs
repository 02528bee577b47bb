//! The metrics as JSON.

use eval_format::metric::{CriterionField, FieldKind, MetricGroup, MetricInfo, Need};
use serde::Serialize;

/// What `--format json` prints. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    command: &'static str,
    metrics: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct Entry {
    name: &'static str,
    group: &'static str,
    summary: &'static str,
    min: f64,
    max: Option<f64>,
    needs: Vec<&'static str>,
    gates: bool,
    criterion: Vec<Field>,
}

#[derive(Debug, Serialize)]
struct Field {
    name: &'static str,
    kind: &'static str,
    values: &'static [&'static str],
    required: bool,
    default: Option<serde_json::Value>,
    doc: &'static str,
}

impl Document {
    pub(super) fn of(metrics: impl IntoIterator<Item = &'static MetricInfo>) -> Self {
        Self { command: "metrics", metrics: metrics.into_iter().map(Entry::from).collect() }
    }
}

impl From<&MetricInfo> for Entry {
    fn from(info: &MetricInfo) -> Self {
        Self {
            name: info.name,
            group: group_name(info.group),
            summary: info.summary,
            min: info.min,
            max: info.max,
            needs: info.needs.iter().map(|need| need_name(*need)).collect(),
            gates: info.gates,
            criterion: info.criterion.iter().map(Field::from).collect(),
        }
    }
}

impl From<&CriterionField> for Field {
    fn from(field: &CriterionField) -> Self {
        let (kind, values) = kind_name(field.kind);
        // A test of eval-format checks that the defaults are JSON.
        let default = field.default.and_then(|text| serde_json::from_str(text).ok());
        Self { name: field.name, kind, values, required: field.default.is_none(), default, doc: field.doc }
    }
}

fn group_name(group: MetricGroup) -> &'static str {
    match group {
        MetricGroup::AdkLexical => "adk_lexical",
        MetricGroup::AdkJudged => "adk_judged",
        MetricGroup::AdkInformational => "adk_informational",
        MetricGroup::Vertex => "vertex",
        MetricGroup::AdkRs => "adk_rs",
        MetricGroup::AdkEval => "adk_eval",
        MetricGroup::Own => "own",
        _ => "other",
    }
}

fn need_name(need: Need) -> &'static str {
    match need {
        Need::Expectation => "expectation",
        Need::Judge => "judge",
        Need::Scenario => "scenario",
        _ => "other",
    }
}

fn kind_name(kind: FieldKind) -> (&'static str, &'static [&'static str]) {
    match kind {
        FieldKind::Bool => ("bool", &[]),
        FieldKind::Number => ("number", &[]),
        FieldKind::String => ("string", &[]),
        FieldKind::Choice { values, .. } => ("choice", values),
        FieldKind::Strings => ("strings", &[]),
        FieldKind::Rubrics => ("objects", &[]),
        FieldKind::Weights | FieldKind::JudgeOptions => ("object", &[]),
        _ => ("other", &[]),
    }
}

#[cfg(test)]
mod tests {
    use eval_format::metric::METRICS;

    use super::*;

    #[test]
    fn nothing_that_is_known_is_called_other() {
        for info in METRICS {
            let json = serde_json::to_string(&Entry::from(info)).unwrap();
            assert!(!json.contains("\"other\""), "{json}");
        }
    }
}
