//! Criteria as values: a threshold and options.

mod judged;

use crate::coerce;
use crate::metric::fields::{ARGS_MATCH, criterion_fields};
use crate::metric::{
    ArgsMatch, Bound, CriterionField, Direction, MatchType, MetricInfo, Quadratic, Similarity, fields,
};
use crate::value::{Map, Number, Value};

/// The getter and the setter of each key for which its type is enough. The other accessors are written by
/// hand.
macro_rules! accessors {
    ($($(#[$doc:meta])* $name:ident = $get:ident, $set:tt: $kind:ident($type:ident), $has:ident $json:literal, $what:literal;)+) => {
        $(accessors! { @$kind $set [$(#[$doc])*] $get $name $type })+
    };
    (@$kind:ident _ $($rest:tt)*) => {};
    (@choice $set:ident [$($doc:tt)*] $get:ident $field:ident $type:ident) => {
        $($doc)*
        pub fn $get(&self) -> $type {
            self.choice(&fields::$field, $type::ALL, $type::as_str)
        }

        accessors! { @set $set $get: $type => $get.as_str() }
    };
    (@numbered $($rest:tt)+) => {
        accessors! { @choice $($rest)+ }
    };
    (@flag $set:ident [$($doc:tt)*] $get:ident $field:ident $type:ident) => {
        $($doc)*
        pub fn $get(&self) -> bool {
            self.get(stringify!($get)).and_then(Value::as_bool).unwrap_or(fields::$field.default == Some("true"))
        }

        accessors! { @set $set $get: bool => $get }
    };
    (@text $set:ident [$($doc:tt)*] $get:ident $field:ident $type:ident) => {
        $($doc)*
        pub fn $get(&self) -> &str {
            self.get(stringify!($get)).and_then(Value::as_str).unwrap_or(fields::$field.default_text())
        }

        accessors! { @set $set $get: impl Into<String> => $get.into() }
    };
    (@required $set:ident [$($doc:tt)*] $get:ident $field:ident $type:ident) => {
        $($doc)*
        pub fn $get(&self) -> Option<&str> {
            self.get(stringify!($get)).and_then(Value::as_str)
        }

        accessors! { @set $set $get: impl Into<String> => $get.into() }
    };
    (@texts $set:ident [$($doc:tt)*] $get:ident $field:ident $type:ident) => {
        $($doc)*
        pub fn $get(&self) -> impl Iterator<Item = &str> {
            let texts = self.get(stringify!($get)).and_then(Value::as_array).unwrap_or_default();
            texts.iter().filter_map(Value::as_str)
        }

        #[doc = concat!("Sets `", stringify!($get), "`.")]
        #[must_use]
        pub fn $set<T: Into<String>>(self, $get: impl IntoIterator<Item = T>) -> Self {
            let texts: Vec<Value> = $get.into_iter().map(|text| Value::String(text.into())).collect();
            self.with(stringify!($get), texts)
        }
    };
    (@set $set:ident $get:ident: $type:ty => $value:expr) => {
        #[doc = concat!("Sets `", stringify!($get), "`.")]
        #[must_use]
        pub fn $set(self, $get: $type) -> Self {
            self.with(stringify!($get), $value)
        }
    };
}

/// Threshold and options of one metric.
///
/// ```
/// use eval_format::{Criterion, MatchType};
///
/// let criterion = Criterion::new(0.8).with_match_type(MatchType::AnyOrder).with("forbidden_tools", vec!["refund"]);
/// assert_eq!(criterion.match_type(), MatchType::AnyOrder);
/// assert!(!criterion.ignore_args());
/// ```
///
/// [`METRICS`](crate::metric::METRICS) lists which metric reads which option. A criterion does not know its metric:
/// [`EvalConfig::checked`](crate::EvalConfig::checked) and the runner of eval-core refuse options that the metric does
/// not read. Options read from a file have `snake_case` names and ADK's types. The typed getters return the default if
/// an option is absent, or was never checked and has a value of another type.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Criterion {
    /// The lowest score that passes; the highest if the `direction` is `at_most`.
    pub threshold: f64,
    /// The other keys.
    pub options: Map,
}

impl Criterion {
    /// A criterion without options.
    pub fn new(threshold: f64) -> Self {
        Self { threshold, options: Map::new() }
    }

    /// Sets an option by its name in a file. The `threshold` is set by its name too.
    ///
    /// ```
    /// use eval_format::Criterion;
    ///
    /// let criterion = Criterion::new(0.9).with("ignore_case", false).with("threshold", 0.1);
    /// assert_eq!(criterion.threshold, 0.1);
    /// ```
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let (key, value) = (key.into(), value.into());
        match value.as_f64() {
            Some(threshold) if key == THRESHOLD => self.threshold = threshold,
            _ => {
                self.options.insert(key, value);
            }
        }
        self
    }

    /// An option by its `snake_case` name.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.options.get(key)
    }

    /// The threshold with its direction.
    pub fn bound(&self) -> Bound {
        Bound { threshold: self.threshold, direction: self.direction() }
    }

    /// A criterion that scores up to the threshold meet.
    ///
    /// ```
    /// use eval_format::Criterion;
    ///
    /// let cost = Criterion::at_most(5.0);
    /// assert!(cost.is_met(3.0) && !cost.is_met(10.0));
    /// ```
    pub fn at_most(threshold: f64) -> Self {
        Self::new(threshold).with_direction(Direction::AtMost)
    }

    /// Whether a score meets the threshold, in the direction of the criterion. There is no tolerance, as in ADK.
    pub fn is_met(&self, score: f64) -> bool {
        self.bound().is_met(score)
    }

    criterion_fields!(accessors);

    /// The comparison of arguments: `args_match`, [`Exact`](ArgsMatch::Exact) by default. [`Ignore`](ArgsMatch::Ignore)
    /// if `ignore_args` is set.
    pub fn args_match(&self) -> ArgsMatch {
        if self.ignore_args() {
            ArgsMatch::Ignore
        } else {
            self.choice(&ARGS_MATCH, ArgsMatch::ALL, ArgsMatch::as_str)
        }
    }

    /// Sets `args_match`.
    #[must_use]
    pub fn with_args_match(self, args_match: ArgsMatch) -> Self {
        self.with(ARGS_MATCH.name, args_match.as_str())
    }

    fn choice<T: Copy + Default>(
        &self,
        field: &CriterionField,
        values: &[T],
        name: fn(T) -> &'static str,
    ) -> T {
        let text = self.get(field.name).and_then(Value::as_str);
        let is_meant =
            |value: &T| text.is_some_and(|text| coerce::choice_text(text, &[name(*value)]).is_some());
        values.iter().copied().find(is_meant).unwrap_or_default()
    }

    /// The criterion in a config: a number if it has no options, else an object.
    pub(super) fn to_value(&self) -> Value {
        let threshold = Value::Number(Number::from(self.threshold));
        if self.options.is_empty() {
            return threshold;
        }
        let mut entries = vec![(THRESHOLD.to_owned(), threshold)];
        entries.extend(self.options.iter().map(|(key, value)| (key.to_owned(), value.clone())));
        // A second threshold among the options becomes a duplicate key, which the reader refuses.
        Value::Object(Map::from_unique(entries))
    }
}

const THRESHOLD: &str = "threshold";

impl MetricInfo {
    /// Whether its time is quadratic with a criterion: it may compare each actual part with each expected part.
    ///
    /// ```
    /// use eval_format::{ArgsMatch, Criterion, metric::metric};
    ///
    /// let trajectory = metric("tool_trajectory_avg_score").unwrap();
    /// assert!(!trajectory.is_quadratic(&Criterion::new(1.0)));
    /// assert!(trajectory.is_quadratic(&Criterion::new(1.0).with_args_match(ArgsMatch::Subset)));
    /// ```
    pub fn is_quadratic(&self, criterion: &Criterion) -> bool {
        match self.quadratic {
            Quadratic::Never => false,
            Quadratic::Always => true,
            Quadratic::WithSubsets => criterion.args_match() == ArgsMatch::Subset,
            Quadratic::WithAlignment => {
                matches!(criterion.algorithm(), Similarity::Levenshtein | Similarity::RougeL)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_options_have_the_defaults_of_the_list_of_metrics() {
        let absent = Criterion::new(1.0);
        let mut given = absent.clone();
        for field in crate::metric::METRICS.iter().flat_map(|info| info.criterion) {
            if let Some(default) = field.default {
                let value: serde_json::Value = serde_json::from_str(default).unwrap();
                given = given.with(field.name, value);
            }
        }
        for criterion in [&absent, &given] {
            assert_eq!(criterion.direction(), Direction::AtLeast);
            assert_eq!(criterion.match_type(), MatchType::Exact);
            assert_eq!(criterion.args_match(), ArgsMatch::Exact);
            assert!(!criterion.ignore_args());
            assert_eq!(criterion.forbidden_tools().count(), 0);
            assert_eq!(criterion.tool_name(), None);
            assert_eq!(criterion.algorithm(), Similarity::Jaccard);
            assert!(criterion.ignore_case() && criterion.normalize());
            assert!(!criterion.evaluate_intermediate_nl_responses());
            assert_eq!(criterion.stop_signal(), "</finished>");
        }
    }

    #[test]
    fn a_threshold_that_is_set_by_its_name_is_the_one_that_counts() {
        use crate::config::EvalConfig;
        let config = |criterion| EvalConfig::default().with("response_match_score", criterion);
        let criterion = Criterion::new(0.9).with("threshold", 0.1);
        assert_eq!((criterion.threshold, criterion.options.len()), (0.1, 0));
        let checked = config(criterion).checked(&[]).unwrap();
        assert_eq!(checked.criterion("response_match_score"), Some(&Criterion::new(0.1)));
        // Two thresholds are refused.
        let mut twice = Criterion::new(0.9);
        twice.options.insert("threshold", 0.1);
        for criterion in [twice, Criterion::new(0.9).with("threshold", "0.1")] {
            let problems = config(criterion).checked(&[]).unwrap_err().to_string();
            assert!(problems.contains("`threshold`") && problems.contains("repeated"), "{problems}");
        }
    }

    #[test]
    fn what_is_set_is_read_back() {
        let criterion = Criterion::new(1.0);
        for &direction in Direction::ALL {
            assert_eq!(criterion.clone().with_direction(direction).direction(), direction);
        }
        for &match_type in MatchType::ALL {
            assert_eq!(criterion.clone().with_match_type(match_type).match_type(), match_type);
        }
        for &args_match in ArgsMatch::ALL {
            assert_eq!(criterion.clone().with_args_match(args_match).args_match(), args_match);
        }
        for &algorithm in Similarity::ALL {
            assert_eq!(criterion.clone().with_algorithm(algorithm).algorithm(), algorithm);
        }
        let criterion = criterion
            .with_forbidden_tools(["refund", "transfer"])
            .with_tool_name("lookup")
            .with_ignore_case(false)
            .with_normalize(false)
            .with_evaluate_intermediate_nl_responses(true)
            .with_stop_signal("bye");
        assert_eq!(criterion.forbidden_tools().collect::<Vec<_>>(), ["refund", "transfer"]);
        assert_eq!(criterion.tool_name(), Some("lookup"));
        assert!(!criterion.ignore_case() && !criterion.normalize());
        assert!(criterion.evaluate_intermediate_nl_responses());
        assert_eq!(criterion.stop_signal(), "bye");
    }

    #[test]
    fn ignore_args_wins_over_args_match() {
        let criterion = Criterion::new(1.0).with_args_match(ArgsMatch::Subset);
        assert_eq!(criterion.with_ignore_args(true).args_match(), ArgsMatch::Ignore);
    }
}
