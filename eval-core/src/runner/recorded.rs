//! Recorded cases as reports.

use eval_format::EvalCase;

use crate::decide::verdict_of_run;
use crate::journal::{Attempt, Decided, Evaluation, RecordedMetric};
use crate::report::{CaseReport, Location, MetricReport, RunReport, ScoredMetric};

impl Attempt {
    /// The report of the case as it was recorded, for its exports. `None` if the case has no verdict, or if a run lacks the
    /// score of a metric that decided: a report never leaves a metric out.
    ///
    /// A journal does not hold what a case expects, so the case is given. It should be the one that ran:
    /// [`Started::case_hash`](crate::journal::Started::case_hash) tells.
    pub fn report(&self, case: EvalCase) -> Option<CaseReport> {
        let Decided { verdict, metrics, passed_runs, elapsed, notes, repeated, .. } = self.decided.clone()?;
        if !self.evaluations.iter().all(|evaluation| is_whole(evaluation, &metrics)) {
            return None;
        }
        let started = &self.started;
        let location = || {
            Some(Location {
                file: started.file.as_deref()?.to_owned(),
                line: started.line?,
                column: started.column?,
            })
        };
        Some(CaseReport {
            eval_set_id: started.eval_set_id.as_deref().map(str::to_owned),
            case,
            location: location(),
            label: started.label.as_deref().map(str::to_owned),
            runs: self.evaluations.iter().map(|evaluation| self.run(evaluation)).collect(),
            metrics,
            passed_runs,
            gate: started.gate,
            verdict,
            elapsed,
            notes,
            repeated,
        })
    }

    fn run(&self, Evaluation { ran, scored, .. }: &Evaluation) -> RunReport {
        let transcript = ran.transcript.clone();
        let metrics = scored.iter().flat_map(|scored| &scored.metrics);
        RunReport {
            number: ran.run,
            error: transcript.error.clone(),
            transcript,
            metrics: metrics.map(|metric| self.metric(metric)).collect(),
        }
    }

    fn metric(&self, metric: &RecordedMetric) -> ScoredMetric {
        let RecordedMetric { name, custom, outcome, judge } = metric.clone();
        let decided = self.decided.iter().flat_map(|decided| &decided.metrics);
        let of_case = decided.into_iter().find(|of_case| of_case.name == name);
        let criterion = of_case.and_then(|of_case| of_case.criterion.clone());
        let verdict = verdict_of_run(criterion.as_ref(), &outcome, self.started.gate);
        ScoredMetric { name, custom, criterion, outcome, judge, verdict }
    }
}

/// Whether an evaluation has a score of each metric that decided. One that ended in an error was not scored.
fn is_whole(Evaluation { ran, scored, .. }: &Evaluation, decided: &[MetricReport]) -> bool {
    let names = || decided.iter().map(|metric| &metric.name);
    match scored {
        Some(scored) => decided.is_empty() || scored.metrics.iter().map(|metric| &metric.name).eq(names()),
        None => decided.is_empty() || ran.transcript.error.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use eval_format::EvalSet;

    use crate::journal::{RecordedRun, runs};
    use crate::{EvalRunner, Invocation, Replay};

    #[tokio::test]
    async fn a_recorded_case_is_exported_as_it_was_when_it_ran() {
        let folder = tempfile::tempdir().unwrap();
        let turn = Invocation::user("Paris?").response("It is sunny.");
        let case = |id: &str| crate::EvalCase::new(id).turn(turn.clone());
        let set = EvalSet::new("weather").case(case("right")).case(case("wrong")).case(case("broken"));
        let runner = EvalRunner::new().runs(2).journal(folder.path());
        let setup = |case: &crate::EvalCase| match case.eval_id.as_str() {
            "right" => Ok(Replay::new([["It is sunny."]])),
            "wrong" => Ok(Replay::new([["It rains."]])),
            _ => Err("no connection"),
        };
        let report = runner.run_set(&set, setup, 1).await.unwrap();
        let recorded = RecordedRun::read(&runs(folder.path()).unwrap()[0].path).unwrap();
        let mut again = crate::EvalReport::default();
        for case in &set.eval_cases {
            let test = recorded.tests.iter().find(|test| test.name().ends_with(&case.eval_id)).unwrap();
            again.cases.extend(test.last().unwrap().report(case.clone()));
        }
        assert_eq!(again.to_csv(), report.to_csv());
        let at = std::time::UNIX_EPOCH;
        let exported = |report: &crate::EvalReport| report.adk_results("app", at)[0].to_json();
        assert_eq!(exported(&again), exported(&report));
    }

    #[tokio::test]
    async fn a_recorded_case_that_lacks_a_score_is_not_exported() {
        let folder = tempfile::tempdir().unwrap();
        let case = crate::EvalCase::new("right").turn(Invocation::user("Paris?").response("It is sunny."));
        let set = EvalSet::new("weather").case(case.clone());
        let runner = EvalRunner::new().journal(folder.path());
        let report = runner.run_set(&set, || Replay::new([["It is sunny."]]), 1).await.unwrap();
        assert!(report.all_passed());
        let recorded = RecordedRun::read(&runs(folder.path()).unwrap()[0].path).unwrap();
        let whole = recorded.tests[0].last().unwrap();
        assert!(whole.report(case.clone()).is_some());
        let (mut without_a_metric, mut without_a_record) = (whole.clone(), whole.clone());
        without_a_metric.evaluations[0].scored.as_mut().unwrap().metrics.pop();
        without_a_record.evaluations[0].scored = None;
        for lacking in [without_a_metric, without_a_record] {
            assert!(lacking.report(case.clone()).is_none());
        }
    }
}
