//! The report as JSON.

use std::borrow::Cow;

use crate::journal::Attempt;
use crate::statistics::{Interval, Tally};
use eval_core::report::{MetricOutcome, MetricReport};
use serde::Serialize;

use crate::output::json::{self, finite};
use crate::output::{CommandError, Outcome, time};
use crate::recorded::{CaseLocation, Problem, RunResults, State, TestResult, Usage, headline, near};

/// The version of the document: of `docs/report.schema.json`. It grows if a field is removed or changes its meaning, and not
/// for new fields.
const SCHEMA: u32 = 1;

/// What `--json` writes and `--format json` prints.
#[derive(Debug, Serialize)]
struct Document<'r> {
    command: &'static str,
    schema: u32,
    outcome: Outcome,
    runs: &'r [String],
    folders: Vec<String>,
    began: Option<String>,
    built: Option<String>,
    doubts: &'r [String],
    problems: Vec<ProblemEntry<'r>>,
    cases: Vec<Case<'r>>,
    summary: Summary,
}

/// Something that never began, or is not known of the run.
#[derive(Debug, Serialize)]
struct ProblemEntry<'r> {
    package: Option<&'r str>,
    binary: Option<&'r str>,
    name: &'r str,
    message: &'r str,
}

#[derive(Debug, Serialize)]
struct Summary {
    cases: usize,
    passed: usize,
    failed: usize,
    not_evaluated: usize,
    errors: usize,
    unfinished: usize,
    skipped: usize,
    partly_skipped: usize,
    /// `missing` and `left_out` together.
    not_run: usize,
    missing: usize,
    left_out: usize,
    flaky: usize,
    retried: usize,
    runs: usize,
    runs_with_verdict: usize,
    pass_rate: Option<f64>,
    interval: Option<[f64; 2]>,
    over_cases: Option<OverCases>,
    seconds: f64,
    usage: UsageEntry,
    torn: usize,
    lost: usize,
    unreadable: usize,
}

#[derive(Debug, Serialize)]
struct OverCases {
    k: usize,
    pass_at_k: f64,
    pass_all_k: f64,
    cases: usize,
}

#[derive(Debug, Serialize)]
struct UsageEntry {
    agent_tokens: Option<i64>,
    judge_tokens: Option<i64>,
    judge_questions: usize,
    judge_unanswered: usize,
    /// `None` if a journal does not tell.
    judge_replayed: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Case<'r> {
    name: &'r str,
    test: &'r str,
    package: Option<&'r str>,
    binary: Option<&'r str>,
    eval_set_id: Option<&'r str>,
    eval_id: &'r str,
    label: Option<&'r str>,
    asks: &'r str,
    expects: &'r str,
    of_program: bool,
    place: Option<CaseLocation<'r>>,
    state: State,
    role: Option<String>,
    reason: Option<String>,
    flaky: bool,
    attempt: u32,
    attempts: usize,
    earlier_attempts: Vec<EarlierAttempt<'r>>,
    pass: String,
    gate: String,
    runs: Runs,
    skipped_metrics: Vec<&'r str>,
    metrics: Vec<Metric<'r>>,
    seconds: f64,
    usage: UsageEntry,
    notes: &'r [String],
    failure: Option<&'r str>,
    record: String,
}

#[derive(Debug, Serialize)]
struct EarlierAttempt<'r> {
    attempt: u32,
    state: State,
    reason: Option<Cow<'r, str>>,
}

#[derive(Debug, Serialize)]
struct Runs {
    total: usize,
    ran: usize,
    with_verdict: usize,
    passed: usize,
    interval: Option<[f64; 2]>,
}

#[derive(Debug, Serialize)]
struct Metric<'r> {
    name: &'r str,
    state: &'static str,
    reason: Option<&'r str>,
    score: Option<f64>,
    threshold: Option<f64>,
    direction: Option<&'static str>,
    scored: usize,
    total: usize,
    passed_runs: Option<usize>,
    notes: &'r [String],
    runs: Vec<RunEntry>,
}

/// The scores of a metric in one run: one for each turn, or the reason why there are none.
#[derive(Debug, Serialize)]
struct RunEntry {
    run: usize,
    state: &'static str,
    scores: Option<Vec<Option<f64>>>,
    reason: Option<String>,
}

pub fn text(results: &RunResults<'_>) -> Result<String, CommandError> {
    json::document(&Document::of(results))
}

impl<'r> Document<'r> {
    fn of(results: &'r RunResults<'_>) -> Self {
        let totals = &results.totals;
        let folders = results.loaded.folders.iter().map(|folder| near(folder).display().to_string());
        Self {
            command: "report",
            schema: SCHEMA,
            outcome: totals.outcome(),
            runs: &results.loaded.run.ids,
            folders: folders.collect(),
            began: results.times.began.map(time::iso),
            built: results.times.built.map(time::iso),
            doubts: &results.doubts,
            problems: results.problems.iter().map(ProblemEntry::of).collect(),
            cases: results.tests.iter().map(Case::of).collect(),
            summary: Summary {
                cases: totals.cases,
                passed: totals.passed,
                failed: totals.failed,
                not_evaluated: totals.not_evaluated,
                errors: totals.errors,
                unfinished: totals.unfinished,
                not_run: totals.missing + totals.left_out,
                missing: totals.missing,
                left_out: totals.left_out,
                skipped: totals.skipped,
                partly_skipped: totals.partly_skipped,
                flaky: totals.flaky,
                retried: totals.retried,
                runs: totals.runs,
                runs_with_verdict: totals.judged,
                pass_rate: totals.tally().rate(),
                interval: interval(totals.tally()),
                over_cases: results.over_cases.map(|over| OverCases {
                    k: over.k,
                    pass_at_k: over.pass_at,
                    pass_all_k: over.pass_all,
                    cases: over.cases,
                }),
                seconds: totals.elapsed.as_secs_f64(),
                usage: UsageEntry::of(totals.usage),
                torn: results.loaded.run.torn,
                lost: results.loaded.run.lost,
                unreadable: totals.unreadable,
            },
        }
    }
}

impl<'r> ProblemEntry<'r> {
    fn of(problem: &'r Problem) -> Self {
        let Problem { package, binary, name, message } = problem;
        Self { package: package.as_deref(), binary: binary.as_deref(), name, message }
    }
}

impl<'r> Case<'r> {
    fn of(test: &'r TestResult<'_>) -> Self {
        let started = &test.attempt.started;
        let decided = test.attempt.decided.as_ref();
        Self {
            name: &test.name,
            test: test.test.name(),
            package: test.test.package(),
            binary: test.test.binary(),
            eval_set_id: started.eval_set_id.as_deref(),
            eval_id: &started.eval_id,
            label: started.label.as_deref(),
            asks: &started.asks,
            expects: &started.expects,
            of_program: started.of_program,
            place: test.location(),
            state: test.state,
            role: test.role().map(|role| role.to_string()),
            reason: test.reason().filter(|_| test.state != State::Passed),
            flaky: test.runs.are_flaky(),
            attempt: started.attempt,
            attempts: test.test.attempts.len(),
            earlier_attempts: test.earlier().iter().map(EarlierAttempt::of).collect(),
            pass: started.pass.to_string(),
            gate: started.gate.to_string(),
            skipped_metrics: test.skipped_metrics().map(|metric| metric.name.as_str()).collect(),
            runs: Runs {
                total: test.runs.total,
                ran: test.runs.ran,
                with_verdict: test.runs.judged,
                passed: test.runs.passed,
                interval: interval(test.runs.tally()),
            },
            metrics: test.metrics().iter().map(|metric| Metric::of(metric, test)).collect(),
            seconds: test.elapsed().as_secs_f64(),
            usage: UsageEntry::of(test.usage()),
            notes: decided.map(|decided| decided.notes.as_slice()).unwrap_or_default(),
            failure: decided.and_then(|decided| decided.failure.as_deref()),
            record: near(&test.attempt.file).display().to_string(),
        }
    }
}

impl<'r> EarlierAttempt<'r> {
    fn of(attempt: &'r Attempt) -> Self {
        let decided = attempt.decided.as_ref();
        Self {
            attempt: attempt.started.attempt,
            state: decided.map_or(State::Unfinished, |decided| State::of(&decided.verdict)),
            reason: decided.and_then(headline),
        }
    }
}

impl<'r> Metric<'r> {
    fn of(metric: &'r MetricReport, test: &TestResult<'_>) -> Self {
        let scored = test.attempt.evaluations.iter().filter_map(|evaluation| evaluation.scored.as_ref());
        let runs = scored.filter_map(|scored| {
            let of_metric = scored.metrics.iter().find(|score| score.name == metric.name)?;
            Some(RunEntry::of(scored.run, &of_metric.outcome))
        });
        Self {
            name: &metric.name,
            state: metric.verdict.name(),
            reason: metric.verdict.reason(),
            score: finite(metric.score),
            threshold: finite(metric.threshold()),
            direction: metric.bound().map(|bound| bound.direction.as_str()),
            scored: metric.scored,
            total: metric.total,
            passed_runs: metric.passed_runs,
            notes: &metric.notes,
            runs: runs.collect(),
        }
    }
}

impl RunEntry {
    fn of(run: usize, outcome: &MetricOutcome) -> Self {
        let scores = match outcome {
            MetricOutcome::Scored(scores) => {
                Some(scores.scores().iter().map(|score| finite(score.value())).collect())
            }
            _ => None,
        };
        Self { run, state: outcome.name(), scores, reason: outcome.reason().map(Cow::into_owned) }
    }
}

impl UsageEntry {
    fn of(usage: Usage) -> Self {
        let tokens = |count: Option<i128>| count.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        Self {
            agent_tokens: tokens(usage.agent_tokens),
            judge_tokens: tokens(usage.judge_tokens),
            judge_questions: usage.asked,
            judge_unanswered: usage.unanswered,
            judge_replayed: usage.replayed(),
        }
    }
}

fn interval(tally: Tally) -> Option<[f64; 2]> {
    tally.interval().map(|Interval { low, high, .. }| [low, high])
}
