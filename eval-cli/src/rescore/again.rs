//! Scoring tests again, one by one.

use eval_core::EvalRunner;
use eval_core::report::{CaseReport, MetricReport, Role, Transcript, Verdict};
use eval_format::Criterion;

use super::Wanted;
use super::cases::{Cases, Found};
use super::kept::{Kept, is_own};
use crate::recorded::{Recorded, State};

/// A test with what it scores now.
#[derive(Debug)]
pub(super) struct Rescored<'r> {
    pub(super) test: Recorded<'r>,
    pub(super) now: Now,
    /// Whether the case was edited since it ran.
    pub(super) is_edited: bool,
    /// The metrics whose scores are those of the run.
    pub(super) kept: Vec<String>,
}

/// What scoring again came to.
#[derive(Debug)]
pub(super) enum Now {
    Scored(Box<CaseReport>),
    /// There is nothing to score, so that the old verdict stands, for this reason.
    AsBefore(String),
    /// It could not be scored again, for this reason.
    Not(String),
}

impl Rescored<'_> {
    pub(super) fn state(&self) -> State {
        match &self.now {
            Now::Scored(report) => State::of(&report.verdict),
            Now::AsBefore(_) => self.test.state,
            Now::Not(_) => State::Error,
        }
    }

    /// The metrics as they score now.
    pub(super) fn metrics(&self) -> &[MetricReport] {
        match &self.now {
            Now::Scored(report) => &report.metrics,
            Now::AsBefore(_) => self.test.metrics(),
            Now::Not(_) => &[],
        }
    }

    /// The metrics whose scores were kept because they are the user's own, although a built-in one has their name.
    pub(super) fn own_under_built_in_names(&self) -> impl Iterator<Item = &str> {
        let own = |name: &&String| eval_format::metric(name).is_some() && is_own(self.test.attempt, name);
        self.kept.iter().filter(own).map(String::as_str)
    }

    /// Why there is no new score.
    pub(super) fn reason(&self) -> Option<&str> {
        match &self.now {
            Now::Scored(report) => report.verdict.reason(),
            Now::AsBefore(reason) | Now::Not(reason) => Some(reason),
        }
    }
}

/// All tests, in order.
pub(super) async fn all<'r>(
    tests: Vec<Recorded<'r>>,
    wanted: &Wanted,
    cases: &mut Cases,
) -> Vec<Rescored<'r>> {
    let mut rescored = Vec::with_capacity(tests.len());
    for test in tests {
        rescored.push(one(test, wanted, cases).await);
    }
    rescored
}

async fn one<'r>(test: Recorded<'r>, wanted: &Wanted, cases: &mut Cases) -> Rescored<'r> {
    let not = |test, now| Rescored { test, now, is_edited: false, kept: Vec::new() };
    if let Some(reason) = nothing_to_score(&test) {
        return not(test, Now::AsBefore(reason.to_owned()));
    }
    let found = match cases.find(&test.attempt.started) {
        Ok(found) => found,
        Err(reason) => return not(test, Now::Not(reason)),
    };
    let (runner, kept) = runner(&test, wanted, &found);
    let transcripts: Vec<Transcript> =
        test.attempt.evaluations.iter().map(|evaluation| evaluation.ran.transcript.clone()).collect();
    let now = match runner.runs(transcripts.len()).score_case(&found.case, transcripts).await {
        Ok(report) => Now::Scored(Box::new(report)),
        Err(error) => Now::Not(error.to_string()),
    };
    Rescored { test, now, is_edited: found.is_edited, kept }
}

fn nothing_to_score(test: &Recorded<'_>) -> Option<&'static str> {
    let Some(decided) = &test.attempt.decided else {
        return Some("it is unfinished; `cargo evalset rerun --unfinished` runs it again");
    };
    match decided.verdict {
        Verdict::Error { role: Role::Body, .. } => {
            Some("the body of the test decided it, which only a test can run")
        }
        _ if test.attempt.evaluations.is_empty() => Some("nothing was recorded to score"),
        _ => None,
    }
}

/// What scores a test again, and the metrics whose scores it keeps.
fn runner(test: &Recorded<'_>, wanted: &Wanted, found: &Found) -> (EvalRunner, Vec<String>) {
    let started = &test.attempt.started;
    let mut runner = EvalRunner::new().pass(started.pass).gate(started.gate).recording(&found.recording);
    if let Some(model) = &wanted.judge {
        runner = runner.judge_model(model);
    }
    for (name, criterion) in criteria(test, wanted) {
        runner = runner.criterion(name, criterion);
    }
    let mut kept = Vec::new();
    for metric in test.gating() {
        let is_own = is_own(test.attempt, &metric.name);
        if wanted.rescores(&metric.name) && !is_own {
            continue;
        }
        // Where the scores of an own metric are not all there, a built-in one must not take its place.
        if let Some(scores) = Kept::of(test.attempt, &metric.name).or_else(|| is_own.then(Kept::default)) {
            runner = runner.metric(&metric.name, scores);
            kept.push(metric.name.clone());
        }
    }
    (runner, kept)
}

/// The criteria of the run, or those of the config: all of them, or those that are wanted.
fn criteria(test: &Recorded<'_>, wanted: &Wanted) -> Vec<(String, Criterion)> {
    let recorded =
        || test.gating().filter_map(|metric| Some((metric.name.clone(), metric.criterion.clone()?)));
    let Some(config) = &wanted.config else { return recorded().collect() };
    let of_config = || config.criteria.iter().map(|(name, criterion)| (name.clone(), criterion.clone()));
    let Some(metrics) = &wanted.metrics else { return of_config().collect() };
    let others = recorded().filter(|(name, _)| !metrics.contains(name));
    others.chain(of_config().filter(|(name, _)| metrics.contains(name))).collect()
}
