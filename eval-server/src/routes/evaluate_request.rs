//! Parameters of scoring traces: agentevals' parameters, each held to its type.
//!
//! Unknown keys are errors: a misspelt key would silently change what is scored.

use axum::http::StatusCode;
use eval_core::Criterion;
use eval_core::metric::BoxMetric;
use eval_format::metric::metric;
use eval_format::{Rubric, Value as Tree};
use eval_support::key_case::camel;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::refusal::{FieldError, Refusal};

/// The parameters of an evaluation.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct Parameters {
    /// The metrics, at least one; `tool_trajectory_avg_score` if they are not given.
    #[schema(value_type = Option<Vec<Evaluator>>, min_items = 1)]
    pub(super) evaluators: Vec<Evaluator>,
    /// The grouping of turns: `trace`, `conversation`, or `auto`, which is `conversation` if a case has several turns.
    #[schema(value_type = Option<String>)]
    pub(super) group_by: GroupBy,
}

/// A metric with its criterion.
#[derive(Clone, Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct Evaluator {
    /// The name of the metric.
    pub(super) name: String,
    /// From 0 to 1; 0.5 if it is not given, as in agentevals. With 0 nothing is decided: every score reaches it.
    #[schema(value_type = Option<f64>)]
    pub(super) threshold: f64,
    /// `EXACT`, `IN_ORDER` or `ANY_ORDER`.
    pub(super) trajectory_match_type: Option<String>,
    /// The model that judges.
    pub(super) judge_model: Option<String>,
    /// Rubrics: texts, or objects with `id` and `text`.
    #[schema(value_type = Option<Vec<Object>>)]
    pub(super) rubrics: Vec<(String, String)>,
    /// The metric of this name that the operator of the service added.
    #[schema(ignore)]
    pub(super) own: Option<BoxMetric>,
}

/// Lets the evaluators have the metrics that the operator of the service added.
pub(super) fn answer(evaluators: &mut [Evaluator], own: &[(String, BoxMetric)]) {
    for evaluator in evaluators {
        evaluator.own =
            own.iter().find(|(name, _)| *name == evaluator.name).map(|(_, metric)| metric.clone());
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum GroupBy {
    #[default]
    Auto,
    Trace,
    Conversation,
}

const MAX_EVALUATORS: usize = 100;

const DEFAULT_THRESHOLD: f64 = 0.5;

impl Evaluator {
    /// The metric that decides the demands of a case on its answers.
    pub(super) const DEMANDS: &str = "answer_demands";

    /// The evaluator of demands, which a case adds by itself.
    pub(super) fn of_demands() -> Self {
        Self {
            name: Self::DEMANDS.to_owned(),
            threshold: 1.0,
            trajectory_match_type: None,
            judge_model: None,
            rubrics: Vec::new(),
            own: None,
        }
    }

    pub(super) fn size(&self) -> usize {
        let texts = [Some(&self.name), self.trajectory_match_type.as_ref(), self.judge_model.as_ref()];
        let rubrics = self.rubrics.iter().map(|(id, text)| id.len() + text.len());
        texts.into_iter().flatten().map(String::len).chain(rubrics).sum()
    }

    /// Whether every score reaches the threshold, so that it decides nothing.
    pub(super) fn decides_nothing(&self) -> bool {
        self.threshold <= 0.0
    }

    /// The criterion of the metric. agentevals' own pages add a match type and a model to each evaluator: a
    /// metric gets only the keys that it reads.
    pub(super) fn criterion(&self) -> Criterion {
        // The runner refuses the threshold 0, and the metric is scored anyway.
        let threshold = if self.decides_nothing() { f64::MIN_POSITIVE } else { self.threshold };
        let mut criterion = Criterion::new(threshold);
        if let Some(kind) = self.trajectory_match_type.as_ref().filter(|_| reads(&self.name, "match_type")) {
            criterion = criterion.with("match_type", Tree::from(kind));
        }
        if let Some(model) = self.judge_model.as_ref().filter(|_| reads(&self.name, "judge_model_options")) {
            criterion = criterion.with_judge_model(model);
        }
        if !self.rubrics.is_empty() {
            criterion = criterion.with_rubrics(self.rubrics.iter().map(|(id, text)| Rubric::new(id, text)));
        }
        criterion
    }
}

fn reads(name: &str, key: &str) -> bool {
    metric(name).is_some_and(|info| info.criterion.iter().any(|field| field.name == key))
}

/// The most results of a request, and the most bytes of its parameters, counted once for each trace.
const MAX_RESULTS: usize = 100_000;
const MAX_PARAMETER_BYTES: usize = 64 << 20;

impl Parameters {
    pub(super) fn check_size(&self, traces: usize) -> Result<(), Refusal> {
        let (metrics, size) =
            (self.evaluators.len(), self.evaluators.iter().map(Evaluator::size).sum::<usize>());
        if traces.saturating_mul(metrics) <= MAX_RESULTS && traces.saturating_mul(size) <= MAX_PARAMETER_BYTES
        {
            return Ok(());
        }
        let why = format!(
            "{traces} traces with {metrics} metrics, whose parameters have {size} bytes, are too much for one request: send \
             fewer traces at a time"
        );
        Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, why))
    }

    /// Reads the parameters, and finds all errors in them. `at` is their path.
    pub(super) fn read(value: &Value, at: &[Value]) -> Result<Self, Refusal> {
        let mut reader = Reader { errors: Vec::new() };
        let read = reader.parameters(value, at);
        match read {
            Some(read) if reader.errors.is_empty() => Ok(read),
            _ => Err(Refusal::fields(reader.errors)),
        }
    }
}

/// JSON of a request. As in files, a repeated key is an error.
pub(super) fn json(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice::<Tree>(bytes).map(Value::from)
}

struct Reader {
    errors: Vec<FieldError>,
}

fn below(at: &[Value], step: impl Into<Value>) -> Vec<Value> {
    let mut at = at.to_vec();
    at.push(step.into());
    at
}

/// A field in either spelling of its name; `snake` is the name in `snake_case`.
fn field<'v>(object: &'v Map<String, Value>, snake: &str) -> Option<&'v Value> {
    object.get(&camel(snake)).or_else(|| object.get(snake)).filter(|value| !value.is_null())
}

impl Reader {
    fn wrong(&mut self, kind: &'static str, at: &[Value], msg: impl Into<String>, input: &Value) {
        self.errors.push(FieldError::new(kind, at, msg, input));
    }

    fn object<'v>(
        &mut self,
        value: &'v Value,
        at: &[Value],
        keys: &[&str],
    ) -> Option<&'v Map<String, Value>> {
        let Some(object) = value.as_object() else {
            self.wrong("model_attributes_type", at, "Input should be a valid dictionary", value);
            return None;
        };
        for (key, value) in object {
            if !keys.iter().any(|known| known == key || camel(known) == *key) {
                let at = below(at, key.as_str());
                self.wrong("extra_forbidden", &at, "Extra inputs are not permitted", value);
            }
        }
        Some(object)
    }

    fn text(&mut self, value: Option<&Value>, at: &[Value]) -> Option<String> {
        let value = value?;
        if value.as_str().is_none() {
            self.wrong("string_type", at, "Input should be a valid string", value);
        }
        value.as_str().map(str::to_owned)
    }

    fn parameters(&mut self, value: &Value, at: &[Value]) -> Option<Parameters> {
        const LIMITS: [&str; 2] = ["max_concurrent_traces", "max_concurrent_evals"];
        let object = self.object(value, at, &["evaluators", "group_by", LIMITS[0], LIMITS[1]])?;
        // The values are checked and not used: the limits of the server apply, and no limit changes a score.
        for limit in LIMITS {
            if let Some(value) = field(object, limit).filter(|it| it.as_u64().is_none_or(|it| it == 0)) {
                let msg = "Input should be an integer from 1";
                self.wrong("greater_than_equal", &below(at, camel(limit)), msg, value);
            }
        }
        let group_by = match field(object, "group_by") {
            None => GroupBy::Auto,
            Some(value) => match value.as_str() {
                Some("auto") => GroupBy::Auto,
                Some("trace") => GroupBy::Trace,
                Some("conversation") => GroupBy::Conversation,
                _ => {
                    let msg = "Input should be 'auto', 'trace' or 'conversation'";
                    self.wrong("literal_error", &below(at, "groupBy"), msg, value);
                    GroupBy::Auto
                }
            },
        };
        let at = below(at, "evaluators");
        // As in agentevals, a request that names no metric is scored with this one.
        let default = json!([{ "name": "tool_trajectory_avg_score" }]);
        let given = object.get("evaluators").unwrap_or(&default);
        let evaluators = match given {
            Value::Array(evaluators) => evaluators,
            Value::Null => &Vec::new(),
            other => {
                self.wrong("list_type", &at, "Input should be a valid list", other);
                return None;
            }
        };
        if evaluators.is_empty() {
            self.wrong("value_error", &at, "Value error, At least one evaluator is required.", given);
        }
        if evaluators.len() > MAX_EVALUATORS {
            let msg = format!("List should have at most {MAX_EVALUATORS} items");
            self.wrong("too_long", &at, msg, &Value::Null);
            return None;
        }
        let evaluators =
            evaluators.iter().enumerate().filter_map(|(n, value)| self.evaluator(value, &below(&at, n)));
        let evaluators: Vec<Evaluator> = evaluators.collect();
        for (n, evaluator) in evaluators.iter().enumerate() {
            if evaluators[..n].iter().any(|earlier| earlier.name == evaluator.name) {
                let msg = format!("Value error, the metric `{}` is there twice", evaluator.name);
                self.wrong("value_error", &below(&at, n), msg, &Value::Null);
            }
        }
        Some(Parameters { evaluators, group_by })
    }

    fn evaluator(&mut self, value: &Value, at: &[Value]) -> Option<Evaluator> {
        const KEYS: [&str; 8] = [
            "name",
            "type",
            "threshold",
            "trajectory_match_type",
            "judge_model",
            "rubrics",
            "credential_ref",
            "judge_base_url",
        ];
        let kind = value.get("type").unwrap_or(&Value::Null);
        if !kind.is_null() && kind != "builtin" {
            let msg = "metrics are named alone here (`builtin`): a request says no program that runs, the operator of the service does";
            self.wrong("literal_error", &below(at, "type"), msg, kind);
            return None;
        }
        let object = self.object(value, at, &KEYS)?;
        let name = self.text(object.get("name"), &below(at, "name"));
        if name.is_none() && !object.contains_key("name") {
            self.errors.push(FieldError::missing(&below(at, "name")));
        }
        for key in ["credential_ref", "judge_base_url"] {
            if let Some(value) = field(object, key) {
                let msg = "judges are set up where the service runs, not in a request";
                self.wrong("value_error", &below(at, camel(key)), msg, &Value::from(value.is_string()));
            }
        }
        let threshold = field(object, "threshold");
        let in_range = |value: &Value| value.as_f64().filter(|value| (0.0..=1.0).contains(value));
        let number = threshold.map_or(Some(DEFAULT_THRESHOLD), in_range);
        if let (None, Some(value)) = (number, threshold) {
            self.wrong("value_error", &below(at, "threshold"), "Input should be a number from 0 to 1", value);
        }
        let name = name?;
        let rubrics = field(object, "rubrics").filter(|rubrics| *rubrics != &json!([]));
        if let Some(given) = rubrics.filter(|_| metric(&name).is_some() && !reads(&name, "rubrics")) {
            let msg = format!("Value error, Built-in metric '{name}' does not take rubrics.");
            self.wrong("value_error", &below(at, "rubrics"), msg, given);
        }
        Some(Evaluator {
            threshold: number?,
            trajectory_match_type: self.match_type(object, at),
            judge_model: self.text(field(object, "judge_model"), &below(at, "judgeModel")),
            rubrics: self.rubrics(rubrics, &below(at, "rubrics")),
            own: None,
            name,
        })
    }

    fn match_type(&mut self, object: &Map<String, Value>, at: &[Value]) -> Option<String> {
        const KNOWN: [&str; 3] = ["ANY_ORDER", "EXACT", "IN_ORDER"];
        let key = "trajectoryMatchType";
        let value = field(object, "trajectory_match_type")?;
        let text = self.text(Some(value), &below(at, key))?;
        let known = KNOWN.into_iter().find(|known| text.eq_ignore_ascii_case(known));
        if known.is_none() {
            let msg = format!(
                "Value error, Invalid trajectory_match_type '{text}'. Valid values: ['ANY_ORDER', 'EXACT', 'IN_ORDER']"
            );
            self.wrong("value_error", &below(at, key), msg, value);
        }
        known.map(str::to_owned)
    }

    fn rubrics(&mut self, value: Option<&Value>, at: &[Value]) -> Vec<(String, String)> {
        let Some(value) = value else { return Vec::new() };
        let Some(rubrics) = value.as_array() else {
            self.wrong("list_type", at, "Input should be a valid list", value);
            return Vec::new();
        };
        let mut read = Vec::new();
        for (n, rubric) in rubrics.iter().enumerate() {
            let at = below(at, n);
            if let Some(text) = rubric.as_str() {
                read.push((format!("rubric_{n}"), text.to_owned()));
            } else if let Some(object) = self.object(rubric, &at, &["id", "text"]) {
                let id = self.text(object.get("id"), &below(&at, "id"));
                let text = self.text(object.get("text"), &below(&at, "text"));
                match id.zip(text) {
                    Some(rubric) => read.push(rubric),
                    None => self.wrong("missing", &at, "A rubric has an `id` and a `text`", &Value::Null),
                }
            }
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_in_both_spellings() {
        let value = json!({
            "evaluators": [
                { "name": "a", "type": "builtin", "trajectoryMatchType": "IN_ORDER", "threshold": 1 },
                { "name": "b", "judge_model": "m", "threshold": null, "rubrics": ["x", { "id": "i", "text": "y" }] },
            ],
            "group_by": "trace", "maxConcurrentEvals": 5
        });
        let read = Parameters::read(&value, &[]).unwrap();
        assert_eq!(read.group_by, GroupBy::Trace);
        let [a, b] = read.evaluators.as_slice() else { panic!("{read:?}") };
        assert_eq!((a.threshold, a.trajectory_match_type.as_deref()), (1.0, Some("IN_ORDER")));
        assert_eq!((b.threshold, b.judge_model.as_deref(), b.rubrics.len()), (0.5, Some("m"), 2));
    }

    #[test]
    fn a_metric_gets_the_keys_that_it_reads() {
        let of = |name: &str| {
            let value = json!({ "evaluators": [{
                "type": "builtin", "name": name, "judgeModel": "gemini-2.5-flash", "threshold": 0.8, "trajectoryMatchType": "in_order"
            }] });
            Parameters::read(&value, &[]).unwrap().evaluators.remove(0).criterion()
        };
        assert_eq!(of("response_match_score"), Criterion::new(0.8));
        let trajectory = Criterion::new(0.8).with("match_type", Tree::from("IN_ORDER"));
        assert_eq!(of("tool_trajectory_avg_score"), trajectory);
        assert_eq!(of("final_response_match_v2"), Criterion::new(0.8).with_judge_model("gemini-2.5-flash"));
        let rubrics =
            json!({ "evaluators": [{ "name": "rubric_based_tool_use_quality_v1", "rubrics": ["x", "y"] }] });
        let rubrics = Parameters::read(&rubrics, &[]).unwrap().evaluators.remove(0).rubrics;
        assert_eq!(rubrics.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["rubric_0", "rubric_1"]);
        let default = Parameters::read(&json!({}), &[]).unwrap().evaluators.remove(0);
        assert_eq!((default.name.as_str(), default.threshold), ("tool_trajectory_avg_score", 0.5));
    }

    #[test]
    fn what_is_not_known_or_not_done_here_is_refused() {
        let evaluators = |evaluator: Value| json!({ "evaluators": [evaluator] });
        for wrong in [
            json!([]),
            json!({ "evaluators": [] }),
            json!({ "evaluators": "x" }),
            json!({ "evaluators": [{ "name": "a" }, { "name": "a" }] }),
            json!({ "evaluators": [{ "name": "a" }], "metrics": [] }),
            json!({ "evaluators": [{ "name": "a" }], "groupBy": "x" }),
            json!({ "evaluators": [{ "name": "a" }], "maxConcurrentTraces": 0 }),
            evaluators(json!("a")),
            evaluators(json!({ "threshold": 1 })),
            evaluators(json!({ "name": "a", "treshold": 1 })),
            evaluators(json!({ "name": "a", "threshold": 1.1 })),
            evaluators(json!({ "name": "a", "threshold": "1" })),
            evaluators(json!({ "name": "a", "type": "code", "path": "/bin/sh" })),
            evaluators(json!({ "name": "a", "judgeBaseUrl": "http://10.0.0.1" })),
            evaluators(json!({ "name": "a", "rubrics": [{ "id": 1 }] })),
            evaluators(json!({ "name": "a", "trajectoryMatchType": "BAD" })),
            evaluators(json!({ "name": "response_match_score", "rubrics": ["x"] })),
        ] {
            assert!(Parameters::read(&wrong, &[]).is_err(), "{wrong}");
        }
    }
}
