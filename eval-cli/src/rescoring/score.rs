//! Scoring tests again, one by one.

use std::collections::BTreeSet;

use eval_core::EvalRunner;
use eval_core::metric::commands_of;
use eval_core::report::{CaseReport, Role, Verdict};
use eval_format::{Criterion, EvalCase, Meaning, PassRule, Value};
use eval_report::journal::RecordedTest;
use eval_support::untrusted::one_line;

use super::selection::{OutdatedScore, RecordedScores, Selection, is_own};
use crate::features::with_judge;
use crate::output::rerun_command;
use crate::recorded::{Cases, Found, RunResults, State, TestResult};

#[derive(Debug)]
pub(crate) struct RescoredRun<'r> {
    pub(crate) now: &'r RunResults<'r>,
    /// The cases of `now`, in their order.
    pub(crate) cases: &'r [RescoredCase<'r>],
    /// A sentence for each added or removed case that was left out on purpose.
    pub(crate) left_out: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct RescoredCase<'r> {
    pub(crate) test: TestResult<'r>,
    pub(crate) now: Now,
    pub(crate) is_edited: bool,
    /// The metrics that kept their recorded scores.
    pub(crate) kept: Vec<String>,
}

#[derive(Debug)]
pub(crate) enum Now {
    Scored(Box<CaseReport>),
    /// There is nothing to score, for this reason. The recorded verdict is kept.
    AsBefore(String),
    Not(String),
}

impl RescoredCase<'_> {
    pub(crate) fn rescored(&self) -> RecordedTest {
        self.test.test.with_last(|attempt| match &self.now {
            Now::Scored(report) => attempt.rescore(report),
            Now::AsBefore(why) => {
                if let Some(decided) = &mut attempt.decided {
                    decided.headline = Some(why.clone());
                }
            }
            Now::Not(why) => attempt.fail_to_rescore(why),
        })
    }

    /// The metrics of the user's own that kept their scores although a built-in metric has the same name.
    pub(crate) fn own_under_built_in_names(&self) -> impl Iterator<Item = &str> {
        let own =
            |name: &&String| eval_format::metric::metric(name).is_some() && is_own(self.test.attempt, name);
        self.kept.iter().filter(own).map(String::as_str)
    }
}

/// Scores all tests. With `partial`, cases that their sets lack now are left out, with a sentence for each.
pub(crate) async fn all<'r>(
    tests: Vec<TestResult<'r>>,
    selection: &Selection,
    cases: &mut Cases,
    partial: bool,
) -> (Vec<RescoredCase<'r>>, Vec<String>) {
    let mut rescored = Vec::with_capacity(tests.len());
    let mut gone = Vec::new();
    for test in tests {
        match cases.find(&test.attempt.started) {
            Err(reason) if partial && reason.is_gone => gone.push(reason.why),
            _ => rescored.push(one(test, selection, cases).await),
        }
    }
    (rescored, gone)
}

/// Scores one test against its case as it is in its set now.
pub(crate) async fn one<'r>(
    test: TestResult<'r>,
    selection: &Selection,
    cases: &mut Cases,
) -> RescoredCase<'r> {
    let not = |test, now| RescoredCase { test, now, is_edited: false, kept: Vec::new() };
    if let Some(reason) = nothing_to_score(&test) {
        // A verdict that could not be checked again stays, unless it is a pass.
        let now = if test.state == State::Passed { Now::Not } else { Now::AsBefore };
        return not(test, now(eval_support::command::spelt(reason.to_owned())));
    }
    let found = match cases.find(&test.attempt.started) {
        Ok(found) => found,
        Err(reason) => return not(test, Now::Not(reason.why)),
    };
    let (mut now, kept) = scored(&found.case, &test, selection, &found, found.is_edited).await;
    let is_error = |report: &CaseReport| matches!(report.verdict, Verdict::Error { .. });
    if matches!(&now, Now::Scored(report) if !is_error(report)) && asks_otherwise(&test, &found) {
        now = Now::Not(asked_otherwise(&test));
    }
    RescoredCase { test, now, is_edited: found.is_edited, kept }
}

/// Whether the agent was asked something else than the case asks now. Other messages are an error of their own.
fn asks_otherwise(test: &TestResult<'_>, found: &Found) -> bool {
    test.attempt.started.asks != Meaning::from_case(&found.case).asks
}

fn asked_otherwise(test: &TestResult<'_>) -> String {
    let started = &test.attempt.started;
    let options = test.attempt.head.again.as_ref().filter(|_| started.of_program);
    let command = options.zip(started.file.as_deref());
    let again = match command {
        Some((options, file)) => {
            format!("`{}` runs it", one_line(&rerun_command(options, [(file, started.eval_id.as_str())])))
        }
        None => "run the test again".to_owned(),
    };
    format!(
        "the case was edited since it ran: its session, or the faults of its tools or models, which this run did not meet; \
         {again}"
    )
}

/// Scores a test against a changed case, as far as it can be said. Metrics that are not selected keep their recorded scores.
pub(crate) async fn forecast(
    case: &EvalCase,
    test: &TestResult<'_>,
    selection: &Selection,
    found: &Found,
) -> Now {
    scored(case, test, selection, found, false).await.0
}

/// Scores a test against a case. Returns the metrics that kept their recorded scores too. With `is_edited` no score is kept: it is
/// about what the case expected then.
async fn scored(
    case: &EvalCase,
    test: &TestResult<'_>,
    selection: &Selection,
    found: &Found,
    is_edited: bool,
) -> (Now, Vec<String>) {
    let (runner, kept) = runner(test, selection, found, is_edited);
    let (runs, repeated) = (test.attempt.transcripts(), test.attempt.repeated_reports());
    let case = with_known_criteria(case, &criteria(test, selection));
    let now = match runner.runs(runs.len()).score_attempts(&case, runs, &repeated).await {
        Ok(report) => Now::Scored(Box::new(report)),
        Err(error) => Now::Not(error.to_string()),
    };
    (now, kept)
}

fn nothing_to_score(test: &TestResult<'_>) -> Option<&'static str> {
    let Some(decided) = &test.attempt.decided else {
        return Some("it is unfinished; `cargo evalset rerun --unfinished` runs it again");
    };
    match decided.verdict {
        Verdict::Error { role: Role::Body, .. } => {
            Some("the body of the test decided it, which only a test can run")
        }
        _ if test.attempt.evaluations.is_empty() => Some("no conversation was recorded"),
        _ if test.attempt.started.pass != PassRule::Mean && repeats_a_run(test) => Some(
            "its body evaluated several times in a run, and `pass` counts runs; `cargo evalset rerun` runs it",
        ),
        _ => None,
    }
}

/// Whether a test body evaluated the case several times in one run.
fn repeats_a_run(test: &TestResult<'_>) -> bool {
    test.attempt.evaluations.iter().map(|evaluation| evaluation.ran.run).collect::<BTreeSet<_>>().len()
        < test.attempt.evaluations.len()
}

/// The runner that scores a test again, and the metrics that keep their recorded scores in it.
fn runner(
    test: &TestResult<'_>,
    selection: &Selection,
    found: &Found,
    is_edited: bool,
) -> (EvalRunner, Vec<String>) {
    let started = &test.attempt.started;
    let runner =
        with_judge(EvalRunner::new()).pass(started.pass).gate(started.gate).literal(selection.literal);
    let mut runner = runner.recording(&found.recording);
    if let Some(model) = &selection.judge {
        runner = runner.judge_model(model);
    }
    for (name, criterion) in criteria(test, selection) {
        runner = runner.criterion(name, criterion);
    }
    // The programs of the config are asked about the recorded turns.
    let programs = selection.config.as_ref().map(commands_of).unwrap_or_default();
    let programs: Vec<_> = programs.into_iter().filter(|(name, _)| selection.has(name)).collect();
    let mut kept = Vec::new();
    for metric in test.deciding() {
        let is_own = is_own(test.attempt, &metric.name);
        let is_asked = programs.iter().any(|(name, _)| *name == metric.name);
        if is_asked || selection.has(&metric.name) && !is_own {
            continue;
        }
        if is_edited {
            runner = runner.metric(&metric.name, OutdatedScore { is_own });
            continue;
        }
        let scores = RecordedScores::new(test.attempt, &metric.name);
        // If scores of an own metric are missing, a built-in metric must not take its place.
        if let Some(scores) = scores.or_else(|| is_own.then(RecordedScores::default)) {
            runner = runner.metric(&metric.name, scores);
            kept.push(metric.name.clone());
        }
    }
    let runner = programs.into_iter().fold(runner, |runner, (name, program)| runner.metric(name, program));
    (runner, kept)
}

/// The case with the changes of `_criteria` that are about these criteria. A metric that the case took out when it ran is
/// none of the recorded ones.
fn with_known_criteria(case: &EvalCase, criteria: &[(String, Criterion)]) -> EvalCase {
    let Some(changes) = case.own_criteria() else { return case.clone() };
    let known = changes.iter().filter(|(metric, _)| criteria.iter().any(|(name, _)| name == metric));
    let known: Vec<(String, Value)> =
        known.map(|(metric, change)| (metric.to_owned(), change.clone())).collect();
    let mut plain = case.clone();
    plain.extra.remove(EvalCase::CRITERIA_KEY);
    known.into_iter().fold(plain, |case, (metric, change)| case.with_criterion(metric, change))
}

/// The criteria of the run. A config replaces all of them, or only the criteria of the selected metrics.
fn criteria(test: &TestResult<'_>, selection: &Selection) -> Vec<(String, Criterion)> {
    let recorded =
        || test.deciding().filter_map(|metric| Some((metric.name.clone(), metric.criterion.clone()?)));
    let Some(config) = &selection.config else { return recorded().collect() };
    let of_config = || config.criteria.iter().map(|(name, criterion)| (name.clone(), criterion.clone()));
    let Some(metrics) = &selection.metrics else { return of_config().collect() };
    let others = recorded().filter(|(name, _)| !metrics.contains(name));
    others.chain(of_config().filter(|(name, _)| metrics.contains(name))).collect()
}
