//! The criteria of a config: each checked against what is known of its metric.

use super::check::{CustomNames, not_a_table, nothing_checked};
use super::criterion::{Criterion, match_choice};
use super::object::{Extra, Object, wrong_type};
use crate::coerce;
use crate::metric::{CriterionField, FieldKind, METRICS, MetricInfo, metric};
use crate::problem::{JsonPath, Problem};
use crate::suggest::suggest;
use crate::syntax::{Entry, Kind, Node, to_map};
use crate::value::{Map, Number, Value};

mod messages;

pub(super) use messages::answer;

/// How many problems get a "did you mean", and how many names of a config's own custom metrics are
/// looked at for it: enough for any real config, and a bound on what a hostile one costs.
const SUGGESTION_LIMIT: usize = 100;

/// Reads `criteria`. Every metric that cannot decide is a problem.
pub(super) fn read(
    entry: &Entry<'_>,
    names: &CustomNames<'_>,
    problems: &mut Vec<Problem>,
) -> Vec<(String, Criterion)> {
    let path = JsonPath::default().key(&entry.key);
    let Some(entries) = entry.value.object() else {
        problems.push(not_a_table(entry, r#"{ "response_match_score": 0.8 }"#));
        return Vec::new();
    };
    if entries.is_empty() {
        problems.push(nothing_checked(path.clone(), &entry.value, "`criteria` is empty"));
    }
    let mut criteria = Vec::with_capacity(entries.len());
    for entry in entries {
        if let Some(criterion) = criterion(entry, path.key(&entry.key), names, problems) {
            criteria.push((entry.key.clone().into_owned(), criterion));
        }
    }
    criteria
}

fn criterion(
    entry: &Entry<'_>,
    path: JsonPath,
    names: &CustomNames<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Criterion> {
    if names.contains(&entry.key) {
        return Reader { info: None, name: &entry.key }.read(&entry.value, path, problems);
    }
    let Some(info) = metric(&entry.key) else {
        let nearest = (problems.len() < SUGGESTION_LIMIT).then(|| nearest(&entry.key, names)).flatten();
        problems.push(messages::unknown_metric(entry, path, nearest));
        return None;
    };
    if !info.available {
        problems.push(messages::not_available(entry, path, info));
        return None;
    }
    if !info.gates {
        problems.push(messages::informational(entry, path));
        return None;
    }
    Reader { info: Some(info), name: info.name }.read(&entry.value, path, problems)
}

fn nearest<'n>(name: &str, names: &CustomNames<'n>) -> Option<&'n str> {
    let own = names.answered.iter().copied().chain(names.declared.iter().copied().take(SUGGESTION_LIMIT));
    suggest(name, METRICS.iter().map(|info| info.name).chain(own))
}

/// Reads the criterion of one metric; of a custom metric nothing is known.
struct Reader<'m> {
    info: Option<&'static MetricInfo>,
    name: &'m str,
}

impl Reader<'_> {
    /// A number, or an object with `threshold`; text that reads as a number is one, as in ADK.
    fn read(&self, node: &Node<'_>, path: JsonPath, problems: &mut Vec<Problem>) -> Option<Criterion> {
        match &node.kind {
            Kind::Object(_) => self.object(node, path, problems),
            Kind::Array(_) | Kind::Null => {
                let what = format!("the criterion of `{}`", self.name);
                let found = wrong_type(path, node, &what, "a threshold or an object with `threshold`");
                problems.push(found.help(format!(r#"for example "{}": 0.8"#, self.name)));
                None
            }
            _ => self.threshold(node, path, problems).map(Criterion::new),
        }
    }

    fn threshold(&self, node: &Node<'_>, path: JsonPath, problems: &mut Vec<Problem>) -> Option<f64> {
        let Some(threshold) = coerce::float(node) else {
            let what = format!("the threshold of `{}`", self.name);
            problems.push(wrong_type(path, node, &what, "a number"));
            return None;
        };
        let in_range = self.info.map_or(!threshold.is_nan(), |info| info.in_range(threshold));
        if !in_range {
            problems.push(messages::out_of_range(node, path, self.name, self.info, threshold));
        }
        Some(threshold)
    }

    fn object(&self, node: &Node<'_>, path: JsonPath, problems: &mut Vec<Problem>) -> Option<Criterion> {
        let what = format!("the criterion of `{}`", self.name);
        let mut object = Object::read(node, path, &what, Extra::Keep, problems)?;
        let threshold = object
            .required("threshold", r#""threshold": 1.0"#)
            .and_then(|entry| self.threshold(&entry.value, object.path.key(&entry.key), problems));
        let mut options = self.fields(&mut object, problems);
        for entry in object.finish(problems) {
            match self.info {
                Some(info) if !entry.key.starts_with('_') => {
                    problems.push(messages::unknown_key(entry, &object.path, info, &object.known()));
                }
                _ => options.push(entry.to_pair()),
            }
        }
        Some(Criterion { threshold: threshold?, options: Map::from_unique(options) })
    }

    /// The options that are known: ADK's common one and those of the metric.
    fn fields(&self, object: &mut Object<'_, '_>, problems: &mut Vec<Problem>) -> Vec<(String, Value)> {
        let own = self.info.map_or(&[][..], |info| info.criterion);
        let mut options = Vec::new();
        if let Some(entry) = object.field(COMMON.name) {
            let path = object.path.key(&entry.key);
            if let Some(read) = option(&COMMON, entry, path.clone(), problems) {
                options.push(read);
                problems.extend(self.info.map(|info| messages::no_effect(entry, path, info)));
            }
        }
        for field in own {
            if let Some(entry) = object.field(field.name) {
                options.extend(option(field, entry, object.path.key(&entry.key), problems));
            }
        }
        problems.extend(contradiction(object, &options));
        options
    }
}

/// The key that every criterion of ADK has. Only judged metrics read it.
const COMMON: CriterionField = CriterionField {
    name: "include_intermediate_responses_in_final",
    kind: FieldKind::Bool,
    default: Some("false"),
    doc: "whether texts before the final response are judged with it",
};

/// A key and its value as ADK holds it, or a problem.
fn option(
    field: &CriterionField,
    entry: &Entry<'_>,
    path: JsonPath,
    problems: &mut Vec<Problem>,
) -> Option<(String, Value)> {
    let value = coerced(field.kind, &entry.value);
    if value.is_none() {
        problems.push(messages::wrong_option(field, entry, path));
    }
    Some((field.name.to_owned(), value?))
}

fn coerced(kind: FieldKind, node: &Node<'_>) -> Option<Value> {
    match kind {
        FieldKind::Bool => coerce::bool(node).map(Value::Bool),
        FieldKind::Number => coerce::float(node).map(|float| Value::Number(Number::from(float))),
        FieldKind::String => node.string().map(Value::from),
        FieldKind::Choice { values, numbered } => chosen(values, numbered, node).map(Value::from),
        FieldKind::Strings => all(node, |item| item.string().is_some()),
        FieldKind::Objects => all(node, |item| item.object().is_some()),
        FieldKind::Object => node.object().map(|entries| Value::Object(to_map(entries))),
    }
}

fn all(node: &Node<'_>, is: impl Fn(&Node<'_>) -> bool) -> Option<Value> {
    node.array().filter(|items| items.iter().all(is)).map(|_| node.to_value())
}

fn chosen(values: &[&'static str], numbered: bool, node: &Node<'_>) -> Option<&'static str> {
    if let Some(text) = node.string() {
        return match_choice(text, values);
    }
    let position = coerce::int(node).filter(|_| numbered)?.as_i64()?;
    usize::try_from(position).ok().and_then(|at| values.get(at)).copied()
}

/// `ignore_args` beside an `args_match` that says otherwise.
fn contradiction(object: &Object<'_, '_>, options: &[(String, Value)]) -> Option<Problem> {
    let is =
        |key: &str, said: fn(&Value) -> bool| options.iter().any(|(name, value)| name == key && said(value));
    let contradicts = is("ignore_args", |value| value.as_bool() == Some(true))
        && is("args_match", |value| value.as_str() != Some("ignore"));
    let (ignore_args, args_match) = (object.taken("ignore_args")?, object.taken("args_match")?);
    contradicts.then(|| messages::contradiction(object.path.key(&args_match.key), ignore_args, args_match))
}
