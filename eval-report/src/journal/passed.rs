//! Whether a run of a case passed, by what is recorded of it.

use eval_core::report::{MetricReport, Verdict};

use super::read::{Attempt, Evaluation};

/// Decides the runs of an attempt, each on its own.
pub(super) fn decide(attempt: &mut Attempt) {
    let metrics = attempt.decided.as_ref().map(|decided| decided.metrics.as_slice()).unwrap_or_default();
    for evaluation in &mut attempt.evaluations {
        evaluation.passed = passed(evaluation, metrics);
    }
}

/// Whether a run passed every metric that gates; `None` if it has no verdict.
fn passed(evaluation: &Evaluation, metrics: &[MetricReport]) -> Option<bool> {
    if evaluation.ran.transcript.error.is_some() {
        return None;
    }
    let scored = evaluation.scored.as_ref()?;
    let of_run = |metric: &MetricReport| {
        let found = scored.metrics.iter().find(|scored| scored.name == metric.name);
        found.map(|scored| &scored.verdict)
    };
    let gating = metrics.iter().filter(|metric| metric.criterion.is_some());
    Verdict::run_passed(gating.map(of_run).collect::<Option<Vec<_>>>()?)
}

#[cfg(test)]
mod tests {
    use eval_core::journal::{Ran, Scored};
    use eval_core::metric::Scores;
    use eval_core::report::{MetricOutcome, Role, RunError, ScoredMetric, Transcript};
    use eval_format::Criterion;
    use serde_json::json;

    use super::*;

    fn evaluation(verdicts: Option<Vec<(&str, Verdict)>>, error: Option<RunError>) -> Evaluation {
        let metric = |(name, verdict): (&str, Verdict)| ScoredMetric {
            name: name.to_owned(),
            custom: false,
            criterion: None,
            outcome: MetricOutcome::Scored(Scores::whole_run(1.0)),
            judge: Vec::new(),
            verdict,
            turns: Vec::new(),
        };
        let of_run = json!({ "test": 1, "run": 1, "evaluation": 1, "metrics": [], "transcript": {} });
        let scored = |verdicts: Vec<(&str, Verdict)>| {
            let mut scored: Scored = serde_json::from_value(of_run.clone()).unwrap();
            scored.metrics = verdicts.into_iter().map(metric).collect();
            scored
        };
        let mut ran: Ran = serde_json::from_value(of_run.clone()).unwrap();
        ran.transcript = Transcript { error, ..Transcript::default() };
        Evaluation { ran, scored: verdicts.map(scored), passed: None }
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
        let skipped = || Verdict::Skipped("does not apply".to_owned());
        for (a, b, expected) in [
            (Verdict::Passed, Verdict::Passed, Some(true)),
            (Verdict::Passed, Verdict::Failed, Some(false)),
            (Verdict::Failed, Verdict::Passed, Some(false)),
            (skipped(), Verdict::Passed, Some(true)),
            (skipped(), Verdict::Failed, Some(false)),
            (skipped(), skipped(), None),
            (Verdict::Error { role: Role::Judge, message: "503".to_owned() }, Verdict::Passed, None),
            (Verdict::NotEvaluated("x".to_owned()), Verdict::Passed, None),
        ] {
            let run = evaluation(Some(vec![("a", a), ("b", b), ("count", Verdict::Informational)]), None);
            assert_eq!(passed(&run, &metrics()), expected, "{run:?}");
        }
    }

    #[test]
    fn a_run_that_broke_or_was_not_scored_has_no_verdict() {
        let both = || vec![("a", Verdict::Passed), ("b", Verdict::Passed)];
        let gone = RunError::new(Role::Agent, Some(1), "gone");
        for (verdicts, error) in
            [(Some(both()), Some(gone)), (None, None), (Some(vec![("a", Verdict::Passed)]), None)]
        {
            let run = evaluation(verdicts, error);
            assert_eq!(passed(&run, &metrics()), None, "{run:?}");
        }
    }
}
