//! What a journal tells of each test, and what it comes to.

mod gaps;
mod totals;

use std::time::Duration;

use eval_core::journal::{Attempt, Evaluation, JudgeUse, RecordedRun, RecordedTest};
use eval_core::report::{MetricOutcome, MetricReport, Role, Verdict};
use eval_core::statistics::Tally;
use eval_format::{Gate, UsageMetadata};
use serde::Serialize;

use crate::words::count;

pub(crate) use gaps::{gaps, has_gaps};
pub(crate) use totals::{OverCases, Totals};

/// The state of a test: its verdict, or that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Passed,
    Failed,
    NotEvaluated,
    Error,
    Skipped,
    /// Its process was killed, or still runs.
    Unfinished,
}

impl State {
    /// Whether nothing is known of the case: neither that it is as it should be nor that it is not.
    pub(crate) fn is_unmeasured(self) -> bool {
        matches!(self, Self::NotEvaluated | Self::Error | Self::Unfinished)
    }

    pub(crate) fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Passed => Self::Passed,
            Verdict::Failed => Self::Failed,
            Verdict::Skipped(_) => Self::Skipped,
            Verdict::Error { .. } => Self::Error,
            _ => Self::NotEvaluated,
        }
    }
}

/// A test of a run, with what its last attempt comes to.
#[derive(Debug)]
pub(crate) struct Recorded<'r> {
    pub(crate) test: &'r RecordedTest,
    pub(crate) attempt: &'r Attempt,
    pub(crate) state: State,
    pub(crate) runs: Runs,
}

/// What became of the runs of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    /// How many there were to be, or were where that is more.
    pub(crate) total: usize,
    /// How many came to an end, well or not.
    pub(crate) ran: usize,
    /// How many of them have a verdict of their own: every metric that gates has a score for every turn.
    pub(crate) judged: usize,
    /// How many passed every metric that gates.
    pub(crate) passed: usize,
}

impl Runs {
    fn of(attempt: &Attempt) -> Self {
        let metrics = attempt.decided.as_ref().map(|decided| decided.metrics.as_slice()).unwrap_or_default();
        let verdicts = || {
            let gate = attempt.started.gate;
            attempt.evaluations.iter().filter_map(move |evaluation| passed(evaluation, metrics, gate))
        };
        let ran = attempt.evaluations.len();
        // A body of the user's own may have evaluated nothing, and that is fine.
        let planned = if ran == 0 && attempt.decided.is_some() { 0 } else { attempt.started.runs };
        Self {
            total: planned.max(ran),
            ran,
            judged: verdicts().count(),
            passed: verdicts().filter(|passed| *passed).count(),
        }
    }

    /// Passed runs of all; one without a verdict did not pass.
    pub(crate) fn tally(self) -> Tally {
        Tally::new(self.passed, self.total).unwrap_or_default()
    }

    /// Whether of the runs that have a verdict some passed and some did not.
    pub(crate) fn are_flaky(self) -> bool {
        Tally::new(self.passed, self.judged).is_ok_and(Tally::is_flaky)
    }
}

/// Whether a run passed every metric that gates; absent where it has no verdict.
fn passed(evaluation: &Evaluation, metrics: &[MetricReport], gate: Gate) -> Option<bool> {
    if evaluation.ran.transcript.error.is_some() {
        return None;
    }
    let scored = evaluation.scored.as_ref()?;
    let mut passed = None;
    for metric in metrics {
        let Some(threshold) = metric.threshold() else { continue };
        match scored.metrics.iter().find(|score| score.name == metric.name).map(|metric| &metric.score) {
            Some(MetricOutcome::Scored(scores))
                if scores.scores().iter().all(|score| score.value().is_some()) =>
            {
                passed = Some(passed.unwrap_or(true) && scores.reaches(threshold, gate));
            }
            Some(MetricOutcome::Skipped(_) | MetricOutcome::Unjudged(_)) => {}
            _ => return None,
        }
    }
    passed
}

impl<'r> Recorded<'r> {
    fn of(test: &'r RecordedTest) -> Option<Self> {
        let attempt = test.last()?;
        let state = attempt.decided.as_ref().map_or(State::Unfinished, |decided| State::of(&decided.verdict));
        Some(Self { test, attempt, state, runs: Runs::of(attempt) })
    }

    /// All tests of a run: attribute by attribute, and then in the order of the file.
    pub(crate) fn all(run: &'r RecordedRun) -> Vec<Self> {
        let mut all: Vec<Self> = run.tests.iter().filter_map(Self::of).collect();
        all.sort_by(|one, other| one.module().cmp(&other.module()));
        all
    }

    /// What the tests of an attribute share.
    fn module(&self) -> (&'r str, &'r str, &'r str) {
        let RecordedTest { package, binary, name, .. } = self.test;
        (package, binary, name.rsplit_once("::").map_or("", |(module, _)| module))
    }

    /// Why the state is what it is, in one line; empty where there is nothing to say.
    pub(crate) fn headline(&self) -> String {
        let Some(decided) = &self.attempt.decided else {
            let Runs { total, ran, .. } = self.runs;
            let pid = self.attempt.head.pid;
            return format!(
                "no verdict: {ran} of {} ended; process {pid} was killed or still runs",
                count(total, "run")
            );
        };
        let first = decided.failure.lines().next().unwrap_or_default();
        let first = first.strip_prefix("Error: ").unwrap_or(first);
        let first = first.strip_prefix(&format!("{}: ", self.test.name)).unwrap_or(first);
        match decided.verdict.reason() {
            Some(reason) if first.is_empty() => reason.lines().next().unwrap_or_default().to_owned(),
            _ => first.to_owned(),
        }
    }

    /// Whether it is something to look into.
    pub(crate) fn is_trouble(&self) -> bool {
        self.state == State::Failed || self.state.is_unmeasured()
    }

    /// Who is to blame for an error.
    pub(crate) fn role(&self) -> Option<Role> {
        match self.attempt.decided.as_ref()?.verdict {
            Verdict::Error { role, .. } => Some(role),
            _ => None,
        }
    }

    /// The metrics, those that only inform too.
    pub(crate) fn metrics(&self) -> &'r [MetricReport] {
        self.attempt.decided.as_ref().map(|decided| decided.metrics.as_slice()).unwrap_or_default()
    }

    /// The metrics that can fail a case.
    pub(crate) fn gating(&self) -> impl Iterator<Item = &'r MetricReport> {
        self.metrics().iter().filter(|metric| metric.criterion.is_some())
    }

    /// How long its turns took.
    pub(crate) fn elapsed(&self) -> Duration {
        self.attempt.decided.as_ref().map(|decided| decided.elapsed).unwrap_or_default()
    }

    /// The attempts of the runner before this one that did not pass, and the number of this one.
    ///
    /// Runners that try again until a test passes hide that it failed.
    pub(crate) fn retried(&self) -> Option<(usize, usize)> {
        let (last, before) = self.test.attempts.split_last()?;
        let passed = |attempt: &Attempt| attempt.decided.as_ref().is_some_and(|it| it.verdict.passed());
        let unknown = usize::try_from(last.started.attempt).unwrap_or(usize::MAX).saturating_sub(1);
        let failed = before.iter().filter(|attempt| !passed(attempt)).count();
        // Attempts that another folder recorded count too.
        let failed = failed.max(unknown.saturating_sub(before.len()));
        (failed > 0).then_some((failed, before.len().max(unknown) + 1))
    }

    /// The file and line of the case, where it stands in one.
    pub(crate) fn place(&self) -> Option<(&'r str, usize, usize)> {
        let started = &self.attempt.started;
        Some((started.file.as_deref()?, started.line?, started.column?))
    }

    /// What the agent and the judges took.
    pub(crate) fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        for evaluation in &self.attempt.evaluations {
            let turns = evaluation.ran.transcript.turns.iter();
            for of_call in turns.flat_map(|turn| &turn.events).filter_map(|event| event.usage.as_ref()) {
                usage.agent.add(of_call);
            }
            let scored = evaluation.scored.iter().flat_map(|scored| &scored.metrics);
            for judge in scored.flat_map(|metric| &metric.judge).chain(&evaluation.ran.simulator) {
                usage.add_judge(judge);
            }
        }
        usage
    }
}

/// What was asked of models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) agent: Tokens,
    pub(crate) judge: Tokens,
    /// Questions to judges, samples counted one by one.
    pub(crate) asked: usize,
    /// Those of them that have no answer.
    pub(crate) unanswered: usize,
    /// Those of them that a recording answered, where it is known of all.
    replayed: usize,
    /// Questions of which nobody knows whether a recording answered them: of journals of earlier versions.
    untold: usize,
}

impl Usage {
    pub(crate) fn add(&mut self, other: Self) {
        self.agent.count = sum(self.agent.count, other.agent.count);
        self.judge.count = sum(self.judge.count, other.judge.count);
        self.add_questions(other.asked, other.unanswered, other.replayed, other.untold);
    }

    fn add_judge(&mut self, judge: &JudgeUse) {
        let untold = if judge.replayed.is_none() { judge.asked } else { 0 };
        self.add_questions(judge.asked, judge.failed, judge.replayed.unwrap_or_default(), untold);
        self.judge.add(&judge.usage);
    }

    /// A journal may hold any numbers.
    fn add_questions(&mut self, asked: usize, unanswered: usize, replayed: usize, untold: usize) {
        self.asked = self.asked.saturating_add(asked);
        self.unanswered = self.unanswered.saturating_add(unanswered);
        self.replayed = self.replayed.saturating_add(replayed);
        self.untold = self.untold.saturating_add(untold);
    }

    /// How many questions a recording answered; none where that is not known of all.
    pub(crate) fn replayed(&self) -> Option<usize> {
        (self.untold == 0).then_some(self.replayed)
    }
}

/// Tokens; unknown where nobody told them, which is not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) count: Option<i128>,
}

impl Tokens {
    /// The total of the provider, or else the sum of its parts.
    fn add(&mut self, usage: &UsageMetadata) {
        let parts = [
            usage.prompt_token_count,
            usage.tool_use_prompt_token_count,
            usage.candidates_token_count,
            usage.thoughts_token_count,
        ];
        let parts = parts.into_iter().map(|part| part.map(i128::from)).fold(None, sum);
        self.count = sum(self.count, usage.total_token_count.map(i128::from).or(parts));
    }
}

/// What is known of two numbers.
fn sum(one: Option<i128>, other: Option<i128>) -> Option<i128> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    }
}
