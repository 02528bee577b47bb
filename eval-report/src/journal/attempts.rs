//! The attempts that one file records.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use eval_core::journal::{Beside, Decided, Head, JudgeUse, Listed};
use eval_core::report::{MetricReport, Transcript, Verdict};

use super::read::{Attempt, Evaluation};
use super::record::{Record, RecordError};

/// The parts of a run to keep in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Keep {
    #[default]
    All,
    /// Everything except the texts of agents and judges.
    Outline,
}

/// The tests of one file, in the order in which they began.
pub(super) struct Attempts {
    keep: Keep,
    head: Arc<Head>,
    file: Arc<Path>,
    indices: HashMap<u32, usize>,
    /// Boxed, so that a growing vector does not copy a hundred thousand attempts, and each is freed when it
    /// moves into its test.
    #[expect(clippy::vec_box, reason = "they are large, and many")]
    pub(super) all: Vec<Box<Attempt>>,
    pub(super) planned: Vec<String>,
    pub(super) listed: Option<Listed>,
    /// The tests that other binaries of its package hold.
    pub(super) beside: Vec<Beside>,
    pub(super) has_ended: bool,
}

impl Attempts {
    pub(super) fn new(keep: Keep, head: Arc<Head>, file: Arc<Path>) -> Self {
        let (indices, all) = (HashMap::new(), Vec::new());
        let (planned, listed, beside, has_ended) = (Vec::new(), None, Vec::new(), false);
        Self { keep, head, file, indices, all, planned, listed, beside, has_ended }
    }

    pub(super) fn add(&mut self, mut record: Record) -> Result<(), RecordError> {
        if self.keep == Keep::Outline {
            drop_texts(&mut record);
        }
        match record {
            Record::Head(_) => return Err(RecordError::Misplaced("a second head".to_owned())),
            Record::Unknown => {}
            Record::Planned(planned) => self.planned.extend(planned.cases),
            Record::Listed(listed) => match &mut self.listed {
                Some(known) => known.sets.extend(listed.sets),
                None => self.listed = Some(listed),
            },
            Record::Beside(beside) => self.beside.push(beside),
            Record::Started(started) => {
                let test = started.test;
                if self.indices.contains_key(&test) {
                    return Err(RecordError::Misplaced(format!("test {test} begins a second time")));
                }
                self.indices.insert(test, self.all.len());
                let (head, file) = (Arc::clone(&self.head), Arc::clone(&self.file));
                self.all.push(Box::new(Attempt {
                    head,
                    file,
                    started,
                    turn: None,
                    evaluations: Vec::new(),
                    repeated: Vec::new(),
                    decided: None,
                }));
            }
            Record::TurnBegan(turn) => {
                let attempt = self.attempt(turn.test)?;
                attempt.turn = Some(turn);
            }
            Record::Ran(ran) => {
                let attempt = self.attempt(ran.test)?;
                attempt.turn = None;
                if ran.repeated {
                    attempt.repeated.push(ran);
                    return Ok(());
                }
                // Most tests have one run: a larger vector would take memory.
                attempt.evaluations.reserve_exact(1);
                attempt.evaluations.push(Evaluation { ran, scored: None, passed: None });
            }
            Record::Scored(scored) => {
                let run = self.evaluation(scored.test, scored.evaluation, "a score")?;
                run.scored = Some(scored);
            }
            Record::RunInvalidated(broke) => {
                let run = self.evaluation(broke.test, broke.evaluation, "an error")?;
                run.ran.transcript.error = Some(broke.error);
            }
            Record::Decided(decided) => self.decided(decided)?,
            Record::Ended(_) => self.has_ended = true,
        }
        Ok(())
    }

    fn decided(&mut self, decided: Decided) -> Result<(), RecordError> {
        let (test, keep) = (decided.test, self.keep);
        let attempt = self.attempt(test)?;
        if attempt.decided.is_some() {
            return Err(RecordError::Misplaced(format!("test {test} ends a second time")));
        }
        attempt.turn = None;
        attempt.decided = Some(decided);
        decide_runs(attempt);
        match keep {
            Keep::All => restore_criteria(attempt),
            Keep::Outline => drop_scores(attempt),
        }
        Ok(())
    }

    /// An evaluation of a test. `what` is the record that needs it.
    fn evaluation(&mut self, test: u32, number: u32, what: &str) -> Result<&mut Evaluation, RecordError> {
        // Searched from the end: a run is scored right after it ran, unless several run at once.
        let found = self.attempt(test)?.evaluations.iter_mut().rev().find(|it| it.ran.evaluation == number);
        found.ok_or_else(|| RecordError::Misplaced(format!("{what} of a run that is not recorded")))
    }

    fn attempt(&mut self, test: u32) -> Result<&mut Attempt, RecordError> {
        let attempt = self.indices.get(&test).and_then(|index| self.all.get_mut(*index));
        attempt.map(Box::as_mut).ok_or_else(|| RecordError::Misplaced(format!("test {test} did not begin")))
    }
}

/// Copies the criteria, which are recorded once for a case, to the scores of its runs.
fn restore_criteria(attempt: &mut Attempt) {
    let Some(decided) = &attempt.decided else { return };
    for metric in attempt.evaluations.iter_mut().flat_map(|it| &mut it.scored).flat_map(|it| &mut it.metrics)
    {
        let of_case = decided.metrics.iter().find(|of_case| of_case.name == metric.name);
        metric.criterion = of_case.and_then(|of_case| of_case.criterion.clone());
    }
}

/// Drops the scores of an attempt whose runs are decided, except the usage of judges.
fn drop_scores(attempt: &mut Attempt) {
    for scored in attempt.evaluations.iter_mut().flat_map(|evaluation| &mut evaluation.scored) {
        scored.metrics.retain(|metric| !metric.judge.is_empty());
        scored.metrics.shrink_to_fit();
    }
    attempt.evaluations.shrink_to_fit();
}

/// Drops the texts of agents and judges, and the verdicts of informational metrics.
fn drop_texts(record: &mut Record) {
    // All transcripts share one empty session: separate ones would take memory.
    static EMPTY: LazyLock<Transcript> = LazyLock::new(Transcript::default);

    let drop_questions = |used: &mut JudgeUse| used.questions = Vec::new();
    match record {
        Record::Ran(ran) => {
            ran.transcript = Transcript { error: ran.transcript.error.take(), ..EMPTY.clone() };
            ran.simulator.iter_mut().for_each(drop_questions);
        }
        Record::Scored(scored) => {
            scored.metrics.iter_mut().flat_map(|metric| &mut metric.judge).for_each(drop_questions);
        }
        Record::Decided(decided) => {
            decided.metrics.retain(|metric| metric.verdict != Verdict::Informational);
            decided.metrics.shrink_to_fit();
        }
        _ => {}
    }
}

pub(super) fn decide_runs(attempt: &mut Attempt) {
    let metrics = attempt.decided.as_ref().map(|decided| decided.metrics.as_slice()).unwrap_or_default();
    for evaluation in &mut attempt.evaluations {
        evaluation.passed = passed(evaluation, metrics);
    }
}

/// Whether a run passed every metric that decides; `None` if it has no verdict.
fn passed(evaluation: &Evaluation, metrics: &[MetricReport]) -> Option<bool> {
    match &evaluation.ran.transcript.error {
        Some(error) if error.is_failure => return Some(false),
        Some(_) => return None,
        None => {}
    }
    let scored = evaluation.scored.as_ref()?;
    let of_run = |metric: &MetricReport| {
        let found = scored.metrics.iter().find(|scored| scored.name == metric.name);
        found.map(|scored| &scored.verdict)
    };
    let deciding = metrics.iter().filter(|metric| metric.criterion.is_some());
    Verdict::run_passed(deciding.map(of_run).collect::<Option<Vec<_>>>()?)
}

#[cfg(test)]
mod passed_tests {
    use eval_core::Scores;
    use eval_core::journal::{Ran, Scored};
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
            loosened: None,
            arithmetic: None,
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

    #[test]
    fn a_run_that_did_not_reach_its_fault_failed_whatever_its_scores_are() {
        let mut unreached = RunError::new(Role::Tools, Some(1), "the fault was not reached");
        unreached.is_failure = true;
        let both = vec![("a", Verdict::Passed), ("b", Verdict::Passed)];
        assert_eq!(passed(&evaluation(Some(both), Some(unreached)), &metrics()), Some(false));
    }
}
