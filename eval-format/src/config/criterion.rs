use crate::coerce;
use crate::value::{Map, Number, Value};

/// Threshold and options of one metric.
///
/// ```
/// use eval_format::{Criterion, MatchType};
///
/// let criterion = Criterion::new(0.8).with("match_type", "ANY_ORDER");
/// assert_eq!(criterion.match_type(), MatchType::AnyOrder);
/// assert!(!criterion.ignore_args());
/// ```
///
/// Options read from a file have `snake_case` names and the types that ADK gives them. The typed
/// getters answer with the default where an option is absent or was never checked and is of no use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Criterion {
    /// A score of at least this passes.
    pub threshold: f64,
    /// The other keys.
    pub options: Map,
}

impl Criterion {
    /// A criterion without options.
    pub fn new(threshold: f64) -> Self {
        Self { threshold, options: Map::new() }
    }

    /// Sets an option.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.options.insert(key, value);
        self
    }

    /// An option by its `snake_case` name.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.options.get(key)
    }

    /// How strictly tool calls are compared: `match_type`, exact unless said.
    pub fn match_type(&self) -> MatchType {
        match self.choice("match_type", &["EXACT", "IN_ORDER", "ANY_ORDER"]) {
            Some("IN_ORDER") => MatchType::InOrder,
            Some("ANY_ORDER") => MatchType::AnyOrder,
            _ => MatchType::Exact,
        }
    }

    /// Whether only the names of tools are compared: `ignore_args`.
    pub fn ignore_args(&self) -> bool {
        self.get("ignore_args").and_then(Value::as_bool).unwrap_or(false)
    }

    /// How arguments are compared: `args_match`, or ignored where `ignore_args` says so; equal unless said.
    pub fn args_match(&self) -> ArgsMatch {
        match self.choice("args_match", &["exact", "subset", "ignore"]) {
            _ if self.ignore_args() => ArgsMatch::Ignore,
            Some("subset") => ArgsMatch::Subset,
            Some("ignore") => ArgsMatch::Ignore,
            _ => ArgsMatch::Exact,
        }
    }

    /// The tools that must not be called: `forbidden_tools`.
    pub fn forbidden_tools(&self) -> impl Iterator<Item = &str> {
        self.get("forbidden_tools")
            .and_then(Value::as_array)
            .unwrap_or_default()
            .iter()
            .filter_map(Value::as_str)
    }

    fn choice(&self, key: &str, values: &[&'static str]) -> Option<&'static str> {
        coerce::choice_text(self.get(key)?.as_str()?, values)
    }

    /// As it stands in a config: a bare number where there are no options.
    pub(super) fn to_value(&self) -> Value {
        let threshold = Value::Number(Number::from(self.threshold));
        if self.options.is_empty() {
            return threshold;
        }
        let mut map = Map::from([("threshold", threshold)]);
        map.extend(self.options.iter().map(|(key, value)| (key, value.clone())));
        Value::Object(map)
    }
}

/// How the tool calls of a turn must agree with the expected ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MatchType {
    /// The same calls in the same order.
    #[default]
    Exact,
    /// The expected calls in order; others may stand between them.
    InOrder,
    /// The expected calls in any order; others may be there.
    AnyOrder,
}

/// How the arguments of two tool calls must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ArgsMatch {
    /// Equal.
    #[default]
    Exact,
    /// Each expected argument equal; the actual call may have more.
    Subset,
    /// Not compared.
    Ignore,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn options_have_defaults() {
        let criterion = Criterion::new(1.0);
        assert_eq!(criterion.match_type(), MatchType::Exact);
        assert_eq!(criterion.args_match(), ArgsMatch::Exact);
        assert!(!criterion.ignore_args());
        assert_eq!(criterion.forbidden_tools().count(), 0);
    }

    #[test]
    fn ignore_args_wins_over_args_match() {
        let criterion = Criterion::new(1.0).with("args_match", "subset");
        assert_eq!(criterion.args_match(), ArgsMatch::Subset);
        assert_eq!(criterion.with("ignore_args", true).args_match(), ArgsMatch::Ignore);
    }

    #[test]
    fn forbidden_tools_are_listed() {
        let criterion = Criterion::new(1.0).with("forbidden_tools", json!(["refund", "transfer"]));
        assert_eq!(criterion.forbidden_tools().collect::<Vec<_>>(), ["refund", "transfer"]);
    }
}
