//! Criteria of a single case: the key `_criteria`, laid over the criteria of the config.

use std::borrow::Cow;
use std::fmt;

use eval_support::words::{code_list, did_you_mean};

use super::criterion::Criterion;
use super::eval_config::EvalConfig;
use super::metric_command::MetricCommand;
use crate::metric::metric as known_metric;
use crate::model::EvalCase;
use crate::problem::shown;
use crate::value::{Map, Value};

const KEY: &str = "_criteria";

/// A mistake in the key `_criteria` of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaseCriteriaError {
    /// The metric that it is about; `None` if it is about the key as a whole.
    pub metric: Option<String>,
    /// The mistake in words.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl fmt::Display for CaseCriteriaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl std::error::Error for CaseCriteriaError {}

impl EvalCase {
    /// The key of a case that changes the criteria of the config for this case.
    pub const CRITERIA_KEY: &'static str = KEY;

    /// The changes in the key `_criteria`: for each metric its threshold, the keys of its criterion, or `null` if the metric is
    /// not for this case.
    pub fn own_criteria(&self) -> Option<&Map> {
        self.extra.get(KEY)?.as_object().filter(|criteria| !criteria.is_empty())
    }

    /// Whether the key `_criteria` has `null` for a metric: it is not for this case.
    #[doc(hidden)]
    pub fn takes_out(&self, metric: &str) -> bool {
        self.own_criteria().and_then(|own| own.get(metric)).is_some_and(Value::is_null)
    }

    /// Takes a metric of the config out for this case, or changes its threshold or the keys of its criterion.
    ///
    /// ```
    /// use eval_format::{EvalCase, EvalConfig, Invocation, Value};
    ///
    /// let case = EvalCase::new("hi").turn(Invocation::user("Hi").response("Hello!"));
    /// let case = case.with_criterion("response_match_score", 0.5).with_criterion("tool_trajectory_avg_score", Value::Null);
    /// let config = EvalConfig::adk_default();
    /// let own = config.of_case(&case, &[])?;
    /// assert_eq!((own.criteria.len(), own.criteria[0].1.threshold), (1, 0.5));
    /// # Ok::<(), eval_format::config::CaseCriteriaError>(())
    /// ```
    #[must_use]
    pub fn with_criterion(mut self, metric: impl Into<String>, change: impl Into<Value>) -> Self {
        let mut criteria = self.own_criteria().cloned().unwrap_or_default();
        criteria.insert(metric, change);
        self.extra.insert(KEY, Value::Object(criteria));
        self
    }
}

impl EvalConfig {
    /// The config for a case: with the criteria that the case changes, and without the ones that it takes out.
    ///
    /// A case changes only metrics that the config has; one that it takes out may be absent. `answered` names the custom metrics that exist in Rust.
    pub fn of_case(&self, case: &EvalCase, answered: &[&str]) -> Result<Cow<'_, Self>, CaseCriteriaError> {
        let changes = match case.extra.get(KEY) {
            None | Some(Value::Null) => return Ok(Cow::Borrowed(self)),
            Some(Value::Object(changes)) => changes,
            Some(other) => {
                let message = format!("`{KEY}` must be an object of criteria, not {}", other.kind());
                let help = r#"write `"_criteria": {"response_match_score": 0.5}`, or `null` for a metric that is not meant"#;
                return Err(CaseCriteriaError { metric: None, message, help: help.to_owned() });
            }
        };
        let mut own = self.clone();
        for (metric, change) in changes {
            own.change(metric, change, answered).map_err(|(message, help)| CaseCriteriaError {
                metric: Some(metric.to_owned()),
                message,
                help,
            })?;
        }
        Ok(Cow::Owned(own))
    }

    fn change(&mut self, metric: &str, change: &Value, answered: &[&str]) -> Result<(), (String, String)> {
        let Some(at) = self.criteria.iter().position(|(name, _)| name == metric) else {
            let is_known = known_metric(metric).is_some()
                || self.custom_metrics.contains_key(metric)
                || answered.contains(&metric);
            if change.is_null() && is_known || self.left_out.iter().any(|name| name == metric) {
                return Ok(());
            }
            let known: Vec<&str> = self.criteria.iter().map(|(name, _)| name.as_str()).collect();
            let help = did_you_mean(metric, known.iter().copied()).unwrap_or_else(|| match known.len() {
                0 => "no criterion is left".to_owned(),
                _ => format!("a case changes criteria of its config: {}", code_list(&known)),
            });
            return Err((format!("the config has no criterion `{}`", shown(metric)), help));
        };
        let criterion = match change {
            Value::Null => {
                self.criteria.remove(at);
                return Ok(());
            }
            Value::Object(keys) => keys.iter().fold(self.criteria[at].1.clone(), with_key),
            threshold => with_key(self.criteria[at].1.clone(), ("threshold", threshold)),
        };
        let custom_metrics = self.custom_metrics.get(metric).map(|entry| (metric, entry.clone()));
        // Whether any criterion decides the case is a question about all of them, which `check_compatibility` answers.
        let other =
            ["response_match_score", "tool_trajectory_avg_score"].into_iter().find(|name| *name != metric);
        let decides = other.map(|name| (name.to_owned(), Criterion::new(1.0)));
        let alone = Self {
            criteria: decides.into_iter().chain([(metric.to_owned(), criterion)]).collect(),
            custom_metrics: custom_metrics.into_iter().collect(),
            ..Self::default()
        };
        let mut checked = alone.checked(answered).map_err(|problems| {
            let problem = problems.iter().find(|problem| problem.is_error());
            let message = problem.map(|problem| problem.message.clone()).unwrap_or_default();
            let help = problem.and_then(|problem| problem.help.clone());
            (message, help.unwrap_or_else(|| "a config has these rules".to_owned()))
        })?;
        if let Some((_, criterion)) = checked.criteria.pop() {
            let is_program = self.metric_command(metric).is_some() && !answered.contains(&metric);
            let free = is_program.then(|| MetricCommand::checks_nothing(metric, criterion.bound())).flatten();
            if let Some(message) = free {
                return Err((message, "choose one that a score can miss, or `null`".to_owned()));
            }
            self.criteria[at].1 = criterion;
        }
        Ok(())
    }
}

/// A criterion with a key changed; `null` takes an option out.
fn with_key(mut criterion: Criterion, (key, value): (&str, &Value)) -> Criterion {
    if value.is_null() {
        criterion.options.remove(key);
        return criterion;
    }
    criterion.with(key, value.clone())
}
