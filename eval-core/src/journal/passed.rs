//! Whether a run of a case passed, by what is recorded of it.

use eval_format::Gate;

use super::read::{Attempt, Evaluation};
use crate::metric::Pool;
use crate::report::{MetricOutcome, MetricReport};

/// Decides the runs of an attempt, each on its own.
pub(super) fn decide(attempt: &mut Attempt) {
    let metrics = attempt.decided.as_ref().map(|decided| decided.metrics.as_slice()).unwrap_or_default();
    for evaluation in &mut attempt.evaluations {
        if evaluation.passed.is_none() {
            evaluation.passed = passed(evaluation, metrics, attempt.started.gate);
        }
    }
}

/// Whether a run passed every metric that gates; `None` if it has no verdict.
fn passed(evaluation: &Evaluation, metrics: &[MetricReport], gate: Gate) -> Option<bool> {
    if evaluation.ran.transcript.error.is_some() {
        return None;
    }
    let scored = evaluation.scored.as_ref()?;
    let mut passed = None;
    for metric in metrics {
        let Some(threshold) = metric.threshold() else { continue };
        match scored.metrics.iter().find(|score| score.name == metric.name).map(|metric| &metric.outcome) {
            Some(MetricOutcome::Scored(scores)) if Pool::of(&[scores]).is_whole() => {
                passed = Some(passed.unwrap_or(true) && scores.reaches(threshold, gate));
            }
            Some(MetricOutcome::Skipped(_) | MetricOutcome::Unjudged(_)) => {}
            _ => return None,
        }
    }
    passed
}

#[cfg(test)]
mod tests {
    use eval_format::Criterion;

    use super::super::record::{Ran, RecordedMetric, Scored};
    use super::*;
    use crate::metric::{Score, Scores};
    use crate::transcript::{RunError, Transcript};
    use crate::verdict::{Role, Verdict};

    fn evaluation(outcomes: Option<Vec<(&str, MetricOutcome)>>, error: Option<RunError>) -> Evaluation {
        let metric = |(name, outcome): (&str, MetricOutcome)| RecordedMetric {
            name: name.to_owned(),
            custom: false,
            outcome,
            judge: Vec::new(),
        };
        let scored = |outcomes: Vec<(&str, MetricOutcome)>| Scored {
            test: 1,
            run: 1,
            evaluation: 1,
            metrics: outcomes.into_iter().map(metric).collect(),
        };
        let transcript = Transcript { error, ..Transcript::default() };
        let ran = Ran { test: 1, run: 1, evaluation: 1, transcript, tokens: None, simulator: Vec::new() };
        Evaluation { ran, scored: outcomes.map(scored), passed: None }
    }

    fn turns(values: &[f64]) -> MetricOutcome {
        MetricOutcome::Scored(values.iter().map(|value| Score::from(*value)).collect())
    }

    /// The metrics `a` and `b` gate, and `count` informs.
    fn metrics() -> Vec<MetricReport> {
        let metric = |(name, threshold): (&str, Option<f64>)| MetricReport {
            name: name.to_owned(),
            criterion: threshold.map(Criterion::new),
            score: None,
            scored: 0,
            total: 0,
            passed_runs: None,
            verdict: Verdict::Informational,
            notes: Vec::new(),
        };
        [("a", Some(0.5)), ("count", None), ("b", Some(0.5))].map(metric).to_vec()
    }

    #[test]
    fn a_run_passed_if_each_metric_that_gates_and_applies_did() {
        let skipped = || MetricOutcome::Skipped("does not apply".to_owned());
        let unjudged = || MetricOutcome::Unjudged("no judge".to_owned());
        let broken = MetricOutcome::Error { role: Role::Judge, message: "503".to_owned() };
        let unscored: Scores = [Score::from(1.0), Score::not_evaluated("x")].into_iter().collect();
        for (a, b, expected) in [
            (turns(&[1.0]), turns(&[0.5]), Some(true)),
            (turns(&[1.0]), turns(&[0.4]), Some(false)),
            (turns(&[0.4]), turns(&[1.0]), Some(false)),
            (skipped(), turns(&[1.0]), Some(true)),
            (unjudged(), turns(&[0.0]), Some(false)),
            (skipped(), unjudged(), None),
            (broken, turns(&[1.0]), None),
            (MetricOutcome::Scored(unscored), turns(&[1.0]), None),
        ] {
            let run = evaluation(Some(vec![("a", a), ("b", b), ("count", turns(&[0.0]))]), None);
            assert_eq!(passed(&run, &metrics(), Gate::Mean), expected, "{run:?}");
        }
        let both = || Some(vec![("a", turns(&[1.0])), ("b", turns(&[1.0, 0.0]))]);
        assert_eq!(passed(&evaluation(both(), None), &metrics(), Gate::Mean), Some(true));
        assert_eq!(passed(&evaluation(both(), None), &metrics(), Gate::EveryTurn), Some(false));
    }

    #[test]
    fn a_run_that_broke_or_was_not_scored_has_no_verdict() {
        let both = || vec![("a", turns(&[1.0])), ("b", turns(&[1.0]))];
        let gone = RunError::new(Role::Agent, Some(1), "gone");
        for (outcomes, error) in
            [(Some(both()), Some(gone)), (None, None), (Some(vec![("a", turns(&[1.0]))]), None)]
        {
            let run = evaluation(outcomes, error);
            assert_eq!(passed(&run, &metrics(), Gate::Mean), None, "{run:?}");
        }
    }
}
