//! What is said about criteria.

use crate::config::object::{place, wrong_type};
use crate::metric::{CriterionField, FieldKind, METRICS, MetricGroup, MetricInfo};
use crate::problem::{Code, JsonPath, Problem};
use crate::suggest::suggest;
use crate::syntax::{Entry, Node};

fn at_key(code: Code, entry: &Entry<'_>, path: JsonPath, message: String) -> Problem {
    Problem::error(code, path, entry.key_range.clone(), message)
}

pub(super) fn unknown_metric(entry: &Entry<'_>, path: JsonPath, nearest: Option<&str>) -> Problem {
    let name = &entry.key;
    let found = at_key(Code::UnknownMetric, entry, path, format!("there is no metric `{name}`"));
    if let Some(nearest) = nearest {
        return found.label("unknown metric").help(format!("did you mean `{nearest}`?"));
    }
    if name.starts_with('_') {
        let help = "ADK takes each key of `criteria` for a metric; put comments beside `criteria`";
        return found.label("not a comment here").help(help);
    }
    found.label("unknown metric").help(format!(
        "the metrics are {}; one of your own is named in the attribute: `{}`",
        gating_names(),
        answer(name)
    ))
}

/// The metrics that can stand in `criteria` in this version.
fn gating_names() -> String {
    let names: Vec<_> = METRICS
        .iter()
        .filter(|info| info.available && info.gates)
        .map(|info| format!("`{}`", info.name))
        .collect();
    names.join(", ")
}

/// The argument of the attribute that answers a custom metric.
pub(in crate::config) fn answer(name: &str) -> String {
    let identifier = name.starts_with(|c: char| c == '_' || unicode_ident::is_xid_start(c))
        && name.chars().all(unicode_ident::is_xid_continue);
    let key = if identifier { name } else { "name" };
    format!("metrics({key} = path::to::function)")
}

pub(super) fn not_available(entry: &Entry<'_>, path: JsonPath, info: &MetricInfo) -> Problem {
    let why = match info.group {
        MetricGroup::AdkJudged => "needs a judge",
        _ => "a metric of a later version",
    };
    let name = info.name;
    at_key(Code::NotAvailable, entry, path, format!("metric `{name}` is not available in this version"))
        .label(why)
        .help(format!(
            "remove it, or score it with a function of your own: `{}` in the attribute",
            answer(name)
        ))
}

pub(super) fn informational(entry: &Entry<'_>, path: JsonPath) -> Problem {
    let message = format!("`{}` takes no threshold: it is reported and never compared", entry.key);
    at_key(Code::InformationalThreshold, entry, path, message)
        .label("informational metric")
        .help("remove it from `criteria`; it is reported for every case anyway")
}

pub(super) fn out_of_range(
    node: &Node<'_>,
    path: JsonPath,
    name: &str,
    info: Option<&MetricInfo>,
    threshold: f64,
) -> Problem {
    let problem = |message: String| Problem::error(Code::ThresholdRange, path, place(node), message);
    let Some(info) = info.filter(|_| !threshold.is_nan()) else {
        return problem(format!("the threshold of `{name}` is not a number"))
            .label("no score is equal to or above NaN")
            .help("write a number");
    };
    let range = match info.max {
        Some(max) => format!("{} to {max}", info.min),
        None => format!("{} or more", info.min),
    };
    let label = if threshold < info.min { "every score would pass" } else { "no score can reach it" };
    let found =
        problem(format!("threshold {threshold} of `{name}` is outside its range, {range}")).label(label);
    match info.max {
        Some(1.0) if threshold > 1.0 && threshold <= 100.0 => {
            found.help(format!("scores are shares of 1, not percentages: write {}", threshold / 100.0))
        }
        _ => found.help(format!("write a number in the range {range}")),
    }
}

pub(super) fn unknown_key(entry: &Entry<'_>, path: &JsonPath, info: &MetricInfo, known: &str) -> Problem {
    let key = &entry.key;
    let message = format!("`{key}` is not a key of the criterion of `{}`", info.name);
    let found = at_key(Code::UnknownKey, entry, path.key(key), message).label("ADK ignores it");
    match METRICS.iter().find(|other| other.criterion.iter().any(|field| field.name == key.as_ref())) {
        Some(other) => found.help(format!("it is a key of `{}`; the keys here are {known}", other.name)),
        None => found.help(format!("the keys are {known}; a key for yourself begins with `_`")),
    }
}

pub(super) fn contradiction(path: JsonPath, ignore_args: &Entry<'_>, args_match: &Entry<'_>) -> Problem {
    let message = format!("`{}` contradicts `{}`", args_match.key, ignore_args.key);
    at_key(Code::WrongType, args_match, path, message)
        .label("compares arguments")
        .related(ignore_args.key_range.clone(), "says that they do not count")
        .help("remove one of the two")
}

pub(super) fn no_effect(entry: &Entry<'_>, path: JsonPath, info: &MetricInfo) -> Problem {
    let message = format!("`{}` has no effect on `{}`", entry.key, info.name);
    Problem::warning(Code::IgnoredKey, path, entry.key_range.clone(), message)
        .label("only judged metrics read it")
        .help("remove it")
}

pub(super) fn wrong_option(field: &CriterionField, entry: &Entry<'_>, path: JsonPath) -> Problem {
    let node = &entry.value;
    let found = wrong_type(path, node, &format!("`{}`", entry.key), &expected(field.kind));
    let meant = match (field.kind, node.string()) {
        (FieldKind::Choice { values, .. }, Some(text)) => suggest(text, values.iter().copied()),
        _ => None,
    };
    match (meant, field.default) {
        (Some(meant), _) => found.help(format!("did you mean `{meant}`?")),
        (None, Some(default)) => found.help(format!("leave the key out for the default, `{default}`")),
        (None, None) => found,
    }
}

/// What a key takes, in words.
fn expected(kind: FieldKind) -> String {
    match kind {
        FieldKind::Bool => "`true` or `false`".to_owned(),
        FieldKind::Number => "a number".to_owned(),
        FieldKind::String => "a string".to_owned(),
        FieldKind::Choice { values, .. } => {
            let values: Vec<_> = values.iter().map(|value| format!("`{value}`")).collect();
            format!("one of {}", values.join(", "))
        }
        FieldKind::Strings => "an array of strings".to_owned(),
        FieldKind::Objects => "an array of objects".to_owned(),
        FieldKind::Object => "an object".to_owned(),
    }
}
