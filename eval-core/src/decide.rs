//! From scores to verdicts. Pure: it reads what was recorded and scored, and nothing else.

use eval_format::{Criterion, Gate, Pass};

use crate::message::count;
use crate::metric::{Score, Scores};
use crate::report::{MetricOutcome, MetricReport, RunReport, ScoredMetric};
use crate::score::mean;
use crate::verdict::{Role, Verdict};

/// A metric that a case is scored with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    pub(crate) name: String,
    /// Threshold and options; `None` for metrics that never gate.
    pub(crate) criterion: Option<Criterion>,
}

/// What a case came to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decision {
    /// One report per rule, in the order of the rules.
    pub(crate) metrics: Vec<MetricReport>,
    pub(crate) verdict: Verdict,
    /// How many runs passed every metric that gates; `None` unless runs are decided one by one.
    pub(crate) passed_runs: Option<usize>,
}

/// Decides on each metric and on the case.
pub(crate) fn decide(rules: &[Rule], runs: &[RunReport], pass: Pass, gate: Gate) -> Decision {
    let metrics: Vec<MetricReport> = rules.iter().map(|rule| metric(rule, runs, pass, gate)).collect();
    let passed_runs = pass.needed(runs.len()).map(|_| passed_runs(runs));
    let verdict = case(&metrics, runs, pass, passed_runs);
    Decision { metrics, verdict, passed_runs }
}

/// The verdict of one metric on one run.
pub(crate) fn verdict_of_run(criterion: Option<&Criterion>, outcome: &MetricOutcome, gate: Gate) -> Verdict {
    match (outcome, criterion) {
        (MetricOutcome::Error { role, message }, _) => Verdict::error(*role, message.as_str()),
        (MetricOutcome::Skipped(reason) | MetricOutcome::Unjudged(reason), _) => {
            Verdict::Skipped(reason.clone())
        }
        (MetricOutcome::Scored(_), None) => Verdict::Informational,
        (MetricOutcome::Scored(scores), Some(criterion)) => match unscored(&[scores]) {
            Some(reason) => Verdict::NotEvaluated(reason),
            None if Scores::reach(&[scores], criterion.threshold, gate) => Verdict::Passed,
            None => Verdict::Failed,
        },
    }
}

/// The verdict on the case: an error of any run, then of any metric, then what was not measured, then what failed.
fn case(metrics: &[MetricReport], runs: &[RunReport], pass: Pass, passed_runs: Option<usize>) -> Verdict {
    for (at, run) in runs.iter().enumerate() {
        if let Some(error) = &run.error {
            let which =
                if runs.len() > 1 { format!("run {} of {}: ", at + 1, runs.len()) } else { String::new() };
            return Verdict::error(error.role, format!("{which}{error}"));
        }
    }
    let first = |wanted: fn(&Verdict) -> bool| metrics.iter().find(|metric| wanted(&metric.verdict));
    if let Some(metric) = first(|verdict| matches!(verdict, Verdict::Error { .. })) {
        return metric.verdict.clone();
    }
    if let Some(metric) = first(|verdict| matches!(verdict, Verdict::NotEvaluated(_))) {
        let reason = metric.verdict.reason().unwrap_or_default();
        return Verdict::NotEvaluated(format!("{} was not evaluated: {reason}", metric.name));
    }
    if metrics.iter().any(|metric| metric.verdict == Verdict::Failed) {
        return Verdict::Failed;
    }
    if !metrics.iter().any(|metric| metric.verdict.passed()) {
        if let Some(reason) = unjudged(runs) {
            return Verdict::Skipped(reason.to_owned());
        }
        return Verdict::NotEvaluated(
            "no metric that gates applies to this case, so nothing was checked".to_owned(),
        );
    }
    match (pass.needed(runs.len()), passed_runs) {
        (Some(needed), Some(passed)) if passed < needed => Verdict::Failed,
        _ => Verdict::Passed,
    }
}

/// Why a metric was left out for want of a judge; `None` if none was.
fn unjudged(runs: &[RunReport]) -> Option<&str> {
    runs.iter().flat_map(|run| &run.metrics).find_map(|metric| match &metric.outcome {
        MetricOutcome::Unjudged(reason) => Some(reason.as_str()),
        _ => None,
    })
}

/// How many runs passed every metric that gates.
fn passed_runs(runs: &[RunReport]) -> usize {
    let stands_in_the_way = |metric: &ScoredMetric| metric.criterion.is_some() && metric.verdict.fails();
    runs.iter().filter(|run| run.error.is_none() && !run.metrics.iter().any(stands_in_the_way)).count()
}

/// What one metric came to, over all runs.
fn metric(rule: &Rule, runs: &[RunReport], pass: Pass, gate: Gate) -> MetricReport {
    let mut report = MetricReport {
        name: rule.name.clone(),
        criterion: rule.criterion.clone(),
        score: None,
        scored: 0,
        total: 0,
        passed_runs: None,
        verdict: Verdict::Informational,
        notes: Vec::new(),
    };
    let mut scored: Vec<&Scores> = Vec::new();
    let mut skipped = None;
    // A run that ended in an error of the agent has no scores. A run whose test body failed keeps them.
    for run in runs {
        match run.metric(&rule.name).map(|metric| &metric.outcome) {
            Some(MetricOutcome::Scored(scores)) => scored.push(scores),
            Some(MetricOutcome::Skipped(reason) | MetricOutcome::Unjudged(reason)) => skipped = Some(reason),
            Some(MetricOutcome::Error { role, message }) => {
                report.verdict = Verdict::error(*role, format!("{}: {message}", rule.name));
                return report;
            }
            None if run.error.is_some() => {}
            None => {
                report.verdict =
                    Verdict::error(Role::Harness, format!("{}: a run was not scored with it", rule.name));
                return report;
            }
        }
    }
    let values: Vec<f64> =
        scored.iter().flat_map(|scores| scores.scores()).filter_map(Score::value).collect();
    report.scored = values.len();
    report.total = scored.iter().map(|scores| scores.counted().count()).sum();
    report.score = mean::exact(&values);
    let Some(threshold) = report.threshold() else { return report };
    report.verdict = match (skipped, unscored(&scored), report.score) {
        (Some(reason), ..) => Verdict::Skipped(reason.clone()),
        (None, Some(reason), _) => Verdict::NotEvaluated(reason),
        (None, None, None) => Verdict::NotEvaluated(match runs.iter().find_map(|run| run.error.as_ref()) {
            Some(_) => "no run came to its end".to_owned(),
            None => "no turn has a score".to_owned(),
        }),
        (None, None, Some(_)) => {
            let passed = match pass.needed(runs.len()) {
                None => Scores::reach(&scored, threshold, gate),
                Some(needed) => {
                    let passed =
                        scored.iter().filter(|scores| Scores::reach(&[scores], threshold, gate)).count();
                    report.passed_runs = Some(passed);
                    passed >= needed
                }
            };
            if passed { Verdict::Passed } else { Verdict::Failed }
        }
    };
    report.notes = notes(&report, &scored, threshold, gate);
    report
}

/// The reason why the first unscored turn has no score; `None` if all turns are scored.
fn unscored(scored: &[&Scores]) -> Option<String> {
    let several = scored.len() > 1;
    scored.iter().enumerate().find_map(|(run, scores)| {
        let (turn, reason) =
            scores.scores().iter().enumerate().find_map(|(turn, score)| Some((turn, score.reason()?)))?;
        let turn = if scores.is_whole_run() { "the run".to_owned() } else { format!("turn {}", turn + 1) };
        let run = if several { format!(" of run {}", run + 1) } else { String::new() };
        Some(format!("{turn}{run}: {reason}"))
    })
}

/// Differences below this come from rounding, not from the agent.
const ROUNDING: f64 = 1e-9;

/// Remarks about a score: rounding, ADK's two means, low scores that the mean hides.
fn notes(report: &MetricReport, scored: &[&Scores], threshold: f64, gate: Gate) -> Vec<String> {
    let Some(score) = report.score else { return Vec::new() };
    let rounding = if report.verdict == Verdict::Failed { rounding_note(score, threshold) } else { None };
    let of_mean = match gate {
        Gate::Mean => [front_ends_note(score, scored, threshold), hidden_note(report, scored, threshold)],
        Gate::EveryTurn => [None, None],
    };
    rounding.into_iter().chain(of_mean.into_iter().flatten()).collect()
}

/// A remark if the score missed the threshold by rounding alone.
fn rounding_note(score: f64, threshold: f64) -> Option<String> {
    (score < threshold && threshold - score < ROUNDING).then(|| {
        format!(
            "{score:?} is {threshold:?} but for rounding; ADK compares without tolerance, and so does this test. \
             Set the threshold to {:.2} if this is meant to pass",
            threshold - 0.01
        )
    })
}

/// A remark if the run passes with one of ADK's two means and fails with the other.
fn front_ends_note(exact: f64, scored: &[&Scores], threshold: f64) -> Option<String> {
    let [only] = scored else { return None };
    let naive = only.overall()?;
    ((naive >= threshold) != (exact >= threshold)).then(|| {
        format!(
            "ADK's two front ends differ here: `AgentEvaluator` takes the exact mean {exact:?} (as this test does), \
             `adk eval` the running sum {naive:?}"
        )
    })
}

/// A remark if scores below the threshold are hidden by a mean above it.
fn hidden_note(report: &MetricReport, scored: &[&Scores], threshold: f64) -> Option<String> {
    let values = scored.iter().flat_map(|scores| scores.scores()).filter_map(Score::value);
    let below = values.filter(|value| *value < threshold).count();
    (report.verdict == Verdict::Passed && below > 0).then(|| {
        format!(
            "{} of {} below the threshold; the mean passes (`gate = \"every_turn\"` compares each)",
            count(below, "score"),
            report.total
        )
    })
}

#[cfg(test)]
mod tests;
