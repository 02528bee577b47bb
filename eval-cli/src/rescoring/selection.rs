//! The metrics to score again, and the recorded scores of the other metrics.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use eval_core::agent::BoxError;
use eval_core::judge::{JudgeError, JudgeErrorKind};
use eval_core::report::{MetricOutcome, Role};
use eval_core::{Metric, MetricInput, Score, Scores};
use eval_format::EvalConfig;
use eval_report::journal::{Attempt, Evaluation};
use eval_support::mutex::Mutex;
use eval_support::untrusted::one_line;
use eval_support::words::did_you_mean;

use crate::files::read_config;
use crate::output::CommandError;
use crate::recorded::TestResult;

#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// The metrics to score again; `None` for all.
    pub(crate) metrics: Option<BTreeSet<String>>,
    /// The config whose criteria replace the run's.
    pub(crate) config: Option<EvalConfig>,
    pub(crate) judge: Option<String>,
    /// Whether calls are judged as ADK does.
    pub(crate) literal: bool,
}

/// The metrics that can fail a test of the run, by name. The value is whether the metric is the user's own in every test.
type RecordedMetrics<'r> = BTreeMap<&'r str, bool>;

impl Selection {
    /// Fails if a metric was not recorded or is the user's own, or the config cannot be read.
    pub(crate) fn new(
        metrics: &[String],
        config: Option<&Path>,
        judge: Option<String>,
        tests: &[TestResult<'_>],
    ) -> Result<Self, CommandError> {
        let recorded = recorded_metrics(tests);
        let own: Vec<&str> = recorded.iter().filter(|(_, own)| **own).map(|(name, _)| *name).collect();
        let config = config.map(|path| read_config(path, &own)).transpose()?;
        for name in metrics {
            let own = recorded.get(name.as_str()).copied();
            let in_config = config.as_ref().map(|config| config.criterion(name).is_some());
            if !in_config.unwrap_or(own.is_some()) {
                return Err(no_such_metric(name, config.as_ref(), &recorded));
            }
            let is_program = config.as_ref().is_some_and(|config| config.metric_command(name).is_some());
            if !is_program && own.unwrap_or_else(|| eval_format::metric::metric(name).is_none()) {
                let help = "only your tests can run it; `cargo evalset rerun` runs them, and `--config FILE` can name a program";
                return Err(CommandError::new(format!("`{}` is a metric of your own", one_line(name)), help));
            }
        }
        let metrics = (!metrics.is_empty()).then(|| metrics.iter().cloned().collect());
        Ok(Self { metrics, config, judge, literal: false })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.metrics.as_ref().is_none_or(|metrics| metrics.contains(name))
    }
}

fn recorded_metrics<'r>(tests: &[TestResult<'r>]) -> RecordedMetrics<'r> {
    let mut recorded = BTreeMap::new();
    for test in tests {
        for metric in test.deciding() {
            let own = recorded.entry(metric.name.as_str()).or_insert(true);
            *own = *own && is_own(test.attempt, &metric.name);
        }
    }
    recorded
}

fn no_such_metric(name: &str, config: Option<&EvalConfig>, recorded: &RecordedMetrics<'_>) -> CommandError {
    let (message, names): (String, Vec<&str>) = match config {
        Some(config) => (
            format!("the config has no criterion `{}`", one_line(name)),
            config.criteria.iter().map(|(name, _)| name.as_str()).collect(),
        ),
        None => (
            format!("no case of this run was scored with `{}`", one_line(name)),
            recorded.keys().copied().collect(),
        ),
    };
    let help = did_you_mean(name, names);
    let help = help.unwrap_or_else(|| "name a config that has this criterion: `--config FILE`".to_owned());
    CommandError::new(message, help)
}

/// Whether a metric of a test is the user's own, which only a test can run. A built-in metric may have the same name.
pub(crate) fn is_own(attempt: &Attempt, metric: &str) -> bool {
    let scored = attempt.evaluations.iter().filter_map(|evaluation| evaluation.scored.as_ref());
    eval_format::metric::metric(metric).is_none()
        || scored.flat_map(|scored| &scored.metrics).any(|score| score.name == metric && score.custom)
}

/// The recorded scores of a metric, run by run. Scoring a run that has none is an error.
#[derive(Debug, Default)]
pub(crate) struct RecordedScores(Mutex<VecDeque<MetricOutcome>>);

impl RecordedScores {
    /// The scores of all runs that did not break. `None` if a run has no score, or if one was
    /// skipped: runs are skipped before `score` is called.
    pub(crate) fn new(attempt: &Attempt, metric: &str) -> Option<Self> {
        let ended_well = |evaluation: &&Evaluation| {
            evaluation.ran.transcript.error.as_ref().is_none_or(|error| error.is_failure)
        };
        let scored = attempt.evaluations.iter().filter(ended_well).map(|evaluation| {
            let scored = evaluation.scored.as_ref()?;
            scored.metrics.iter().find(|score| score.name == metric).map(|metric| metric.outcome.clone())
        });
        let scores: VecDeque<MetricOutcome> = scored.collect::<Option<_>>()?;
        let skipped = scores.iter().any(|score| matches!(score, MetricOutcome::Skipped(_)));
        (!skipped).then(|| Self(Mutex::new(scores)))
    }
}

/// The metric in place of a recorded score that is about an earlier version of its case.
#[derive(Debug)]
pub(crate) struct OutdatedScore {
    /// Whether it is the user's own.
    pub(crate) is_own: bool,
}

impl Metric for OutdatedScore {
    async fn score(&self, _: MetricInput<'_>) -> Result<Scores, BoxError> {
        let help = if self.is_own {
            "`--config FILE` that names a program scores it again, and a metric of your tests needs a new run"
        } else {
            "without `--metric` it is scored again"
        };
        Err(format!("its recorded score is about the case before it was edited; {help}").into())
    }
}

impl Metric for RecordedScores {
    /// Takes the next score. The runs of a case are scored in their order.
    async fn score(&self, _: MetricInput<'_>) -> Result<Scores, BoxError> {
        let next = self.0.lock().pop_front();
        match next {
            Some(MetricOutcome::Scored(scores)) => Ok(scores),
            Some(MetricOutcome::Error { role: Role::Judge, message }) => {
                Err(JudgeError::new(JudgeErrorKind::Failed, message).into())
            }
            Some(MetricOutcome::Error { message, .. }) => Err(message.into()),
            Some(MetricOutcome::Skipped(reason) | MetricOutcome::Unjudged(reason)) => {
                Ok(Scores::whole_run(Score::not_evaluated(reason)))
            }
            _ => Err("the score of this run is not recorded".into()),
        }
    }
}
