//! Records that one test adds to a journal while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use eval_format::matrix::Variant;
use eval_format::{EvalCase, Meaning};

use super::record::{Decided, Planned, Ran, RunInvalidated, Scored, Started, TurnBegan};
use super::time;
use super::writer::{self, Journal};
use crate::compiled::{Test, VariantSource};
use crate::judge_outcome::JudgeUse;
use crate::options::Options;
use crate::report::{CaseReport, Location, RunReport, ScoredMetric};
use crate::transcript::{RunError, Transcript};
use crate::verdict::{Role, Verdict};

/// The part of a journal that belongs to one test. Does nothing if no journal is written.
#[derive(Debug, Default)]
pub(crate) struct TestLog(Option<Open>);

#[derive(Debug)]
struct Open {
    journal: Arc<Journal>,
    test: u32,
    evaluations: AtomicU32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramCase<'a> {
    pub(crate) eval_set_id: Option<&'a str>,
    pub(crate) case: &'a EvalCase,
    pub(crate) label: Option<&'a str>,
    pub(crate) variant: &'a Variant,
    pub(crate) location: Option<&'a Location>,
    /// The whole path of that file, if the system tells it.
    pub(crate) path: Option<&'a str>,
    /// The number of cases of its set that are to run, if it is known.
    pub(crate) set_cases: Option<usize>,
    /// The text of the file of faults, if there is one.
    pub(crate) faults: Option<&'a str>,
}

#[derive(Debug)]
pub(crate) struct RunLog<'a> {
    log: &'a Open,
    run: usize,
    evaluation: u32,
}

impl TestLog {
    /// Begins the log of a test of the attribute; `case` is `None` if it could not be read. Fails if a variable has an
    /// unknown value. `meaning` is called only if a journal is written.
    pub(crate) fn of_test(
        test: &Test,
        case: Option<&EvalCase>,
        meaning: impl FnOnce() -> Meaning,
    ) -> Result<Self, String> {
        let Some(journal) = writer::of_tests(test.set)? else { return Ok(Self::default()) };
        let Test { set, source, .. } = test;
        let meaning = meaning();
        Ok(Self::begin(journal, |number| Started {
            test: number,
            name: test.path(),
            of_program: false,
            label: test.variant.map(|variant| variant.label.to_owned()),
            variant: test.variant.map(variant_of).unwrap_or_default(),
            order: test.variant.map(|variant| variant.order).unwrap_or_default(),
            eval_set_id: Some(set.eval_set_id.to_owned()),
            eval_id: source.eval_id.to_owned(),
            file: Some(set.shown.to_owned()),
            set_file: Some(set.file.to_owned()),
            line: Some(source.line as usize),
            column: Some(source.column as usize),
            asks: meaning.asks,
            expects: meaning.expects,
            tags: case.map(tags_of).unwrap_or_default(),
            set_cases: Some(set.cases.len()),
            runs: set.options.runs,
            pass: set.options.pass,
            gate: set.options.gate,
            literal: set.options.is_literal(),
            tools: set.options.answered_by(set.faults.map(|faults| faults.text)),
            attempt: attempt_of_this_process(),
            at: time::now(),
        }))
    }

    pub(crate) fn of_case(journal: Option<Arc<Journal>>, of: &ProgramCase<'_>, options: &Options) -> Self {
        let Some(journal) = journal else { return Self::default() };
        let started =
            Started { attempt: attempt_of_this_process(), ..Started::of_program(of, options, time::now()) };
        Self::begin(journal, |test| Started { test, ..started })
    }

    fn begin(journal: Arc<Journal>, start: impl FnOnce(u32) -> Started) -> Self {
        let test = journal.next_test();
        journal.add(&start(test));
        Self(Some(Open { journal, test, evaluations: AtomicU32::new(1) }))
    }

    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.0.as_ref().map(|log| &*log.journal)
    }

    /// Records that a turn begins, so that readers of a run in progress know which one it is in.
    pub(crate) fn turn_began(&self, run: usize, turn: usize, turns: Option<usize>) {
        if let Some(log) = &self.0 {
            log.journal.add(&TurnBegan { test: log.test, run, turn, turns, at: time::now() });
        }
    }

    /// Records the events of a run, and whether it is `repeated`; `None` if no journal is written. The
    /// transcript is unchanged when this returns.
    pub(crate) fn ran(
        &self,
        run: usize,
        repeated: bool,
        transcript: &mut Transcript,
        simulator: Vec<JudgeUse>,
    ) -> Option<RunLog<'_>> {
        let log = self.0.as_ref()?;
        let evaluation = log.evaluations.fetch_add(1, Ordering::Relaxed);
        let record = Ran {
            test: log.test,
            run,
            evaluation,
            repeated,
            tokens: transcript.tokens(),
            // A copy would take longer than writing the record.
            transcript: std::mem::take(transcript),
            simulator,
        };
        log.journal.add(&record);
        *transcript = record.transcript;
        Some(RunLog { log, run, evaluation })
    }

    pub(crate) fn broke_later(&self, run: usize, evaluation: Option<u32>, error: &RunError) {
        if let Some((log, evaluation)) = self.0.as_ref().zip(evaluation) {
            log.journal.add(&RunInvalidated { test: log.test, run, evaluation, error: error.clone() });
        }
    }

    /// Records the verdict. `texts` are the headline of a failed case, and the output of its test.
    pub(crate) fn decided(&self, report: &CaseReport, texts: Option<(String, String)>) {
        self.end(|test| Decided { test, ..Decided::of_report(report, texts, time::now()) });
    }

    pub(crate) fn broke(&self, message: &str, headline: &str, failure: &str) {
        let texts = Some((headline.to_owned(), failure.to_owned()));
        let verdict = Verdict::error(Role::Harness, message);
        self.end(|test| Decided { test, ..Decided::of_verdict(verdict, texts, time::now()) });
    }

    fn end(&self, decided: impl FnOnce(u32) -> Decided) {
        if let Some(log) = &self.0 {
            log.journal.add(&decided(log.test));
        }
    }
}

impl RunLog<'_> {
    pub(crate) fn evaluation(&self) -> u32 {
        self.evaluation
    }

    pub(crate) fn scored(self, metrics: &mut Vec<ScoredMetric>) {
        let Self { log, run, evaluation } = self;
        let record = Scored { test: log.test, run, evaluation, metrics: std::mem::take(metrics) };
        log.journal.add(&record);
        *metrics = record.metrics;
    }
}

impl Journal {
    /// Records which cases a program is about to run, so that readers notice cases that never began.
    pub(crate) fn plan<'c>(&self, cases: impl Iterator<Item = (Option<&'c str>, &'c EvalCase)>) {
        let cases: Vec<String> = cases.map(|(set, case)| name_of(set, case)).collect();
        if !cases.is_empty() {
            self.add(&Planned { cases });
        }
    }
}

fn tags_of(case: &EvalCase) -> Vec<String> {
    case.tags().map(str::to_owned).collect()
}

fn variant_of(source: &VariantSource) -> Variant {
    Variant(source.values.iter().map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned())).collect())
}

fn attempt_of_this_process() -> u32 {
    super::record::attempt(|name| std::env::var(name).ok())
}

impl Started {
    /// The beginning of a case that a program ran. A report does not tell the rule that combined its runs.
    #[doc(hidden)]
    pub fn of_report(report: &CaseReport, at: SystemTime) -> Self {
        let of = ProgramCase {
            eval_set_id: report.eval_set_id.as_deref(),
            case: &report.case,
            label: report.label.as_deref(),
            variant: &Variant::default(),
            location: report.location.as_ref(),
            path: None,
            set_cases: None,
            faults: None,
        };
        let options = Options { runs: report.run_count(), gate: report.gate, ..Options::default() };
        // The report says how its calls were judged, whatever the variable is by now.
        Self { literal: report.literal, ..Self::of_program(&of, &options, at) }
    }

    fn of_program(of: &ProgramCase<'_>, options: &Options, at: SystemTime) -> Self {
        let ProgramCase { eval_set_id, case, label, variant, location, path, set_cases, faults } = *of;
        let Meaning { asks, expects, .. } = Meaning::from_case(case);
        Self {
            test: 1,
            name: name_of(eval_set_id, case),
            of_program: true,
            label: label.map(str::to_owned),
            variant: variant.clone(),
            order: 0,
            eval_set_id: eval_set_id.map(str::to_owned),
            eval_id: case.eval_id.clone(),
            file: location.map(|location| location.file.clone()),
            set_file: path.map(str::to_owned),
            line: location.map(|location| location.line),
            column: location.map(|location| location.column),
            asks,
            expects,
            tags: tags_of(case),
            set_cases,
            runs: options.runs,
            pass: options.pass,
            gate: options.gate,
            literal: options.is_literal(),
            tools: options.answered_by(faults),
            attempt: 1,
            at,
        }
    }
}

impl Ran {
    /// The record of a run in a report: its error, its tokens and the calls of models, without events.
    #[doc(hidden)]
    pub fn of_report(run: &RunReport) -> Self {
        Self {
            test: 1,
            run: run.number,
            evaluation: 1,
            repeated: false,
            transcript: Transcript {
                error: run.error.clone(),
                models: run.transcript.models.clone(),
                ..Transcript::default()
            },
            tokens: run.transcript.tokens(),
            // A report has no questions of the simulated user.
            simulator: Vec::new(),
        }
    }
}

impl Scored {
    /// The scores of a run; `None` if it has none.
    #[doc(hidden)]
    pub fn of_report(run: &RunReport) -> Option<Self> {
        let metrics = run.metrics.clone();
        (!metrics.is_empty()).then_some(Self { test: 1, run: run.number, evaluation: 1, metrics })
    }
}

impl Decided {
    /// The verdict on a case in a report. `texts` are the headline of a failed case, and the output of its
    /// test.
    #[doc(hidden)]
    pub fn of_report(report: &CaseReport, texts: Option<(String, String)>, at: SystemTime) -> Self {
        Self {
            metrics: report.metrics.clone(),
            passed_runs: report.passed_runs,
            elapsed: report.elapsed,
            notes: report.notes.clone(),
            repeated: report.repeated.len(),
            as_expected: report.verdict == Verdict::Failed && report.is_as_expected(),
            keeps_golden: report.verdict == Verdict::Failed && !report.can_be_golden(),
            ..Self::of_verdict(report.verdict.clone(), texts, at)
        }
    }

    fn of_verdict(verdict: Verdict, texts: Option<(String, String)>, at: SystemTime) -> Self {
        let (headline, failure) = texts.unzip();
        Self {
            test: 1,
            verdict,
            metrics: Vec::new(),
            passed_runs: None,
            elapsed: Duration::ZERO,
            notes: Vec::new(),
            repeated: 0,
            headline,
            as_expected: false,
            keeps_golden: false,
            failure,
            at,
        }
    }
}

pub(super) fn name_of(eval_set_id: Option<&str>, case: &EvalCase) -> String {
    let eval_id = &case.eval_id;
    eval_set_id.map_or_else(|| eval_id.clone(), |set| format!("{set}/{eval_id}"))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn each_evaluation_has_its_number_and_an_end_has_its_reason() {
        let temporary = TempDir::new().unwrap();
        let Ok(journal) = Journal::of_program(temporary.path(), None, None, None, None).map(Arc::new) else {
            return;
        };
        journal.plan(std::iter::empty());
        let case = EvalCase::new("c");
        let of = ProgramCase {
            eval_set_id: None,
            case: &case,
            label: None,
            variant: &Variant::default(),
            location: None,
            path: None,
            set_cases: Some(1),
            faults: None,
        };
        let log = TestLog::of_case(Some(journal), &of, &Options::default());
        log.turn_began(1, 2, Some(3));
        let numbers = [1, 1, 2]
            .map(|run| log.ran(run, false, &mut Transcript::default(), Vec::new()).unwrap().evaluation());
        assert_eq!(numbers, [1, 2, 3]);
        log.broke("no metric", "it broke", "all that is printed");
        let path = log.journal().unwrap().path.clone();
        drop(log);

        let text = std::fs::read_to_string(path).unwrap();
        let kinds: Vec<&str> = text.lines().map(|line| line.split('"').nth(3).unwrap()).collect();
        assert_eq!(
            kinds,
            ["head", "started", "turn", "ran", "ran", "ran", "decided"],
            "nothing is planned, it is a program"
        );
        let started: Started = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
        let meaning = Meaning::from_case(&case);
        assert_eq!((started.asks, started.expects, &*started.name), (meaning.asks, meaning.expects, "c"));
        let turn: TurnBegan = serde_json::from_str(text.lines().nth(2).unwrap()).unwrap();
        assert_eq!((turn.test, turn.run, turn.turn, turn.turns), (1, 1, 2, Some(3)));
        let decided: Decided = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(decided.verdict, Verdict::error(Role::Harness, "no metric"));
        let texts = (decided.headline.as_deref(), decided.failure.as_deref());
        assert_eq!(texts, (Some("it broke"), Some("all that is printed")));
    }
}
