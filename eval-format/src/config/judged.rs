//! Checks of the options that need a judge: the judge's options, rubrics and their weights.

use super::model_config::{self, number};
use crate::coerce;
use crate::metric::fields::JUDGE;
use crate::metric::{CriterionField, FieldKind};
use crate::options::DEFAULT_MODEL;
use crate::problem::{Problem, ProblemCode, shown};
use crate::rubrics;
use crate::schema::{JUDGE_MODEL_OPTIONS, Model, Place, opening};
use crate::syntax::{Entry, Node};
use crate::value::{Map, Value};

/// The largest `num_samples` and `parallelism_limit`. A larger number is a typing error.
pub(crate) const MAX_QUESTIONS: i64 = 1000;

pub(super) fn check(
    fields: &[CriterionField],
    model: &Model,
    entries: &[Entry<'_>],
    place: &Place<'_>,
    problems: &mut Vec<Problem>,
) {
    for field in fields {
        let Some(entry) = model.entry(entries, field.name) else { continue };
        let place = &Place::Key(place, &entry.key);
        match field.kind {
            FieldKind::JudgeOptions => options(&entry.value, place, problems),
            FieldKind::Rubrics => rubrics::check_criterion(&entry.value, place, problems),
            FieldKind::Weights => weights(&entry.value, place, problems),
            _ => {}
        }
    }
}

fn options(node: &Node<'_>, place: &Place<'_>, problems: &mut Vec<Problem>) {
    let Some(entries) = node.object() else { return };
    for name in ["num_samples", "parallelism_limit"] {
        let Some(entry) = JUDGE_MODEL_OPTIONS.entry(entries, name) else { continue };
        // The walker has reported a value that is not an integer.
        let Some(number) = coerce::int(&entry.value) else { continue };
        if !number.as_i64().is_some_and(|number| (1..=MAX_QUESTIONS).contains(&number)) {
            problems.push(not_a_count(entry, &Place::Key(place, &entry.key)));
        }
    }
    if let Some(entry) = JUDGE_MODEL_OPTIONS.entry(entries, "judge_model")
        && entry.value.string().is_some_and(|model| model.trim().is_empty())
    {
        problems.push(no_model(entry, &Place::Key(place, &entry.key)));
    }
    if let Some(entry) = JUDGE_MODEL_OPTIONS.entry(entries, "judge_model_config") {
        let place = &Place::Key(place, &entry.key);
        model_config::check(&entry.value, "the judge's model config", place, problems);
    }
}

fn weights(node: &Node<'_>, place: &Place<'_>, problems: &mut Vec<Problem>) {
    let mut sum = 0.0;
    let entries = node.object().unwrap_or_default();
    for entry in entries {
        match number(&entry.value) {
            Some(weight) if weight >= 0.0 => sum += weight,
            _ => {
                problems.push(no_weight(entry, &Place::Key(place, &entry.key)));
                return;
            }
        }
    }
    if !sum.is_finite() {
        problems.push(too_heavy(node, place));
    }
}

/// The options, with the keys of `judge_model_config` in `snake_case`.
pub(super) fn snake_case(mut options: Map) -> Map {
    if let Some(Value::Object(judge)) = options.remove(JUDGE.name) {
        let respelt = |(key, value)| match value {
            Value::Object(config) => (key, model_config::snake_case(config).into()),
            other => (key, other),
        };
        options.insert(JUDGE.name, judge.into_iter().map(respelt).collect::<Map>());
    }
    options
}

fn not_a_count(entry: &Entry<'_>, place: &Place<'_>) -> Problem {
    let message = format!("`{}` must be a number from 1 to {MAX_QUESTIONS}", entry.key);
    place
        .error(ProblemCode::WrongType, entry.value.range.clone(), message)
        .label("no judge would be asked, or far too often")
        .help("ADK asks 5 times, one at a time, where nothing is said")
}

fn no_model(entry: &Entry<'_>, place: &Place<'_>) -> Problem {
    let message = "the name of the judge's model is empty";
    place
        .error(ProblemCode::WrongType, entry.value.range.clone(), message)
        .label("expected a model")
        .help(format!("name one, such as `{DEFAULT_MODEL}`, or remove the key to get that one"))
}

fn no_weight(entry: &Entry<'_>, place: &Place<'_>) -> Problem {
    let message = format!("the weight of the rubric `{}` must be a number from 0 on", shown(&entry.key));
    place
        .error(ProblemCode::WrongType, entry.value.range.clone(), message)
        .label("no weight")
        .help("write a number like `2.0`; rubrics without a weight have the weight 1")
}

fn too_heavy(node: &Node<'_>, place: &Place<'_>) -> Problem {
    let message = "the weights are too large to be added";
    place
        .error(ProblemCode::WrongType, opening(node), message)
        .label("their sum is infinite")
        .help("only the ratios of weights count: divide them all by the same number")
}
