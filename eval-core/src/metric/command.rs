//! Programs as metrics.

mod answer;
mod launch;
mod program;
mod question;
#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::process::Command;
use std::time::Duration;

use eval_format::config::MetricCommand;
use eval_format::{DEFAULT_TIMEOUT, EvalConfig};
use eval_support::setters;

use super::input::MetricInput;
use super::metric_trait::{BoxMetric, Limits, Metric, TimeLimit};
use super::scores::Scores;
use crate::agent::BoxError;
use crate::group::Launch;
use answer::Answer;

/// A metric that a program computes: it reads the turns of a run on its standard input and writes a score to its standard
/// output, both in JSON, by agentevals' protocol for evaluators.
///
/// ```
/// use std::process::Command;
/// use std::time::Duration;
///
/// use eval_core::EvalRunner;
/// use eval_core::metric::CommandMetric;
///
/// let brevity = CommandMetric::new(Command::new("node").arg("metrics/brevity.js")).timeout(Duration::from_secs(10));
/// let runner = EvalRunner::new().metric("brevity", brevity);
/// # let _ = runner;
/// ```
///
/// A config names such a program itself, in the key `command` of `custom_metrics`. [Metrics](crate::metric) has the protocol.
/// A program and all processes that it starts end with this process, however it ends. If it fails, the error shows its
/// standard error.
#[derive(Clone, Debug)]
pub struct CommandMetric {
    launch: Launch,
    timeout: Option<Duration>,
}

impl CommandMetric {
    /// A metric of this command: its program, arguments, variables and folder. Other settings of a [`Command`], such as
    /// `env_clear` or pipes, are ignored.
    pub fn new(command: impl Borrow<Command>) -> Self {
        Self { launch: Launch::new(command.borrow()), timeout: None }
    }

    setters! {
        /// Sets the time limit for a run of a case. By default it is the limit of other custom metrics, which
        /// [`EvalRunner::timeout`](crate::EvalRunner::timeout) sets.
        timeout(limit: Duration) { timeout = Some(limit) }
    }

    /// The metric of a config. A file of Python runs with the interpreter of Python agents, and a file of JavaScript with node.
    fn from_config(command: &MetricCommand) -> Self {
        Self { launch: launch::of_config(command), timeout: command.timeout }
    }
}

/// The metrics of a config's criteria that programs compute, by name: for runners of cases that do not read the config.
///
/// ```
/// use eval_core::{EvalConfig, EvalRunner};
/// use eval_core::metric::commands_of;
///
/// let text = r#"{"criteria": {"brevity": 0.5}, "custom_metrics": {"brevity": {"command": ["metrics/brevity.py"]}}}"#;
/// let metrics = commands_of(&EvalConfig::parse(text)?);
/// assert_eq!(metrics[0].0, "brevity");
/// # Ok::<(), eval_core::format::Problems>(())
/// ```
pub fn commands_of(config: &EvalConfig) -> Vec<(String, BoxMetric)> {
    let of = |(name, command): (&str, MetricCommand)| {
        (name.to_owned(), BoxMetric::new(CommandMetric::from_config(&command)))
    };
    config.metric_commands().map(of).collect()
}

/// Adds the metrics that programs compute to the metrics in Rust, which take the place of programs of the same name.
pub(crate) fn with_commands(
    config: &EvalConfig,
    mut custom: Vec<(String, BoxMetric)>,
) -> Vec<(String, BoxMetric)> {
    for (name, metric) in commands_of(config) {
        if !custom.iter().any(|(known, _)| *known == name) {
            custom.push((name, metric));
        }
    }
    custom
}

impl Metric for CommandMetric {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let question = question::of(&input);
        let limit = self.timeout.or(input.time_limit).unwrap_or(DEFAULT_TIMEOUT);
        let by_hand =
            |why: String| format!("{why}\nby hand: `{}`", question::typed(&question, &input, &self.launch));
        let reply = program::ask(self.launch.clone(), question.clone(), limit).await.map_err(by_hand)?;
        let turns = input.actual.len();
        let score = Answer::read(&reply.text, turns)
            .and_then(|answer| answer.into_score(input.criterion.bound()))
            .map_err(|why| by_hand(format!("{why}{}", program::said(&reply.stderr))))?;
        Ok(Scores::whole_run(match reply.stderr.trim() {
            "" => score,
            said => score.note(format!("its standard error:\n{said}")),
        }))
    }

    fn __limits(&self) -> Limits {
        Limits { range: (0.0, 1.0), time: TimeLimit::Kept(self.timeout) }
    }
}
