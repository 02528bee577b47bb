//! The criteria of a config. Each is checked against the entry of its metric in the list of metrics.

use eval_support::spelling::suggest;

use super::criterion::Criterion;
use super::custom_metrics::CustomNames;
use super::judged;
use super::messages::{self, SUGGESTION_LIMIT, nothing_checked};
use crate::coerce;
use crate::metric::fields::{DIRECTION, INTERMEDIATE_RESPONSES, JUDGE};
use crate::metric::{Bound, METRICS, MetricInfo, Similarity, metric};
use crate::problem::Problem;
use crate::schema::{self, Field, Model, Place, Type, Walker, wrong_type};
use crate::syntax::{Entry, Kind, Node};
use crate::value::Value;

pub(super) fn read(
    entry: &Entry<'_>,
    names: &CustomNames<'_>,
    problems: &mut Vec<Problem>,
) -> Vec<(String, Criterion)> {
    let place = &Place::Key(&Place::Root, &entry.key);
    let entries = entry.value.object().unwrap_or_default();
    if entry.value.object().is_some_and(<[_]>::is_empty) {
        problems.push(nothing_checked(place, &entry.value, "`criteria` is empty"));
    }
    let mut criteria = Vec::with_capacity(entries.len());
    for entry in entries {
        if let Some(criterion) = criterion(entry, &Place::Key(place, &entry.key), names, problems) {
            criteria.push((entry.key.clone().into_owned(), criterion));
        }
    }
    if !entries.is_empty()
        && criteria.len() == entries.len()
        && !criteria.iter().any(|at| can_fail(at, names))
    {
        problems.push(nothing_checked(place, &entry.value, "no score misses any of these thresholds"));
    }
    criteria
}

/// Whether a score can be below the threshold. A custom metric counts as able to fail, since its lowest score
/// is unknown. So does a threshold that is not finite, which is an error of its own.
fn can_fail((name, criterion): &(String, Criterion), names: &CustomNames<'_>) -> bool {
    let info = metric(name).filter(|_| !names.contains(name));
    info.is_none_or(|info| !criterion.threshold.is_finite() || !criterion.bound().is_free(info.min, info.max))
}

fn criterion(
    entry: &Entry<'_>,
    place: &Place<'_>,
    names: &CustomNames<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Criterion> {
    let info = metric(&entry.key);
    let refused = match info {
        _ if names.contains(&entry.key) => {
            return Reader { name: &entry.key, info: None }.read(&entry.value, place, problems);
        }
        None => {
            let nearest = (problems.len() < SUGGESTION_LIMIT).then(|| nearest(&entry.key, names));
            messages::unknown_metric(entry, place, nearest.flatten())
        }
        Some(info) if !info.gates && entry.value.get(DIRECTION.name).is_none() => {
            messages::informational(entry, place)
        }
        Some(_) => return Reader { name: &entry.key, info }.read(&entry.value, place, problems),
    };
    problems.push(refused);
    None
}

fn nearest<'n>(name: &str, names: &CustomNames<'n>) -> Option<&'n str> {
    let own = names.answered.iter().copied().chain(names.declared.iter().copied().take(SUGGESTION_LIMIT));
    suggest(name, METRICS.iter().map(|info| info.name).chain(own))
}

/// Reads the criterion of one metric. A custom metric has no `info`.
struct Reader<'m> {
    name: &'m str,
    info: Option<&'static MetricInfo>,
}

impl Reader<'_> {
    /// Reads a number, or an object with `threshold`. The text of a number counts as that number, as in ADK.
    fn read(&self, node: &Node<'_>, place: &Place<'_>, problems: &mut Vec<Problem>) -> Option<Criterion> {
        match &node.kind {
            Kind::Object(entries) => self.object(node, entries, place, problems),
            Kind::Array(_) | Kind::Null => {
                problems.push(messages::not_a_criterion(node, place, self.name));
                None
            }
            _ => {
                let threshold = coerce::float(node);
                if threshold.is_none() {
                    problems.push(wrong_type(node, &Type::Float, "", place));
                }
                self.check_range(Bound::at_least(threshold?), node, place, problems);
                if let Some(field) = self.required_option() {
                    problems.push(messages::needs_an_option(node, place, self.name, field));
                }
                threshold.map(Criterion::new)
            }
        }
    }

    fn object(
        &self,
        node: &Node<'_>,
        entries: &[Entry<'_>],
        place: &Place<'_>,
        problems: &mut Vec<Problem>,
    ) -> Option<Criterion> {
        let model = schema::criterion(self.info);
        let mut record = Walker { problems }.record(node, model, place)?;
        // A custom metric may ask a judge too. The options of judges are the same for all metrics.
        let fields = self.info.map_or(&[JUDGE][..], |info| info.criterion);
        judged::check(fields, model, entries, place, problems);
        let threshold = record.take("threshold")?;
        let criterion = Criterion { threshold, options: judged::snake_case(record.rest()) };
        if let Some(entry) = model.entry(entries, "threshold") {
            self.check_range(criterion.bound(), &entry.value, &Place::Key(place, &entry.key), problems);
        }
        if let Some(info) = self.info {
            let keys = Keys { model, entries, place };
            problems.extend(keys.without_effect(info));
            problems.extend(keys.contradiction(&criterion));
            problems.extend(keys.unseen_by_algorithm(&criterion));
        }
        Some(criterion)
    }

    fn required_option(&self) -> Option<&'static Field> {
        let fields = &schema::criterion(self.info).fields;
        fields.iter().find(|field| field.required && field.name != "threshold")
    }

    fn check_range(&self, bound: Bound, node: &Node<'_>, place: &Place<'_>, problems: &mut Vec<Problem>) {
        let threshold = bound.threshold;
        let in_range = threshold.is_finite() && self.info.is_none_or(|info| info.in_range(threshold));
        if !in_range {
            problems.push(messages::out_of_range(node, place, self.name, self.info, bound));
        }
    }
}

/// The keys of a criterion.
struct Keys<'k> {
    model: &'static Model,
    entries: &'k [Entry<'k>],
    place: &'k Place<'k>,
}

impl<'k> Keys<'k> {
    fn get(&self, name: &str) -> Option<&'k Entry<'k>> {
        self.model.entry(self.entries, name)
    }

    fn place(&self, entry: &'k Entry<'k>) -> Place<'k> {
        Place::Key(self.place, &entry.key)
    }

    /// Reports a key that ADK allows in every criterion and that this metric does not read.
    fn without_effect(&self, info: &MetricInfo) -> Option<Problem> {
        let entry = self.get(INTERMEDIATE_RESPONSES.name)?;
        let read = info.criterion.iter().any(|field| field.name == INTERMEDIATE_RESPONSES.name);
        (!read).then(|| messages::no_effect(entry, &self.place(entry), info))
    }

    /// Reports `ignore_args` beside an `args_match` that contradicts it.
    fn contradiction(&self, criterion: &Criterion) -> Option<Problem> {
        let ignore_args = self.get("ignore_args").filter(|_| criterion.ignore_args())?;
        let args_match = self.get("args_match")?;
        let ignores = criterion.get("args_match").and_then(Value::as_str) == Some("ignore");
        (!ignores).then(|| messages::contradiction(ignore_args, args_match, &self.place(args_match)))
    }

    /// Reports `ignore_case: false` or `normalize: false` beside an algorithm that ignores case or white space.
    fn unseen_by_algorithm(&self, criterion: &Criterion) -> Option<Problem> {
        let algorithm = criterion.algorithm();
        let problem = |key, ignored: bool, sees: fn(Similarity) -> bool| {
            let entry = self.get(key).filter(|_| !ignored && !sees(algorithm))?;
            let chosen = self.get("algorithm");
            Some(messages::unseen_by_algorithm(entry, chosen, algorithm, sees, &self.place(entry)))
        };
        problem("ignore_case", criterion.ignore_case(), Similarity::sees_case)
            .or_else(|| problem("normalize", criterion.normalize(), Similarity::sees_white_space))
    }
}
