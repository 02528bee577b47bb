//! Configs as values: built in Rust, and written.

use std::path::{Path, PathBuf};

use serde_core::{Serialize, Serializer};

use super::criterion::Criterion;
use super::metric_command::MetricCommand;
use super::user_simulator::UserSimulatorConfig;
use crate::model::saved::setters;
use crate::value::{Map, Value, to_pretty};

/// The metrics that decide whether a case passes, each with its threshold and options.
///
/// ```
/// use eval_format::EvalConfig;
///
/// let config = EvalConfig::parse(r#"{"criteria": {"response_match_score": 0.5}}"#)?;
/// assert_eq!(config.criterion("response_match_score").unwrap().threshold, 0.5);
///
/// let problems = EvalConfig::parse(r#"{"criteria": {"response_match": 0.5}}"#).unwrap_err();
/// assert!(problems.to_string().contains("response_match"));
/// # Ok::<(), eval_format::Problems>(())
/// ```
///
/// A config may be built in Rust too; [`checked`](Self::checked) checks it by the rules of a file.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EvalConfig {
    /// The metrics by name, in the order of the file.
    pub criteria: Vec<(String, Criterion)>,
    /// The entries of `custom_metrics` by name, in ADK's spelling. Their Python functions are not run; their programs are:
    /// see [`metric_command`](Self::metric_command).
    pub custom_metrics: Map,
    /// The options of simulated users; ADK's defaults if it is `None`.
    pub user_simulator_config: Option<UserSimulatorConfig>,
    /// The folder of the file, in which programs of custom metrics run. It is not written; `None` for the folder of this
    /// process.
    pub folder: Option<PathBuf>,
    /// The metrics that [`only`](Self::only) left out. It is not written.
    pub(crate) left_out: Vec<String>,
}

impl EvalConfig {
    /// ADK's criteria if there is no config: `tool_trajectory_avg_score` 1.0 and `response_match_score` 0.8.
    pub fn adk_default() -> Self {
        Self::default()
            .with("tool_trajectory_avg_score", Criterion::new(1.0))
            .with("response_match_score", Criterion::new(0.8))
    }

    /// The config with these criteria alone. What a case says of a metric that is left out by this has no meaning, and is no
    /// mistake.
    #[must_use]
    pub fn only(mut self, criteria: Vec<(String, Criterion)>) -> Self {
        let before = std::mem::replace(&mut self.criteria, criteria);
        let names = before.into_iter().map(|(name, _)| name);
        let left_out: Vec<String> = names.filter(|name| self.criterion(name).is_none()).collect();
        self.left_out.extend(left_out);
        self
    }

    /// Adds a criterion, or replaces the criterion of that metric in its place.
    ///
    /// ```
    /// use eval_format::{Criterion, EvalConfig, MatchType};
    ///
    /// let trajectory = Criterion::new(1.0).with_match_type(MatchType::InOrder);
    /// let config = EvalConfig::default().with("tool_trajectory_avg_score", trajectory);
    /// assert_eq!(config.checked(&[])?.criteria.len(), 1);
    /// # Ok::<(), eval_format::Problems>(())
    /// ```
    #[must_use]
    pub fn with(mut self, metric: impl Into<String>, criterion: Criterion) -> Self {
        let metric = metric.into();
        match self.criteria.iter_mut().find(|(name, _)| *name == metric) {
            Some((_, old)) => *old = criterion,
            None => self.criteria.push((metric, criterion)),
        }
        self
    }

    setters! {
        /// Sets an entry of `custom_metrics`, as ADK reads it: which Python function computes the metric.
        ///
        /// ```
        /// use eval_format::{Criterion, Direction, EvalConfig};
        /// use serde_json::json;
        ///
        /// let config = EvalConfig::default()
        ///     .with("brevity", Criterion::new(0.5).with_direction(Direction::AtLeast))
        ///     .with_custom_metric("brevity", json!({ "code_config": { "name": "my_metrics.brevity" } }));
        /// // The metric exists in Rust too.
        /// assert!(config.checked(&["brevity"]).is_ok());
        /// assert!(config.checked(&[]).is_err());
        /// ```
        with_custom_metric(metric: impl Into<String>, entry: impl Into<Value>) { custom_metrics.insert(metric, entry) }

        /// Sets how users are simulated in cases that are scenarios.
        with_user_simulator(simulator: UserSimulatorConfig) { user_simulator_config = Some(simulator) }
    }

    /// The criterion of a metric.
    pub fn criterion(&self, metric: &str) -> Option<&Criterion> {
        self.criteria.iter().find(|(name, _)| name == metric).map(|(_, criterion)| criterion)
    }

    /// The program that computes a custom metric; `None` if no program does.
    pub fn metric_command(&self, metric: &str) -> Option<MetricCommand> {
        MetricCommand::from_entry(self.custom_metrics.get(metric)?, self.folder.as_deref())
    }

    /// The programs that compute metrics of the criteria, by the names of the metrics.
    pub fn metric_commands(&self) -> impl Iterator<Item = (&str, MetricCommand)> {
        self.criteria.iter().filter_map(|(name, _)| Some((name.as_str(), self.metric_command(name)?)))
    }

    /// Sets the folder of the config to the folder of this file.
    #[must_use]
    pub fn in_folder_of(mut self, file: impl AsRef<Path>) -> Self {
        let folder = file.as_ref().parent().filter(|folder| !folder.as_os_str().is_empty());
        self.folder = folder.map(Path::to_owned);
        self
    }

    /// The text of a config file, indented by two blanks. A criterion without options is a number.
    ///
    /// ```
    /// let text = eval_format::EvalConfig::adk_default().to_json();
    /// assert!(text.contains(r#""response_match_score": 0.8"#));
    /// ```
    pub fn to_json(&self) -> String {
        to_pretty(&self.to_value())
    }

    /// The JSON value of the config's file.
    ///
    /// ```
    /// use eval_format::{Criterion, EvalConfig};
    ///
    /// let config = EvalConfig::default().with("response_match_score", Criterion::new(0.5));
    /// assert_eq!(config.to_value().to_string(), r#"{"criteria":{"response_match_score":0.5}}"#);
    /// assert_eq!(serde_json::to_value(&config)?, config.to_value());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn to_value(&self) -> Value {
        let criteria = self.criteria.iter().map(|(name, criterion)| (name.clone(), criterion.to_value()));
        // A duplicate name is written twice, and the reader refuses it.
        let criteria = Map::from_unique(criteria.collect());
        let mut config = Map::from([("criteria", Value::Object(criteria))]);
        if !self.custom_metrics.is_empty() {
            config.insert("custom_metrics", self.custom_metrics.clone());
        }
        if let Some(simulator) = &self.user_simulator_config {
            config.insert("user_simulator_config", simulator.to_value());
        }
        Value::Object(config)
    }
}

/// Serialises the JSON value of the config's file.
impl Serialize for EvalConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}
