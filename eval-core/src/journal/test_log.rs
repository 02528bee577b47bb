//! What one test adds to a journal while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use eval_format::EvalCase;

use super::case_hash::case_hash;
use super::lines::{EvaluationId, TestEnd, TestStart, write_broke, write_ran, write_scored};
use super::record::Planned;
use super::time;
use super::writer::{self, Journal};
use crate::compiled::Test;
use crate::judge_outcome::JudgeUse;
use crate::options::Options;
use crate::report::{CaseReport, Location, ScoredMetric};
use crate::transcript::{RunError, Transcript};
use crate::variables::NEXTEST_ATTEMPT;
use crate::verdict::{Role, Verdict};

/// The part of a journal that belongs to one test. Does nothing if no journal is written.
#[derive(Debug, Default)]
pub(crate) struct TestLog(Option<Open>);

#[derive(Debug)]
struct Open {
    journal: Arc<Journal>,
    /// The number of the test in the journal.
    test: u32,
    /// The number of the next evaluation.
    evaluations: AtomicU32,
}

/// A case that a program runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramCase<'a> {
    pub(crate) eval_set_id: Option<&'a str>,
    pub(crate) case: &'a EvalCase,
    /// The label of the runs.
    pub(crate) label: Option<&'a str>,
    /// Where the case stands; `None` if it comes from no file.
    pub(crate) location: Option<&'a Location>,
    /// The whole path of that file, if the system tells it.
    pub(crate) path: Option<&'a str>,
    /// The text of the case in that file.
    pub(crate) text: Option<&'a str>,
    /// How many cases of its set are to run.
    pub(crate) set_cases: usize,
}

/// The part of a journal that belongs to one evaluation of a run.
#[derive(Debug)]
pub(crate) struct RunLog<'a> {
    log: &'a Open,
    of: EvaluationId,
}

impl TestLog {
    /// Begins the log of a test of the attribute. Fails if a variable has an unknown value.
    pub(crate) fn of_test(test: &Test) -> Result<Self, String> {
        let Some(journal) = writer::of_tests(test.set.package)? else { return Ok(Self::default()) };
        let Test { set, source, .. } = test;
        let name = test.path();
        let hash = test.case_text().map(case_hash);
        Ok(Self::begin(journal, |number| TestStart {
            test: number,
            name: &name,
            of_program: false,
            label: None,
            eval_set_id: Some(set.eval_set_id),
            eval_id: source.eval_id,
            file: Some(set.shown),
            set_file: Some(set.file),
            line: Some(source.line as usize),
            column: Some(source.column as usize),
            case_hash: hash.as_deref(),
            set_cases: Some(set.cases.len()),
            runs: set.options.runs,
            pass: set.options.pass,
            gate: set.options.gate,
            attempt: attempt(),
            at: time::now(),
        }))
    }

    /// Begins the log of a case that runs without the attribute.
    pub(crate) fn of_case(journal: Option<Arc<Journal>>, of: &ProgramCase<'_>, options: &Options) -> Self {
        let Some(journal) = journal else { return Self::default() };
        let ProgramCase { eval_set_id, case, label, location, path, text, set_cases } = *of;
        let eval_id = case.eval_id.as_str();
        let name = eval_set_id.map_or_else(|| eval_id.to_owned(), |set| format!("{set}/{eval_id}"));
        let hash = text.map_or_else(|| case_hash(&case.to_value().to_string()), case_hash);
        Self::begin(journal, |number| TestStart {
            test: number,
            name: &name,
            of_program: true,
            label,
            eval_set_id,
            eval_id,
            file: location.map(|location| location.file.as_str()),
            set_file: path,
            line: location.map(|location| location.line),
            column: location.map(|location| location.column),
            case_hash: Some(&hash),
            set_cases: Some(set_cases),
            runs: options.runs,
            pass: options.pass,
            gate: options.gate,
            attempt: attempt(),
            at: time::now(),
        })
    }

    fn begin<'a>(journal: Arc<Journal>, start: impl FnOnce(u32) -> TestStart<'a>) -> Self {
        let test = journal.next_test();
        let start = start(test);
        journal.add(|line| start.write_line(line));
        Self(Some(Open { journal, test, evaluations: AtomicU32::new(1) }))
    }

    /// The journal; `None` if none is written.
    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.0.as_ref().map(|log| &*log.journal)
    }

    /// Records what happened in a run; `None` if no journal is written.
    pub(crate) fn ran(
        &self,
        run: usize,
        transcript: &Transcript,
        simulator: &[JudgeUse],
    ) -> Option<RunLog<'_>> {
        let log = self.0.as_ref()?;
        let evaluation = log.evaluations.fetch_add(1, Ordering::Relaxed);
        let of = EvaluationId { test: log.test, run, evaluation };
        log.journal.add(|line| write_ran(line, of, transcript, simulator));
        Some(RunLog { log, of })
    }

    /// Records that a run, which was recorded as `evaluation`, turned out to be an error.
    pub(crate) fn broke_later(&self, run: usize, evaluation: Option<u32>, error: &RunError) {
        if let Some((log, evaluation)) = self.0.as_ref().zip(evaluation) {
            let of = EvaluationId { test: log.test, run, evaluation };
            log.journal.add(|line| write_broke(line, of, error));
        }
    }

    /// Records the verdict; if the case fails, what is wrong with it in one line, and what the test prints.
    pub(crate) fn decided(&self, report: &CaseReport, headline: Option<&str>, failure: Option<&str>) {
        self.end(|test| TestEnd {
            test,
            verdict: &report.verdict,
            metrics: &report.metrics,
            passed_runs: report.passed_runs,
            elapsed: report.elapsed,
            notes: &report.notes,
            repeated: report.repeated,
            headline,
            failure,
            at: time::now(),
        });
    }

    /// Records that the harness could not run or score the test.
    pub(crate) fn broke(&self, message: &str, headline: &str, failure: &str) {
        let verdict = Verdict::error(Role::Harness, message);
        self.end(|test| TestEnd {
            test,
            verdict: &verdict,
            metrics: &[],
            passed_runs: None,
            elapsed: Duration::ZERO,
            notes: &[],
            repeated: 0,
            headline: Some(headline),
            failure: Some(failure),
            at: time::now(),
        });
    }

    fn end<'a>(&self, decided: impl FnOnce(u32) -> TestEnd<'a>) {
        if let Some(log) = &self.0 {
            let decided = decided(log.test);
            log.journal.add(|line| decided.write_line(line));
        }
    }
}

impl RunLog<'_> {
    /// The number of the evaluation in its test.
    pub(crate) fn evaluation(&self) -> u32 {
        self.of.evaluation
    }

    /// Records how the run scored.
    pub(crate) fn scored(self, metrics: &[ScoredMetric]) {
        self.log.journal.add(|line| write_scored(line, self.of, metrics));
    }
}

impl Journal {
    /// Records that a program is about to run so many cases, so that those it does not come to are missed.
    pub(crate) fn plan(&self, cases: usize) {
        if cases > 0 {
            self.add(|line| Planned { cases }.write_line(line));
        }
    }
}

/// Which attempt of the test runner this is, from 1.
fn attempt() -> u32 {
    std::env::var(NEXTEST_ATTEMPT).ok().and_then(|attempt| attempt.parse().ok()).unwrap_or(1)
}

#[cfg(all(test, feature = "reports"))]
mod tests {
    use tempfile::TempDir;

    use super::super::{RecordedRun, runs};
    use super::*;

    #[test]
    fn each_evaluation_has_its_number_and_an_end_has_its_reason() {
        let temporary = TempDir::new().unwrap();
        let Ok(Some(journal)) = Journal::of_program(temporary.path(), None, true) else { return };
        journal.plan(0);
        let case = EvalCase::new("c");
        let of = ProgramCase {
            eval_set_id: None,
            case: &case,
            label: None,
            location: None,
            path: None,
            text: Some("{}"),
            set_cases: 1,
        };
        let log = TestLog::of_case(Some(journal), &of, &Options::default());
        let numbers = [1, 1, 2].map(|run| log.ran(run, &Transcript::default(), &[]).unwrap().evaluation());
        assert_eq!(numbers, [1, 2, 3]);
        log.broke("no metric", "it broke", "all that is printed");
        assert!(log.journal().is_some());
        drop(log);

        let run = RecordedRun::read(&runs(temporary.path()).unwrap()[0].path).unwrap();
        assert_eq!((run.unreadable, run.never_began), (Vec::new(), 0), "nothing is planned");
        let attempt = run.tests[0].last().unwrap();
        assert_eq!(attempt.started.case_hash.as_deref(), Some(case_hash("{}").as_str()));
        assert_eq!(attempt.started.name, "c");
        let decided = attempt.decided.as_ref().unwrap();
        assert_eq!(decided.verdict, Verdict::error(Role::Harness, "no metric"));
        let texts = (decided.headline.as_deref(), decided.failure.as_deref());
        assert_eq!(texts, (Some("it broke"), Some("all that is printed")));
    }
}
