//! An entry of the queue: a failing case with what its runs did, or a draft.

use std::path::{Path, PathBuf};

use eval_agents::draft::{NotReplaced, in_form_of, refuse_masks, what_varied};
use eval_core::journal::Started;
use eval_core::report::{Transcript, Verdict, short};
use eval_format::{Criterion, EvalCase, Meaning};
use eval_support::untrusted::{headline, one_line};
use eval_support::words::{code_list, count};

use super::change::{Change, Part};
use super::judged::judged;
use super::warnings::{Warning, of_draft};
use crate::drafts::{GoldenBy, NotGolden};
use crate::output::{rerun_command, with_option};
use crate::recorded::{FailedReads, Found, State, TestResult};

/// An entry of the queue. `test` is its place among the tests of the run; `None` for a draft, and without a set.
#[derive(Debug)]
pub(crate) struct Item {
    /// `SET:CASE`, by which commands name it.
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    pub(crate) case: EvalCase,
    /// The line of the case, from 1, when it ran.
    pub(crate) line: Option<usize>,
    pub(crate) test: Option<usize>,
    pub(crate) passed: usize,
    pub(crate) runs: usize,
    /// The runs without a verdict.
    pub(crate) errors: usize,
    /// The failing metrics, each with its score: `response_match_score 0.15, below 0.8`.
    pub(crate) metrics: Vec<String>,
    /// What judges answered about the first failing run, a line for each answer.
    pub(crate) judged: Vec<String>,
    /// How often the case passed in the baseline.
    pub(crate) since: Option<String>,
    pub(crate) offer: Offer,
    /// The parts of the change that were accepted before, and are in the case already.
    pub(crate) taken: Vec<Part>,
    /// The golden beside each run; empty for a draft, and if no run can be compared.
    pub(crate) changes: Vec<Change>,
    /// Warnings about the case, whatever is chosen.
    pub(crate) warnings: Vec<Warning>,
    /// The command that runs the case five times.
    pub(crate) again: Option<String>,
    pub(crate) found: Option<Found>,
}

#[derive(Debug)]
pub(crate) enum Offer {
    /// What all runs did.
    Change,
    Draft,
    Not(NotOffered),
}

/// The reason why a case is not offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotOffered {
    pub(crate) why: String,
    /// What varied between the runs.
    pub(crate) varied: Vec<String>,
    pub(crate) help: String,
}

impl NotOffered {
    pub(crate) fn new(why: impl Into<String>, help: impl Into<String>) -> Self {
        let help = eval_support::command::spelt(help.into());
        Self { why: why.into(), varied: Vec::new(), help }
    }
}

impl From<NotGolden> for NotOffered {
    fn from(not: NotGolden) -> Self {
        Self::new(not.why, not.help)
    }
}

pub(crate) fn id_of(path: &Path, eval_id: &str) -> String {
    format!("{}:{eval_id}", path.display())
}

impl Item {
    pub(crate) fn draft(path: &Path, case: &EvalCase) -> Self {
        Self {
            id: id_of(path, &case.eval_id),
            path: path.to_owned(),
            case: case.clone(),
            line: None,
            test: None,
            passed: 0,
            runs: 0,
            errors: 0,
            metrics: Vec::new(),
            judged: Vec::new(),
            since: None,
            offer: Offer::Draft,
            taken: Vec::new(),
            changes: Vec::new(),
            warnings: of_draft(case),
            again: None,
            found: None,
        }
    }

    /// The entry of a case that failed and that is in no file, or in none that can be read.
    pub(crate) fn not_found(started: &Started, not: NotOffered) -> Self {
        let path = PathBuf::from(started.file.as_deref().unwrap_or("(no file)"));
        let case = EvalCase::new(started.eval_id.as_str());
        Self {
            warnings: Vec::new(),
            offer: Offer::Not(not),
            line: started.line,
            runs: started.runs,
            ..Self::draft(&path, &case)
        }
    }

    /// The entry of a case that failed. `tests` are all tests of the case in the run, the first one at `place`.
    pub(crate) fn failed(place: usize, tests: &[&TestResult<'_>], path: &Path, found: Found) -> Self {
        let started = &tests[0].attempt.started;
        let metrics = tests[0].metrics().iter().filter(|it| it.verdict == Verdict::Failed);
        let metrics = metrics.filter_map(|it| {
            let bound = it.bound()?;
            let side = if bound.direction == eval_format::Direction::AtLeast { "below" } else { "above" };
            Some(format!("{} {}, {side} {:?}", it.name, short(it.score?, Some(bound)), bound.threshold))
        });
        let (changes, offer) = compared(tests, &found);
        let mut item = Self {
            id: id_of(path, &started.eval_id),
            path: path.to_owned(),
            case: found.case.clone(),
            line: started.line,
            test: Some(place),
            passed: tests.iter().map(|test| test.runs.passed).sum(),
            runs: tests.iter().map(|test| test.runs.total).sum(),
            errors: tests.iter().map(|test| test.runs.total - test.runs.judged).sum(),
            metrics: metrics.collect(),
            judged: judged(tests[0]),
            since: None,
            offer,
            taken: Vec::new(),
            changes,
            warnings: Vec::new(),
            again: again(tests[0]),
            found: Some(found),
        };
        if matches!(item.offer, Offer::Change) {
            item.warnings = about_runs(tests, item.changes.len());
        }
        item
    }

    /// The change that all runs made.
    pub(crate) fn change(&self) -> Option<&Change> {
        self.changes.first().filter(|_| matches!(self.offer, Offer::Change))
    }

    /// The runs that failed or passed, in words.
    pub(crate) fn how(&self) -> String {
        match (&self.offer, self.passed) {
            (Offer::Change, 0) if self.runs == 1 => "failed its only run".to_owned(),
            (Offer::Change, 0) => format!("failed {0} of {0} runs, the same each time", self.runs),
            (_, passed) => {
                let (runs, errors) = (count(self.runs, "run"), count(self.errors, "error"));
                let with_errors = if self.errors > 0 { format!(", {errors}") } else { String::new() };
                match (passed, self.runs - self.errors) {
                    (0, 0) => format!("{errors} in {runs}"),
                    (0, failed) => format!("failed {failed} of {runs}{with_errors}"),
                    _ => format!("passed {passed} of {runs}{with_errors}"),
                }
            }
        }
    }

    /// The reason why it is not offered.
    #[cfg(feature = "serve")]
    pub(crate) fn not_offered(&self) -> Option<&str> {
        if let Offer::Not(not) = &self.offer { Some(&not.why) } else { None }
    }

    pub(crate) fn varies(&self) -> bool {
        matches!(&self.offer, Offer::Not(not) if !not.varied.is_empty())
    }
}

/// Warnings that do not depend on what is accepted.
fn about_runs(tests: &[&TestResult<'_>], compared: usize) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if compared == 1 {
        warnings.push(Warning::told("1 run: nothing shows whether it varies"));
    }
    if tests.iter().any(|test| test.state == State::Passed) {
        let pass = tests[0].attempt.started.pass;
        warnings.push(Warning::told(format!(
            "the case passed by `pass = \"{pass}\"`, which hides the failing runs"
        )));
    }
    let notes =
        tests.iter().flat_map(|test| &test.attempt.evaluations).flat_map(|it| &it.ran.transcript.notes);
    let mut notes: Vec<&str> = notes.map(String::as_str).collect();
    notes.dedup();
    warnings.extend(notes.first().map(|note| Warning::told(format!("the record says: {}", one_line(note)))));
    warnings
}

/// The command that runs a case of a program five times.
fn again(test: &TestResult<'_>) -> Option<String> {
    let (options, started) = (test.attempt.head.again.as_ref()?, &test.attempt.started);
    let file = started.file.as_deref().filter(|_| started.of_program)?;
    let options = with_option(options, "--runs", "5");
    Some(one_line(&rerun_command(&options, [(file, started.eval_id.as_str())])))
}

/// The failed metrics with their criteria. A case that passed has the failed metrics of its failing runs.
fn failed_metrics<'t>(test: &'t TestResult<'_>) -> Vec<(&'t str, Option<&'t Criterion>)> {
    let deciding = test.deciding().filter(|report| match test.state {
        State::Passed => {
            let scored = test.attempt.evaluations.iter().filter_map(|it| it.scored.as_ref());
            let mut of_runs = scored.flat_map(|it| &it.metrics);
            of_runs.any(|it| it.name == report.name && it.verdict == Verdict::Failed)
        }
        _ => report.verdict == Verdict::Failed,
    });
    deciding.map(|report| (report.name.as_str(), report.criterion.as_ref())).collect()
}

/// The runs of a case that count: all of its last attempt, and of earlier attempts at the same case those that came to their end.
/// What only some attempts did is not stable.
fn transcripts<'t>(tests: &[&'t TestResult<'_>]) -> Vec<&'t Transcript> {
    let of_test = |test: &&'t TestResult<'_>| {
        let started = &test.attempt.started;
        let last = test.attempt.evaluations.iter().map(|it| &it.ran.transcript);
        let same = test
            .earlier()
            .iter()
            .filter(|it| (&it.started.asks, &it.started.expects) == (&started.asks, &started.expects));
        let earlier = same.flat_map(|it| &it.evaluations).map(|it| &it.ran.transcript);
        last.chain(earlier.filter(|it| it.error.is_none())).collect::<Vec<_>>()
    };
    tests.iter().flat_map(of_test).collect()
}

/// The golden beside each run, and whether what they did is offered.
fn compared(tests: &[&TestResult<'_>], found: &Found) -> (Vec<Change>, Offer) {
    const BY: GoldenBy = GoldenBy::Review;
    let not = |why: String, help: &str| (Vec::new(), Offer::Not(NotOffered::new(why, help)));
    let no_golden = |refusal: NotGolden| (Vec::new(), Offer::Not(refusal.into()));
    if found.is_edited {
        return no_golden(BY.edited());
    }
    let runs = transcripts(tests);
    if let Some((at, error)) = runs.iter().enumerate().find_map(|(at, run)| Some((at, run.error.as_ref()?))) {
        let why = format!("run {}: {}", at + 1, one_line(&headline(&error.to_string())));
        return not(why, BY.run_again());
    }
    if let Some(broke) = tests.iter().find(|test| test.state == State::Error) {
        let why = broke.reason().unwrap_or_else(|| "the case has no verdict".to_owned());
        return no_golden(BY.broken(one_line(&why)));
    }
    let failed: Vec<_> = tests.iter().flat_map(|test| failed_metrics(test)).collect();
    let reads = FailedReads::of(failed.iter().copied());
    if reads.nothing() {
        let names: Vec<&str> = failed.iter().map(|(name, _)| *name).collect();
        let why = format!("to expect what happened changes no verdict of {}", code_list(&names));
        return not(why, "change the agent, or edit the rubric, the demand or the criterion: `e`");
    }
    if runs.is_empty() {
        return not("no run came to its end".to_owned(), BY.run_again());
    }
    let literal = tests[0].attempt.started.literal;
    let of_runs = |new_answers: bool| -> Option<Vec<Change>> {
        let changes = runs.iter().map(|run| {
            Some(Change::new(&found.case, &in_form_of(&found.case, run, new_answers)?, reads, literal))
        });
        changes.collect()
    };
    let is_unchanged = |changes: &[Change]| changes.iter().all(|change| change.parts().is_empty());
    let changes = match of_runs(false) {
        // A turn that expects no answer gets one if nothing else changes.
        Some(changes) if is_unchanged(&changes) => of_runs(true),
        changes => changes,
    };
    let Some(changes) = changes else {
        return no_golden(BY.not_replaced(&NotReplaced::Turns));
    };
    let wholes: Vec<EvalCase> = changes.iter().map(Change::whole).collect();
    let meaning = Meaning::from_case(&wholes[0]);
    if wholes.iter().any(|whole| Meaning::from_case(whole) != meaning) {
        let varied = what_varied(wholes).iter().map(|what| without_rule(what)).collect();
        let why = format!("no behaviour is common to all {}", count(changes.len(), "run"));
        let not = NotOffered { varied, ..BY.varied(why).into() };
        return (changes, Offer::Not(not));
    }
    if is_unchanged(&changes) {
        return no_golden(BY.not_replaced(&NotReplaced::Unchanged));
    }
    match refuse_masks(&found.case, &wholes[0]) {
        Ok(()) => (changes, Offer::Change),
        Err(error) => no_golden(BY.not_replaced(&error)),
    }
}

/// What varied, without the rule that drafts propose for it: it may have a distance that is fitted to the runs.
fn without_rule(what: &str) -> String {
    what.split("; a rule for it is ").next().unwrap_or_default().to_owned()
}
