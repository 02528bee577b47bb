//! The problems of criteria.

use super::custom_metrics::answer;
use crate::metric::{Bound, Direction, MetricInfo, Similarity};
use crate::problem::{Problem, ProblemCode, code_list, shown};
use crate::schema::{Field, Place, opening};
use crate::syntax::{Entry, Node};

/// The number of problems of a config that get a "did you mean", and the number of its custom metrics that
/// are compared for it. It is enough for any real config, and limits the cost of a hostile one.
pub(super) const SUGGESTION_LIMIT: usize = 100;

/// The problem of criteria that check nothing. Its help shows ADK's default.
pub(super) fn nothing_checked(place: &Place<'_>, node: &Node<'_>, what: &str) -> Problem {
    let message = format!("{what}, so every case would pass unchecked");
    place.error(ProblemCode::NothingChecked, opening(node), message).label("no metric decides").help(
        "name at least one metric; ADK's default is \
             `\"criteria\": {\"tool_trajectory_avg_score\": 1.0, \"response_match_score\": 0.8}`",
    )
}

pub(super) fn unknown_metric(entry: &Entry<'_>, place: &Place<'_>, nearest: Option<&str>) -> Problem {
    let name = &shown(&entry.key);
    let found = place.error_at_key(ProblemCode::UnknownMetric, entry, format!("there is no metric `{name}`"));
    if let Some(nearest) = nearest {
        return found.label("unknown metric").help(format!("did you mean `{}`?", shown(nearest)));
    }
    if name.starts_with('_') {
        let help = "ADK takes each key of `criteria` for a metric; put comments beside `criteria`";
        return found.label("not a comment here").help(help);
    }
    found.label("unknown metric").help(format!(
        "if it is your own, {}; the built-in metrics are in the documentation of `eval_core::metric`",
        answer(name)
    ))
}

pub(super) fn informational(entry: &Entry<'_>, place: &Place<'_>) -> Problem {
    let name = &entry.key;
    let message = format!("`{name}` is reported and not compared with a threshold that has no direction");
    place.error_at_key(ProblemCode::InformationalThreshold, entry, message).label("informational metric").help(format!(
        "write `\"{name}\": {{\"threshold\": 5, \"direction\": \"at_most\"}}` to let it decide (in a command \
         `-m '{name}<=5'`), or remove it: it is reported for every case anyway"
    ))
}

pub(super) fn not_a_criterion(node: &Node<'_>, place: &Place<'_>, name: &str) -> Problem {
    let name = shown(name);
    let message =
        format!("the criterion of `{name}` must be a number or an object, not {}", node.kind_name());
    place
        .error(ProblemCode::WrongType, opening(node), message)
        .label("expected a threshold")
        .help(format!(r#"write `"{name}": 0.8` or `"{name}": {{"threshold": 0.8}}`"#))
}

pub(super) fn out_of_range(
    node: &Node<'_>,
    place: &Place<'_>,
    name: &str,
    info: Option<&MetricInfo>,
    Bound { threshold, direction, .. }: Bound,
) -> Problem {
    let name = shown(name);
    // ADK takes any number. A finite threshold decides as in ADK. Other thresholds cannot be written into
    // results.
    let severity = if threshold.is_finite() { Problem::warning } else { Problem::error };
    let problem =
        |message: String| severity(ProblemCode::ThresholdRange, place.path(), node.range.clone(), message);
    if threshold.is_nan() {
        return problem(format!("the threshold of `{name}` is not a number"))
            .label("no score reaches NaN")
            .help("write a number like `0.5`");
    }
    let lowest = info.map_or(0.0, |info| info.min);
    let is_free = (threshold < lowest) == (direction == Direction::AtLeast);
    let label = if is_free { "every score would pass" } else { "no score can reach it" };
    let Some(info) = info else {
        let message = format!("the threshold of `{name}` is infinite");
        return problem(message).label(label).help("write a number like `0.5`");
    };
    let range = match info.max {
        Some(max) => format!("{} to {max}", info.min),
        None => format!("{} or more", info.min),
    };
    let found =
        problem(format!("threshold {threshold} of `{name}` is outside its range, {range}")).label(label);
    match info.max {
        // A percentage between 1 and 2 is unlikely, and computed thresholds miss 1 by a little.
        Some(1.0) if (2.0..=100.0).contains(&threshold) => {
            found.help(format!("scores are shares of 1, not percentages: write {}", share(threshold)))
        }
        _ => found.help(format!("write a number in the range {range}")),
    }
}

/// A percentage as a share of 1, without the digits that a division of floats adds.
fn share(percentage: f64) -> f64 {
    (percentage * 1e10).round() / 1e12
}

pub(super) fn contradiction(ignore_args: &Entry<'_>, args_match: &Entry<'_>, place: &Place<'_>) -> Problem {
    let message = format!("`{}` contradicts `{}`", args_match.key, ignore_args.key);
    place
        .error_at_key(ProblemCode::WrongType, args_match, message)
        .label("compares arguments")
        .related(ignore_args.key_range.clone(), "says that they do not count")
        .help("remove one of the two")
}

pub(super) fn needs_an_option(node: &Node<'_>, place: &Place<'_>, name: &str, field: &Field) -> Problem {
    let Field { name: option, example, .. } = field;
    let message = format!("the criterion of `{name}` has no `{option}`");
    place
        .error(ProblemCode::MissingKey, node.range.clone(), message)
        .label("a threshold alone does not say what to look for")
        .help(format!("give it a `threshold` and a `{option}`, such as `{example}`"))
}

pub(super) fn unseen_by_algorithm(
    entry: &Entry<'_>,
    chosen: Option<&Entry<'_>>,
    algorithm: Similarity,
    sees: fn(Similarity) -> bool,
    place: &Place<'_>,
) -> Problem {
    let mut others = Similarity::ALL.iter().copied().filter(|other| sees(*other)).map(Similarity::as_str);
    let message = format!("`{}: false` has no effect with the algorithm `{}`", entry.key, algorithm.as_str());
    let found = place
        .error_at_key(ProblemCode::WrongType, entry, message)
        .label("asks for what the algorithm cannot see")
        .help(format!("remove it, or choose one of {}", code_list(&mut others)));
    match chosen {
        Some(chosen) => found.related(chosen.value.range.clone(), "compares words"),
        None => found,
    }
}

pub(super) fn no_effect(entry: &Entry<'_>, place: &Place<'_>, info: &MetricInfo) -> Problem {
    let message = format!("`{}` has no effect on `{}`", entry.key, info.name);
    place
        .warning_at_key(ProblemCode::IgnoredKey, entry, message)
        .label("only judged metrics read it")
        .help("remove it")
}
