//! Scoring: the metrics of a case, and the scores of one run. Each metric is scored on its own.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use eval_format::expect::Rules;
use eval_format::metric::MetricInfo;
use eval_format::{Criterion, EvalCase, EvalConfig, TurnAggregation, Value};
use eval_support::words::count;

use crate::decide::{Rule, verdict_of_run, verdicts_of_turns};
use crate::guard::{Fault, What, fenced_but_for};
use crate::judge::{JudgeRouter, MeteredJudge};
use crate::judge_outcome::JudgeError;
use crate::metric::{
    ANSWER_DEMANDS, BoxMetric, FINAL_SESSION_STATE_MATCH, Metric, MetricInput, Scores, built_in,
};
use crate::options::Options;
use crate::report::{MetricOutcome, ScoredMetric};
use crate::transcript::Transcript;
use crate::verdict::Role;

#[derive(Debug)]
pub(crate) struct ScoringPlan {
    metrics: Vec<PlannedMetric>,
    /// The criteria that a case may change.
    config: EvalConfig,
    judges: JudgeRouter,
    gate: TurnAggregation,
    time_limit: Duration,
    /// Whether calls are judged as ADK does, whatever cases loosen.
    literal: bool,
    /// Set when scoring is to stop.
    stopped: Option<Arc<AtomicBool>>,
}

#[derive(Clone, Debug)]
struct PlannedMetric {
    rule: Rule,
    /// The criterion that the metric gets. The rule has a criterion only if the metric gates.
    criterion: Criterion,
    metric: BoxMetric,
    origin: Origin,
    info: Option<&'static MetricInfo>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// A criterion names it, and it is built in.
    Criterion,
    /// It is the user's own, so it may hang or panic.
    Custom,
    /// It is part of every plan.
    Always,
}

/// The criterion of a custom metric that no config names: anything less than a full score fails.
pub(crate) fn criterion_of_custom() -> Criterion {
    Criterion::new(1.0)
}

impl ScoringPlan {
    /// Plans the metrics in this order: metrics that criteria name, custom metrics that no criterion names,
    /// the session state, demands on answers, and metrics that only inform. Turns that are not scored yet when `stopped` is set
    /// get no score.
    pub(crate) fn new(
        config: &EvalConfig,
        custom: Vec<(String, BoxMetric)>,
        judges: JudgeRouter,
        options: Options,
        stopped: Option<Arc<AtomicBool>>,
    ) -> Result<Self, String> {
        let config = config.clone();
        let mut metrics = named_or_custom(&config, custom)?;
        let is_named = |name| metrics.iter().any(|planned| planned.rule.name == name);
        let others = eval_format::metric::METRICS.iter().filter(|info| !is_named(info.name));
        let always: Vec<PlannedMetric> = others.filter_map(PlannedMetric::always).collect();
        metrics.extend(always);
        let Options { gate, timeout, .. } = options;
        let literal = options.is_literal();
        Ok(Self { metrics, config, judges, gate, time_limit: timeout, literal, stopped })
    }

    /// The rules of the metrics of a case. A case whose criteria cannot be read is decided by the criteria of its config: its
    /// metrics are errors.
    pub(crate) fn rules(&self, case: &EvalCase) -> Vec<Rule> {
        let planned = self.of_case(case).unwrap_or(Cow::Borrowed(&self.metrics));
        applicable(&planned, case).map(|planned| planned.rule.clone()).collect()
    }

    /// A remark on the criteria that a case changes; `None` if it changes none.
    pub(crate) fn note(&self, case: &EvalCase) -> Option<String> {
        let changes = case.own_criteria().filter(|_| !self.literal)?;
        let change = |(metric, change): (&str, &Value)| format!("`{metric}`: {change}");
        let changes: Vec<String> = changes.iter().map(change).collect();
        Some(format!("`_criteria` of this case: {}", changes.join(", ")))
    }

    /// The metrics with the criteria that the case has.
    fn of_case(&self, case: &EvalCase) -> Result<Cow<'_, [PlannedMetric]>, String> {
        if self.literal || case.own_criteria().is_none() {
            return Ok(Cow::Borrowed(&self.metrics));
        }
        let is_custom = |planned: &&PlannedMetric| planned.origin == Origin::Custom;
        let custom: Vec<&str> =
            self.metrics.iter().filter(is_custom).map(|it| it.rule.name.as_str()).collect();
        let own = self.config.of_case(case, &custom).map_err(|error| error.to_string())?;
        let changed = self.metrics.iter().filter_map(|planned| {
            let name = &planned.rule.name;
            if self.config.criterion(name).is_none() {
                let is_taken_out = planned.origin == Origin::Always && case.takes_out(name);
                return (!is_taken_out).then(|| Ok(planned.clone()));
            }
            let criterion = own.criterion(name)?.clone();
            let refused = refuse_free(planned.origin, &planned.metric, name, &criterion);
            let rule = Rule { criterion: Some(criterion.clone()), ..planned.rule.clone() };
            let changed = || PlannedMetric { rule, criterion, ..planned.clone() };
            Some(refused.map_err(|why| format!("`_criteria`: {why}")).map(|()| changed()))
        });
        Ok(Cow::Owned(changed.collect::<Result<_, _>>()?))
    }

    /// Scores a transcript with each metric that applies to the case. `label` names the run in the watchdog's line.
    pub(crate) async fn score(
        &self,
        case: &EvalCase,
        transcript: &mut Transcript,
        label: &str,
    ) -> Vec<ScoredMetric> {
        // The reader has checked the cases of a file, and the runner the cases of a program.
        let planned = match self.of_case(case) {
            Ok(planned) => planned,
            Err(message) => return self.broken(case, &message),
        };
        let rules = match Rules::of(case) {
            Ok(rules) => rules,
            Err(problems) => return self.broken(case, &problems.to_string()),
        };
        let rules = Some(&rules).filter(|rules| !rules.is_empty());
        let actual = transcript.lend_invocations();
        let judge = self.judges.of_case(&case.eval_id);
        let mut scored = Vec::with_capacity(self.metrics.len());
        for planned in applicable(&planned, case) {
            let metered = MeteredJudge::new(judge.clone());
            let judge = metered.judge();
            let input = MetricInput {
                case,
                actual: &actual,
                expected: &case.conversation,
                state: &transcript.state,
                criterion: &planned.criterion,
                judge: &judge,
                stopped: self.stopped.as_deref(),
                name: &planned.rule.name,
                time_limit: Some(self.time_limit),
                rules: rules.filter(|_| !self.literal),
                demands: rules,
            };
            let outcome = planned.score(input, &metered, self.time_limit, label).await;
            let outcome = self.unless_unanswered(outcome, metered.missed());
            scored.push(self.scored(planned, outcome, &metered));
        }
        transcript.return_invocations(actual);
        scored
    }

    /// The metrics that apply to a case, each left out because no judge could be asked.
    pub(crate) fn left_out(&self, case: &EvalCase, reason: &str) -> Vec<ScoredMetric> {
        let unasked = MeteredJudge::new(self.judges.of_case(&case.eval_id));
        let planned = match self.of_case(case) {
            Ok(planned) => planned,
            Err(message) => return self.broken(case, &message),
        };
        let outcome = || MetricOutcome::Unjudged(reason.to_owned());
        applicable(&planned, case).map(|planned| self.scored(planned, outcome(), &unasked)).collect()
    }

    /// An error for each metric that applies to a case whose rules or criteria cannot be read.
    fn broken(&self, case: &EvalCase, message: &str) -> Vec<ScoredMetric> {
        let unasked = MeteredJudge::new(self.judges.of_case(&case.eval_id));
        let error = || MetricOutcome::Error { role: Role::Harness, message: message.to_owned() };
        applicable(&self.metrics, case).map(|planned| self.scored(planned, error(), &unasked)).collect()
    }

    fn scored(
        &self,
        planned: &PlannedMetric,
        outcome: MetricOutcome,
        metered: &MeteredJudge,
    ) -> ScoredMetric {
        let Rule { name, criterion } = planned.rule.clone();
        let verdict = verdict_of_run(criterion.as_ref(), &outcome, self.gate);
        let turns = verdicts_of_turns(criterion.as_ref(), &outcome);
        let custom = planned.origin == Origin::Custom;
        ScoredMetric { name, custom, criterion, outcome, judge: metered.used(), verdict, turns }
    }

    /// Replaces the score by the judge's error if a required answer was unavailable.
    ///
    /// A score from the other answers does not count: a vote of the samples that happen to be recorded is no
    /// vote.
    fn unless_unanswered(&self, outcome: MetricOutcome, missed: Option<JudgeError>) -> MetricOutcome {
        let Some(error) = missed else { return outcome };
        if self.judges.skips(&error) {
            return MetricOutcome::Unjudged(error.headline().into_owned());
        }
        let wrong = error.to_string();
        match outcome {
            // The metric may have passed the error on, with words of its own before it, such as the turn.
            MetricOutcome::Error { role: Role::Judge, ref message } if message.ends_with(&wrong) => outcome,
            _ => MetricOutcome::Error { role: Role::Judge, message: wrong },
        }
    }
}

/// The metrics that gate or inform on this case. A metric that no criterion names is left out if the case lacks what it
/// needs: an expected session state, for example.
fn applicable<'a>(
    planned: &'a [PlannedMetric],
    case: &'a EvalCase,
) -> impl Iterator<Item = &'a PlannedMetric> {
    planned.iter().filter(|planned| planned.origin != Origin::Always || planned.missing(case).is_none())
}

fn named_or_custom(
    config: &EvalConfig,
    mut custom: Vec<(String, BoxMetric)>,
) -> Result<Vec<PlannedMetric>, String> {
    for (at, (name, _)) in custom.iter().enumerate() {
        if custom[..at].iter().any(|(earlier, _)| earlier == name) {
            return Err(format!("two custom metrics have the name `{name}`"));
        }
    }
    let mut metrics = Vec::new();
    for (name, criterion) in &config.criteria {
        // As in ADK, a custom metric under a built-in name takes its place.
        let own = custom.iter().position(|(known, _)| known == name).map(|at| custom.remove(at).1);
        let origin = if own.is_some() { Origin::Custom } else { Origin::Criterion };
        let metric = own.or_else(|| built_in(name)).ok_or_else(|| no_metric(name))?;
        refuse_free(origin, &metric, name, criterion)?;
        metrics.push(PlannedMetric::deciding(name, criterion.clone(), metric, origin));
    }
    for (name, metric) in custom {
        metrics.push(PlannedMetric::deciding(&name, criterion_of_custom(), metric, Origin::Custom));
    }
    Ok(metrics)
}

/// Refuses a criterion of a custom metric that every score meets.
fn refuse_free(origin: Origin, metric: &BoxMetric, name: &str, criterion: &Criterion) -> Result<(), String> {
    let bound = criterion.bound();
    if origin != Origin::Custom || !metric.cannot_miss(bound) {
        return Ok(());
    }
    Err(format!("{}; choose one that a score can miss", bound.checks_nothing(name)))
}

fn no_metric(name: &str) -> String {
    if cfg!(not(feature = "judges")) && eval_format::metric::metric(name).is_some() {
        return format!("`{name}` asks a judge, which needs the feature `judges` of `eval-core`");
    }
    format!("there is no metric `{name}`; a custom metric of that name must be given to the runner")
}

impl PlannedMetric {
    /// A metric that needs no criterion: the session state, demands on answers, and metrics that only inform.
    fn always(info: &'static MetricInfo) -> Option<Self> {
        if info.gates && ![FINAL_SESSION_STATE_MATCH, ANSWER_DEMANDS].contains(&info.name) {
            return None;
        }
        let criterion = Criterion::new(1.0);
        let rule = Rule { name: info.name.to_owned(), criterion: info.gates.then(|| criterion.clone()) };
        Some(Self { rule, criterion, metric: built_in(info.name)?, origin: Origin::Always, info: Some(info) })
    }

    fn deciding(name: &str, criterion: Criterion, metric: BoxMetric, origin: Origin) -> Self {
        let rule = Rule { name: name.to_owned(), criterion: Some(criterion.clone()) };
        let info = eval_format::metric::metric(name).filter(|_| origin != Origin::Custom);
        Self { rule, criterion, metric, origin, info }
    }

    fn missing(&self, case: &EvalCase) -> Option<&'static str> {
        self.info?.missing_in(case)
    }

    /// Scores a run. Only custom metrics have a time limit. Waiting for the judge does not use it up.
    async fn score(
        &self,
        input: MetricInput<'_>,
        metered: &MeteredJudge,
        limit: Duration,
        label: &str,
    ) -> MetricOutcome {
        if let Some(missing) = self.missing(input.case) {
            return MetricOutcome::Skipped(missing.to_owned());
        }
        let result = if self.origin == Origin::Custom {
            let what = What::of(format!("{label}, metric `{}`", self.rule.name));
            let limit = self.metric.time_limit(limit);
            fenced_but_for(|| metered.waited(), limit, what, || self.metric.score(input)).await
        } else {
            self.metric.score(input).await.map_err(Fault::Failed)
        };
        match result {
            Ok(scores) => checked(scores, input.actual.len()),
            Err(fault) => {
                // The metric may have passed on an error of its judge.
                let is_judges = matches!(&fault, Fault::Failed(error) if error.is::<JudgeError>());
                let role = if is_judges { Role::Judge } else { Role::Metric };
                MetricOutcome::Error { role, message: fault.to_string() }
            }
        }
    }
}

/// Accepts one score per turn, or one for the whole run. Any other number would be compared with the wrong turn.
fn checked(scores: Scores, turns: usize) -> MetricOutcome {
    let got = scores.scores().len();
    if scores.is_whole_run() || got == turns {
        return MetricOutcome::Scored(scores);
    }
    let message = format!("returned {} for {}", count(got, "score"), count(turns, "turn"));
    MetricOutcome::Error { role: Role::Metric, message }
}
